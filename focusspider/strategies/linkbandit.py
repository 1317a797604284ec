"""A bandit over hosts and tag paths, for sites whose links say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.strategies.linkgroups import FIRST_OF
from focusspider.strategies.linksuccesses import groups_of
from focusspider.strategies.linktables import KEYWORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.models.success_table import SuccessTable
    from focusspider.strategies.linktables import Snapshot

__all__ = ["PathBandit", "wordless"]

#: Where one link in so many holds a keyword, links say something.
_ONE_IN = 20
_PATHS = FIRST_OF.index("host path")


class _Arms(NamedTuple):
    """Groups of links, and what waits in them.

    Attributes
    ----------
    nodes, groups
        A node that may be chosen, and the number of a group that it is in, (n_pairs,) each.
    counts
        Trials and successes of each group, (2, n_groups).
    bounds
        What each may well bring, -inf where nothing of it may be chosen, (n_groups,).
    """

    nodes: NDArray[np.int64]
    groups: NDArray[np.int64]
    counts: NDArray[np.float64]
    bounds: NDArray[np.float64]


class PathBandit:
    """Chooses links by what others of their tag path and host have brought, or might.

    Where neither words nor addresses tell links apart, their place in the pages may. The next
    link is one of the group with the largest upper bound of what it brings
    (:meth:`~focusspider.models.success_table.SuccessTable.upper`), as far as it is known: a
    group that was tried seldom may be better than it seems. Within a group the best comes
    first, by what else was learnt.

    Parameters
    ----------
    seen
        What the crawl has seen.
    paths
        How often links of one tag path on one host have led to something.
    silence
        How little links say otherwise, in [0, 1].
    waiting
        The nodes that wait. Of what was chosen before, these count as trials that have
        brought nothing: what came of the others is known.
    """

    def __init__(
        self, seen: Snapshot, paths: SuccessTable, silence: float, waiting: NDArray[np.int64]
    ) -> None:
        self._seen = seen
        self._paths = paths
        self.silence = silence
        self._waiting = waiting

    def of_best(
        self, nodes: NDArray[np.int64], tried: NDArray[np.uint64], n: int, most: int
    ) -> NDArray[np.int64]:
        """Return those of the nodes that are in the n best groups, in ascending order.

        ``tried`` has the keys of URLs that were chosen before. At most ``most`` are returned,
        as many of each group, those that were met first, and one of each at least.
        """
        arms = self._arms(nodes, tried)
        best = np.argsort(-arms.bounds, kind="stable")[:n]
        order = np.lexsort((arms.nodes, arms.groups))
        groups = arms.groups[order]
        place = np.arange(len(groups)) - np.searchsorted(groups, groups)  # in its group
        chosen = np.isin(groups, best) & (place < max(1, most // max(1, len(best))))
        return np.unique(arms.nodes[order[chosen]])

    def choose(
        self, log_odds: NDArray[np.float64], tried: NDArray[np.uint64], n: int
    ) -> NDArray[np.int64]:
        """Return up to n nodes, each of the group that is then the best.

        ``log_odds`` are those of nodes that may be chosen, and NaN of the others, (n_nodes,).
        """
        nodes, groups, counts, bounds = self._arms(np.flatnonzero(~np.isnan(log_odds)), tried)
        order = np.lexsort((nodes, -log_odds[nodes], groups))
        numbers = np.arange(len(bounds))
        places = np.searchsorted(groups[order], numbers)
        ends = np.searchsorted(groups[order], numbers, side="right")
        chosen: list[int] = []
        taken: set[int] = set()
        while len(chosen) < n and (bounds > -np.inf).any():
            best = int(bounds.argmax())
            while places[best] < ends[best] and int(nodes[order[places[best]]]) in taken:
                places[best] += 1  # a node may be in several groups
            if places[best] == ends[best]:
                bounds[best] = -np.inf
                continue
            one = int(nodes[order[places[best]]])
            chosen.append(one)
            taken.add(one)
            counts[0, best] += 1
            bounds[best] = self._paths.upper(*counts[:, best])
        return np.array(chosen, dtype=np.int64)

    def _arms(self, nodes: NDArray[np.int64], tried: NDArray[np.uint64]) -> _Arms:
        seen = self._seen
        pending = np.zeros(seen.n_nodes, dtype=np.bool_)
        pending[self._waiting[np.isin(seen.node_key[self._waiting], tried)]] = True
        may = np.zeros(seen.n_nodes, dtype=np.bool_)
        may[nodes] = True
        # Each node once in each of its groups, as successes are counted.
        first = (seen.link_flags >> _PATHS & 1).astype(np.bool_)
        links = np.flatnonzero((may | pending)[seen.link_node] & first)
        keys, groups = np.unique(groups_of(seen, links)[_PATHS], return_inverse=True)
        of_link = seen.link_node[links].astype(np.int64)
        counts = np.stack(self._paths.counts(keys))
        counts[0] += np.bincount(groups[pending[of_link]], minlength=len(keys))
        free = ~pending[of_link]
        nodes, groups = of_link[free], groups[free]
        bounds = self._paths.upper(*counts)
        bounds[np.bincount(groups, minlength=len(keys)) == 0] = -np.inf
        return _Arms(nodes, groups, counts, bounds)


def wordless(seen: Snapshot) -> float:
    """Return how nearly no link holds a keyword, in its anchor, context or URL, in [0, 1].

    1 where none does, and 0 where one in twenty does or more.
    """
    holds = seen.text_cosine[seen.link_anchor] > 0
    holds |= seen.text_cosine[seen.link_context] > 0
    holds |= seen.node_numbers[seen.link_node, KEYWORDS] > 0
    return max(0.0, 1 - _ONE_IN * float(holds.mean())) if len(holds) else 0.0
