"""The arrays that hold the requests which are waiting or leased.

A request has a slot as long as it is waiting or leased; then the slot is used again. An
**id** is a request's age (a counter of discoveries) above its slot, in 63 bits: ids sort
by age, an id finds its slot without a search, and the id of a request that has gone is
never the id of another one.

An **item** is an id below the priority turned upside down, in 113 bits: the smallest item
is the best, by priority and then by age. One Python integer a heap entry costs 48 bytes;
a tuple would cost three times as much.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.priority import PRIORITY_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["FREE", "ID_BITS", "LEASED", "SLOT_BITS", "WAITING", "Slots", "first_by", "slot_of"]

SLOT_BITS = 27
ID_BITS = 63
FREE, WAITING, LEASED = range(3)
_SLOT_MASK = (1 << SLOT_BITS) - 1
_ID_MASK = (1 << ID_BITS) - 1
_TAIL = 12  # bytes of a fingerprint after those of its key


class Slots:
    """What is known of each waiting and leased request, by slot."""

    def __init__(self) -> None:
        self.ids: array[int] = array("q")
        self.priorities: array[int] = array("q")
        self.hosts: array[int] = array("i")
        self.states = bytearray()
        self.keys: array[int] = array("Q")
        self.payloads: list[Any] = []
        self._tails = bytearray()
        self._free: array[int] = array("i")

    def take(self, age: int, key: int, fingerprint: bytes) -> int:
        """Return a slot for a request; its host, priority and payload are the caller's."""
        if self._free:
            slot = self._free.pop()
            self.ids[slot] = age << SLOT_BITS | slot
            self.keys[slot] = key
            self._tails[slot * _TAIL : slot * _TAIL + _TAIL] = fingerprint[8:]
            return slot
        slot = len(self.payloads)
        self.ids.append(age << SLOT_BITS | slot)
        self.priorities.append(0)
        self.hosts.append(0)
        self.states.append(FREE)
        self.keys.append(key)
        self.payloads.append(None)
        self._tails += fingerprint[8:]
        return slot

    def extend(
        self,
        ages: Sequence[int],
        fingerprints: Sequence[bytes],
        hosts: Sequence[int],
        priorities: Sequence[int],
        payload: Any,
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """Let many requests wait that share a payload; return their keys and slots."""
        slots = np.arange(len(self.payloads), len(self.payloads) + len(ages))
        parts = np.frombuffer(b"".join(fingerprints), dtype=np.uint8).reshape(-1, 8 + _TAIL)
        keys = np.ascontiguousarray(parts[:, :8]).view(">u8").ravel().astype(np.uint64)
        ids = np.array(ages, dtype=np.int64) << SLOT_BITS | slots
        self.ids.frombytes(ids.tobytes())
        self.priorities.extend(priorities)
        self.hosts.extend(hosts)
        self.states += bytes([WAITING]) * len(slots)
        self.keys.frombytes(keys.tobytes())
        self.payloads += [payload] * len(slots)
        self._tails += parts[:, 8:].tobytes()
        return keys, slots.astype(np.int32)

    def free(self, slot: int) -> None:
        """Give a slot back."""
        self.states[slot] = FREE
        self.payloads[slot] = None
        self._free.append(slot)

    def fingerprint(self, slot: int) -> bytes:
        """Return the whole fingerprint of a request."""
        tail = self._tails[slot * _TAIL : slot * _TAIL + _TAIL]
        return self.keys[slot].to_bytes(8, "big") + bytes(tail)

    def item(self, slot: int) -> int:
        """Return what a heap holds for a request: smaller is sooner."""
        item: int = (PRIORITY_MAX - self.priorities[slot]) << ID_BITS | self.ids[slot]
        return item

    def is_current(self, item: int, host: int) -> bool:
        """Return whether the item's request waits at this host with this priority."""
        slot = item & _SLOT_MASK
        return (
            self.ids[slot] == item & _ID_MASK
            and self.priorities[slot] == PRIORITY_MAX - (item >> ID_BITS)
            and self.states[slot] == WAITING
            and self.hosts[slot] == host
        )

    def waiting(self, host: int | None = None) -> NDArray[np.int64]:
        """Return the slots of the requests that wait, at one host or at all."""
        states = np.frombuffer(self.states, dtype=np.uint8)
        if host is None:
            return np.flatnonzero(states == WAITING)
        found = np.flatnonzero(np.frombuffer(self.hosts, dtype=np.int32) == host)
        waiting: NDArray[np.int64] = found[states[found] == WAITING]
        return waiting

    def leased(self) -> NDArray[np.int64]:
        """Return the slots of the requests that are leased."""
        return np.flatnonzero(np.frombuffer(self.states, dtype=np.uint8) == LEASED)

    def waiting_by_id(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these ids are those of waiting requests."""
        if not self.payloads:
            return np.zeros(len(ids), dtype=np.bool_)
        slots = np.minimum(ids & _SLOT_MASK, len(self.payloads) - 1)
        states = np.frombuffer(self.states, dtype=np.uint8)
        found: NDArray[np.bool_] = (self.column("ids")[slots] == ids) & (states[slots] == WAITING)
        return found

    def column(self, name: str) -> NDArray[Any]:
        """Return ``ids``, ``priorities``, ``hosts`` or ``keys`` as an array over all slots.

        It shares memory with the slots: drop it before anything is added.
        """
        data: array[int] = getattr(self, name)
        return np.frombuffer(data, dtype=data.typecode)

    def ages_and_priorities(self) -> NDArray[np.int64]:
        """Return the ages, ascending, and the priorities of all that is here, (2, n)."""
        used = np.flatnonzero(np.frombuffer(self.states, dtype=np.uint8) != FREE)
        ids = self.column("ids")[used]
        order = np.argsort(ids)
        return np.stack([ids[order] >> SLOT_BITS, self.column("priorities")[used[order]]])

    def set_priorities(self, ages: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
        """Give the requests of these ages, ascending, these priorities; queue them yourself."""
        if not len(ages):
            return
        own = self.column("ids") >> SLOT_BITS
        places = np.minimum(np.searchsorted(ages, own), len(ages) - 1)
        known = ages[places] == own
        self.column("priorities")[known] = priorities[places[known]]

    def items(self, slots: NDArray[np.int64], keep: int | None = None) -> list[int]:
        """Return the items of these slots in order, or of the best ``keep`` of them."""
        ids = self.column("ids")[slots]
        inverse = PRIORITY_MAX - self.column("priorities")[slots]
        if keep is not None and keep < len(slots):
            best = first_by(inverse, ids, keep)
            ids, inverse = ids[best], inverse[best]
        order = np.lexsort((ids, inverse))
        pairs = zip(inverse[order].tolist(), ids[order].tolist(), strict=True)
        return [high << ID_BITS | low for high, low in pairs]


def slot_of(item: int) -> int:
    """Return the slot of an id or an item."""
    return item & _SLOT_MASK


def first_by(major: NDArray[np.int64], minor: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the places of the ``count`` smallest by (major, minor), in no order.

    It takes linear time, however many are equal in ``major``.

    >>> sorted(first_by(np.array([5, 1, 5, 5]), np.array([9, 9, 7, 8]), 3).tolist())
    [1, 2, 3]
    """
    if count >= len(major):
        return np.arange(len(major))
    if count <= 0:
        return np.arange(0)
    edge = np.partition(major, count - 1)[count - 1]
    sure = np.flatnonzero(major < edge)
    ties = np.flatnonzero(major == edge)
    missing = count - len(sure)
    if missing < len(ties):
        ties = ties[np.argpartition(minor[ties], missing - 1)[:missing]]
    return np.concatenate([sure, ties])
