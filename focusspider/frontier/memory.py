"""The frontier of a crawl that need not survive its process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.frontier import Glance
from focusspider.frontier.index import Index

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from focusspider.frontier import Counts, Entry, HostFilter, Outcome
    from focusspider.frontier.index import View

__all__ = ["MemoryFrontier"]


class MemoryFrontier:
    """A frontier in the memory of this process; see :class:`focusspider.frontier.Frontier`.

    Parameters
    ----------
    max_size
        How many requests may wait (``FOCUS_FRONTIER_MAX``).
    host_share
        The share of ``max_size`` that may wait for one host, in (0, 1].
    """

    def __init__(self, *, max_size: int = 1_000_000, host_share: float = 1.0) -> None:
        self._index = Index(max_size=max_size, host_share=host_share)

    @property
    def counts(self) -> Counts:
        """How many requests are in each state."""
        return self._index.counts

    @property
    def view(self) -> View:
        """The waiting requests as they are now."""
        return self._index.view

    def glance(self, n: int) -> Glance:
        """Return what waits at a glance."""
        hosts, best = self._index.glance(n)
        return Glance(hosts, [self._index.entry(slot) for slot in best])

    def push(self, entries: Sequence[Entry]) -> int:
        """Add requests, and return how many are new."""
        return len(self._index.push(entries).new)

    def lease(self, n: int, ready: HostFilter) -> list[Entry]:
        """Take up to n requests, the best first, of hosts that may be asked now."""
        return [self._index.entry(slot) for slot in self._index.lease(n, ready)]

    def settle(
        self, fingerprint: bytes, outcome: Outcome, replacement: Entry | None = None
    ) -> None:
        """Say what became of a leased request."""
        self._index.settle(fingerprint, outcome, replacement)

    def reprioritise(self, ids: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
        """Give waiting requests new priorities."""
        self._index.reprioritise(ids, priorities)

    def close(self, reason: str) -> None:
        """Do nothing: the frontier goes with its process, and counts can still be read."""
