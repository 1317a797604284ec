"""Priorities: one unsigned integer below 2^50, bigger is sooner.

Fifty bits fit exactly into a float64, so a Redis sorted set and an SQLite column hold a
priority as it is. There are two makers, one for scalars and one for belief vectors.

In a crawl that scores its links, the ends of the range are kept for requests that the
spider orders itself: from :data:`FIRST` on they come before every link, and below
:data:`SCORED_MIN` after every link. One value is outside of the range: what has
:data:`HELD` waits, and is not asked for until its priority is raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BELIEF_BITS",
    "BELIEF_COMPONENTS",
    "FIRST",
    "HELD",
    "LEVELS",
    "PRIORITY_BITS",
    "PRIORITY_MAX",
    "SCORED_MIN",
    "among_scores",
    "around_scores",
    "belief_priorities",
    "request_priority",
    "scalar_priorities",
    "to_level",
    "to_score",
]

PRIORITY_BITS = 50
PRIORITY_MAX: int = 2**PRIORITY_BITS - 1
#: What a strategy gives a link that is to wait until a rerank raises it.
HELD: int = -1
#: Bits of one component of a belief vector: 1000 steps of 1/1000 fit into 10 bits.
BELIEF_BITS = 10
#: Components that there is room for.
BELIEF_COMPONENTS = PRIORITY_BITS // BELIEF_BITS
#: How many distinct priorities Scrapy's own queues are given: they keep a queue for each.
LEVELS = 64
#: What comes before every link is here or above: room for the user's priorities 0 to 2^20 - 1.
FIRST: int = 2**PRIORITY_BITS - 2**20
#: What comes after every link is below: room for the user's priorities -1 to -1024. It is as
#: much as a belief vector leaves unused, whose components sum to 1.
SCORED_MIN: int = 2**BELIEF_BITS


def scalar_priorities(scores: ArrayLike) -> NDArray[np.int64]:
    """Put scores in [0, 1] on the grid of 2^50 steps.

    Scores outside the interval are clipped, and NaN counts as 0: a score that could not
    be computed must not come before one that could.

    >>> scalar_priorities([0.0, 0.5, 1.0]).tolist()
    [0, 562949953421312, 1125899906842623]
    """
    clipped = np.clip(
        np.nan_to_num(np.atleast_1d(np.asarray(scores, dtype=np.float64)), nan=0.0), 0.0, 1.0
    )
    steps: NDArray[np.int64] = (clipped * float(2**PRIORITY_BITS)).astype(np.int64)
    steps[steps > PRIORITY_MAX] = PRIORITY_MAX
    return steps


def belief_priorities(beliefs: ArrayLike) -> NDArray[np.int64]:
    """Pack belief vectors (n, k), k at most 5, with T0 in the top bits.

    This is the lexicographic order of the papers with ε = 0.001, made transitive: a test
    of |x - y| < ε is no order, and no heap can hold it.

    >>> low, high = belief_priorities([[0.2, 0.8], [0.2004, 0.1]]).tolist()
    >>> low > high  # 0.2 and 0.2004 are one step; then the second component decides
    True
    """
    matrix = np.atleast_2d(np.asarray(beliefs, dtype=np.float64))  # (n, k)
    if matrix.shape[1] > BELIEF_COMPONENTS:
        raise ValueError(
            f"a belief vector has at most {BELIEF_COMPONENTS} components, got {matrix.shape[1]}"
        )
    steps = np.rint(np.clip(np.nan_to_num(matrix, nan=0.0), 0.0, 1.0) * 1000).astype(np.int64)
    packed = np.zeros(len(matrix), dtype=np.int64)
    for column in range(BELIEF_COMPONENTS):
        packed <<= BELIEF_BITS
        if column < steps.shape[1]:
            packed |= steps[:, column]
    return packed


def among_scores(priorities: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keep the priorities of links between :data:`SCORED_MIN` and :data:`FIRST`, or held.

    >>> among_scores(np.array([0, 2**49, PRIORITY_MAX])).tolist() == [SCORED_MIN, 2**49, FIRST - 1]
    True
    >>> among_scores(np.array([HELD])).tolist() == [HELD]
    True
    """
    among = np.clip(priorities, SCORED_MIN, FIRST - 1)
    among[priorities == HELD] = HELD
    return among


def around_scores(priority: int) -> int:
    """Put the ``Request.priority`` that a spider gave before every link, or after if negative.

    Their order is kept from -1024 to 2^20 - 1, and those beyond are equal.

    >>> around_scores(-2) < around_scores(-1) < SCORED_MIN
    True
    >>> FIRST == around_scores(0) < around_scores(1) < around_scores(10**6) < 2**50
    True
    """
    if priority >= 0:
        return min(FIRST + priority, PRIORITY_MAX)
    return max(SCORED_MIN + priority, 0)


def request_priority(priority: int) -> int:
    """Put Scrapy's integer priorities on ours: 0 in the middle, order kept.

    >>> request_priority(-1) < request_priority(0) < request_priority(10**6) < 2**50
    True
    """
    middle = (PRIORITY_MAX + 1) // 2
    return middle + max(-middle, min(middle - 1, priority))


def to_score(priority: int) -> float:
    """Return a priority as a number in [0, 1), for people and items; 0 for what is held.

    >>> to_score(2**49), to_score(HELD)
    (0.5, 0.0)
    """
    return max(priority, 0) / float(2**PRIORITY_BITS)


def to_level(priority: int) -> int:
    """Return one of 64 levels, for Scrapy's own queues.

    The square root spreads the low end, where the cosines of real pages are crowded. What
    comes before or after every link keeps the order that its spider gave it.

    >>> to_level(SCORED_MIN), to_level(FIRST - 1)
    (0, 63)
    >>> to_level(around_scores(-5)), to_level(around_scores(7))
    (-5, 71)
    """
    if priority >= FIRST:
        return LEVELS + priority - FIRST
    if priority < SCORED_MIN:
        return priority - SCORED_MIN
    return min(int(to_score(priority) ** 0.5 * LEVELS), LEVELS - 1)
