"""A bandit over hosts and tag paths, for sites whose links say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """

    def __init__(self, seen: Snapshot, paths: SuccessTable, silence: float) -> None:
        self._seen = seen
        self._paths = paths
        self.silence = silence

    def of_best(
        self, waiting: NDArray[np.int64], tried: NDArray[np.uint64], n: int
    ) -> NDArray[np.int64]:
        """Return those nodes that wait in the n best groups: of others n links are none.

        ``tried`` has the keys of URLs that were chosen before: as long as one is not fetched,
        it counts as a trial that has brought nothing.
        """
        links, group, upper, _ = self._groups(waiting, tried)
        best = np.argsort(-upper, kind="stable")[:n]
        chosen = np.zeros(self._seen.n_nodes, dtype=np.bool_)
        chosen[self._seen.link_node[links[np.isin(group, best)]]] = True
        return np.flatnonzero(chosen)

    def choose(
        self, log_odds: NDArray[np.float64], tried: NDArray[np.uint64], n: int
    ) -> NDArray[np.int64]:
        """Return up to n nodes, each of the group that is then the best.

        ``log_odds`` are those of nodes that wait, and NaN of the others, (n_nodes,).
        """
        waiting = self.of_best(np.flatnonzero(~np.isnan(log_odds)), tried, n)
        links, group, upper, counts = self._groups(waiting, tried)
        nodes = self._seen.link_node[links].astype(np.int64)
        order = np.lexsort((nodes, -log_odds[nodes], group))
        ends = np.searchsorted(group[order], np.arange(len(upper)), side="right")
        places = np.searchsorted(group[order], np.arange(len(upper)))
        chosen: list[int] = []
        taken: set[int] = set()
        while len(chosen) < n and (upper > -np.inf).any():
            best = int(upper.argmax())
            while places[best] < ends[best] and int(nodes[order[places[best]]]) in taken:
                places[best] += 1  # a node may be in several groups
            if places[best] == ends[best]:
                upper[best] = -np.inf
                continue
            one = int(nodes[order[places[best]]])
            chosen.append(one)
            taken.add(one)
            counts[0, best] += 1
            upper[best] = self._paths.upper(*counts[:, best])
        return np.array(chosen, dtype=np.int64)

    def _groups(
        self, waiting: NDArray[np.int64], tried: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return links to what waits, their groups by number, and of each its bound and counts."""
        seen = self._seen
        pending = (seen.node_row < 0) & np.isin(seen.node_key, tried)
        waits = np.zeros(seen.n_nodes, dtype=np.bool_)
        waits[waiting] = True
        waits &= ~pending
        links = np.flatnonzero((waits | pending)[seen.link_node])
        keys, group = np.unique(groups_of(seen, links)[_PATHS], return_inverse=True)
        counts = np.stack(self._paths.counts(keys))  # trials and successes, (2, n_groups)
        of_pending = pending[seen.link_node[links]]
        counts[0] += np.bincount(group[of_pending], minlength=len(keys))
        upper = self._paths.upper(*counts)
        links, group = links[~of_pending], group[~of_pending]
        upper[np.bincount(group, minlength=len(keys)) == 0] = -np.inf
        return links, group, upper, counts


def wordless(seen: Snapshot) -> float:
    """Return how nearly no link holds a keyword, in its anchor, context or URL, in [0, 1].

    1 where none does, and 0 where one in twenty does or more.
    """
    holds = seen.text_cosine[seen.link_anchor] > 0
    holds |= seen.text_cosine[seen.link_context] > 0
    holds |= seen.node_numbers[seen.link_node, KEYWORDS] > 0
    return max(0.0, 1 - _ONE_IN * float(holds.mean())) if len(holds) else 0.0
