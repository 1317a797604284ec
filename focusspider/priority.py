"""Priorities: one unsigned integer below 2^50, bigger is sooner.

Fifty bits fit exactly into a float64, so a Redis sorted set and an SQLite column hold a
priority as it is. There are two makers, one for scalars and one for belief vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BELIEF_BITS",
    "LEVELS",
    "PRIORITY_BITS",
    "PRIORITY_MAX",
    "belief_priorities",
    "scalar_priorities",
    "to_level",
    "to_score",
]

PRIORITY_BITS = 50
PRIORITY_MAX: int = 2**PRIORITY_BITS - 1
#: Bits of one component of a belief vector: 1000 steps of 1/1000 fit into 10 bits.
BELIEF_BITS = 10
#: How many distinct priorities Scrapy's own queues are given: they keep a queue for each.
LEVELS = 64


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
    components = PRIORITY_BITS // BELIEF_BITS
    if matrix.shape[1] > components:
        raise ValueError(
            f"a belief vector has at most {components} components, got {matrix.shape[1]}"
        )
    steps = np.rint(np.clip(np.nan_to_num(matrix, nan=0.0), 0.0, 1.0) * 1000).astype(np.int64)
    packed = np.zeros(len(matrix), dtype=np.int64)
    for column in range(components):
        packed <<= BELIEF_BITS
        if column < steps.shape[1]:
            packed |= steps[:, column]
    return packed


def to_score(priority: int) -> float:
    """Return a priority as a number in [0, 1), for people and items.

    >>> to_score(2**49)
    0.5
    """
    return priority / float(2**PRIORITY_BITS)


def to_level(priority: int) -> int:
    """Return one of 64 levels, for Scrapy's own queues.

    The square root spreads the low end, where the cosines of real pages are crowded.

    >>> to_level(0), to_level(PRIORITY_MAX)
    (0, 63)
    """
    return min(int(to_score(priority) ** 0.5 * LEVELS), LEVELS - 1)
