"""A durable frontier that ends the crawl, once and with its reason, when it cannot go on."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from focusspider.errors import FrontierError
from focusspider.frontier import Glance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from focusspider.frontier import Counts, Entry, FrontierView, HostFilter, Outcome
    from focusspider.frontier.sqlite import SqliteFrontier

__all__ = ["GuardedFrontier"]


class GuardedFrontier:
    """Passes everything on, until the frontier fails, as on a full disk.

    From then on it takes nothing, gives nothing and commits nothing, so that what was
    committed can be resumed, and the crawl can come to its end without an error a call.

    Parameters
    ----------
    frontier
        the one that is guarded
    failed
        is told the error, once
    """

    def __init__(self, frontier: SqliteFrontier, failed: Callable[[FrontierError], None]) -> None:
        self._frontier = frontier
        self._failed = failed
        self.broken = False

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except FrontierError as error:
            if not self.broken:
                self.broken = True
                self._failed(error)

    @property
    def counts(self) -> Counts:
        """How many requests were in each state at last."""
        return self._frontier.counts

    @property
    def view(self) -> FrontierView:
        """The waiting requests."""
        return self._frontier.view

    def glance(self, n: int) -> Glance:
        """Return what waits at a glance."""
        seen = Glance(0, [])
        with self._guard():
            if not self.broken:
                seen = self._frontier.glance(n)
        return seen

    def push(self, entries: Sequence[Entry]) -> int:
        """Add requests, and return how many are new."""
        pushed = 0
        with self._guard():
            if not self.broken:
                pushed = self._frontier.push(entries)
        return pushed

    def lease(self, n: int, ready: HostFilter) -> list[Entry]:
        """Take up to n requests, the best first, of hosts that may be asked now."""
        leased: list[Entry] = []
        with self._guard():
            if not self.broken:
                leased = self._frontier.lease(n, ready)
        return leased

    def settle(
        self, fingerprint: bytes, outcome: Outcome, replacement: Entry | None = None
    ) -> None:
        """Say what became of a leased request."""
        with self._guard():
            if not self.broken:
                self._frontier.settle(fingerprint, outcome, replacement)

    def reprioritise(self, ids: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
        """Give waiting requests new priorities."""
        with self._guard():
            if not self.broken:
                self._frontier.reprioritise(ids, priorities)

    def commit(self, remembered: dict[str, bytes]) -> None:
        """Commit what happened so far, together with what is to be remembered of it."""
        with self._guard():
            if not self.broken:
                for name, value in remembered.items():
                    self._frontier.remember(name, value)
                self._frontier.flush()

    def recall(self, name: str) -> bytes | None:
        """Return what was last remembered under a name, or None."""
        value = None
        with self._guard():
            if not self.broken:
                value = self._frontier.recall(name)
        return value

    def give_up(self) -> None:
        """Commit nothing any more: something else than the frontier has failed."""
        self.broken = True

    def close(self, reason: str) -> None:
        """Release the file; what was not committed is dropped if anything has failed."""
        with self._guard():
            if self.broken:
                self._frontier.abandon()
            else:
                self._frontier.close(reason)
