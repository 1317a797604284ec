"""The frontier of a crawl that several processes share.

Redis (or Valkey) holds everything: what waits, what is leased and by whom, what is done, and
which worker may ask which host. Each call is one script, which Redis runs whole or not at
all; see the folder ``lua``.

This is the frontier as such: a call returns when Redis has answered. A crawl must not wait
for that, and has :class:`~focusspider.frontier.shared.SharedFrontier` over the same scripts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.frontier import Counts
from focusspider.frontier.checks import (
    check_bounds,
    check_entry,
    check_replacement,
    not_leased,
)
from focusspider.frontier.rediscalls import (
    Bounds,
    Calls,
    Settled,
    join,
    pushed,
    unsettled,
)
from focusspider.frontier.redisclient import RedisClient
from focusspider.frontier.redisview import RedisView, changes_of, read_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from focusspider.frontier import Entry, HostFilter, Outcome

__all__ = ["RedisFrontier"]

_COUNTS = ("waiting", "leased", "done", "dropped", "evicted")


class RedisFrontier:
    """One worker's frontier in Redis; see :class:`focusspider.frontier.Frontier`.

    It leases what waits at its own hosts only. Counts are those of the whole crawl.

    Parameters
    ----------
    url, crawl
        which Redis, and the name of the crawl there; a crawl of that name goes on
    max_size, host_share
        the bounds of the whole crawl, as for
        :class:`~focusspider.frontier.memory.MemoryFrontier`
    run
        name of the crawl's run, if this worker begins it
    what
        what is to be known of this worker, JSON-safe
    common
        what all workers of the crawl must have in common

    Raises
    ------
    FrontierError
        Redis cannot be used, or another crawl has the name.
    """

    def __init__(
        self,
        url: str,
        crawl: str,
        *,
        max_size: int = 1_000_000,
        host_share: float = 1.0,
        run: str = "",
        what: Mapping[str, str] | None = None,
        common: Mapping[str, str] | None = None,
    ) -> None:
        check_bounds(max_size, host_share)
        self._client = RedisClient(url, crawl)
        self.worker, self.run = join(self._client, run=run, what=what or {}, common=common or {})
        bounds = Bounds(max_size, max(1, int(max_size * host_share)))
        self._calls = Calls(self.worker, bounds)
        self._aside: set[str] = set()
        self._view: RedisView | None = None
        self._last: Counts | None = None  # after the close

    @property
    def counts(self) -> Counts:
        """How many requests are in each state."""
        if self._last is not None:
            return self._last
        with self._client.explained():
            kept = self._client.redis.hmget(self._client.key("n"), _COUNTS)
        return Counts(*(int(count or 0) for count in kept))

    @property
    def view(self) -> RedisView:
        """What waits at this worker's hosts now."""
        self._view = read_view(self._client, self.worker)
        return self._view

    def push(self, entries: Sequence[Entry]) -> int:
        """Add requests, and return how many are new."""
        for entry in entries:
            check_entry(entry)
        return pushed(self._client.run(self._calls.push(entries))[0]).new

    def lease(self, n: int, ready: HostFilter) -> list[Entry]:
        """Take up to n requests, the best first, of hosts that may be asked now."""
        again = [host for host in ready.woken() if host in self._aside]
        self._aside.difference_update(again)
        aside: list[str] = []
        back: list[bytes] = []
        leased: list[Entry] = []
        while len(leased) < n or again:
            call = self._calls.lease(int(len(leased) < n), aside=aside, again=again, back=back)
            found = self._calls.leased(self._client.run(call)[0])
            aside, again, back = [], [], []
            if not found:
                break
            entry = found[0].entry
            if entry.host not in self._aside and ready.ready(entry.host):
                leased.append(entry)
            else:
                self._aside.add(entry.host)
                aside, back = [entry.host], [entry.fingerprint]
        return leased

    def settle(
        self, fingerprint: bytes, outcome: Outcome, replacement: Entry | None = None
    ) -> None:
        """Say what became of a leased request."""
        if replacement is not None:
            check_replacement(fingerprint, outcome, replacement)
        settled = Settled(fingerprint, outcome, None, replacement)
        [answer] = self._client.run(self._calls.settle([settled], strict=True))
        for _, state in unsettled(answer):
            raise not_leased(fingerprint, state)

    def reprioritise(self, ids: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
        """Give requests of the last view new priorities; other ids are ignored."""
        for changes in changes_of(self._view, ids, priorities):
            self._client.run(self._calls.reprioritise(changes))

    def close(self, reason: str) -> None:
        """Leave the crawl. Counts can still be read, and are those before."""
        if self._last is None:
            self._last = self.counts
            self._client.run(self._calls.leave(reason))
            self._client.close()
