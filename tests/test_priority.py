"""Beliefs as priorities: the papers' lexicographic order with ε = 0.001, made transitive."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from focusspider.priority import (
    FIRST,
    PRIORITY_MAX,
    SCORED_MIN,
    belief_priorities,
    scalar_priorities,
)


def beliefs(n: int, k: int, seed: int = 0) -> np.ndarray:
    """Beliefs of which many are near each other in the first components."""
    rng = np.random.default_rng(seed)
    found = rng.dirichlet(np.full(k, 0.3), size=n)
    found[n // 2 :] = found[: n - n // 2] + rng.normal(0, 5e-4, size=(n - n // 2, k))
    found = np.abs(found)
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_order_is_that_of_the_components_in_steps_of_a_thousandth(k: int) -> None:
    vectors = beliefs(300, k)
    packed = belief_priorities(vectors).tolist()
    keys = [tuple(round(p * 1000) for p in vector) for vector in vectors.tolist()]
    by_priority = sorted(range(300), key=lambda i: (packed[i], i))
    by_key = sorted(range(300), key=lambda i: (keys[i], i))
    assert by_priority == by_key
    for i, j in itertools.combinations(range(300), 2):
        assert (packed[i] == packed[j]) == (keys[i] == keys[j])


def test_a_difference_above_epsilon_decides_whatever_comes_after() -> None:
    for i, j in itertools.permutations(range(120), 2):
        x, y = VECTORS[i], VECTORS[j]
        differing = [c for c in range(5) if round(x[c] * 1000) != round(y[c] * 1000)]
        if differing and x[differing[0]] > y[differing[0]] + 0.001:
            assert PACKED[i] > PACKED[j]


VECTORS = beliefs(120, 5, seed=1).tolist()
PACKED = belief_priorities(VECTORS).tolist()


@pytest.mark.parametrize(
    ("sooner", "later"),
    [
        ([0.5, 0.1, 0.4], [0.4, 0.6, 0.0]),
        ([0.5, 0.2, 0.3], [0.5, 0.1, 0.4]),
        ([0.5001, 0.2, 0.2999], [0.4999, 0.1, 0.4001]),
        ([0.4999, 0.2, 0.3001], [0.5001, 0.1, 0.3999]),
        ([0.0, 0.0, 1.0], [0.0, 0.0, 0.99]),
        ([1.0, 0.0, 0.0], [0.999, 0.001, 0.0]),
    ],
)
def test_which_comes_first(sooner: list[float], later: list[float]) -> None:
    first, second = belief_priorities([sooner, later]).tolist()
    assert first > second


def test_bits_and_bounds() -> None:
    (packed,) = belief_priorities([0.123, 0.0, 0.377, 0.5, 0.0]).tolist()
    assert packed == (123 << 40) + (377 << 20) + (500 << 10)
    (certain,) = belief_priorities([1, 0, 0, 0, 0]).tolist()
    assert certain == 1000 << 40
    assert SCORED_MIN < certain < FIRST
    every = belief_priorities(beliefs(1_000, 5))
    assert_array_equal(every, every.astype(np.float64).astype(np.int64))
    assert 0 <= every.min() <= every.max() <= PRIORITY_MAX


def test_fewer_states_leave_the_low_bits_empty() -> None:
    assert_array_equal(belief_priorities([[0.4, 0.6]]), belief_priorities([[0.4, 0.6, 0, 0, 0]]))


def test_what_is_no_probability_counts_as_none_or_all() -> None:
    assert_array_equal(
        belief_priorities([[np.nan, 2.0, -1.0], [0.0, 1.0, 0.0]]),
        [1000 << 30, 1000 << 30],
    )
    assert belief_priorities(np.empty((0, 5))).shape == (0,)


def test_six_states_are_too_many() -> None:
    with pytest.raises(ValueError, match="at most 5 components, got 6"):
        belief_priorities([[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]])


def test_scalars_are_on_the_grid() -> None:
    packed = scalar_priorities([-1.0, 0.0, 2**-50, 0.5, 1.0, 3.0, np.nan])
    assert packed.tolist() == [0, 0, 1, 2**49, PRIORITY_MAX, PRIORITY_MAX, 0]
