"""One exchange of a worker with the frontier in Redis.

A **batch** is what the worker has to say since the last one. It goes in the order in which
things were said: first new requests, then what became of leased ones, then the leases that
are wanted. So a page's links are in Redis before the page is done there.

A batch may be sent again, however far it got the first time: what was said already changes
nothing, and what was leased without an answer is asked for.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider.frontier.rediscalls import (
    Beat,
    Leased,
    Pushed,
    Settled,
    beat_of,
    pushed,
    unsettled,
)
from focusspider.frontier.redisclient import AwayError
from focusspider.frontier.redisview import read_view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from focusspider.frontier import Entry
    from focusspider.frontier.rediscalls import Calls
    from focusspider.frontier.redisclient import RedisClient
    from focusspider.frontier.redisview import RedisView

__all__ = ["Batch", "Exchange", "Reply"]

#: Requests in one call: Redis does nothing else meanwhile, for some 10 ms.
_PUSHED_AT_ONCE = 500


@dataclass
class Batch:
    """What a worker has to say to Redis."""

    links: list[Entry] = field(default_factory=list)
    requests: list[Entry] = field(default_factory=list)
    new_links: int = 0
    new_requests: int = 0
    changes: list[list[tuple[bytes, bytes, int]]] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    pages: dict[int, str] = field(default_factory=dict)
    note: str = ""
    beat: dict[str, Any] | None = None
    want: int = 0
    aside: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    back: list[bytes] = field(default_factory=list)
    repeated: bool = False


class Reply(NamedTuple):
    """What Redis said to a batch.

    ``late`` are the fingerprints that another worker was given meanwhile. ``parents`` are
    what is known of the pages that led to what was leased, by their number.
    """

    links: list[Pushed]
    requests: list[Pushed]
    late: list[bytes]
    beat: Beat | None
    leased: list[Leased]
    parents: dict[int, str]


class Exchange:
    """Sends the batches of one worker, one at a time; for threads.

    Parameters
    ----------
    client, calls
        the connection, and the worker in it
    a_host
        how many of one host are taken at a time
    pages, hosts
        the crawl's limits, or None
    pages_by_host
        whether the pages of each host are counted
    parent_of
        gives the number of the page that a payload comes from; 0: none that must be looked up
    """

    def __init__(
        self,
        client: RedisClient,
        calls: Calls,
        *,
        a_host: int = 8,
        pages: int | None = None,
        hosts: int | None = None,
        pages_by_host: bool = False,
        parent_of: Callable[[Any], int] = lambda payload: 0,  # noqa: ARG005
    ) -> None:
        self._client = client
        self._calls = calls
        self.a_host = a_host
        self._pages = pages
        self._hosts = hosts
        self._pages_by_host = pages_by_host
        self._parent_of = parent_of
        self._turn = threading.Lock()
        self._recover = False

    def send(self, batch: Batch) -> Reply:
        """Send a batch. After an :class:`AwayError` it is to be sent again."""
        with self._turn:
            try:
                reply = self._sent(batch)
            except AwayError:
                batch.repeated = self._recover = True
                raise
            self._recover = False
            return reply

    def view(self) -> RedisView:
        """Read what waits at this worker's hosts."""
        with self._turn:
            return read_view(self._client, self._calls.worker)

    def leave(self, reason: str) -> None:
        """Leave the crawl: what is leased waits again."""
        with self._turn:
            self._client.run(self._calls.leave(reason))
            self._client.close()

    def _sent(self, batch: Batch) -> Reply:
        calls, run = self._calls, self._client.run
        before = [calls.settle((), pages=batch.pages)] if batch.pages else []
        links, requests = _parts(batch.links), _parts(batch.requests)
        before += [calls.push(part, self._hosts) for part in (*links, *requests)]
        before += [calls.reprioritise(part) for part in batch.changes]
        answers = run(*before) if before else []
        first = len(answers) - len(batch.changes) - len(links) - len(requests)
        counts = [pushed(answer) for answer in answers[first : first + len(links + requests)]]
        after = [calls.settle(batch.settled, note=batch.note, by_host=self._pages_by_host)]
        if batch.beat is not None:
            after.append(calls.beat(pages=self._pages, **batch.beat))
        after.append(
            calls.lease(
                0 if self._recover else batch.want,  # there may be enough already
                a_host=self.a_host,
                pages=self._pages,
                recover=self._recover,
                aside=batch.aside,
                again=batch.again,
                back=batch.back,
            )
        )
        states, *beats, taken = run(*after)
        mine = {"done", "dropped", "waiting"} if batch.repeated else {"waiting"}
        late = [name for name, state in unsettled(states) if state not in mine]
        leased = calls.leased(taken)
        return Reply(
            counts[: len(links)],
            counts[len(links) :],
            late,
            beat_of(beats[0]) if beats else None,
            leased,
            self._parents(leased),
        )

    def _parents(self, leased: Sequence[Leased]) -> dict[int, str]:
        """Look up the pages that led to what was leased, back to the first."""
        found: dict[int, str] = {}
        asked = {self._parent_of(given.entry.payload) for given in leased} - {0}
        while asked:
            names = sorted(asked)
            with self._client.explained():
                lines = self._client.redis.hmget(self._client.key("pg"), names)
            asked = set()
            for name, line in zip(names, lines, strict=True):
                if line is not None:
                    found[name] = line.decode("utf-8", "surrogateescape")
                    parent = int(found[name].partition(" ")[0])
                    if parent and parent not in found:
                        asked.add(parent)
        return found


def _parts(entries: list[Entry]) -> list[list[Entry]]:
    return [
        entries[start : start + _PUSHED_AT_ONCE]
        for start in range(0, len(entries), _PUSHED_AT_ONCE)
    ]
