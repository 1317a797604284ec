"""What a crawl brought, from the order in which it fetched.

A crawl is an array of truth values, one a fetched page in the order of fetching: whether
the page is one of the targets. Each target is flagged once (:func:`relevant_flags`). A
curve has a value for each N = 1, 2, …, pages fetched.

Two conventions hold everywhere. A crawl that ended before N keeps the value that it ended
with. A crawl that fetched nothing has harvested nothing: 0.

HCLA is Almpanidis, Kotropoulos and Pitas, "Combining text and link analysis for focused
crawling", Information Systems 32 (2007). Hub-seeking is Pant and Menczer, "Topical
crawling for business intelligence", ECDL 2003.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "RECALL_LEVELS",
    "Effectiveness",
    "at_pages",
    "at_recall",
    "average_precision_relative",
    "f1",
    "harvest_curve",
    "harvest_rate",
    "headroom",
    "pages_for_share",
    "pooled_headroom",
    "recall",
    "recall_area",
    "recall_curve",
    "relevant_flags",
    "running_mean",
    "value_at",
]

#: The levels of recall at which precision and F1 are reported.
RECALL_LEVELS = (0.1, 0.5, 0.9, 1.0)

# 0.1 · 30 is a little more than 3 in binary, and must not ask for a fourth page.
_ROUNDING = 1e-9


class Effectiveness(NamedTuple):
    """Precision, recall and F1 after a number of pages; None pages: never got there."""

    pages: int | None
    precision: float
    recall: float
    f1: float


def relevant_flags(fetched: Iterable[Hashable], targets: Collection[Hashable]) -> NDArray[np.bool_]:
    """Return which fetched pages are targets, each target at its first fetch, (n,).

    >>> relevant_flags(["seed", "x", "y", "x"], {"x", "z"}).tolist()
    [False, True, False, False]
    """
    missing = set(targets)
    flags = []
    for page in fetched:
        flags.append(page in missing)
        missing.discard(page)
    return np.array(flags, dtype=np.bool_)


def running_mean(values: ArrayLike) -> NDArray[np.float64]:
    """Return the mean of the first N values for each N; axis 0 counts the pages."""
    array = np.asarray(values, dtype=np.float64)
    counts = np.arange(1, len(array) + 1).reshape(-1, *[1] * (array.ndim - 1))
    means: NDArray[np.float64] = np.cumsum(array, axis=0) / counts
    return means


def value_at(curve: NDArray[np.float64], n: int) -> float:
    """Return the value of a curve after n pages, or its last one if it ended before."""
    if n < 1:
        raise ValueError(f"a curve begins after 1 page, got {n}")
    return float(curve[min(n, len(curve)) - 1]) if len(curve) else 0.0


def pages_for_share(share: float, reachable: int) -> int:
    """Return how many pages a share of a crawl is, rounded up, at least 1.

    >>> pages_for_share(0.1, 1115), pages_for_share(0.1, 30)
    (112, 3)
    """
    if not 0 < share <= 1:
        raise ValueError(f"a share of a crawl is in (0, 1], got {share}")
    return max(1, int(np.ceil(share * reachable - _ROUNDING)))


def harvest_curve(relevant: ArrayLike) -> NDArray[np.float64]:
    """Return the harvest rate N_c / N_t after each page, (n,).

    HCLA eq. 20, where N_t is the number of pages crawled so far and N_c how many of them
    are relevant. It is the precision of HCLA eq. 21 under another name.
    """
    return running_mean(relevant)


def harvest_rate(relevant: ArrayLike, n: int) -> float:
    """Return the harvest rate after n pages (HCLA eq. 20).

    >>> harvest_rate([False, True, True, False], 3)
    0.6666666666666666
    """
    return value_at(harvest_curve(relevant), n)


def recall_curve(relevant: ArrayLike, targets: int) -> NDArray[np.float64]:
    """Return the share of the targets that is found after each page, (n,).

    HCLA eq. 22, and hub-seeking eq. 4, target recall@N = |T ∩ C^N| / |T|, where the flags
    are those of the target pages. ``targets`` is |T|: all of them, or those that can be
    reached; the two give different figures, so say which.
    """
    found = np.cumsum(np.asarray(relevant, dtype=np.int64))
    _check_targets(int(found[-1]) if len(found) else 0, targets)
    curve: NDArray[np.float64] = found / targets
    return curve


def recall(relevant: ArrayLike, targets: int, n: int) -> float:
    """Return the recall after n pages (HCLA eq. 22, hub-seeking eq. 4)."""
    return value_at(recall_curve(relevant, targets), n)


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall (HCLA eq. 23), 0 if both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def at_pages(relevant: ArrayLike, targets: int, n: int) -> Effectiveness:
    """Return precision, recall and F1 after n pages (HCLA eq. 21 to 23).

    ``pages`` of the answer is n, or the number of pages fetched if that is less.
    """
    flags = np.asarray(relevant, dtype=np.bool_)
    precision, found = harvest_rate(flags, n), recall(flags, targets, n)
    return Effectiveness(min(n, len(flags)), precision, found, f1(precision, found))


def at_recall(relevant: ArrayLike, targets: int, level: float) -> Effectiveness:
    """Return precision, recall and F1 where recall first is at least ``level``.

    HCLA table 3 and eq. 21 to 23. The recall is the one that is had there, which one
    target more may lift above the level. A level that is never reached has precision and
    F1 of 0 and None pages: that is the limit of fetching on without finding, and a mean
    over crawls must not leave out those that failed. Its recall is the last one.
    """
    if not 0 < level <= 1:
        raise ValueError(f"a level of recall is in (0, 1], got {level}")
    flags = np.asarray(relevant, dtype=np.bool_)
    places = np.flatnonzero(flags)
    _check_targets(len(places), targets)
    needed = int(np.ceil(level * targets - _ROUNDING))
    if needed > len(places):
        return Effectiveness(None, 0.0, len(places) / targets, 0.0)
    return at_pages(flags, targets, int(places[needed - 1]) + 1)


def recall_area(relevant: ArrayLike, targets: int, reachable: int) -> float:
    """Return the area under the recall curve: the mean recall over n = 1 … reachable.

    A crawl that ends early keeps its recall for the rest; pages after the first
    ``reachable`` do not count. As a target found at page p counts from there on, this is
    Σ max(0, reachable + 1 − p) / (targets · reachable) over the found targets.

    >>> recall_area([True, False, True], targets=2, reachable=4)  # (½ + ½ + 1 + 1) / 4
    0.75
    """
    places = np.flatnonzero(np.asarray(relevant, dtype=np.bool_)) + 1
    _check_targets(len(places), targets)
    if reachable < targets:
        raise ValueError(f"{targets} targets cannot be among {reachable} reachable pages")
    return float(np.maximum(reachable + 1 - places, 0).sum() / (targets * reachable))


def headroom(area: float, baseline: float, bound: float) -> float:
    """Return the share of what can be gained over breadth-first that a crawl gains.

    (area − baseline) / (bound − baseline), of areas under the recall curve: 0 is no better
    than breadth-first, 1 is the omniscient crawler, below 0 is worse than breadth-first.
    NaN where the bound is no better than the baseline.
    """
    room = bound - baseline
    return (area - baseline) / room if room > 0 else float("nan")


def pooled_headroom(areas: ArrayLike, baselines: ArrayLike, bounds: ArrayLike) -> float:
    """Return the headroom captured over several crawls: means first, then the ratio.

    A crawl where breadth-first is near the bound makes its own ratio explode, and would
    rule a mean of ratios.

    >>> pooled_headroom([0.8, 0.90], [0.5, 0.98], [0.9, 0.99])
    0.5365853658536588
    """
    columns = [np.asarray(column, dtype=np.float64) for column in (areas, baselines, bounds)]
    if len({column.shape for column in columns}) != 1 or not columns[0].size:
        raise ValueError(
            f"a pooled headroom needs an area, a baseline and a bound of each crawl, got "
            f"{[column.size for column in columns]}"
        )
    area, baseline, bound = (float(column.mean()) for column in columns)
    return headroom(area, baseline, bound)


def average_precision_relative(precision: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Return the average precision relative to best-first search, APR.

    Liu and Milios, "Probabilistic models for focused web crawling" (2010), eq. 40 and the
    text below it: the ratio of the precisions at each relevance threshold (0.5 to 0.8 in
    the paper), then its mean over the thresholds. 1 is as good as best-first search.

    Parameters
    ----------
    precision, baseline : array_like, shape (n_thresholds, ...)
        At each threshold, the precision of the method and of best-first search on the same
        topic: at one N, or curves of one length.

    Returns
    -------
    ndarray of shape (...)
        A threshold at which the baseline found nothing is left out; NaN where it found
        nothing at any.
    """
    ours, theirs = np.asarray(precision, np.float64), np.asarray(baseline, np.float64)
    if ours.shape != theirs.shape or ours.ndim < 1:
        raise ValueError(f"precisions have shapes {ours.shape} and {theirs.shape}, not the same")
    usable = theirs > 0
    ratios = np.divide(ours, theirs, out=np.zeros_like(ours), where=usable)
    counts = usable.sum(axis=0)
    means: NDArray[np.float64] = np.full(ours.shape[1:], np.nan)
    np.divide(ratios.sum(axis=0), counts, out=means, where=counts > 0)
    return means


def _check_targets(found: int, targets: int) -> None:
    if targets < 1:
        raise ValueError(f"recall needs at least 1 target, got {targets}")
    if found > targets:
        raise ValueError(f"{found} relevant pages were fetched, but there are {targets} targets")
