"""What came of a page: its own relevance, or a share for what it has opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.strategies.linktables import Snapshot

__all__ = ["PageValues", "credit_share", "page_values", "recent_harvest", "wanted"]

#: Generations that a page is given credit for.
_GENERATIONS = 2
#: The harvest rate is that of the last quarter of the crawl, and at least of so many pages.
_RECENT = 50
#: How steeply the credit falls with it.
_STEEPNESS = 4
#: What opens so much has half of the credit that there is.
_HALF = 2.0


def wanted(seen: Snapshot, *, doubt: float, elsewhere: float = 0.0) -> NDArray[np.float64]:
    """Return how much each row is what the crawl looks for, in [0, 1], (n_rows,).

    A relevant page is 1. As long as few are, the relevance of the others stands in for it, as a
    share of the largest: it tells at least which way leads up. That counts for doubt / (n +
    doubt), with n relevant pages, so that a first one that is a mistake is not all there is.

    Parameters
    ----------
    elsewhere
        How many relevant pages are known beside these.
    """
    relevant = seen.row_relevant.astype(np.float64)
    if not len(relevant):
        return relevant
    relevance = seen.row_relevance.astype(np.float64)
    shares = relevance / max(float(relevance.max()), 1e-9)
    n = float(relevant.sum()) + elsewhere
    found: NDArray[np.float64] = np.maximum(relevant, shares * doubt / (n + doubt))
    return found


class PageValues(NamedTuple):
    """What came of each row, and what would have but for one of the links to it.

    Attributes
    ----------
    found
        What each row is, in [0, 1], (n_rows,).
    share
        What having opened much is worth of that, in [0, 1].
    opened
        The sum of what each row was the first to lead to, (n_rows,).
    part
        What each node is of that, (n_nodes,).
    opener
        The row of whose sum it is a part, (n_nodes,), or -1.
    """

    found: NDArray[np.float64]
    share: float
    opened: NDArray[np.float64]
    part: NDArray[np.float64]
    opener: NDArray[np.int32]

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """What came of each row, in [0, 1], (n_rows,)."""
        return self._of(self.found, self.opened)

    def until(self, rows: int) -> PageValues:
        """Return those of the first rows."""
        return self._replace(found=self.found[:rows], opened=self.opened[:rows])

    def without(self, rows: NDArray[Any], nodes: NDArray[Any]) -> NDArray[np.float64]:
        """Return what came of rows but for what each owes to a node, (n,).

        What is told of a link by the page that has it must not hold what came of that very
        link: a page that is credited for it would tell its outcome.

        A whole fold is not left out here, as
        :class:`~focusspider.models.success_table.SuccessTable` does: with that, and without the
        figure, crawls found less (docs/results.md).
        """
        own = np.where(self.opener[nodes] == rows, self.part[nodes], 0.0)
        return self._of(self.found[rows], np.maximum(self.opened[rows] - own, 0.0))

    def _of(self, found: NDArray[np.float64], opened: NDArray[np.float64]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = np.maximum(found, self.share * opened / (opened + _HALF))
        return values


def page_values(
    seen: Snapshot,
    found: NDArray[np.float64],
    share: float,
    expected: NDArray[np.float64] | None = None,
    *,
    usual: float = 0.0,
) -> PageValues:
    """Return what came of each row: what it is, or a share for all that it has opened.

    Children and grandchildren count; the parent of a page is the page that first linked to
    it. A page that opens s is worth share · s / (s + 2): one target a third of the share, a
    list of hundred nearly all of it. For the one page with that list a crawl may well follow
    many links that lead nowhere.

    Parameters
    ----------
    found
        What each row is, in [0, 1], (n_rows,).
    share
        What opening is worth at most, in [0, 1].
    expected
        What each node is thought to be that waits, (n_nodes,), and 0 for the others: a page
        is worth something for what it leads to before that is fetched.
    usual
        What any page of the crawl is, in the mean: what is opened counts for what it is above
        that. A page with hundred links of which nothing is known has opened nothing.
    """
    n = len(found)
    parents = seen.row_parent[:n]
    linked = np.flatnonzero(parents >= 0)
    brought = found  # what each row is, or leads to in one generation less than its parent
    for _ in range(_GENERATIONS - 1):
        below = np.zeros(n)
        np.maximum.at(below, parents[linked], brought[linked])
        brought = np.maximum(found, below)
    above = np.maximum(brought - usual, 0.0)
    opened = np.bincount(parents[linked], above[linked], minlength=n).astype(np.float64)
    part = np.zeros(seen.n_nodes)
    opener = np.full(seen.n_nodes, -1, dtype=np.int32)
    fetched = np.flatnonzero(seen.node_row >= 0)
    part[fetched] = above[seen.node_row[fetched]]
    opener[fetched] = parents[seen.node_row[fetched]]
    if expected is not None:
        first = seen.node_parent[: len(expected)]
        hopeful = np.flatnonzero((first >= 0) & (expected > usual))
        hopeful = hopeful[seen.node_row[hopeful] < 0]
        part[hopeful] = expected[hopeful] - usual
        opener[hopeful] = first[hopeful]
        opened += np.bincount(first[hopeful], part[hopeful], minlength=n)
    return PageValues(found, share, opened, part, opener)


def recent_harvest(found: NDArray[np.float64]) -> float:
    """Return what a page was in the mean lately: in the last quarter, or the last 50 pages."""
    recent = found[-max(_RECENT, len(found) // 4) :]
    return float(recent.mean()) if len(recent) else 0.0


def credit_share(harvest: float) -> float:
    """Return (1 - h)⁴, where h is the recent harvest rate.

    Where targets are rare, the pages that lead to them are worth nearly as much; where
    every second page is one, the next is at hand anyway.
    """
    return (1 - harvest) ** _STEEPNESS
