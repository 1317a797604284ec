from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from focusspider.evaluation.significance import mean_interval, paired_t_test


def test_one_tailed_paired_test_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, standard deviation 1, t = 2·√3. With 2 degrees of freedom
    # Student's distribution has the closed form P(T > t) = ½ (1 − t / √(2 + t²)).
    result = paired_t_test([2, 4, 6], [1, 2, 3])
    t = 2 * math.sqrt(3)
    assert result.difference == pytest.approx(2)
    assert result.t == pytest.approx(t)
    assert result.df == 2
    assert result.p == pytest.approx((1 - t / math.sqrt(2 + t * t)) / 2)


def test_the_other_way_round_is_the_rest() -> None:
    one = paired_t_test([2, 4, 6], [1, 2, 3])
    other = paired_t_test([1, 2, 3], [2, 4, 6])
    assert other.t == pytest.approx(-one.t)
    assert other.p == pytest.approx(1 - one.p)


def test_pairs_matter() -> None:
    # The same values, but the difference is 0.1 on every crawl, or noise.
    steady = paired_t_test([0.31, 0.50, 0.92], [0.21, 0.41, 0.81])
    mixed = paired_t_test([0.31, 0.50, 0.92], [0.81, 0.21, 0.41])
    assert steady.p < 0.01 < mixed.p


@pytest.mark.parametrize(
    ("ours", "theirs", "t", "p"),
    [
        ([0.5, 0.7], [0.5, 0.7], 0.0, 0.5),
        ([0.3, 0.8], [0.2, 0.7], math.inf, 0.0),  # equal up to rounding
        ([0.2, 0.7], [0.3, 0.8], -math.inf, 1.0),
    ],
)
def test_differences_without_spread(
    ours: list[float], theirs: list[float], t: float, p: float
) -> None:
    result = paired_t_test(ours, theirs)
    assert (result.t, result.p) == (t, p)


@pytest.mark.parametrize(
    ("ours", "theirs", "difference"), [([0.5], [0.25], 0.25), ([], [], math.nan)]
)
def test_one_crawl_proves_nothing(
    ours: list[float], theirs: list[float], difference: float
) -> None:
    result = paired_t_test(ours, theirs)
    assert result.difference == pytest.approx(difference, nan_ok=True)
    assert result.df == 0
    assert math.isnan(result.t)
    assert math.isnan(result.p)


def test_a_test_needs_pairs() -> None:
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        paired_t_test([1, 2], [1, 2, 3])


def test_interval_by_hand() -> None:
    # With 2 degrees of freedom the quantile q of P(T ≤ t) is (2q − 1) / √(2q (1 − q)).
    quantile = 0.95 / math.sqrt(2 * 0.975 * 0.025)
    interval = mean_interval([1, 2, 3])
    assert float(interval.mean) == pytest.approx(2)
    assert float(interval.low) == pytest.approx(2 - quantile / math.sqrt(3))
    assert float(interval.high) == pytest.approx(2 + quantile / math.sqrt(3))


def test_intervals_of_curves_are_those_of_their_columns() -> None:
    curves = np.array([[0.1, 0.5, 0.9], [0.2, 0.5, 0.7], [0.6, 0.5, 0.8], [0.4, 0.5, 0.9]])
    together = mean_interval(curves, confidence=0.9)
    for column in range(3):
        alone = mean_interval(curves[:, column], confidence=0.9)
        for part, whole in zip(alone, together, strict=True):
            np.testing.assert_allclose(whole[column], part, rtol=1e-12, atol=0)
    assert together.low[1] == together.high[1] == 0.5


def test_one_crawl_has_no_interval() -> None:
    interval = mean_interval([[0.25, 0.5]])
    np.testing.assert_array_equal(interval.mean, [0.25, 0.5])
    assert np.isnan([interval.low, interval.high]).all()


@pytest.mark.parametrize(
    ("values", "confidence", "message"),
    [([], 0.95, "at least one crawl"), ([1.0, 2.0], 95, "between 0 and 1, got 95")],
)
def test_intervals_that_are_none(values: list[float], confidence: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mean_interval(values, confidence)


def test_the_metrics_import_neither_scrapy_nor_scipy() -> None:
    code = (
        "import sys, focusspider.evaluation.metrics, focusspider.evaluation.significance, "
        "focusspider.evaluation.similarity, focusspider.evaluation.omniscient; "
        "print(sorted({'scrapy', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
