"""Whose turn it is: one queue a host, and a heap of hosts by their best request.

The queue of a host is a heap, its *front*, and a line: every request of the host that is
not worse than the line is in the front, and those beyond it are in the arrays only. Most
hosts are small, and all they have is in the front. A host with more than ``FRONT_MAX``
requests keeps its best ``FRONT_KEEP`` there, and when they are used up one pass over the
arrays finds the next ones. So a new order of a million requests has little to rebuild.

Nothing is taken out of the middle of a heap. What is no longer true there (its request
has been leased, evicted or given another priority) is passed over when it comes up, and
a heap that is mostly untrue is made anew.
"""

from __future__ import annotations

from array import array
from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from focusspider.frontier.slots import ID_BITS, LEASED, slot_of
from focusspider.priority import HELD, PRIORITY_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from focusspider.frontier import HostFilter
    from focusspider.frontier.slots import Slots

__all__ = ["FRONT_KEEP", "FRONT_MAX", "HostQueues"]

FRONT_MAX = 32_768
FRONT_KEEP = 2_048
_HOST_BITS = 27
_HOST_MASK = (1 << _HOST_BITS) - 1
_NO_ITEM = -1
#: The line of a host whose requests are all in its front: worse than any item.
_ALL = (PRIORITY_MAX - HELD + 1) << ID_BITS
#: The same as the priority part of a line, turned upside down.
_EVERY = PRIORITY_MAX - HELD
#: The items of requests that are held begin here.
_HELD_ITEMS = (PRIORITY_MAX - HELD) << ID_BITS
#: After so many untrue items in a row a front is made anew rather than popped one by one.
_STALE_RUN = 64


class HostQueues:
    """The waiting requests by host, and the hosts by their best request."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._unused: array[int] = array("i")
        self.waiting: array[int] = array("q")
        self.leased: array[int] = array("q")
        self._parked = bytearray()
        self._fronts: list[list[int]] = []
        self._lines: list[int] = []
        # The priority part of each line, turned upside down, for whole arrays at once.
        self._edges: array[int] = array("q")
        # The item that stands for each host in the heap of hosts: never worse than its best.
        self._listed: list[int] = []
        self._heap: list[int] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, host: str) -> int:
        """Return the number of a host, a new one if need be."""
        number = self._numbers.get(host)
        if number is not None:
            return number
        if self._unused:
            number = self._unused.pop()
            self._names[number] = host
        else:
            number = len(self._names)
            self._names.append(host)
            self.waiting.append(0)
            self.leased.append(0)
            self._parked.append(0)
            self._fronts.append([])
            self._lines.append(_ALL)
            self._edges.append(_EVERY)
            self._listed.append(_NO_ITEM)
        self._numbers[host] = number
        return number

    def numbers(self) -> list[int]:
        """Return the numbers of all hosts."""
        return list(self._numbers.values())

    def name(self, host: int) -> str:
        """Return the name of a host."""
        return self._names[host]

    def add(self, host: int, slot: int) -> None:
        """Queue a request that now waits at this host."""
        self.waiting[host] += 1
        self._queue(host, self._slots.item(slot))

    def requeue(self, host: int, slot: int) -> None:
        """Queue a request that waits at this host once more, since its priority changed."""
        self._queue(host, self._slots.item(slot))

    def requeue_all(self, slots: NDArray[np.int64]) -> None:
        """Queue many requests whose priorities changed."""
        columns = self._slots.column
        hosts = columns("hosts")[slots]
        inverse = PRIORITY_MAX - columns("priorities")[slots]
        near = np.flatnonzero(inverse <= np.frombuffer(self._edges, dtype=np.int64)[hosts])
        near = near[np.argsort(hosts[near], kind="stable")]  # what is one host's is near in memory
        hosts, inverse, ids = hosts[near], inverse[near], columns("ids")[slots[near]]
        for host, high, low in zip(hosts.tolist(), inverse.tolist(), ids.tolist(), strict=True):
            self._queue(host, high << ID_BITS | low)

    def remove(self, host: int) -> None:
        """Count a waiting request less at this host: its slot says already that it went."""
        self.waiting[host] -= 1
        front = self._fronts[host]
        if len(front) > 2 * self.waiting[host] + 16:
            self._tidy(host)
        self.release(host)

    def release(self, host: int) -> None:
        """Forget a host that has nothing waiting or leased and is not set aside."""
        if self.waiting[host] or self.leased[host] or self._parked[host]:
            return
        del self._numbers[self._names[host]]
        self._names[host] = ""
        self._clear(host)
        self._listed[host] = _NO_ITEM
        self._unused.append(host)

    def take(self, n: int, ready: HostFilter) -> list[int]:
        """Lease up to n requests, the best first, and return their slots."""
        self._wake(ready.woken())
        heap, listed, slots = self._heap, self._listed, self._slots
        taken: list[int] = []
        while heap and len(taken) < n:
            entry = heap[0]
            host = entry & _HOST_MASK
            item = entry >> _HOST_BITS
            if listed[host] != item:
                heappop(heap)
                continue
            best = self._best(host)
            if best == item:
                if item >= _HELD_ITEMS:
                    break  # and all that comes after it is held too
                if not ready.ready(self._names[host]):
                    heappop(heap)
                    listed[host] = _NO_ITEM
                    self._parked[host] = True
                    continue
                heappop(self._fronts[host])
                slot = slot_of(item)
                slots.states[slot] = LEASED
                self.waiting[host] -= 1
                self.leased[host] += 1
                taken.append(slot)
                best = self._best(host)
            listed[host] = best
            if best == _NO_ITEM:
                heappop(heap)
            else:
                heapreplace(heap, best << _HOST_BITS | host)
        return taken

    def members(self, host: int) -> NDArray[np.int64]:
        """Return the slots of the requests that wait at a host."""
        if self._lines[host] != _ALL:
            return self._slots.waiting(host)
        current = self._current(host)
        return np.fromiter((slot_of(item) for item in current), np.int64, len(current))

    def rebuild(self) -> None:
        """Make every queue anew from the arrays, and count what waits for each host."""
        slots = self._slots.waiting()
        hosts = self._slots.column("hosts")[slots]
        order = np.argsort(hosts, kind="stable")
        slots, hosts = slots[order], hosts[order]
        starts = np.flatnonzero(np.diff(hosts, prepend=-1))
        ends = np.append(starts, len(hosts))[1:]
        present = hosts[starts].tolist()
        for host in self._numbers.values():
            self._clear(host)
            self._listed[host] = _NO_ITEM
        for host, start, end in zip(present, starts.tolist(), ends.tolist(), strict=True):
            self._fill(host, slots[start:end])
            self.waiting[host] = end - start
            if not self._parked[host]:
                self._listed[host] = self._fronts[host][0]
        self._tidy_heap()

    def _queue(self, host: int, item: int) -> None:
        if item <= self._lines[host]:
            front = self._fronts[host]
            heappush(front, item)
            if len(front) > FRONT_MAX or len(front) > 2 * self.waiting[host] + 16:
                self._tidy(host)
        if not self._parked[host]:
            listed = self._listed[host]
            if listed == _NO_ITEM or item < listed:
                self._list(host, item)

    def _list(self, host: int, item: int) -> None:
        self._listed[host] = item
        heappush(self._heap, item << _HOST_BITS | host)
        if len(self._heap) > 2 * len(self._numbers) + 64:
            self._tidy_heap()

    def _tidy_heap(self) -> None:
        listed = self._listed
        self._heap[:] = [
            listed[host] << _HOST_BITS | host
            for host in self._numbers.values()
            if listed[host] != _NO_ITEM
        ]
        heapify(self._heap)

    def _wake(self, names: Iterable[str]) -> None:
        for name in names:
            host = self._numbers.get(name)
            if host is None or not self._parked[host]:
                continue
            self._parked[host] = False
            best = self._best(host)
            if best == _NO_ITEM:
                self.release(host)
            else:
                self._list(host, best)

    def _best(self, host: int) -> int:
        """Return the best item of a host, and leave it on top of the front."""
        is_current = self._slots.is_current
        while True:
            front = self._fronts[host]
            stale = 0
            while front:
                if is_current(front[0], host):
                    return front[0]
                heappop(front)
                stale += 1
                if stale == _STALE_RUN:
                    front[:] = self._current(host)
            if not self.waiting[host]:
                self._clear(host)
                return _NO_ITEM
            self._fill(host, self._slots.waiting(host))

    def _current(self, host: int) -> list[int]:
        """Return what is true in a host's front, each item once, in order."""
        is_current = self._slots.is_current
        return sorted({item for item in self._fronts[host] if is_current(item, host)})

    def _tidy(self, host: int) -> None:
        front = self._fronts[host]
        if len(front) > FRONT_MAX or self._lines[host] != _ALL:
            self._fill(host, self._slots.waiting(host))
        else:
            front[:] = self._current(host)

    def _fill(self, host: int, slots: NDArray[np.int64]) -> None:
        """Make a host's front from all that waits there."""
        if len(slots) <= FRONT_MAX // 2:
            self._fronts[host] = self._slots.items(slots)
            self._lines[host] = _ALL
            self._edges[host] = _EVERY
        else:
            front = self._slots.items(slots, FRONT_KEEP)
            self._fronts[host] = front
            self._lines[host] = front[-1]
            self._edges[host] = front[-1] >> ID_BITS

    def _clear(self, host: int) -> None:
        self._fronts[host] = []
        self._lines[host] = _ALL
        self._edges[host] = _EVERY
