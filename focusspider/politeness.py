"""Which hosts may be asked now.

Priority is lost in two places if nobody looks after it: a request that is handed to a
downloader slot before the slot can start it waits there first in, first out; and requests
for one slow host that fill the downloader make the best page of every other host wait. So
a host is ready only while its slot can start one more request at once, and the crawl is
woken when the first host that had to wait is due.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Politeness", "SlotState"]


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
        the downloader's slots by name, read at each question: AutoThrottle and robots'
        crawl-delay change their delay during a crawl
    concurrency, delay
        of a slot that does not exist yet: a function from its name (requests at a time;
        seconds between two)
    clock
        monotonic seconds, the clock of ``lastseen``
    """

    def __init__(
        self,
        *,
        slots: Mapping[str, SlotState],
        new_slot: Callable[[str], tuple[int, float]],
        clock: Callable[[], float],
    ) -> None:
        self._slots = slots
        self._new_slot = new_slot
        self._clock = clock
        self._downloading: dict[str, int] = {}
        self._started: dict[str, float] = {}
        self._held: dict[str, float] = {}  # host -> not before, as a server has asked
        self._due: list[tuple[float, str]] = []
        self._woken: dict[str, None] = {}

    def ready(self, host: str) -> bool:
        """Return whether one more request to this host can start now."""
        slot = self._slots.get(host)
        concurrency, delay = (slot.concurrency, slot.delay) if slot else self._new_slot(host)
        if concurrency and self._downloading.get(host, 0) >= concurrency:
            return False  # woken by finished()
        due = self._held.get(host, 0.0)
        if delay:
            last = self._started.get(host)
            if slot and slot.lastseen:
                last = max(last or 0.0, slot.lastseen)
            if last is not None:
                due = max(due, last + delay)
        now = self._clock()
        if due > now:
            heapq.heappush(self._due, (due, host))
            return False
        self._held.pop(host, None)
        return True

    def woken(self) -> Iterable[str]:
        """Return, once, the hosts that were refused before and may be ready now."""
        now = self._clock()
        while self._due and self._due[0][0] <= now:
            self._woken[heapq.heappop(self._due)[1]] = None
        woken, self._woken = self._woken, {}
        return woken

    def started(self, host: str) -> None:
        """Note that a request to this host was handed to the downloader."""
        self._downloading[host] = self._downloading.get(host, 0) + 1
        self._started[host] = self._clock()

    def finished(self, host: str) -> None:
        """Note that a request to this host has left the downloader."""
        left = self._downloading.get(host, 0) - 1
        if left > 0:
            self._downloading[host] = left
        else:
            self._downloading.pop(host, None)
        self._woken[host] = None

    def hold(self, host: str, seconds: float) -> None:
        """Ask this host for nothing more for some seconds (``Retry-After``)."""
        self._held[host] = max(self._held.get(host, 0.0), self._clock() + seconds)

    def next_due(self) -> float | None:
        """Return in how many seconds the first host that waits for its delay is due."""
        return max(0.0, self._due[0][0] - self._clock()) if self._due else None

    def downloading(self) -> int:
        """Return how many requests the downloader has of us now."""
        return sum(self._downloading.values())
