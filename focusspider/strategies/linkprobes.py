"""Which links are worth a look whatever was learnt: to new hosts, and those of the first pages."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.strategies.linkcredit import credit_share, recent_harvest
from focusspider.strategies.urlspelling import URL_GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.strategies.linktables import Snapshot

__all__ = ["LinkProbes", "allowed_hosts", "allowed_links"]

#: Column of ``node_groups`` that is the host.
_HOST = URL_GROUPS.index("host")
#: Pages up to which the share of probes stays the same; it then falls as 1/√n. Of new hosts, and
#: of links of the first pages: those are there from the start, and soon looked at.
_HOSTS_UNTIL, _LINKS_UNTIL = 400, 50
#: As long as it stays the same, there are so many links of the first pages for each new host.
_LINKS_A_HOST = 4


def allowed_hosts(explore: float, n: int) -> int:
    """Return how many hosts a crawl of n pages may have looked at.

    A share ``explore`` of the first 400 pages, and less and less of the later ones: of n pages
    explore · √(400 n).

    >>> [allowed_hosts(0.05, n) for n in (100, 400, 10_000)]
    [5, 20, 100]
    """
    return int(explore * min(n, sqrt(_HOSTS_UNTIL * n)))


def allowed_links(explore: float, n: int, harvest: float) -> int:
    """Return how many links of its first pages a crawl of n pages may have looked at.

    Four times the share ``explore`` of the first 50 pages, and of n pages 4 · explore · √(50 n),
    all of it times (1 - h)⁴, where h is the recent harvest rate: what finds enough need not look
    elsewhere.

    >>> [allowed_links(0.05, n, harvest=0.0) for n in (25, 50, 200, 5000)]
    [5, 10, 20, 100]
    >>> allowed_links(0.05, 200, harvest=0.5)
    1
    """
    share = min(1.0, _LINKS_A_HOST * explore) * credit_share(harvest)
    return int(share * min(n, sqrt(_LINKS_UNTIL * n)))


class LinkProbes:
    """What is given a chance whatever was learnt, each once: new hosts, links of the first pages.

    Links to another host say little of what is there, so its entrance may wait for thousands
    of pages; the best link to each host of which nothing was fetched is looked at. And what was
    learnt is of where the crawl has been: the first relevant pages may keep it in their
    neighbourhood, while the way to all others is a link of a page that it began with. Those
    links are looked at as well, the best first.

    What is looked at is raised above all others, and stays there until it is fetched: a host
    may be slow. One that does not answer is not asked again.

    Parameters
    ----------
    explore
        Share of the pages that it may be; see :func:`allowed_hosts` and :func:`allowed_links`.
    """

    def __init__(self, explore: float) -> None:
        self._explore = explore
        # Hashes of the hosts, and the keys of the URLs that were raised: for their hosts, and as
        # links of the first pages. Never changed in place: a rerank may be in another thread
        # than what reads them for a checkpoint.
        no_keys = np.zeros(0, dtype=np.uint64)
        self._probed = (np.zeros(0, dtype=np.uint32), no_keys, no_keys)

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
        hosts, entrances, links = self._probed
        left = allowed_hosts(self._explore, pages) - len(hosts)
        if left > 0:
            chosen = _best_of_new_hosts(seen, log_odds, hosts)[:left]
            hosts = np.concatenate([hosts, seen.node_groups[chosen, _HOST]])
            entrances = np.concatenate([entrances, seen.node_key[chosen]])
        harvest = recent_harvest(seen.row_relevant.astype(np.float64))
        left = allowed_links(self._explore, pages, harvest) - len(links)
        if left > 0:
            chosen = _best_of_first_pages(seen, log_odds, links)[:left]
            links = np.concatenate([links, seen.node_key[chosen]])
        self._probed = (hosts, entrances, links)
        waiting = np.flatnonzero(~np.isnan(log_odds))
        probes = waiting[np.isin(seen.node_key[waiting], np.concatenate([entrances, links]))]
        if not len(probes):
            return log_odds
        with_probes = log_odds.copy()
        with_probes[probes] = max(float(np.nanmax(log_odds)), 0.0) + 1.0
        return with_probes

    def has_raised(self, key: int) -> bool:
        """Return whether a URL was raised, by its key."""
        return any(bool((keys == np.uint64(key)).any()) for keys in self._probed[1:])

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return the hosts, and what was raised."""
        hosts, entrances, links = self._probed
        return {"hosts": hosts, "keys": entrances, "links": links}

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what an earlier process has raised; one of an older version has no links."""
        links = memory.get("links", self._probed[2])
        self._probed = (memory["hosts"], memory["keys"], links)


def _best_of_new_hosts(
    seen: Snapshot, log_odds: NDArray[np.float64], probed: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Return the best node of each host of which nothing was fetched nor probed, best first."""
    waiting = np.flatnonzero(~np.isnan(log_odds))
    hosts = seen.node_groups[:, _HOST]
    known = np.concatenate([hosts[seen.row_node], probed])
    by_score = _best_first(waiting[~np.isin(hosts[waiting], known)], log_odds)
    _, first = np.unique(hosts[by_score], return_index=True)
    return by_score[np.sort(first)]


def _best_of_first_pages(
    seen: Snapshot, log_odds: NDArray[np.float64], probed: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return what waits of the links of pages that no link led to, but for probes, best first."""
    linked = np.zeros(seen.n_nodes, dtype=np.bool_)
    linked[seen.link_node[seen.row_depth[seen.link_row] == 0]] = True
    waiting = np.flatnonzero(linked & ~np.isnan(log_odds))
    return _best_first(waiting[~np.isin(seen.node_key[waiting], probed)], log_odds)


def _best_first(nodes: NDArray[np.int64], log_odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return nodes by their log odds, the largest first; of equals the first."""
    return nodes[np.lexsort((nodes, -log_odds[nodes]))]
