"""The strategies ``memm`` and ``crf`` against beliefs worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from focusspider.errors import ModelFileError
from focusspider.models.modelfile import write_model
from focusspider.strategies import STRATEGIES
from tests.pages import page, profile
from tests.strategies.tinymodels import FOLDER, PAIRS, crf_file, memm_file

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"crf": crf_file, "memm": memm_file}
EVERY = pytest.mark.parametrize("name", FILES)
#: Shows words:robot; its anchors have no word of child: but that of the first link.
AT = page("<title>robot</title><a href='/1'>arm</a> <a href='/2'>cake</a>")


def strategy(name: str, folder: Path = FOLDER, **params: Any) -> Any:
    made = STRATEGIES[name](models_dir=folder, **params)
    made.start(profile("robot"), np.random.default_rng(0))
    return made


def by_hand(name: str, before: Any, factors: Any, mode: str = "marginal") -> np.ndarray:
    """Return the belief after one, given what the features and the bias multiply each state by."""
    weights = PAIRS * np.asarray(factors, dtype=float)
    if name == "memm":
        weights = weights / weights.sum(axis=1, keepdims=True)
    paths = np.asarray([0, 0, 1] if before is None else [*before, 0])[:, None] * weights
    found = paths.sum(axis=0) if mode == "marginal" else paths.max(axis=0)
    return found / found.sum()


@EVERY
@pytest.mark.parametrize("mode", ["marginal", "viterbi"])
@pytest.mark.parametrize("before", [None, (0.25, 0.75)])
def test_beliefs_by_hand(name: str, mode: str, before: Any) -> None:
    scores = strategy(name, mode=mode).score(AT, before)
    belief = by_hand(name, before, [4, 2], mode)  # words:robot, and the bias of 1 and 2
    assert_allclose(scores.state, belief, rtol=1e-9)
    children = [by_hand(name, belief, factors, mode) for factors in ([2, 2], [1, 2])]
    assert_allclose(np.column_stack([scores.parts["T0"], scores.parts["T1"]]), children, rtol=1e-9)
    steps = [(int(p) >> 40, int(p) >> 30 & 1023, int(p) & (2**30 - 1)) for p in scores.priorities]
    assert steps == [(*np.rint(child * 1000).astype(int).tolist(), 0) for child in children]


@EVERY
def test_a_seed_of_the_crf_and_of_the_memm_is_the_same_by_hand(name: str) -> None:
    assert_allclose(strategy(name).score(AT, None).state, [4 / 6, 2 / 6], rtol=1e-12)


@EVERY
def test_the_anchor_that_led_to_a_page_counts(name: str) -> None:
    at = page("<title>robot</title>")
    at.pointing = "arms"
    assert_allclose(strategy(name).score(at, None).state, [8 / 10, 2 / 10], rtol=1e-12)


@EVERY
def test_anchors_on_a_page_count(name: str) -> None:
    at = page("<title>robot</title><a href='/1'>tea</a>")
    assert_allclose(strategy(name).score(at, None).state, [4 / 10, 6 / 10], rtol=1e-12)


@EVERY
@pytest.mark.parametrize("mode", ["marginal", "viterbi"])
@pytest.mark.parametrize("before", [None, (0.25, 0.75)])
def test_without_lookahead_by_hand(name: str, mode: str, before: Any, tmp_path: Path) -> None:
    """Each link has the belief about its page, seen with the anchor that is followed."""
    write_model(tmp_path / f"{name}.npz", FILES[name](lookahead=False))
    anchors = page("<title>robot</title><a href='/1'>arm</a> <a href='/2'>tea</a>")
    scores = strategy(name, tmp_path, mode=mode).score(anchors, before)
    # words:robot, the bias of 1 and 2, and for the second link child:tea of 1 and 3
    links = [by_hand(name, before, factors, mode) for factors in ([4, 2], [4, 6])]
    assert_allclose(np.column_stack([scores.parts["T0"], scores.parts["T1"]]), links, rtol=1e-9)
    assert_allclose(scores.state, links[0], rtol=1e-9)  # no link is followed yet


@EVERY
@pytest.mark.parametrize(
    "state", [(), (1.0,), (0.0, 0.0), (-1.0, 2.0), (float("nan"),) * 2, (0.2,) * 5]
)
def test_a_state_of_another_model_begins_a_path(name: str, state: tuple[float, ...]) -> None:
    made = strategy(name)
    assert made.score(AT, state).state == made.score(AT, None).state


@EVERY
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"families": ["word"]}, "does not say how features are made"),
        ({"lookahead": None}, "does not say how features are made"),
        ({"language": "german"}, "stems of german, and the topic's language is english"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    name: str, changed: dict[str, Any], says: str, tmp_path: Path
) -> None:
    write_model(tmp_path / f"{name}.npz", FILES[name](**changed))
    with pytest.raises(ModelFileError, match=says):
        strategy(name, tmp_path)
