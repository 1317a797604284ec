"""What the scripts of the frontier in Redis are given, and what they answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider.errors import FrontierError
from focusspider.frontier import Counts, Entry, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from focusspider.frontier.redisclient import RedisClient

__all__ = [
    "FORMAT_VERSION",
    "Beat",
    "Bounds",
    "Calls",
    "Joined",
    "Leased",
    "Lost",
    "Pushed",
    "Settled",
    "join",
]

FORMAT_VERSION = "1"
Call = tuple[str, list[Any]]


class Bounds(NamedTuple):
    """How much may wait, at all and for one host."""

    size: int
    host_size: int


class Joined(NamedTuple):
    """A worker's number in the crawl, and the name of the crawl's run."""

    worker: str
    run: str


class Pushed(NamedTuple):
    """How many requests were new, known, beyond the limit of hosts; and how many evicted."""

    new: int
    known: int
    refused: int
    evicted: int


class Leased(NamedTuple):
    """A leased request, and the pages that its host has brought, where that is counted."""

    entry: Entry
    host_pages: int


class Settled(NamedTuple):
    """What became of a leased request.

    ``page`` is None where it has brought none, else whether that was relevant.
    """

    fingerprint: bytes
    outcome: Outcome
    page: bool | None = None
    replacement: Entry | None = None


class Lost(NamedTuple):
    """A worker that is gone, what it was, and the note of its last commit, if that is asked."""

    worker: str
    what: dict[str, Any]
    note: dict[str, Any]


class Beat(NamedTuple):
    """How the crawl is: why it is over (or nothing), and what each count is.

    ``wanted`` is how many hosts this worker should give up to workers that have none, and
    ``was_gone`` whether it was taken for gone: what it had leased is not its own any more. Of the
    ``untidy``, which are gone too, it should cut the files.
    """

    reason: str
    wanted: int
    workers: int
    was_gone: bool
    hosts: int
    counts: Counts
    pages: int
    relevant: int
    lost: list[Lost]
    untidy: list[Lost]


class Calls:
    """Makes the calls of one worker.

    A request whose payload is not bytes waits in the memory of its worker, and so under a
    host of its own, which no other worker is given: its name ends with the worker's.
    """

    def __init__(self, worker: str, bounds: Bounds) -> None:
        self.worker = worker
        self.bounds = bounds
        self._mark = f"\0{worker}"
        self._objects: dict[bytes, Any] = {}

    def push(self, entries: Iterable[Entry], most_hosts: int | None = None) -> Call:
        """Add requests; see :func:`pushed`."""
        arguments: list[Any] = [self.worker, *self.bounds, _or_none(most_hosts)]
        for entry in entries:
            host, payload = self._wired(entry)
            arguments += (entry.fingerprint, host, entry.priority, payload)
        return "push", arguments

    def lease(
        self,
        n: int,
        *,
        a_host: int = 0,
        pages: int | None = None,
        recover: bool = False,
        aside: Sequence[str] = (),
        again: Sequence[str] = (),
        back: Sequence[bytes] = (),
    ) -> Call:
        """Take up to n of the best requests; see :meth:`leased`.

        At most ``a_host`` of each host, which is then set aside (0: no end); with a limit of
        ``pages``, no more than it leaves room for. ``recover``: return what is leased
        already, too. Before that, hosts are set ``aside`` and taken in ``again``, and
        fingerprints let wait once more (``back``).
        """
        arguments: list[Any] = [self.worker, n, a_host, _or_none(pages), int(recover)]
        for given in (
            self._both(aside),
            self._both(again),
            [fingerprint[:8] for fingerprint in back],
        ):
            arguments += (len(given), *given)
        return "lease", arguments

    def leased(self, answer: Sequence[bytes]) -> list[Leased]:
        """Read the answer of :meth:`lease`."""
        found = []
        for at in range(0, len(answer), 5):
            fingerprint, host, priority, payload, pages = answer[at : at + 5]
            name = host.decode("utf-8", "surrogateescape")
            kept: Any = payload
            if name.endswith(self._mark):
                name, kept = name.removesuffix(self._mark), self._objects[fingerprint[:8]]
            entry = Entry(fingerprint, name, int(float(priority)), kept)
            found.append(Leased(entry, int(pages)))
        return found

    def settle(
        self,
        settled: Iterable[Settled],
        *,
        strict: bool = False,
        by_host: bool = False,
        note: str = "",
        pages: Mapping[int, str] | None = None,
    ) -> Call:
        """Say what became of requests; see :func:`unsettled`.

        Unless it is ``strict``, one that was taken from this worker and nobody has yet is
        settled all the same. ``pages`` are what is to be known of pages, by their number.
        """
        known = pages or {}
        arguments: list[Any] = [self.worker, *self.bounds, int(strict), int(by_host), note]
        arguments.append(len(known))
        for number, line in known.items():
            arguments += (number, line.encode("utf-8", "surrogateescape"))
        for fingerprint, outcome, page, replacement in settled:
            word = outcome.value if replacement is None else "replaced"
            arguments += (fingerprint, word, 0 if page is None else 1 + page)
            if replacement is not None:
                host, payload = self._wired(replacement)
                arguments += (host, replacement.priority, payload)
            elif outcome is not Outcome.AGAIN:
                self._objects.pop(fingerprint[:8], None)
        return "settle", arguments

    def reprioritise(self, changes: Iterable[tuple[bytes, bytes, int]]) -> Call:
        """Give (host, member, priority) each."""
        arguments: list[Any] = [self.worker]
        for change in changes:
            arguments += change
        return "reprioritise", arguments

    def beat(
        self,
        *,
        patience_ms: int,
        starting: bool = False,
        pages: int | None = None,
        gone: Sequence[str] = (),
        given: Sequence[str] = (),
        busy: Sequence[str] = (),
        tidied: Sequence[str] = (),
    ) -> Call:
        """Say that this worker lives; see :func:`beat_of`."""
        arguments: list[Any] = [self.worker, patience_ms, int(starting), _or_none(pages)]
        for names in (gone, given, busy, tidied):
            arguments += (len(names), *(_bytes(name) for name in names))
        return "beat", arguments

    def leave(self, reason: str) -> Call:
        """Let the worker go; what it had leased waits again."""
        return "leave", [self.worker, *self.bounds, reason]

    def _wired(self, entry: Entry) -> tuple[bytes, bytes]:
        host = _bytes(entry.host)
        if isinstance(entry.payload, bytes):
            return host, entry.payload
        self._objects[entry.fingerprint[:8]] = entry.payload
        return host + self._mark.encode(), b""

    def _both(self, hosts: Sequence[str]) -> list[bytes]:
        """Name hosts, also as those of what waits in memory."""
        names = [_bytes(host) for host in hosts]
        if self._objects:
            names += [name + self._mark.encode() for name in names]
        return names


def join(
    client: RedisClient, *, run: str, what: Mapping[str, Any], common: Mapping[str, str]
) -> Joined:
    """Let a worker into the crawl.

    ``common`` is what every worker must have in common, by the name of what it is. Raises
    :class:`FrontierError` where it differs from that of the worker that began the crawl.
    """
    arguments: list[Any] = ["", FORMAT_VERSION, run, json.dumps(what)]
    for name, value in common.items():
        arguments += (name, value)
    [answer] = client.run(("join", arguments))
    worker, kept_run, differs, value = (part.decode("utf-8", "replace") for part in answer)
    if differs == "format":
        raise FrontierError(
            f"{client.url} holds a crawl {client.crawl!r} of format {value}, and this "
            f"focusspider writes format {FORMAT_VERSION}; take another FOCUS_CRAWL, or finish "
            "that crawl with the version that began it"
        )
    if differs:
        raise FrontierError(
            f"{client.url} holds a crawl {client.crawl!r} with the {differs} {value!r}, and "
            f"this one has {common[differs]!r}; give this crawl a name of its own with "
            "FOCUS_CRAWL"
        )
    return Joined(worker, kept_run)


def pushed(answer: Sequence[int]) -> Pushed:
    """Read the answer of :meth:`Calls.push`."""
    return Pushed(*answer)


def unsettled(answer: Sequence[bytes]) -> list[tuple[bytes, str]]:
    """Read the answer of :meth:`Calls.settle`: what was not leased, and its state."""
    return [(answer[at], answer[at + 1].decode()) for at in range(0, len(answer), 2)]


def beat_of(answer: Sequence[Any]) -> Beat:
    """Read the answer of :meth:`Calls.beat`."""
    reason, wanted, workers, was_gone, hosts, counts, removed, untidy = answer
    lost = [
        Lost(removed[at].decode(), _table(removed[at + 1]), {}) for at in range(0, len(removed), 2)
    ]
    left = [
        Lost(untidy[at].decode(), _table(untidy[at + 1]), _table(untidy[at + 2]))
        for at in range(0, len(untidy), 3)
    ]
    return Beat(
        reason.decode(),
        wanted,
        workers,
        bool(was_gone),
        hosts,
        Counts(*counts[:5]),
        counts[5],
        counts[6],
        lost,
        left,
    )


def _table(text: bytes) -> dict[str, Any]:
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _or_none(number: int | None) -> int:
    return -1 if number is None else number


def _bytes(host: str) -> bytes:
    return host.encode("utf-8", "surrogateescape")
