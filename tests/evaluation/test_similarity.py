from __future__ import annotations

import math

import numpy as np
import pytest

from focusspider.evaluation.similarity import (
    TermWeights,
    maximum_average_similarity,
    precision_at,
    precision_curve,
    topic_similarities,
)

# The union of all crawls: "card" is in two of its three pages, "chip" and "wheel" in one.
PAGES = {
    "p1": {"card": 2, "chip": 1},
    "p2": {"card": 1},
    "p3": {"wheel": 5},
}
DESCRIPTION = {"card": 1, "chip": 1}
LN3 = math.log(3)
LN3_2 = math.log(3 / 2)
# By hand: d = (card ln 3/2, chip ln 3), p1 = (card ln 3/2, chip 0.75 ln 3).
SIM_P1 = (LN3_2**2 + 0.75 * LN3**2) / (math.hypot(LN3_2, LN3) * math.hypot(LN3_2, 0.75 * LN3))
SIM_P2 = LN3_2 / math.hypot(LN3_2, LN3)


def test_weights_of_equation_2() -> None:
    weights = TermWeights(PAGES.values()).vector({"card": 2, "chip": 1, "wheel": 4})
    assert weights == pytest.approx({"card": 0.75 * LN3_2, "chip": 0.625 * LN3, "wheel": LN3})


@pytest.mark.parametrize("text", [{}, {"nowhere": 3}, {"everywhere": 2}])
def test_what_distinguishes_no_page_weighs_nothing(text: dict[str, int]) -> None:
    weights = TermWeights([{"everywhere": 1, "card": 1}, {"everywhere": 9}])
    assert weights.vector(text) == {}
    assert weights.similarities([{"card": 1}], [text]).tolist() == [[0.0]]
    assert weights.similarities([text], [{"card": 1}]).tolist() == [[0.0]]


def test_similarities_of_equation_3() -> None:
    assert (round(SIM_P1, 4), round(SIM_P2, 4)) == (0.9946, 0.3462)
    similarities = topic_similarities(DESCRIPTION, PAGES)
    assert similarities == pytest.approx({"p1": SIM_P1, "p2": SIM_P2, "p3": 0.0})


def test_precision_of_equation_1() -> None:
    similarities = topic_similarities(DESCRIPTION, PAGES)
    crawl = [similarities[page] for page in ("p2", "p3", "p1")]
    expected = [SIM_P2, SIM_P2 / 2, (SIM_P2 + SIM_P1) / 3]
    np.testing.assert_allclose(precision_curve(crawl), expected, rtol=1e-12, atol=0)
    assert precision_at(crawl, 2) == pytest.approx(SIM_P2 / 2)
    assert precision_at(crawl, 100) == pytest.approx((SIM_P2 + SIM_P1) / 3)


def test_a_page_is_most_similar_to_itself() -> None:
    weights = TermWeights(PAGES.values())
    matrix = weights.similarities(PAGES.values(), list(PAGES.values()))
    np.testing.assert_allclose(np.diag(matrix), 1.0, rtol=1e-12, atol=0)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12, atol=0)


def test_no_pages_no_similarities() -> None:
    assert TermWeights([]).similarities([], [DESCRIPTION]).shape == (0, 1)
    assert topic_similarities(DESCRIPTION, {}) == {}


def test_maximum_average_similarity_by_hand() -> None:
    # After the first page the first target is ahead, then the second.
    cosines = [[0.6, 0.5], [0.0, 0.3], [0.3, 0.1]]
    expected = [0.6, (0.5 + 0.3) / 2, max(0.9, 0.9) / 3]
    np.testing.assert_allclose(maximum_average_similarity(cosines), expected, rtol=1e-12, atol=0)


def test_it_is_the_maximum_of_means_and_not_the_mean_of_maxima() -> None:
    assert maximum_average_similarity([[1.0, 0.0], [0.0, 1.0]])[-1] == pytest.approx(0.5)


@pytest.mark.parametrize("shape", [(3, 0), (3,)])
def test_it_needs_a_target(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least one target"):
        maximum_average_similarity(np.zeros(shape))
