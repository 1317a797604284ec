"""A worker's side of a frontier in Redis, which never waits for it.

What the crawl says is collected, and exchanged with Redis in a thread; see
:mod:`focusspider.frontier.exchange`. Leases lie on a shelf until the crawl asks for them: a
few more than it can start now, and of each host no more than it can.

Order is by priority, then by age, among what lies on the shelf; what is better and has come
since waits its turn behind those few.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from focusspider.frontier import Counts, Entry, Glance, Outcome
from focusspider.frontier.checks import check_entry, not_leased
from focusspider.frontier.exchange import Batch
from focusspider.frontier.rediscalls import Leased, Settled
from focusspider.frontier.redisview import KEY_BYTES, RedisView, changes_of
from focusspider.frontier.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from focusspider.frontier import HostFilter
    from focusspider.frontier.exchange import Exchange, Reply

__all__ = ["SharedFrontier"]

#: Most that lies on the shelf for hosts that have to wait, before the rest goes back.
_MOST_RESTING = 1_000


class SharedFrontier:
    """The frontier of one worker; see :class:`focusspider.frontier.Frontier`.

    What a call says takes effect with the next exchange. So :meth:`push` returns how many
    of the requests this worker has not pushed before, and ``counts`` are those of the whole
    crawl as the last beat found them.

    Parameters
    ----------
    exchange
        sends the batches
    capacity
        how many requests may lie on the shelf for hosts that need not wait
    """

    def __init__(self, exchange: Exchange, *, capacity: int = 16) -> None:
        self.exchange = exchange
        self._capacity = capacity
        self._next = Batch()
        self._seen = Seen()
        self._shelf: dict[str, deque[Leased]] = {}
        self._resting: set[str] = set()  # hosts on the shelf that the filter has refused
        self._aside: set[str] = set()  # hosts that Redis gives nothing of
        self._again: dict[str, None] = {}
        self._leaving: set[str] = set()
        self._held: dict[bytes, str] = {}  # what is leased, until Redis knows its outcome
        self._at_work: dict[str, int] = {}  # host -> how many of it the crawl has
        self._brought: dict[bytes, bool] = {}
        self._view: RedisView | None = None
        self._counts = Counts(0, 0, 0, 0, 0)
        self._met = 0
        #: whether the crawl has asked for more than there was
        self.hungry = False
        #: whether nothing more is taken or given
        self.closed = False

    # -- what the crawl says -----------------------------------------------------------

    @property
    def counts(self) -> Counts:
        """How many requests of the crawl were in each state at the last beat."""
        return self._counts

    @property
    def view(self) -> RedisView:
        """What waits at this worker's hosts, read now: see :meth:`read_view`."""
        return self.read_view()

    def read_view(self) -> RedisView:
        """Read what waits at this worker's hosts; for a thread."""
        self._view = self.exchange.view()
        return self._view

    def push(self, entries: Sequence[Entry]) -> int:
        """Add requests, and return how many this worker has not pushed before."""
        new = 0
        for entry in entries:
            check_entry(entry)
            seen = self._seen.add(entry.fingerprint, entry.priority)
            if seen == "known":
                continue
            is_link = isinstance(entry.payload, bytes) and entry.payload[:1] == b"["
            (self._next.links if is_link else self._next.requests).append(entry)
            if seen == "new":
                new += 1
                self._next.new_links += is_link
                self._next.new_requests += not is_link
        return new

    def lease(self, n: int, ready: HostFilter) -> list[Entry]:
        """Take up to n requests from the shelf, the best first, of hosts that may be asked."""
        for host in ready.woken():
            self._resting.discard(host)
            self._reopen(host)
        leased: list[Entry] = []
        while len(leased) < n:
            best: str | None = None
            for host, waiting in self._shelf.items():
                if host not in self._resting and (
                    best is None or waiting[0].entry.priority > self._shelf[best][0].entry.priority
                ):
                    best = host
            if best is None:
                self.hungry = True
                break
            if not ready.ready(best):
                self._resting.add(best)
                continue
            waiting = self._shelf[best]
            entry = waiting.popleft().entry
            if not waiting:
                del self._shelf[best]
                self._reopen(best)
            self._at_work[best] = self._at_work.get(best, 0) + 1
            leased.append(entry)
        return leased

    def settle(
        self, fingerprint: bytes, outcome: Outcome, replacement: Entry | None = None
    ) -> None:
        """Say what became of a leased request."""
        host = self._held.get(fingerprint)
        if host is None:
            raise not_leased(fingerprint, "not leased")
        page = self._brought.pop(fingerprint, None)
        self._next.settled.append(Settled(fingerprint, outcome, page, replacement))
        left = self._at_work.get(host, 0) - 1
        if left > 0:
            self._at_work[host] = left
        else:
            self._at_work.pop(host, None)
            self._reopen(host)

    def brought(self, fingerprint: bytes, relevant: bool, page: tuple[int, str] | None) -> None:
        """Note that a leased request has brought a page, and what is to be known of that."""
        self._brought[fingerprint] = relevant
        if page is not None:
            self._next.pages[page[0]] = page[1]

    def reprioritise(self, ids: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
        """Give requests of the last view new priorities; other ids are ignored."""
        for changes in changes_of(self._view, ids, priorities):
            self._next.changes.append(changes)
            for _, member, priority in changes:
                self._seen.reranked(member[-KEY_BYTES:], priority)

    def glance(self, n: int) -> Glance:
        """Return how many hosts the crawl has met, and the n best on the shelf."""
        best = sorted(
            (leased.entry for waiting in self._shelf.values() for leased in waiting),
            key=lambda entry: -entry.priority,
        )
        return Glance(self._met, best[:n])

    def close(self, reason: str) -> None:
        """Leave the crawl, for a thread: what is leased waits again."""
        if not self.closed:
            self.closed = True
            self.exchange.leave(reason)

    # -- the exchange ------------------------------------------------------------------

    @property
    def at_work(self) -> int:
        """How many requests the crawl has, and how many lie on the shelf."""
        return sum(self._at_work.values()) + sum(map(len, self._shelf.values()))

    @property
    def unsaid(self) -> bool:
        """Whether Redis does not know yet of something that waits or has changed."""
        return bool(self._next.links or self._next.requests or self._next.changes)

    def batch(self, *, note: str = "", beat: dict[str, Any] | None = None) -> Batch:
        """Take what is to be said; a ``note`` is kept with the outcomes, a beat is one."""
        batch, self._next = self._next, Batch()
        batch.note, batch.beat = note, beat
        batch.want = self._wanted()
        batch.again = [host for host in self._again if host in self._aside]
        self._aside.difference_update(batch.again)
        self._again.clear()
        batch.back = self._returned()
        return batch

    def apply(self, batch: Batch, reply: Reply) -> None:
        """Take in what Redis said."""
        for settled in batch.settled:
            self._held.pop(settled.fingerprint, None)
        for fingerprint in batch.back:
            self._held.pop(fingerprint, None)
        if reply.beat is not None:
            self._met = reply.beat.hosts
            if reply.beat.was_gone:
                self._forget_shelf()
            if reply.beat.counts.evicted > self._counts.evicted:
                self._seen.clear()  # what was evicted may be found again
            self._counts = reply.beat.counts
        taken: dict[str, int] = {}
        for leased in reply.leased:
            fingerprint, host = leased.entry.fingerprint, leased.entry.host
            if fingerprint in self._held:
                continue  # it was leased before, and asked for again
            self._held[fingerprint] = host
            self._shelf.setdefault(host, deque()).append(leased)
            taken[host] = taken.get(host, 0) + 1
        self._aside.update(host for host, count in taken.items() if count >= self.exchange.a_host)
        if reply.leased:
            self.hungry = False

    def release(self, hosts: Iterable[str]) -> None:
        """Take nothing of these hosts any more, so that they can be given to others."""
        for host in hosts:
            self._leaving.add(host)
            if host not in self._aside:
                self._aside.add(host)
                self._next.aside.append(host)

    def keep(self, hosts: Iterable[str]) -> None:
        """Take these hosts again, if they are still ours."""
        for host in hosts:
            self._leaving.discard(host)
            self._reopen(host)

    @property
    def hosts(self) -> list[str]:
        """The hosts of what this worker has, and that it is not about to give up."""
        return [host for host in {*self._at_work, *self._shelf} if host not in self._leaving]

    @property
    def busy(self) -> set[str]:
        """The hosts of what this worker has."""
        return {*self._at_work, *self._shelf}

    def _forget_shelf(self) -> None:
        """Let go of what was taken from this worker while it could not be heard."""
        for waiting in self._shelf.values():
            for leased in waiting:
                self._held.pop(leased.entry.fingerprint, None)
        self._shelf.clear()
        self._resting.clear()
        self._aside.clear()

    def _wanted(self) -> int:
        lying = sum(
            len(waiting) for host, waiting in self._shelf.items() if host not in self._resting
        )
        if self.closed or (lying and not self.hungry and lying > self._capacity // 2):
            return 0
        if self._capacity == 1 and not self.hungry:
            return 0  # one page at a time: its links come first
        return max(0, self._capacity - lying)

    def _reopen(self, host: str) -> None:
        """Have Redis give of a host again, where nothing of it lies here."""
        if host in self._aside and host not in self._shelf and host not in self._leaving:
            self._again[host] = None

    def _returned(self) -> list[bytes]:
        """Take back from the shelf what others should have, or what has to wait too long."""
        resting = sum(len(self._shelf.get(host, ())) for host in self._resting)
        given = [host for host in self._leaving if host in self._shelf]
        for host in list(self._resting) if resting > _MOST_RESTING else []:
            if host in self._shelf and host not in given:
                given.append(host)
        back: list[bytes] = []
        for host in given:
            back += [leased.entry.fingerprint for leased in self._shelf.pop(host)]
        return back
