"""A frontier in the plainest way: one dict, sorted anew for each question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from focusspider.frontier import Counts, Entry, Outcome
from focusspider.priority import HELD

if TYPE_CHECKING:
    from collections.abc import Iterable


def fingerprint(number: int) -> bytes:
    return number.to_bytes(8, "big") + b"%012d" % number


def entry(number: int, host: str = "a", priority: int = 0, payload: Any = b"") -> Entry:
    return Entry(fingerprint(number), host, priority, payload)


class Gate:
    """A host filter that lets ``free[host]`` requests through, and holds a frontier to its word."""

    def __init__(self, free: dict[str, int] | None = None, default: int = 0) -> None:
        self.free = dict(free or {})
        self.default = default
        self.refused: set[str] = set()
        self.to_wake: list[str] = []

    def ready(self, host: str) -> bool:
        assert host not in self.refused, f"asked about {host!r} before it was woken"
        free = self.free.setdefault(host, self.default)
        if not free:
            self.refused.add(host)
            return False
        self.free[host] = free - 1
        return True

    def woken(self) -> Iterable[str]:
        names, self.to_wake = self.to_wake, []
        self.refused.difference_update(names)
        return names

    def open(self, host: str, requests: int = 1) -> None:
        self.free[host] = self.free.get(host, self.default) + requests
        self.to_wake.append(host)

    def copy(self) -> Gate:
        gate = Gate(self.free, self.default)
        gate.refused = set(self.refused)
        gate.to_wake = list(self.to_wake)
        return gate


def always() -> Gate:
    return Gate(default=10**9)


@dataclass
class Record:
    entry: Entry
    age: int
    state: str = "waiting"

    @property
    def order(self) -> tuple[int, int]:
        return (-self.entry.priority, self.age)


class ModelFrontier:
    """What a frontier must do, by its contract; exact for bounds below 256."""

    def __init__(self, max_size: int, host_share: float) -> None:
        assert max_size < 256, "larger bounds are free to evict in batches"
        self.max_size = max_size
        self.host_size = max(1, int(max_size * host_share))
        self.records: dict[bytes, Record] = {}
        self.evicted = 0
        self.age = 0

    def of(self, state: str, host: str | None = None) -> list[Record]:
        """The requests in a state, the best first."""
        found = [
            record
            for record in self.records.values()
            if record.state == state and host in (None, record.entry.host)
        ]
        return sorted(found, key=lambda record: record.order)

    @property
    def counts(self) -> Counts:
        sizes = [len(self.of(state)) for state in ("waiting", "leased", "done", "dropped")]
        return Counts(*sizes, self.evicted)

    def push(self, entries: Iterable[Entry]) -> int:
        new = []
        for given in entries:
            record = self.records.get(given.fingerprint)
            if record is None:
                self.records[given.fingerprint] = Record(given, self.age)
                self.age += 1
                new.append(given.fingerprint)
            elif record.state == "waiting" and given.priority > record.entry.priority:
                record.entry = given
        self._trim()
        return sum(given in self.records for given in new)

    def lease(self, n: int, gate: Gate) -> list[Entry]:
        gate.woken()
        leased: list[Entry] = []
        while len(leased) < n:
            asked = [
                record
                for record in self.of("waiting")
                if record.entry.host not in gate.refused and record.entry.priority != HELD
            ]
            if not asked:
                break
            if gate.ready(asked[0].entry.host):
                asked[0].state = "leased"
                leased.append(asked[0].entry)
        return leased

    def settle(self, fingerprint: bytes, outcome: Outcome, replacement: Entry | None) -> None:
        record = self.records[fingerprint]
        assert record.state == "leased"
        if outcome is Outcome.AGAIN:
            record.entry = replacement or record.entry
            record.state = "waiting"
            self._trim()
        else:
            record.state = outcome.value

    def reprioritise(self, priorities: dict[bytes, int]) -> None:
        for name, priority in priorities.items():
            record = self.records.get(name)
            if record is not None and record.state == "waiting":
                record.entry = record.entry._replace(priority=priority)

    def crash(self) -> None:
        for record in self.of("leased"):
            record.state = "waiting"
        self._trim()

    def _trim(self) -> None:
        for host in {record.entry.host for record in self.of("waiting")}:
            self._forget(self.of("waiting", host)[self.host_size :])
        self._forget(self.of("waiting")[self.max_size :])

    def _forget(self, records: list[Record]) -> None:
        for record in records:
            del self.records[record.entry.fingerprint]
        self.evicted += len(records)
