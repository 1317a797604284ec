"""Which links are worth a look whatever was learnt: to new hosts, of first pages, by a bandit."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.strategies.linkcredit import credit_share, recent_harvest
from focusspider.strategies.urlspelling import URL_GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.strategies.linkbandit import PathBandit
    from focusspider.strategies.linktables import Snapshot

__all__ = ["LinkProbes", "allowed_hosts", "allowed_links", "allowed_tries"]

#: Column of ``node_groups`` that is the host.
_HOST = URL_GROUPS.index("host")
#: Pages up to which the share of probes stays the same; it then falls as 1/√n. Of new hosts, and
#: what a bandit chooses; and of links of the first pages: those are there from the start, and soon
#: looked at.
_HOSTS_UNTIL, _LINKS_UNTIL = 400, 50
#: As long as it stays the same, there are so many links of the first pages for each new host.
_LINKS_A_HOST = 4
#: Most URLs of each kind that are compared where not all that waits is scored anew.
_MOST = 1_000


def allowed_hosts(explore: float, n: int) -> int:
    """Return how many hosts a crawl of n pages may have looked at.

    A share ``explore`` of the first 400 pages, and less and less of the later ones: of n pages
    explore · √(400 n).

    >>> [allowed_hosts(0.05, n) for n in (100, 400, 10_000)]
    [5, 20, 100]
    """
    return int(explore * min(n, sqrt(_HOSTS_UNTIL * n)))


def allowed_links(explore: float, n: int) -> float:
    """Return how many links of its first pages a crawl of n pages may have looked at.

    Where it finds nothing: four times the share ``explore`` of the first 50 pages, and of n
    pages 4 · explore · √(50 n). Each page counts times (1 - h)⁴, with the recent harvest rate h
    of that moment: what finds enough need not look elsewhere.

    >>> [round(allowed_links(0.05, n)) for n in (25, 50, 200, 5000)]
    [5, 10, 20, 100]
    """
    return min(1.0, _LINKS_A_HOST * explore) * min(n, sqrt(_LINKS_UNTIL * n))


def allowed_tries(explore: float, n: int) -> float:
    """Return how often a bandit may choose in a crawl of n pages where links say nothing.

    Four times the share ``explore`` of the first 400 pages, and of n pages
    4 · explore · √(400 n). Each page counts times (1 - h)⁴, as above, and times how little
    links say at that moment.

    >>> [round(allowed_tries(0.05, n)) for n in (100, 400, 10_000)]
    [20, 80, 400]
    """
    return min(1.0, _LINKS_A_HOST * explore) * min(n, sqrt(_HOSTS_UNTIL * n))


class _Probed(NamedTuple):
    """What was looked at so far.

    Attributes
    ----------
    hosts
        Hashes of the hosts.
    entrances, links
        Keys of the URLs: of those of the hosts, and of links of the first pages.
    tried
        Keys of the URLs that a bandit has chosen.
    pages
        Number of pages up to which it was counted how much is allowed.
    earned, tries
        How many links of the first pages, and how many choices of a bandit.
    """

    hosts: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
    entrances: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
    links: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
    tried: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
    pages: int = 0
    earned: float = 0.0
    tries: float = 0.0

    @property
    def links_left(self) -> int:
        """How many more links may be looked at; what is earned by fifths is whole in the end."""
        return int(self.earned + 1e-9) - len(self.links)

    @property
    def tries_left(self) -> int:
        """How often a bandit may choose."""
        return int(self.tries + 1e-9) - len(self.tried)

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The keys of all that was looked at."""
        return np.concatenate([self.entrances, self.links, self.tried])


class LinkProbes:
    """What is given a chance whatever was learnt: new hosts, links of first pages, a bandit's.

    Links to another host say little of what is there, so its entrance may wait for thousands
    of pages; the best link to each host of which nothing was fetched is looked at. And what was
    learnt is of where the crawl has been: the first relevant pages may keep it in their
    neighbourhood, while the way to all others is a link of a page that it began with. Those
    links are looked at as well, the best first. And where links say nothing, since hardly one
    holds a keyword and what model and prior say is no better than chance, a bandit chooses one
    page in five (:class:`~focusspider.strategies.linkbandit.PathBandit`): four times ``explore``,
    times (1 - h)⁴, and times how little links say.

    Each URL is chosen once. A probe stays one until it is fetched: a host may be slow. One that
    does not answer is not asked again.

    Parameters
    ----------
    explore
        Share of the pages that it may be; see :func:`allowed_hosts` and :func:`allowed_links`.
    """

    def __init__(self, explore: float) -> None:
        self._explore = explore
        # Never changed in place: a rerank may be in another thread than what reads it for a
        # checkpoint.
        self._probed = _Probed()

    def candidates(
        self, seen: Snapshot, waiting: NDArray[np.int64], pages: int, bandit: PathBandit
    ) -> NDArray[np.int64]:
        """Return which of the nodes that wait might be chosen now, in ascending order.

        Empty where no look is allowed; at most 1,000 of each kind, those that were met first.
        """
        probed = self._counted(seen, pages, bandit)
        might = np.zeros(seen.n_nodes, dtype=np.bool_)
        if self._hosts_left(probed, pages) > 0:
            might[_of_new_hosts(seen, waiting, probed)[:_MOST]] = True
        if probed.links_left > 0:
            might[_of_first_pages(seen, waiting, probed)[:_MOST]] = True
        if probed.tries_left > 0:
            new = _new(seen, waiting, probed)
            might[bandit.of_best(new, probed.tried, probed.tries_left, _MOST)] = True
        self._probed = probed
        return np.flatnonzero(might)

    def choose(
        self, seen: Snapshot, log_odds: NDArray[np.float64], pages: int, bandit: PathBandit
    ) -> NDArray[np.int64]:
        """Return which nodes are to be looked at first: new probes, and those that still wait.

        Parameters
        ----------
        log_odds
            Of each node that waits, NaN of the others, (n_nodes,).
        pages
            Number of pages so far, forgotten ones included.
        bandit
            What chooses where links say nothing.
        """
        waiting = np.flatnonzero(~np.isnan(log_odds))
        probed = self._counted(seen, pages, bandit)
        left = self._hosts_left(probed, pages)
        if left > 0:
            best = _best_first(_of_new_hosts(seen, waiting, probed), log_odds)
            _, first = np.unique(seen.node_groups[best, _HOST], return_index=True)
            chosen = best[np.sort(first)][:left]
            probed = probed._replace(
                hosts=np.concatenate([probed.hosts, seen.node_groups[chosen, _HOST]]),
                entrances=np.concatenate([probed.entrances, seen.node_key[chosen]]),
            )
        if probed.links_left > 0:
            best = _best_first(_of_first_pages(seen, waiting, probed), log_odds)
            chosen = best[: probed.links_left]
            links = np.concatenate([probed.links, seen.node_key[chosen]])
            probed = probed._replace(links=links)
        if probed.tries_left > 0:
            new = np.full(seen.n_nodes, np.nan)
            left_over = _new(seen, waiting, probed)
            new[left_over] = log_odds[left_over]
            chosen = bandit.choose(new, probed.tried, probed.tries_left)
            tried = np.concatenate([probed.tried, seen.node_key[chosen]])
            probed = probed._replace(tried=tried)
        self._probed = probed
        return waiting[np.isin(seen.node_key[waiting], probed.keys)]

    def has_chosen(self, key: int) -> bool:
        """Return whether a URL is or was a probe, by its key."""
        return bool((self._probed.keys == np.uint64(key)).any())

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return what was looked at."""
        return {name: np.asarray(value) for name, value in self._probed._asdict().items()}

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what an earlier process has looked at."""
        self._probed = _Probed(
            memory["hosts"],
            memory["entrances"],
            memory["links"],
            memory["tried"],
            int(memory["pages"]),
            float(memory["earned"]),
            float(memory["tries"]),
        )

    def _hosts_left(self, probed: _Probed, pages: int) -> int:
        return allowed_hosts(self._explore, pages) - len(probed.hosts)

    def _counted(self, seen: Snapshot, pages: int, bandit: PathBandit) -> _Probed:
        """Return what was looked at, with what the pages since then allow."""
        probed = self._probed
        share = credit_share(recent_harvest(seen.row_relevant.astype(np.float64)))
        more = allowed_links(self._explore, pages) - allowed_links(self._explore, probed.pages)
        tries = allowed_tries(self._explore, pages) - allowed_tries(self._explore, probed.pages)
        return probed._replace(
            pages=pages,
            earned=probed.earned + more * share,
            tries=probed.tries + tries * share * bandit.silence,
        )


def _of_new_hosts(seen: Snapshot, waiting: NDArray[np.int64], probed: _Probed) -> NDArray[np.int64]:
    """Return what waits of each host of which nothing was fetched nor looked at."""
    hosts = seen.node_groups[:, _HOST]
    known = np.concatenate([hosts[seen.row_node], probed.hosts])
    return waiting[~np.isin(hosts[waiting], known)]


def _of_first_pages(
    seen: Snapshot, waiting: NDArray[np.int64], probed: _Probed
) -> NDArray[np.int64]:
    """Return what waits of the links of pages that no link led to, but for probes."""
    linked = np.zeros(seen.n_nodes, dtype=np.bool_)
    linked[seen.link_node[seen.row_depth[seen.link_row] == 0]] = True
    return _new(seen, waiting[linked[waiting]], probed)


def _new(seen: Snapshot, nodes: NDArray[np.int64], probed: _Probed) -> NDArray[np.int64]:
    """Return those of the nodes that are no probes."""
    return nodes[~np.isin(seen.node_key[nodes], probed.keys)]


def _best_first(nodes: NDArray[np.int64], log_odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return nodes by their log odds, the largest first; of equals the first."""
    return nodes[np.lexsort((nodes, -log_odds[nodes]))]
