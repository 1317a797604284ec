"""What holds for every judge. A new one joins by being in ``RELEVANCES``.

One that needs parameters has a line in ``EXAMPLES``; its paths are relative to a folder
that holds ``labels.csv``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import TopicError, UnknownNameError
from focusspider.models.modelfile import write_model
from focusspider.models.page_classifier import PageClassifier
from focusspider.registry import parameters
from focusspider.relevance import RELEVANCES, build_relevance
from focusspider.relevance.base import Judgement, Relevance
from focusspider.relevance.classifier import page_words
from tests.pages import page, profile

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.page import Page

LABELS = "url,label\nhttp://a.example/robots,robots\nhttp://a.example/tea,tea\n"
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "cosine": [{}, {"weighting": "tf-idf"}],
    "keywords": [{}, {"all": ["robot"], "any": ["arm", "grip"], "patterns": ["rob.t"]}],
    "labels": [{"file": "labels.csv", "label": "robots"}],
    "callable": [{"function": f"{__name__}:half"}],
    "table": [{}, {"threshold": 0.8, "attributes": ["Reach"], "outliers": 0.2}],
    "classifier": [
        {},
        {"algorithm": "naive-bayes", "negatives": "others"},
        {"threshold": 0.6, "negatives": ["others/cake.html", "others/tea.html"]},
        {"model": "relevance.npz"},
    ],
}
#: Arguments that are not the user's.
GIVEN = {"base_dir", "models_dir"}
CASES = [(kind, params) for kind in RELEVANCES for params in EXAMPLES.get(kind, [{}])]
EVERY_CASE = pytest.mark.parametrize(
    ("kind", "params"), CASES, ids=[f"{kind} {params or ''}".strip() for kind, params in CASES]
)
EVERY_KIND = pytest.mark.parametrize("kind", RELEVANCES)

SHEET = "<table><tr><th>Reach</th><td>{} m</td></tr><tr><th>Axes</th><td>{}</td></tr></table>"
TARGETS = [
    page(f"<p>A robot arm can {can}.</p>" + SHEET.format(n, n + 4), f"http://t.example/{n}")
    for n, can in enumerate(("grip", "lift", "weld"), 1)
]
PAGES = {
    "on topic": page(
        "<title>Robots</title><p>A robot arm.</p>" + SHEET.format(2, 6), "http://a.example/robots"
    ),
    "off topic": page("<p>Tea and cake.</p>", "http://a.example/tea"),
    "nothing": page("", "http://a.example/nothing"),
    "unseen words": page("<p>Zyx wvut</p>", "http://a.example/zyx"),
    "other scripts": page("<p>ロボット робот</p>", "http://a.example/%E3%83%AD"),
}


def half(at: Page) -> float:
    return 0.5 if "robot" in at.text else 0.0


Build = Callable[[str, dict[str, Any]], Relevance]


@pytest.fixture
def started(tmp_path: Path) -> Build:
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    (tmp_path / "others").mkdir()
    for name in ("tea", "cake"):
        (tmp_path / "others" / f"{name}.html").write_text(f"<p>{name} and milk", encoding="utf-8")
    learnt = PageClassifier(algorithm="naive-bayes").fit([*map(page_words, TARGETS)], [])
    write_model(tmp_path / "relevance.npz", learnt.to_file())

    def build(kind: str, params: dict[str, Any]) -> Relevance:
        judge = build_relevance(kind, None, params, base_dir=tmp_path)
        judge.start(profile("robot", "arm", targets=TARGETS))
        return judge

    return build


@EVERY_CASE
@pytest.mark.parametrize("where", PAGES)
def test_a_judgement_is_what_the_contract_says(
    started: Build, kind: str, params: dict[str, Any], where: str
) -> None:
    at = PAGES[where]
    before = (at.links, dict(at.terms), at.text, at.title)
    judge = started(kind, params)
    judgement = judge.judge(at)
    assert type(judgement) is Judgement
    assert type(judgement.relevance) is float
    assert 0 <= judgement.relevance <= 1
    assert type(judgement.relevant) is bool
    assert judgement.relevant is (where == "on topic")
    assert type(judgement.why) is str
    assert judgement.why
    assert judge.judge(at) == judgement == started(kind, params).judge(at)
    assert before == (at.links, at.terms, at.text, at.title)


@EVERY_CASE
def test_parameters_are_stored_unchanged(started: Build, kind: str, params: dict[str, Any]) -> None:
    judge = started(kind, params)
    for parameter in parameters(RELEVANCES[kind]).values():
        if parameter.name not in GIVEN:
            value = params.get(parameter.name, parameter.default)
            assert getattr(judge, parameter.name) is value
        assert parameter.kind is parameter.KEYWORD_ONLY


@EVERY_KIND
def test_an_unknown_parameter_is_refused_and_the_known_ones_are_listed(kind: str) -> None:
    with pytest.raises(TopicError) as caught:
        build_relevance(kind, None, {"no_such": 1}, where="test.toml: [relevance]")
    message = str(caught.value)
    assert message.startswith(
        f"test.toml: [relevance]: relevance {kind!r} has no parameter 'no_such'"
    )
    for known in parameters(RELEVANCES[kind]):
        assert (known in message) is (known not in GIVEN)


def test_an_unknown_kind_is_refused_and_the_known_ones_are_listed() -> None:
    with pytest.raises(UnknownNameError) as caught:
        build_relevance("cosin", None, {}, where="test.toml: [relevance]")
    message = str(caught.value)
    assert message.startswith("test.toml: [relevance]: 'cosin' is not a known relevance (did you")
    for known in RELEVANCES:
        assert known in message


def test_the_default_is_cosine() -> None:
    assert type(build_relevance(None, None, {})) is RELEVANCES["cosine"]


@pytest.mark.parametrize("kind", ["keywords", "labels"])
def test_a_threshold_that_would_do_nothing_is_refused(kind: str) -> None:
    with pytest.raises(TopicError, match=f"relevance '{kind}' has no parameter 'threshold'"):
        build_relevance(kind, 0.5, {})


class Own:
    """A judge of the user's own, by its import path."""

    def __init__(self, *, floor: float = 0.0) -> None:
        self.floor = floor

    def start(self, profile: object) -> None: ...

    def judge(self, page: Page) -> Judgement:
        return Judgement(self.floor, True, "own")


def test_a_class_of_ones_own_by_its_import_path() -> None:
    judge = build_relevance(f"{__name__}.Own", None, {"floor": 0.25})
    assert judge.judge(PAGES["nothing"]) == Judgement(0.25, True, "own")
    with pytest.raises(TopicError, match=r"no parameter 'flor'.*'floor'"):
        build_relevance(f"{__name__}.Own", None, {"flor": 0.25})


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("no.such.module", "'no.such.module' cannot be imported: there is no module 'no'"),
        (f"{__name__}.Nobody", "has no attribute 'Nobody'"),
        (f"{__name__}.half", "is no class; give a class with start, judge"),
        ("collections.Counter", "lacks start, judge; give a class with start, judge"),
    ],
)
def test_an_import_path_that_leads_to_no_judge_is_refused(kind: str, says: str) -> None:
    with pytest.raises(TopicError) as caught:
        build_relevance(kind, None, {}, where="test.toml")
    assert str(caught.value).startswith("test.toml: relevance ")
    assert says in str(caught.value)
