"""Weights of words in groups against numbers worked by hand, and another library."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from focusspider.models.wordweights import (
    group_counts,
    log_odds_ratios,
    mutual_information,
    top_words,
)

# Of group 0, with 10 words: robot 6, arm 3, tea 1. Of group 1, with 10: robot 0, arm 3, tea 7.
COUNTS = np.array([[6, 3, 1], [0, 3, 7]])
TERMS = ["robot", "arm", "tea"]


def test_log_odds_ratios_by_hand() -> None:
    # λ = 1 for each of three terms, and for a word that is none of them: of 14.
    def weighted(in_group: float, in_others: float) -> float:
        p, q = in_group / 14, in_others / 14
        return p * log((p / (1 - p)) / (q / (1 - q)))

    expected = [
        [weighted(7, 1), weighted(4, 4), weighted(2, 8)],
        [weighted(1, 7), weighted(4, 4), weighted(8, 2)],
    ]
    assert_allclose(log_odds_ratios(COUNTS), expected, rtol=1e-12, atol=1e-15)
    assert expected[0][1] == 0


def test_log_odds_ratios_of_three_groups_are_against_the_others_together() -> None:
    three = np.array([[6, 3, 1], [0, 1, 3], [0, 2, 4]])
    assert_allclose(log_odds_ratios(three)[0], log_odds_ratios(COUNTS)[0], rtol=1e-12)


def test_one_group_and_one_term() -> None:
    assert np.isfinite(log_odds_ratios(np.array([[5]]))).all()
    assert mutual_information(np.array([[5]])).tolist() == [[0]]
    assert mutual_information(np.zeros((2, 2), dtype=np.int64)).tolist() == [[0, 0]] * 2


def test_mutual_information_by_hand() -> None:
    # robot: 6 of 20 words, all in group 0, which has half of all words.
    robot = (
        6 / 20 * log(6 / 20 / (6 / 20 * 1 / 2))
        + 4 / 20 * log(4 / 20 / (14 / 20 * 1 / 2))
        + 10 / 20 * log(10 / 20 / (14 / 20 * 1 / 2))
    )
    # tea: 1 in group 0, and 7 in group 1.
    tea = (
        1 / 20 * log(1 / 20 / (8 / 20 * 1 / 2))
        + 7 / 20 * log(7 / 20 / (8 / 20 * 1 / 2))
        + 9 / 20 * log(9 / 20 / (12 / 20 * 1 / 2))
        + 3 / 20 * log(3 / 20 / (12 / 20 * 1 / 2))
    )
    expected = [[robot, 0, -tea], [-robot, 0, tea]]
    assert_allclose(mutual_information(COUNTS), expected, rtol=1e-12, atol=1e-15)


def test_mutual_information_is_scikit_learns() -> None:
    from sklearn.metrics import mutual_info_score

    counts = np.random.default_rng(0).integers(40, size=(4, 12))
    found = mutual_information(counts)
    for group in range(4):
        for term in range(12):
            both = counts[group, term]
            of_term, of_group = counts[:, term].sum(), counts[group].sum()
            table = [
                [both, of_term - both],
                [of_group - both, counts.sum() - of_term - of_group + both],
            ]
            expected = mutual_info_score(None, None, contingency=np.array(table))
            assert abs(found[group, term]) == pytest.approx(expected, rel=1e-9, abs=1e-12)
            more = both * counts.sum() > of_term * of_group
            assert (found[group, term] > 0) == more


def test_the_words_of_each_group() -> None:
    for weights in (log_odds_ratios(COUNTS), mutual_information(COUNTS)):
        first, second = top_words(weights, TERMS)
        assert [word for word, _ in first] == ["robot"]
        assert [word for word, _ in second] == ["tea"]
        assert first[0][1] == weights[0, 0]


def test_no_more_words_than_asked_for() -> None:
    weights = np.random.default_rng(0).integers(1, 9, size=(3, 200)).astype(float)
    terms = [f"word{n:03}" for n in range(200)]
    for group, words in zip(weights, top_words(weights, terms), strict=True):
        order = sorted(range(200), key=lambda n: (-group[n], terms[n]))
        assert words == [(terms[n], group[n]) for n in order[:30]]


def test_counting_by_groups() -> None:
    pages = csr_array(np.array([[1, 0, 2], [0, 3, 0], [4, 0, 0], [9, 9, 9]]))
    found = group_counts(pages, np.array([0, 2, 0, -1]), 3)
    assert found.tolist() == [[5, 0, 2], [0, 0, 0], [0, 3, 0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_odds_ratios(COUNTS, smoothing=0), "smoothing must be a number of at least"),
        (lambda: top_words(np.ones((1, 1)), ["a"], 0), "n must be a whole number of at least 1"),
    ],
)
def test_wrong_parameters(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
