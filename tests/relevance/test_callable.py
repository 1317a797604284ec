"""The callable judge: what a function may return, and what happens where it fails."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import TopicError
from focusspider.relevance import build_relevance
from focusspider.relevance.base import Judgement
from focusspider.relevance.callable import CallableRelevance
from tests.pages import page, profile

if TYPE_CHECKING:
    from focusspider.page import Page

PAGE = page("<p>robot</p>")
ANSWERS: list[Any] = [None]  # what the function says


def answer(at: Page) -> Any:
    assert at is PAGE
    return ANSWERS[0]


def fails(at: Page) -> Any:
    return at.no_such_attribute


async def asynchronous(at: Page) -> float:
    return 1.0


class Judge:
    def __call__(self, at: Page) -> float:
        return 1.0

    def method(self, at: Page) -> float:
        return 0.75


INSTANCE = Judge()
NUMBER = 5
NAME = f"{__name__}.answer"


def judge(function: str = f"{__name__}:answer", threshold: float | None = None) -> Any:
    made = build_relevance("callable", threshold, {"function": function})
    made.start(profile("robot"))
    return made


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, Judgement(1.0, True, f"{NAME} says yes")),
        (False, Judgement(0.0, False, f"{NAME} says no")),
        (np.bool_(True), Judgement(1.0, True, f"{NAME} says yes")),
        (0.5, Judgement(0.5, True, f"{NAME} 0.500 ≥ threshold 0.5")),
        (0.25, Judgement(0.25, False, f"{NAME} 0.250 < threshold 0.5")),
        (1, Judgement(1.0, True, f"{NAME} 1.000 ≥ threshold 0.5")),
        (np.float32(0.25), Judgement(0.25, False, f"{NAME} 0.250 < threshold 0.5")),
        ((0.75, "since"), Judgement(0.75, True, "since")),
        ((False, "not at all"), Judgement(0.0, False, "not at all")),
        (Judgement(0.25, True, "own"), Judgement(0.25, True, "own")),
        (Judgement(1, 1, "own"), Judgement(1.0, True, "own")),
    ],
)
def test_what_a_function_may_return(value: Any, expected: Judgement) -> None:
    ANSWERS[0] = value
    judgement = judge(NAME).judge(PAGE)
    assert judgement == expected
    assert list(map(type, judgement)) == [float, bool, str, bool]


def test_the_threshold_is_for_numbers() -> None:
    ANSWERS[0] = 0.25
    assert judge(threshold=0.25).judge(PAGE).relevant
    ANSWERS[0] = Judgement(0.1, True, "own")
    assert judge(threshold=0.25).judge(PAGE).relevant


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "returned NoneType"),
        ("yes", "returned str"),
        (1.5, "returned float"),
        (float("nan"), "returned float"),
        (-1, "returned int"),
        ((0.5, 0.5), "returned tuple"),
        ((0.5,), "returned tuple"),
        ((2.0, "why"), "returned tuple"),
        (Judgement(2.0, True, "own"), "returned Judgement"),
        (Judgement("x", True, "own"), "returned Judgement"),  # type: ignore[arg-type]
        (np.array([0.5]), "returned ndarray"),
    ],
)
def test_a_wrong_answer_is_an_error_that_names_it(
    value: Any, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    ANSWERS[0] = value
    made = judge(NAME)
    with caplog.at_level(logging.ERROR):
        judgement = made.judge(PAGE)
    assert (judgement.relevance, judgement.relevant, judgement.failed) == (0.0, False, True)
    assert made.failures == Counter({kind: 1})
    for text in (caplog.text, judgement.why):
        assert f"{NAME} returned {value!r}, not a number from 0 to 1" in text
    assert PAGE.url in caplog.text


def test_each_kind_of_failure_is_logged_once_and_each_one_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = judge(f"{__name__}:fails")
    with caplog.at_level(logging.ERROR):
        judgements = [made.judge(PAGE) for _ in range(3)]
    assert {judgement.relevant for judgement in judgements} == {False}
    assert "AttributeError" in judgements[0].why
    assert made.failures == Counter(AttributeError=3)
    (record,) = caplog.records
    assert PAGE.url in record.getMessage()
    assert record.exc_info is not None
    assert record.exc_info[0] is AttributeError


@pytest.mark.parametrize(
    "path", [f"{__name__}:INSTANCE", f"{__name__}.INSTANCE", f"{__name__}:INSTANCE.method"]
)
def test_anything_that_can_be_called(path: str) -> None:
    assert judge(path).judge(PAGE).relevance in {1.0, 0.75}


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({}, "needs the parameter 'function'; its parameters: function, threshold"),
        ({"function": 5}, "function must be an import path, got 5"),
        ({"function": answer}, "function must be an import path, got <function answer"),
        ({"function": "no_such_module:f"}, "there is no module 'no_such_module'; mend the path"),
        ({"function": f"{__name__}:nobody"}, "has no attribute 'nobody'; mend the path"),
        ({"function": "a b"}, "it is not of the form package.module:name"),
        ({"function": f"{__name__}:NUMBER"}, "is no function, but of type int; give"),
        ({"function": f"{__name__}:Judge"}, "is no function, but of type type; give"),
        ({"function": "json"}, "is no function, but of type module; give"),
        ({"function": f"{__name__}:asynchronous"}, "is async; give a function that is not"),
        ({"function": NAME, "threshold": 2}, "threshold must be a number from 0 to 1, got 2"),
    ],
)
def test_what_cannot_be_called_is_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(TopicError) as caught:
        build_relevance("callable", None, params, where="test.toml: [relevance]")
    assert str(caught.value).startswith("test.toml: [relevance]: relevance 'callable'")
    assert says in str(caught.value)


def test_an_error_in_the_module_is_its_own(tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "broken_judge.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        CallableRelevance(function="broken_judge:judge")
