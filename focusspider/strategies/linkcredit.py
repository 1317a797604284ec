"""What came of a page: its own relevance, or a share of what it has opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.strategies.linkevidence import Snapshot

__all__ = ["credit_share", "opened", "wanted"]

#: Generations that a page is given credit for.
_GENERATIONS = 2
#: The harvest rate is that of the last quarter of the crawl, and at least of so many pages.
_RECENT = 50
#: How steeply the credit falls with it.
_STEEPNESS = 4


def wanted(seen: Snapshot) -> NDArray[np.float64]:
    """Return how much each row is what the crawl looks for, in [0, 1], (n_rows,).

    A relevant page is 1, another 0. As long as none is relevant, the relevance of pages
    stands in for it, as a share of the largest: it tells at least which way leads up.
    """
    relevant = seen.row_relevant.astype(np.float64)
    if relevant.any() or not len(relevant):
        return relevant
    relevance = seen.row_relevance.astype(np.float64)
    shares: NDArray[np.float64] = relevance / max(float(relevance.max()), 1e-9)
    return shares


def opened(
    seen: Snapshot, found: NDArray[np.float64], expected: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the best of what each row was the first to lead to, (n_rows,).

    Children and grandchildren count; the parent of a page is the page that first linked to
    it.

    Parameters
    ----------
    found
        What each row is, in [0, 1], (n_rows,).
    expected
        What each node is thought to be that waits, (n_nodes,), and 0 for the others: a page
        is worth something for what it leads to before that is fetched.
    """
    best = np.zeros(len(found))
    parents = seen.row_parent
    child = found
    for _ in range(_GENERATIONS):
        passed = np.zeros(len(found))
        linked = parents >= 0
        np.maximum.at(passed, parents[linked], child[linked])
        best = np.maximum(best, passed)
        child = passed
    if expected is not None:
        parents = seen.node_parent[: len(expected)]
        hopeful = np.flatnonzero((parents >= 0) & (expected > 0))
        hopeful = hopeful[seen.node_row[hopeful] < 0]
        np.maximum.at(best, parents[hopeful], expected[hopeful])
    return best


def credit_share(found: NDArray[np.float64]) -> float:
    """Return (1 - h)⁴, where h is the recent harvest rate.

    Where targets are rare, the pages that lead to them are worth nearly as much; where
    every second page is one, the next is at hand anyway.
    """
    recent = found[-max(_RECENT, len(found) // 4) :]
    return float((1 - recent.mean()) ** _STEEPNESS) if len(recent) else 1.0
