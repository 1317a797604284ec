"""URLs that might be followed, or were, each with the links that lead to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.models.success_table import FOLDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.strategies.linktables import Snapshot

__all__ = ["Candidates", "candidates", "changes", "distinct", "folds_of", "largest_of"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Nodes, each with the links that lead to it.

    Attributes
    ----------
    nodes
        (n,).
    links
        Those to the first node, then those to the second, and so on, (m,).
    owners
        Place in ``nodes`` of where each link leads, (m,), in ascending order.
    folds
        Fold of each node, where a model is fitted to what came of it: that fold is then left
        out of what its groups say of it; (n,), or None.
    """

    nodes: NDArray[np.int64]
    links: NDArray[np.int64]
    owners: NDArray[np.int64]
    folds: NDArray[np.int64] | None = None

    @classmethod
    def of_page(cls, nodes: NDArray[np.int64], first: int) -> Candidates:
        """Return the links of a page, from number ``first`` on, each for itself."""
        places = np.arange(len(nodes))
        return cls(nodes, first + places, places)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of links of each node, (n,)."""
        return np.bincount(self.owners, minlength=len(self.nodes))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Places of the first link of each node that has any."""
        return np.flatnonzero(changes(self.owners))

    @cached_property
    def has_one_each(self) -> bool:
        """Whether each node has one link."""
        return len(self.owners) == len(self.nodes) == len(self.starts)

    def folds_of(self, owners: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the fold of each of some nodes, by their place in ``nodes``, if there are any."""
        return None if self.folds is None else self.folds[owners]

    def mean(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean of a figure of links, for each node, (n,)."""
        if self.has_one_each:
            return values.astype(np.float64, copy=False)
        sums = np.bincount(self.owners, values, minlength=len(self.nodes))
        means: NDArray[np.float64] = sums / np.maximum(self.counts, 1)
        return means

    def largest(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the maximum of a figure of links, for each node; 0 where it has none."""
        if self.has_one_each:
            return values.astype(np.float64, copy=False)
        return _largest_from(self.starts, self.owners, values, len(self.nodes))


def largest_of(owners: NDArray[Any], values: NDArray[Any], n: int) -> NDArray[np.float64]:
    """Return the maximum for each owner, whose values follow each other; 0 for none."""
    return _largest_from(np.flatnonzero(changes(owners)), owners, values, n)


def _largest_from(
    starts: NDArray[np.int64], owners: NDArray[Any], values: NDArray[Any], n: int
) -> NDArray[np.float64]:
    largest = np.zeros(n)
    if len(owners):
        largest[owners[starts]] = np.maximum.reduceat(values, starts)
    return largest


def changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values differ from the one before, (n,); the first does.

    >>> changes(np.array([2, 2, 3])).tolist()
    [True, False, True]
    """
    changed = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def candidates(
    seen: Snapshot,
    nodes: NDArray[np.int64],
    links: NDArray[np.int64],
    folds: NDArray[np.int64] | None = None,
) -> Candidates:
    """Return nodes with those of the links that lead to them."""
    place = np.full(seen.n_nodes, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    owners = place[seen.link_node[links]]
    chosen = np.flatnonzero(owners >= 0)
    order = chosen[np.argsort(owners[chosen], kind="stable")]
    return Candidates(nodes, links[order], owners[order], folds)


def distinct(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the values in ascending order, each once.

    numpy's ``unique`` goes by a hash table since version 2.3, which takes many times as long
    for values that are nearly in order.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ascending = values.astype(np.int64)
    ascending.sort()
    return ascending[changes(ascending)]


def folds_of(seen: Snapshot, nodes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the fold of each node, spread evenly over neighbours, (n,).

    URLs that have led to the same page are in one fold: what is left out for one of them must
    not be told by another.
    """
    rows = seen.node_row[nodes]
    reached = (
        np.where(rows >= 0, seen.row_node[np.maximum(rows, 0)], nodes) if seen.n_rows else nodes
    )
    spread: NDArray[np.int64] = (reached.astype(np.int64) * 2_654_435_761 >> 16) % FOLDS
    return spread
