"""Which hosts may be asked now.

Priority is lost in two places if nobody looks after it: a request that is handed to a
downloader slot before the slot can start it waits there first in, first out; and requests
for one slow host that fill the downloader make the best page of every other host wait. So
a host is ready only while its slot can start one more request at once, and the crawl is
woken when the first host that had to wait is due.

A host is never asked sooner than its delay allows. Scrapy's jitter
(``DOWNLOAD_DELAY_JITTER``) can lengthen a delay, but not shorten it: what it adds passes in
the slot.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Politeness", "SlotState"]

_TIDY_FROM = 1_024  # hosts


class SlotState(Protocol):
    """What politeness reads of a downloader slot (``scrapy.core.downloader.Slot``)."""

    concurrency: int
    delay: float
    lastseen: float


class Politeness:
    """A :class:`~focusspider.frontier.HostFilter` over Scrapy's downloader slots.

    Parameters
    ----------
    slots
        the downloader's slots by name, read at each question: AutoThrottle changes their
        delay during a crawl
    new_slot
        what a slot that does not exist yet will have: a function from its name (requests
        at a time, 0 for no limit; seconds between two)
    clock
        monotonic seconds, the clock of ``lastseen``
    first_alone
        whether a host is asked for one thing only until it has answered once: all else
        would wait in the downloader for its robots.txt
    """

    def __init__(
        self,
        *,
        slots: Mapping[str, SlotState],
        new_slot: Callable[[str], tuple[int, float]],
        clock: Callable[[], float],
        first_alone: bool = False,
    ) -> None:
        self._slots = slots
        self._new_slot = new_slot
        self._clock = clock
        self._first_alone = first_alone
        self._answered: set[str] = set()
        self._downloading: dict[str, int] = {}
        self._started: dict[str, float] = {}
        self._tidy_at = _TIDY_FROM
        self._held: dict[str, float] = {}  # host -> not before, as a server has asked
        self._crawl_delays: dict[str, float] = {}
        self._due: list[tuple[float, str]] = []
        self._woken: dict[str, None] = {}

    def ready(self, host: str) -> bool:
        """Return whether one more request to this host can start now."""
        concurrency, _ = self._limits(host)
        if self._first_alone and host not in self._answered:
            concurrency = 1
        if concurrency and self._downloading.get(host, 0) >= concurrency:
            return False  # woken by finished()
        due = self._not_before(host)
        if due > self._clock():
            heapq.heappush(self._due, (due, host))
            return False
        self._held.pop(host, None)
        return True

    def can_start(self, host: str) -> bool:
        """Return whether a request that was handed over already would start now.

        It was ready when it was handed over, but then robots.txt had to be fetched first,
        and may have asked for a delay.
        """
        return self._due_at(host, self._limits(host)[1]) <= self._clock()

    def woken(self) -> Iterable[str]:
        """Return, once, the hosts that were refused before and may be ready now."""
        now = self._clock()
        while self._due and self._due[0][0] <= now:
            self._woken[heapq.heappop(self._due)[1]] = None
        woken, self._woken = self._woken, {}
        return woken

    def wake(self, host: str) -> None:
        """Note that this host may be ready now, for a reason that lies elsewhere."""
        self._woken[host] = None

    def started(self, host: str) -> None:
        """Note that a request to this host was handed to the downloader."""
        self._downloading[host] = self._downloading.get(host, 0) + 1
        self._started[host] = self._clock()
        if len(self._started) > self._tidy_at:
            self._tidy()

    def finished(self, host: str, *, asked: bool = True) -> None:
        """Note that a request to this host has left the downloader.

        If the host was not asked after all (a cache had the answer), no delay runs.
        """
        if not asked:
            self._started.pop(host, None)
        left = self._downloading.get(host, 0) - 1
        if left > 0:
            self._downloading[host] = left
        else:
            self._downloading.pop(host, None)
        if self._first_alone:
            self._answered.add(host)
        self._woken[host] = None

    def hold(self, host: str, seconds: float) -> None:
        """Ask this host for nothing more for some seconds (``Retry-After``)."""
        self._held[host] = max(self._held.get(host, 0.0), self._clock() + seconds)

    def keep_apart(self, host: str, seconds: float) -> None:
        """Leave so many seconds between two requests (``Crawl-delay``), if not more."""
        self._crawl_delays[host] = max(self._crawl_delays.get(host, 0.0), seconds)

    def next_due(self) -> float | None:
        """Return in how many seconds the first host that waits for its delay is due."""
        return max(0.0, self._due[0][0] - self._clock()) if self._due else None

    def unrested(self) -> list[str]:
        """Return the hosts that are being asked, or may not be asked again yet."""
        now = self._clock()
        resting = [host for host in {**self._started, **self._held} if self._not_before(host) > now]
        return [*self._downloading, *(host for host in resting if host not in self._downloading)]

    def downloading(self) -> int:
        """Return how many requests are in the downloader now."""
        return sum(self._downloading.values())

    def _not_before(self, host: str) -> float:
        """Return when the next request to a host may be handed over."""
        delay = self._limits(host)[1]
        return max(self._due_at(host, delay), self._started.get(host, -delay) + delay)

    def _limits(self, host: str) -> tuple[int, float]:
        slot = self._slots.get(host)
        concurrency, delay = (slot.concurrency, slot.delay) if slot else self._new_slot(host)
        return concurrency, max(delay, self._crawl_delays.get(host, 0.0))

    def _due_at(self, host: str, delay: float) -> float:
        """Return when a slot may start its next request."""
        slot = self._slots.get(host)
        due = slot.lastseen + delay if slot and slot.lastseen else 0.0
        return max(due, self._held.get(host, 0.0))

    def _tidy(self) -> None:
        """Forget when hosts were asked whose delay has passed."""
        now = self._clock()
        self._started = {
            host: start
            for host, start in self._started.items()
            if start + self._limits(host)[1] > now
        }
        self._tidy_at = max(_TIDY_FROM, 2 * len(self._started))
