"""Features: what each family of table 1 says of a page, and what is known before a fetch."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import NotAPageError, UnknownNameError
from focusspider.page import PageParser
from focusspider.relevance.target_vectors import TargetVectors
from focusspider.text import cosine
from focusspider.webgraph.features import (
    AHEAD,
    FAMILIES,
    TABLE_1,
    PageFeatures,
    important_words,
)
from tests.pages import ANALYZER, page, profile
from tests.realpages import NAMES, responses

if TYPE_CHECKING:
    from pathlib import Path

HTML = """<html><head><title>Linux guides</title>
<meta name="description" content="Free kernels"><meta name="keywords" content="penguin, tux">
</head><body><h1>Reading room</h1><p>Operating systems are run by drivers.</p>
<div class="menu"><p>See the <a href="/docs/linux-howto.html">installation manual</a> first</p>
<a href="/~ann/dogs.html">dogs</a></div></body></html>"""
URL = "http://a.example/os/index.html"
TARGET = page("<title>Kernel</title><body>Kernels and drivers</body>", "http://t.example/1")
OTHER = page("<title>Dog</title><body>dogs only</body>", "http://t.example/2")
PROFILE = profile("linux", "OS", description="kernels penguin", targets=[TARGET, OTHER])


def features(*families: str, **given: Any) -> PageFeatures:
    return PageFeatures(PROFILE, families=families or FAMILIES, **given)


def tokens(row: dict[str, float], family: str) -> set[str]:
    return {name.partition(":")[2] for name in row if name.startswith(f"{family}:")}


PAGE = page(HTML, URL)
LINUX, DOGS = PAGE.links


def stems(text: str) -> set[str]:
    return set(ANALYZER.terms(text))


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        ("words", stems("linux guides free kernels penguin tux reading room")),
        ("body", stems("linux guides reading room operating systems drivers run "
                       "see first installation manual dogs")),
        ("child", stems("installation manual dogs")),
        ("page_urls", {""}),
        ("url", set()),
        ("pointing", set()),
    ],
)  # fmt: skip
def test_families_of_a_page(family: str, expected: set[str]) -> None:
    row = features(family).of_page(PAGE)
    assert tokens(row, family) == expected
    assert set(row.values()) <= {1.0}
    assert len(row) == len(expected)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        ("pointing", stems("installation manual")),
        ("context", stems("see the installation manual first")),
        ("url", {""}),
        ("url_words", {"docs", "linux", "howto", "html"}),
        ("tag_path", {"div.menu/p/a"}),
        ("shape", {"anchor=a a", "words=2", "word=a", "is=across", "depth=2", "in=a",
                   "file=a-a.a"}),
        ("ahead", {"", *(f"anchor={stem}" for stem in stems("installation manual")),
                   "url=docs", "url=linux", "url=howto", "url=html"}),
        ("words", set()),
        ("child", set()),
        ("page_urls", set()),
    ],
)  # fmt: skip
def test_families_of_a_link(family: str, expected: set[str]) -> None:
    row = features(family).of_link(PAGE, LINUX)
    assert tokens(row, family) == expected
    assert len(row) == len(expected)


def test_similarities_are_cosines() -> None:
    row = features("text", "description").of_page(PAGE)
    assert row == {
        "text:": pytest.approx(max(cosine(PAGE.terms, t.terms) for t in (TARGET, OTHER))),
        "description:": pytest.approx(
            cosine(ANALYZER.terms("kernels penguin"), ANALYZER.terms("free kernels penguin tux"))
        ),
    }
    assert features("description").of_page(OTHER) == {}


def test_a_target_is_compared_with_the_others() -> None:
    assert features("text").of_page(TARGET) == {}  # the other is about dogs
    alone = PageFeatures(profile("linux", targets=[TARGET]), families=["text"])
    assert alone.of_page(TARGET) == {"text:": pytest.approx(1)}
    none = PageFeatures(profile("linux"), families=["text"])
    assert none.of_page(TARGET) == {}


def test_another_comparison_with_targets_may_take_its_place() -> None:
    quick = TargetVectors(PROFILE, purpose="features")
    for each in (PAGE, TARGET, OTHER):
        expected = features("text").of_page(each)
        assert features("text", targets=quick).of_page(each) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("url", "holds"),
    [
        ("http://a.example/linux", True),
        ("http://a.example/GNULinux2", True),
        ("http://a.example/%6Cinux", True),
        ("http://a.example/os/", True),
        ("http://a.example/os9_1", True),
        ("http://a.example/posts", False),  # a short keyword must be a word
        ("http://a.example/", False),
    ],
)
def test_keywords_in_urls(url: str, holds: bool) -> None:
    assert features("url").of_url(url) == ({"url:": 1.0} if holds else {})


def test_words_of_urls() -> None:
    row = features("url_words").of_url("http://a.example:80/~Ann/cs%2F302/X1/dog_food.html?page=2")
    assert tokens(row, "url_words") == {"~", "ann", "cs", "dog", "food", "html", "page"}


@pytest.mark.parametrize("url", ["", "http://[", "http://a.example/%5B%00%FF", "x:y", "/~z", "é"])
def test_a_url_may_be_anything(url: str) -> None:
    assert isinstance(features().of_url(url), dict)


def test_without_keywords_no_url_holds_one() -> None:
    row = PageFeatures(profile(targets=[TARGET])).of_link(PAGE, LINUX)
    assert not tokens(row, "url")


def test_important_words_count_anywhere() -> None:
    row = features("words", important=["driver", "zebra", "linux"]).of_page(PAGE)
    assert tokens(row, "words") - tokens(features("words").of_page(PAGE), "words") == {"driver"}


def test_which_words_are_important() -> None:
    head = "<head><meta name=description content='robot dog'><meta name=keywords content='robot'>"
    pages = [
        page(f"{head}<title>Robots</title><body><h2>Arms</h2>legs</body>"),
        page("<title>Robot arm</title><body>hands</body>"),
    ]
    assert important_words(pages, ANALYZER) == ["arm", "robot", "dog"]
    assert important_words(pages, ANALYZER, limit=1) == ["arm"]


def test_literal_reading_keeps_the_anchor_that_is_followed() -> None:
    literal = features("child", lookahead=False)
    assert literal.of_page(PAGE) == {}
    assert tokens(literal.of_next(PAGE, DOGS), "child") == {"dog"}
    assert features("child").of_next(PAGE, DOGS) == {}


def test_what_a_request_keeps_of_a_link() -> None:
    kept = features().of_anchor(LINUX.url, LINUX.anchor)
    whole = features().of_link(PAGE, LINUX)
    lost = {name for name in whole if name.partition(":")[0] in AHEAD}
    assert {name.partition(":")[0] for name in lost} == set(AHEAD)
    assert kept == {name: value for name, value in whole.items() if name not in lost}
    assert features("words").of_anchor(LINUX.url, LINUX.anchor) == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_can_be_switched_off(family: str) -> None:
    def all_of(made: PageFeatures) -> dict[str, float]:
        return {
            **made.of_page(PAGE),
            **made.of_link(PAGE, LINUX),
            **made.of_next(PAGE, LINUX),
        }

    for lookahead in (True, False):
        every = all_of(features(lookahead=lookahead))
        others = [name for name in FAMILIES if name != family]
        without = all_of(features(*others, lookahead=lookahead))
        assert without == {n: v for n, v in every.items() if not n.startswith(f"{family}:")}
        assert len(without) < len(every)


def test_parameters_make_the_same_features_again() -> None:
    made = features("words", "text", lookahead=False, important=["driver"])
    again = PageFeatures(PROFILE, **made.parameters())
    assert again.of_page(PAGE) == made.of_page(PAGE)
    assert made.parameters() == {
        "families": ["text", "words"],
        "lookahead": False,
        "important": ["driver"],
    }
    assert PageFeatures(PROFILE).families == TABLE_1


def test_an_unknown_family() -> None:
    with pytest.raises(UnknownNameError, match=r"'anchor' is not a known family of features"):
        features("anchor")
    with pytest.raises(ValueError, match="lookahead must be true or false"):
        features("words", lookahead=1)
    with pytest.raises(ValueError, match="families must be a list of texts"):
        PageFeatures(PROFILE, families=[1])  # type: ignore[list-item]


def test_an_empty_page_has_none() -> None:
    empty = page("", "http://a.example/x")
    assert features().of_page(empty) == {}


@pytest.mark.parametrize("name", NAMES)
def test_real_pages(corpora: Path, name: str) -> None:
    made = features(important=["book", "system"])
    parser = PageParser(analyzer=ANALYZER)
    for response in responses(corpora, name, 60):
        with contextlib.suppress(NotAPageError):
            real = parser.parse(response)
            rows = [made.of_page(real), made.of_url(real.url)]
            rows += [made.of_link(real, link) for link in real.links]
            assert all(0 < value <= 1 for row in rows for value in row.values())
            assert {name.partition(":")[0] for row in rows for name in row} <= set(FAMILIES)
