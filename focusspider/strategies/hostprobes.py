"""Which hosts are worth a look that no page of was fetched: one cheap probe each."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.strategies.urlspelling import URL_GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.strategies.linktables import Snapshot

__all__ = ["HostProbes", "allowed_probes"]

#: Column of ``node_groups`` that is the host.
_HOST = URL_GROUPS.index("host")
#: Pages up to which the share of probes stays the same; it then falls as 1/√n.
_STEADY_UNTIL = 400


def allowed_probes(explore: float, n: int) -> int:
    """Return how many probes a crawl of n pages may have made.

    A share ``explore`` of the first 400 pages, and less and less of the later ones: of n pages
    explore · √(400 n).

    >>> [allowed_probes(0.05, n) for n in (100, 400, 10_000)]
    [5, 20, 100]
    """
    return int(explore * min(n, sqrt(_STEADY_UNTIL * n)))


class HostProbes:
    """The hosts of which nothing was fetched that are given a chance, each once.

    Links to another host say little of what is there, so its entrance may wait for thousands
    of pages. The best link to it is raised above all others, and stays there until it is
    fetched: a host may be slow. One that does not answer is not asked again.

    Parameters
    ----------
    explore
        Share of the first 400 pages that it may be; see :func:`allowed_probes`.
    """

    def __init__(self, explore: float) -> None:
        self._explore = explore
        # Hashes of the hosts, and the keys of the URLs that were raised. Never changed in
        # place: a rerank may be in another thread than what reads them for a checkpoint.
        self._probed = (np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.uint64))

    def __len__(self) -> int:
        """Return the number of hosts that were given their chance."""
        return len(self._probed[0])

    def raised(
        self, seen: Snapshot, log_odds: NDArray[np.float64], pages: int
    ) -> NDArray[np.float64]:
        """Return the log odds of nodes with those of the probes above all others, (n_nodes,).

        Parameters
        ----------
        log_odds
            Of each node that waits, NaN of the others, (n_nodes,).
        pages
            Number of pages so far, forgotten ones included.
        """
        hosts, keys = self._probed
        waiting = np.flatnonzero(~np.isnan(log_odds))
        probes = waiting[np.isin(seen.node_key[waiting], keys)]
        left = allowed_probes(self._explore, pages) - len(hosts)
        if left > 0:
            chosen = _best_of_new_hosts(seen, log_odds, hosts)[:left]
            self._probed = (
                np.concatenate([hosts, seen.node_groups[chosen, _HOST]]),
                np.concatenate([keys, seen.node_key[chosen]]),
            )
            probes = np.concatenate([probes, chosen])
        if not len(probes):
            return log_odds
        with_probes = log_odds.copy()
        with_probes[probes] = max(float(np.nanmax(log_odds)), 0.0) + 1.0
        return with_probes

    def has_raised(self, key: int) -> bool:
        """Return whether a URL was raised, by its key."""
        return bool((self._probed[1] == np.uint64(key)).any())

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return the hosts, and what was raised."""
        hosts, keys = self._probed
        return {"hosts": hosts, "keys": keys}

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what an earlier process has raised."""
        self._probed = (memory["hosts"], memory["keys"])


def _best_of_new_hosts(
    seen: Snapshot, log_odds: NDArray[np.float64], probed: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Return the best node of each host of which nothing was fetched nor probed, best first."""
    waiting = np.flatnonzero(~np.isnan(log_odds))
    hosts = seen.node_groups[:, _HOST]
    known = np.concatenate([hosts[seen.row_node], probed])
    unseen = waiting[~np.isin(hosts[waiting], known)]
    by_score = unseen[np.lexsort((unseen, -log_odds[unseen]))]
    _, first = np.unique(hosts[by_score], return_index=True)
    return by_score[np.sort(first)]
