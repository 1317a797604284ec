"""What every frontier on one machine shares: states, bound and order, in memory.

A frontier is an :class:`Index` and a place for the payloads. The index says what each
call changed, as ids, so that a frontier that writes a log knows what to write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.frontier import Counts, Entry, Outcome
from focusspider.frontier.checks import (
    check_bounds,
    check_entry,
    check_replacement,
    check_rerank,
    not_leased,
)
from focusspider.frontier.hosts import HostQueues
from focusspider.frontier.slots import LEASED, SLOT_BITS, WAITING, Slots, first_by, slot_of
from focusspider.keytable import ABSENT, KeyTable, fingerprint_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from focusspider.frontier import HostFilter

__all__ = ["Changes", "Index", "View"]

#: The share of the bound that one eviction makes free beyond what it must.
_BATCH = 256
#: What the table holds for a request that has no slot any more; others are slots.
_DONE, _DROPPED = -2, -3
_FINISHED = {Outcome.DONE: _DONE, Outcome.DROPPED: _DROPPED}
#: From this share of the waiting requests on, queues are made anew when priorities change.
_REBUILD_SHARE = 3


class Changes(NamedTuple):
    """What a call changed, as ids.

    ``new`` are those that wait now and were not known, ``raised`` were known; ``evicted``
    had waited before the call.
    """

    new: list[int]
    raised: list[int]
    evicted: list[int]


class View(NamedTuple):
    """The waiting requests as arrays of one length, and the keys of the leased ones."""

    ids: NDArray[np.int64]
    keys: NDArray[np.uint64]
    priorities: NDArray[np.int64]
    leased: NDArray[np.uint64]


class Index:
    """The requests of a frontier: which states they are in and which is next."""

    def __init__(self, *, max_size: int = 1_000_000, host_share: float = 1.0) -> None:
        check_bounds(max_size, host_share)
        self.max_size = max_size
        self.host_share = host_share
        self.slots = Slots()
        self.next_age = 0
        self._host_size = max(1, int(max_size * host_share))
        self._table = KeyTable()
        self._queues = HostQueues(self.slots)
        self._waiting = self._leased = self._done = self._dropped = self._evicted = 0

    @property
    def counts(self) -> Counts:
        """How many requests are in each state."""
        return Counts(self._waiting, self._leased, self._done, self._dropped, self._evicted)

    @property
    def view(self) -> View:
        """The waiting requests, and which are leased."""
        slots, leased = self.slots.waiting(), self.slots.leased()
        column = self.slots.column
        keys = column("keys")
        return View(column("ids")[slots], keys[slots], column("priorities")[slots], keys[leased])

    def glance(self, n: int) -> tuple[int, list[int]]:
        """Return the number of hosts with waiting requests, and the slots of the n best."""
        slots = self.slots.waiting()
        hosts = int(np.count_nonzero(np.bincount(self.slots.column("hosts")[slots])))
        return hosts, [slot_of(item) for item in self.slots.items(slots, n)[:n]]

    def push(self, entries: Sequence[Entry]) -> Changes:
        """Add requests; see :meth:`focusspider.frontier.Frontier.push`."""
        for entry in entries:
            check_entry(entry)  # all of them first: a wrong one changes nothing
        new: list[int] = []
        raised: list[int] = []
        grown: dict[int, None] = {}  # an ordered set
        first_id = self.next_age << SLOT_BITS
        for entry in entries:
            slot = self._table.get(fingerprint_key(entry.fingerprint))
            if slot >= 0:
                if self._raise(slot, entry):
                    raised.append(self.slots.ids[slot])
                    grown[self.slots.hosts[slot]] = None
            elif slot == ABSENT:
                slot = self._admit(entry)
                self._queues.add(self.slots.hosts[slot], slot)
                new.append(self.slots.ids[slot])
                grown[self.slots.hosts[slot]] = None
        evicted = self._trim(grown)
        if evicted:
            gone = set(evicted)
            new = [request for request in new if request not in gone]
            raised = [request for request in raised if request not in gone]
            evicted = [request for request in evicted if request < first_id]
        return Changes(new, raised, evicted)

    def lease(self, n: int, ready: HostFilter) -> list[int]:
        """Take up to n requests, the best first, and return their slots."""
        taken = self._queues.take(n, ready)
        self._waiting -= len(taken)
        self._leased += len(taken)
        return taken

    def entry(self, slot: int) -> Entry:
        """Return a request as it was pushed."""
        slots = self.slots
        return Entry(
            slots.fingerprint(slot),
            self._queues.name(slots.hosts[slot]),
            slots.priorities[slot],
            slots.payloads[slot],
        )

    def leased_slot(self, fingerprint: bytes) -> int:
        """Return the slot of a leased request; one that is not leased is an error."""
        slot = self._table.get(fingerprint_key(fingerprint))
        if slot >= 0 and self.slots.states[slot] == LEASED:
            if self.slots.fingerprint(slot) == fingerprint:
                return slot
            slot = ABSENT
        state = {ABSENT: "not known", _DONE: "done", _DROPPED: "dropped"}.get(slot, "waiting")
        raise not_leased(fingerprint, state)

    def settle(
        self, fingerprint: bytes, outcome: Outcome, replacement: Entry | None = None
    ) -> list[int]:
        """Say what became of a leased request, and return the ids that this evicted."""
        slot = self.leased_slot(fingerprint)
        if replacement is not None:
            check_replacement(fingerprint, outcome, replacement)
        slots, queues = self.slots, self._queues
        host = slots.hosts[slot]
        queues.leased[host] -= 1
        self._leased -= 1
        if outcome is not Outcome.AGAIN:
            self._table.put(slots.keys[slot], _FINISHED[outcome])
            slots.free(slot)
            queues.release(host)
            if outcome is Outcome.DONE:
                self._done += 1
            else:
                self._dropped += 1
            return []
        if replacement is not None:
            slots.priorities[slot] = replacement.priority
            slots.payloads[slot] = replacement.payload
            slots.hosts[slot] = queues.number(replacement.host)
        slots.states[slot] = WAITING
        queues.add(slots.hosts[slot], slot)
        queues.release(host)
        self._waiting += 1
        return self._trim((slots.hosts[slot],))

    def reprioritise(self, ids: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
        """Give waiting requests new priorities, higher or lower; other ids are ignored."""
        ids = np.asarray(ids, dtype=np.int64)  # (n,)
        priorities = np.asarray(priorities, dtype=np.int64)  # (n,)
        check_rerank(ids, priorities)
        known = self.slots.waiting_by_id(ids)
        slots, priorities = ids[known] & ((1 << SLOT_BITS) - 1), priorities[known]
        column = self.slots.column("priorities")
        changed = column[slots] != priorities
        slots, priorities = slots[changed], priorities[changed]
        if not len(slots):
            return
        column[slots] = priorities
        del column  # or nothing could be added
        if len(slots) * _REBUILD_SHARE >= self._waiting:
            self._queues.rebuild()
        else:
            self._queues.requeue_all(slots)

    def restore(self, rows: Sequence[tuple[int, bytes, str, int]], payload: Any) -> None:
        """Let requests of an earlier process wait: (age, fingerprint, host, priority) of each.

        They are queued by :meth:`restored`.
        """
        if not rows:
            return
        ages, fingerprints, names, priorities = zip(*rows, strict=True)
        hosts = [self._queues.number(name) for name in names]
        self._table.extend(*self.slots.extend(ages, fingerprints, hosts, priorities, payload))
        self._waiting += len(rows)

    def restore_finished(self, fingerprints: Sequence[bytes], outcome: Outcome) -> None:
        """Know requests that an earlier process was done with."""
        for fingerprint in fingerprints:
            self._table.put(fingerprint_key(fingerprint), _FINISHED[outcome])
        if outcome is Outcome.DONE:
            self._done += len(fingerprints)
        else:
            self._dropped += len(fingerprints)

    def restored(self, next_age: int, evicted: int) -> list[int]:
        """Queue what was restored, and return the ids that the bound evicts."""
        self.next_age = next_age
        self._evicted = evicted
        self._queues.rebuild()
        return self._trim(self._queues.numbers())

    def _admit(self, entry: Entry) -> int:
        """Let a new request wait, and return its slot; the caller queues it."""
        slots = self.slots
        key = fingerprint_key(entry.fingerprint)
        slot = slots.take(self.next_age, key, entry.fingerprint)
        slots.states[slot] = WAITING
        slots.priorities[slot] = entry.priority
        slots.hosts[slot] = self._queues.number(entry.host)
        slots.payloads[slot] = entry.payload
        self._table.put(key, slot)
        self._waiting += 1
        self.next_age += 1
        return slot

    def _raise(self, slot: int, entry: Entry) -> bool:
        slots, queues = self.slots, self._queues
        if slots.states[slot] != WAITING or entry.priority <= slots.priorities[slot]:
            return False
        slots.priorities[slot] = entry.priority
        slots.payloads[slot] = entry.payload
        host, before = queues.number(entry.host), slots.hosts[slot]
        if host == before:
            queues.requeue(host, slot)
        else:
            slots.hosts[slot] = host
            queues.add(host, slot)
            queues.remove(before)
        return True

    def _trim(self, grown: Iterable[int]) -> list[int]:
        """Evict what is over the bounds, and return the ids."""
        evicted: list[int] = []
        if self._host_size < self.max_size:
            for host in grown:
                excess = self._queues.waiting[host] - self._host_size
                if excess > 0:
                    members = self._queues.members(host)
                    evicted += self._evict(members, excess + self._host_size // _BATCH)
        excess = self._waiting - self.max_size
        if excess > 0:
            evicted += self._evict(self.slots.waiting(), excess + self.max_size // _BATCH)
        return evicted

    def _evict(self, candidates: NDArray[np.int64], count: int) -> list[int]:
        """Forget the worst of these slots: the lowest priority, and there the youngest."""
        slots, queues = self.slots, self._queues
        priorities = slots.column("priorities")[candidates]
        ids = slots.column("ids")[candidates]
        worst = candidates[first_by(priorities, -ids, count)]
        for slot in worst.tolist():
            self._table.discard(slots.keys[slot])
            slots.free(slot)
            queues.remove(slots.hosts[slot])
        self._waiting -= len(worst)
        self._evicted += len(worst)
        evicted: list[int] = slots.column("ids")[worst].tolist()
        return evicted
