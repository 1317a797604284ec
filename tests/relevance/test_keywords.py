"""The keywords judge: which words and patterns are found where."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import TopicError
from focusspider.relevance import build_relevance
from focusspider.relevance.base import Judgement
from focusspider.relevance.keywords import MAX_SEARCHED, KeywordRelevance
from tests.pages import page, profile

if TYPE_CHECKING:
    from focusspider.page import Page

PAGE = page(
    "<title>Robot Arms</title><p>Grippers lift C++ and .NET things. Café à la carte.</p>"
    "<p>Machine\n learning</p>",
    "http://a.example/machine-vision/Welding_robots.html?q=tea%20cake",
)


def judge(at: Page, **params: Any) -> Judgement:
    made = KeywordRelevance(**params)
    made.start(profile("gripper", "robot arms"))
    return made.judge(at)


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("robot", "title"),
        ("ROBOT ARMS", "title"),
        ("robot  arms", "title"),
        ("arm", None),  # stands alone, not stemmed
        ("arms robot", None),
        ("grippers", "body"),
        ("gripper", None),
        ("machine learning", "body"),  # over a line break
        ("machine-learning", None),
        ("machine vision", "url"),
        ("machine-vision", "url"),
        ("welding", "url"),
        ("welding robots", "url"),
        ("tea cake", "url"),
        ("c++", "body"),
        (".net", "body"),
        ("café", "body"),
        ("cafe\u0301", "body"),  # the accent as a character of its own
        ("cafe", None),
        ("à la carte", "body"),
        ("example", "url"),
    ],
)
def test_words_are_literal_and_stand_alone(word: str, place: str | None) -> None:
    judgement = judge(PAGE, all=[word])
    if place is None:
        assert judgement == Judgement(0.0, False, f"no {word!r}")
    else:
        assert judgement == Judgement(1.0, True, f"{word!r} in {place}")


@pytest.mark.parametrize(
    ("word", "text", "found"),
    [
        ("机器人", "工业机器人手臂", True),  # Chinese writes no spaces
        ("หุ่นยนต์", "แขนหุ่นยนต์อุตสาหกรรม", True),  # nor does Thai
        ("로봇", "로봇은 팔이 있다", True),  # Korean joins particles
        ("робот", "роботы", False),
        ("straße", "STRASSE", True),
    ],
)
def test_words_in_other_scripts(word: str, text: str, found: bool) -> None:
    assert judge(page(f"<p>{text}</p>"), any=[word]).relevant is found


@pytest.mark.parametrize(
    ("params", "why"),
    [
        # Each rule that is given must hold.
        ({"all": ["robot", "grippers"]}, "'robot' in title, 'grippers' in body"),
        ({"any": ["tea", "robot"]}, "'tea' in url"),
        (
            {"all": ["robot"], "any": ["tea"], "patterns": [r"weld\w+"]},
            "'robot' in title, 'tea' in url, /weld\\w+/ in url",
        ),
        ({"patterns": ["^robot", "^machine"]}, "/^robot/ in title"),
        ({"patterns": [r"lift\s"]}, "/lift\\s/ in body"),
        ({"any": ["robot"], "fields": ["url", "title"]}, "'robot' in title"),
        # Without a rule one of the topic's keywords, as a phrase.
        ({}, "'robot arms' in title"),
        ({"fields": ["title"]}, "'robot arms' in title"),
    ],
)
def test_rules_that_hold(params: dict[str, Any], why: str) -> None:
    assert judge(PAGE, **params) == Judgement(1.0, True, why)


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"all": ["robot", "milk"]}, "no 'milk'"),
        ({"any": ["milk", "rice"]}, "no 'milk' or 'rice'"),
        ({"any": list("bdfhjkl")}, "no 'b' or 'd' or 'f' or 'h' or 'j' or 2 more"),
        ({"all": ["robot"], "any": ["milk"]}, "no 'milk'"),
        ({"any": ["robot"], "patterns": ["milk"]}, "no /milk/"),
        ({"any": ["grippers"], "fields": ["title", "url"]}, "no 'grippers'"),
        ({"fields": ["url"]}, "no 'gripper' or 'robot arms'"),
    ],
)
def test_rules_that_do_not_hold(params: dict[str, Any], why: str) -> None:
    assert judge(PAGE, **params) == Judgement(0.0, False, why)


def test_only_the_beginning_of_a_long_text_is_searched() -> None:
    inside = page(f"<p>{'x ' * (MAX_SEARCHED // 2 - 3)}robot</p>")
    beyond = page(f"<p>{'x ' * (MAX_SEARCHED // 2)}robot</p>")
    for params in ({"any": ["robot"]}, {"patterns": ["robot"]}):
        assert judge(inside, **params).relevant
        assert not judge(beyond, **params).relevant


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"patterns": ["(a"]}, "patterns: '(a' is not a regular expression: missing ), untermin"),
        ({"patterns": ["a{99999999999}"]}, "is not a regular expression"),
        ({"any": "robot"}, "any must be a list of texts, got 'robot'; write any = ['robot']"),
        ({"all": [1]}, "all must be a list of texts, got [1]"),
        ({"any": ["robot", " "]}, "any must be a list of texts, got ['robot', ' ']"),
        ({"fields": ["text"]}, "fields must be one of title, url, body, got 'text'"),
        ({"fields": []}, "fields must name some of title, url, body, got none"),
    ],
)
def test_wrong_values_are_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(TopicError) as caught:
        build_relevance("keywords", None, params, where="test.toml: [relevance]")
    assert str(caught.value).startswith("test.toml: [relevance]: relevance 'keywords': ")
    assert says in str(caught.value)


def test_no_rule_and_no_keywords_is_refused() -> None:
    with pytest.raises(TopicError, match="no keywords; give all, any or patterns, or keywords"):
        KeywordRelevance().start(profile(description="Robots."))


def test_a_sentence_as_a_keyword_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        KeywordRelevance().start(profile("industrial robot arms"))
        assert not caplog.records
        KeywordRelevance().start(profile("robot arm gripper weld lift"))
    assert "'robot arm gripper weld lift' as one phrase" in caplog.text
