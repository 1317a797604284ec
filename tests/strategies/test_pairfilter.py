"""Which pairs were met before: what a set says, but for a few."""

from __future__ import annotations

import numpy as np

from focusspider.strategies.pairfilter import PairFilter, mixed


def test_a_pair_is_the_first_once() -> None:
    random = np.random.default_rng(0)
    known, seen = PairFilter(), set()
    wrong = 0
    for _ in range(30):
        a, b = random.integers(60, size=(2, 200))
        expected = []
        for pair in zip(a.tolist(), b.tolist(), strict=True):
            expected.append(pair not in seen)
            seen.add(pair)
        found = known.first(mixed(a, b, 0))
        assert not (found & ~np.array(expected)).any()  # never is a known one taken for new
        wrong += int((~found & expected).sum())
    assert wrong <= 2


def test_what_was_added_is_known() -> None:
    pairs = mixed(np.arange(100), np.arange(100), 3)
    one, other = PairFilter(), PairFilter()
    one.add(np.concatenate([pairs, pairs]))
    other.first(pairs)
    later = mixed(np.arange(50, 150), np.arange(50, 150), 3)
    found = one.first(later)
    assert found.tolist() == other.first(later).tolist() == [False] * 50 + [True] * 50


def test_pairs_are_told_apart_by_order_and_salt() -> None:
    a, b = np.arange(1000), np.arange(1000, 2000)
    hashes = np.concatenate([mixed(a, b, 0), mixed(b, a, 0), mixed(a, b, 1)])
    assert len(np.unique(hashes)) >= 2999
