"""What came of a page: its own relevance, or a share of what it has opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.strategies.linkevidence import Snapshot

__all__ = ["PageValues", "credit_share", "page_values", "wanted"]

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


class PageValues(NamedTuple):
    """What came of each row, and what would have but for one of the links to it.

    Attributes
    ----------
    found
        What each row is, in [0, 1], (n_rows,).
    share
        What having opened something is worth of that, in [0, 1].
    best
        The best of what each row was the first to lead to, (n_rows,).
    others
        The same but for ``by``, (n_rows,).
    by
        The node to which the best is owed, (n_rows,), or -1.
    """

    found: NDArray[np.float64]
    share: float
    best: NDArray[np.float64]
    others: NDArray[np.float64]
    by: NDArray[np.int64]

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """What came of each row, in [0, 1], (n_rows,)."""
        outcomes: NDArray[np.float64] = np.maximum(self.found, self.share * self.best)
        return outcomes

    def until(self, rows: int) -> PageValues:
        """Return those of the first rows."""
        return PageValues(
            self.found[:rows], self.share, self.best[:rows], self.others[:rows], self.by[:rows]
        )

    def without(self, rows: NDArray[Any], nodes: NDArray[Any]) -> NDArray[np.float64]:
        """Return what came of rows but for what each owes to a node, (n,).

        What is told of a link by the page that has it must not hold what came of that very
        link: a page that is credited for it would tell its outcome.
        """
        opened = np.where(self.by[rows] == nodes, self.others[rows], self.best[rows])
        values: NDArray[np.float64] = np.maximum(self.found[rows], self.share * opened)
        return values


def page_values(
    seen: Snapshot,
    found: NDArray[np.float64],
    share: float,
    expected: NDArray[np.float64] | None = None,
) -> PageValues:
    """Return what came of each row: what it is, or a share of the best that it has opened.

    Children and grandchildren count; the parent of a page is the page that first linked to
    it.

    Parameters
    ----------
    found
        What each row is, in [0, 1], (n_rows,).
    share
        What opening is worth, in [0, 1].
    expected
        What each node is thought to be that waits, (n_nodes,), and 0 for the others: a page
        is worth something for what it leads to before that is fetched.
    """
    n = len(found)
    parents = seen.row_parent
    linked = np.flatnonzero(parents >= 0)
    brought = found  # what each row is, or leads to in one generation less than its parent
    for _ in range(_GENERATIONS - 1):
        below = np.zeros(n)
        np.maximum.at(below, parents[linked], brought[linked])
        brought = np.maximum(found, below)
    nodes = seen.row_node[linked].astype(np.int64)
    rows, values = parents[linked].astype(np.int64), brought[linked]
    if expected is not None:
        first = seen.node_parent[: len(expected)]
        hopeful = np.flatnonzero((first >= 0) & (expected > 0))
        hopeful = hopeful[seen.node_row[hopeful] < 0]
        nodes = np.concatenate([nodes, hopeful])
        rows = np.concatenate([rows, first[hopeful]])
        values = np.concatenate([values, expected[hopeful]])
    best, others = np.zeros(n), np.zeros(n)
    np.maximum.at(best, rows, values)
    owed = (values == best[rows]) & (values > 0)
    by = np.full(n, -1, dtype=np.int64)
    by[rows[owed]] = nodes[owed]
    rest = by[rows] != nodes
    np.maximum.at(others, rows[rest], values[rest])
    return PageValues(found, share, best, others, by)


def credit_share(found: NDArray[np.float64]) -> float:
    """Return (1 - h)⁴, where h is the recent harvest rate.

    Where targets are rare, the pages that lead to them are worth nearly as much; where
    every second page is one, the next is at hand anyway.
    """
    recent = found[-max(_RECENT, len(found) // 4) :]
    return float((1 - recent.mean()) ** _STEEPNESS) if len(recent) else 1.0
