"""The frontier: every URL that the crawl knows, and which one is next.

It has goals that pull against each other. The best priority should be fetched next; no
host may be asked more often than it should be; memory is bounded; nothing is lost when
the process dies; and each of these has to cost next to nothing for a page.

States
------
A request is **waiting**, then **leased** to the downloader, then **done** or **dropped**.
A leased request goes back to waiting when it has to be tried again, or when the process
that leased it died.

Invariants
----------
1. No fingerprint is in two states.
2. A leased request comes back after a crash (at least once); a done one never does.
3. The count of each state in :attr:`Frontier.counts` is the number of requests in it.
4. The number of waiting requests never exceeds the bound, and what the bound evicts is
   never better than what stays. An evicted request is forgotten: it may be found again.
5. Among the hosts that are ready, order is by priority, then by age (order of discovery).
   A request that is raised, or tried again, keeps its age.
6. A request whose priority is :data:`~focusspider.priority.HELD` waits, and is not leased
   before its priority is raised.

The bound
---------
A frontier has a bound (``max_size``), and a bound for each host (``host_share`` of it).
Whenever a call would leave more waiting, the host's own worst go first, then the worst of
all: the lowest priority, and of equal ones the youngest, so the older stays. A newcomer
that is no better than all that a full frontier keeps is evicted by the call that brings
it. So that the worst need not be searched for each newcomer, an eviction makes up to
1/256 of the bound free beyond what it must.

Ids
---
A request has an id from its discovery until it is done, dropped or evicted, and it is
never that of another request. So a rerank may be applied in slices, with leases and
pushes in between (:data:`RERANK_SLICE`): what is no longer waiting is ignored.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from focusspider import stats

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "RERANK_SLICE",
    "Counts",
    "Entry",
    "Frontier",
    "FrontierView",
    "Glance",
    "HostFilter",
    "Outcome",
    "Watched",
]

#: How many requests :meth:`Frontier.reprioritise` takes at a time without being felt.
RERANK_SLICE = 10_000


class Entry(NamedTuple):
    """A request as the frontier holds it.

    ``fingerprint`` is Scrapy's: 20 bytes, of which the first 8 are the request's key.
    ``host`` names the downloader slot that the request will use. ``priority`` is one of
    :mod:`focusspider.priority`. ``payload`` is what the scheduler makes a Request of; the
    frontier never looks into it: bytes can be kept anywhere, anything else stays in the
    memory of this process.
    """

    fingerprint: bytes
    host: str
    priority: int
    payload: Any


class Outcome(Enum):
    """What became of a leased request."""

    DONE = "done"
    DROPPED = "dropped"
    AGAIN = "again"


class Counts(NamedTuple):
    """How many requests are in each state, and how many were evicted so far."""

    waiting: int
    leased: int
    done: int
    dropped: int
    evicted: int

    def by_stat(self) -> dict[str, int]:
        """Return them by the statistics that have them when the crawl closes."""
        return {
            stats.FRONTIER_WAITING: self.waiting,
            stats.FRONTIER_LEASED: self.leased,
            stats.FRONTIER_DONE: self.done,
            stats.FRONTIER_DROPPED: self.dropped,
            stats.FRONTIER_EVICTED: self.evicted,
        }


class HostFilter(Protocol):
    """Which hosts may be asked now.

    A frontier sets a host that was refused aside, and does not ask about it again until
    the filter names it in :meth:`woken`. So a lease does not look at ten thousand hosts
    that are all busy.
    """

    def ready(self, host: str) -> bool:
        """Return whether one more request to this host can start now.

        Each True is taken at its word: exactly one request of the host is leased for it,
        before the next question.
        """
        ...

    def woken(self) -> Iterable[str]:
        """Return, once, the hosts that were refused before and may be ready now."""
        ...


class FrontierView(Protocol):
    """The waiting requests as arrays of one length, and the leased ones, for a rerank.

    A view is of the moment in which it was asked for.
    """

    @property
    def ids(self) -> NDArray[np.int64]:
        """What :meth:`Frontier.reprioritise` calls them."""
        ...

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The first 8 bytes of their fingerprints, big-endian."""
        ...

    @property
    def priorities(self) -> NDArray[np.int64]:
        """Their priorities."""
        ...

    @property
    def leased(self) -> NDArray[np.uint64]:
        """The keys of the requests that are leased, (n_leased,)."""
        ...


class Frontier(Protocol):
    """Where the waiting requests are; see the module's states and invariants."""

    @property
    def counts(self) -> Counts:
        """How many requests are in each state; can be read after :meth:`close`."""
        ...

    @property
    def view(self) -> FrontierView:
        """The waiting requests as they are now."""
        ...

    def push(self, entries: Sequence[Entry]) -> int:
        """Add requests, and return how many of them are new and wait now.

        A known waiting request is raised (with its payload and host) where the new
        priority is higher, and never lowered. A leased, done or dropped one is left
        alone. Of those that the bound turned away none is counted as new.
        """
        ...

    def lease(self, n: int, ready: HostFilter) -> list[Entry]:
        """Take up to n requests, the best first, of hosts that may be asked now.

        Those that are held (:data:`~focusspider.priority.HELD`) are not among them. First
        the hosts that the filter names as woken take part again.
        """
        ...

    def settle(
        self, fingerprint: bytes, outcome: Outcome, replacement: Entry | None = None
    ) -> None:
        """Say what became of a leased request. One that is not leased is an error.

        With ``Outcome.AGAIN`` it waits once more, at the age it had, if the bound lets
        it; a ``replacement`` with the same fingerprint gives it another priority, host
        and payload (a retry counts its attempts in its payload).
        """
        ...

    def reprioritise(self, ids: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
        """Give waiting requests new priorities, higher or lower; other ids are ignored."""
        ...

    def close(self, reason: str) -> None:
        """Release what the frontier holds open."""
        ...


class Glance(NamedTuple):
    """What a person is shown: the number of hosts with waiting requests, and the best of these."""

    hosts: int
    best: list[Entry]


@runtime_checkable
class Watched(Protocol):
    """A frontier that can be looked at while the crawl goes on."""

    def glance(self, n: int) -> Glance:
        """Return what waits at a glance, with the n best requests, which stay where they are.

        It takes linear time (25 ms for a million), so it is for once in a few seconds.
        """
        ...
