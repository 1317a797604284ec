"""Whether a difference between two strategies is more than luck, over a set of crawls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Interval", "TTest", "mean_interval", "paired_t_test"]


class TTest(NamedTuple):
    """Outcome of a one-tailed paired t-test.

    ``difference`` is the mean difference, ``t`` Student's statistic with ``df`` degrees of
    freedom, and ``p`` the probability of a t at least as large if the two are equally good.
    """

    difference: float
    t: float
    df: int
    p: float


class Interval(NamedTuple):
    """A mean and the ends of its confidence interval, one of each a column."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def paired_t_test(ours: ArrayLike, theirs: ArrayLike) -> TTest:
    """Test whether ``ours`` is larger than ``theirs`` on the same crawls.

    The null hypothesis is that both are equally good, the alternative that ours is better
    (hub-seeking section 3: Pant and Menczer, ECDL 2003). With d the differences over n
    crawls, t = mean(d) / (sd(d) / √n) has n − 1 degrees of freedom.

    Fewer than two crawls prove nothing: t and p are NaN. Where all differences are the
    same, there is no spread to measure them by: t is 0 and p one half if they are 0, else
    t is infinite and p is 0 or 1.
    """
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"a paired test needs one value a crawl of both, got shapes {a.shape} and {b.shape}"
        )
    n = len(a)
    if n < 2:
        return TTest(float((a - b).sum()) if n else math.nan, math.nan, max(n - 1, 0), math.nan)
    differences = a - b
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    # What is left of equal differences after rounding is no spread.
    if error <= 1e-14 * float(np.abs([a, b]).max()):
        t = 0.0 if abs(mean) <= error else math.copysign(math.inf, mean)
    else:
        t = mean / error
    from scipy.stats import t as student

    return TTest(mean, t, n - 1, float(student.sf(t, n - 1)))


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Return the mean over crawls with its confidence interval.

    mean ± t(n − 1) · sd / √n, where t is the two-sided quantile of Student's distribution.

    Parameters
    ----------
    values : array_like, shape (n_crawls, ...)
        One number, or one curve, a crawl.
    confidence : float
        In (0, 1).

    Returns
    -------
    Interval
        Arrays of shape (...). With one crawl the ends are NaN: one crawl has no spread.
    """
    array = np.asarray(values, dtype=np.float64)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is between 0 and 1, got {confidence}")
    if array.ndim < 1 or not len(array):
        raise ValueError("an interval needs at least one crawl, got none")
    n = len(array)
    mean = array.mean(axis=0)
    if n == 1:
        unknown = np.full_like(mean, np.nan)
        return Interval(mean, unknown, unknown.copy())
    from scipy.stats import t as student

    half = student.ppf((1 + confidence) / 2, n - 1) * array.std(axis=0, ddof=1) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half)
