"""What makes a crawl whole again after a crash: frontier, run folder and memory, together.

Job directory contents
----------------------
Everything is in ``frontier.sqlite``, see :mod:`focusspider.frontier.sqlite`. Its table
``meta`` holds, under these names:

``spider``
    the name of the spider that began it, see :mod:`focusspider.frontier.opening`
``run``
    the path of the run's folder, before it is made
``session``
    JSON: topic and strategy, the run's folder, how long its files were and which of their
    lines belong to pages that were not settled, counts, and the hosts that were met
``strategy``
    an ``.npz`` of what the strategy had learnt, the newest that costs little: a second older as
    long as it is small, and at most a minute

A checkpoint is one transaction with the outcomes that it goes with, at most a second late.
"""

from __future__ import annotations

import io
import json
import logging
import time
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scrapy.utils.asyncio import create_looping_call

from focusspider.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from focusspider.frontier.guarded import GuardedFrontier
    from focusspider.frontier.sqlite import SqliteFrontier
    from focusspider.scope import Scope
    from focusspider.session import Session
    from focusspider.topic import Topic

__all__ = ["Checkpoints", "Saved"]

logger = logging.getLogger(__name__)

_SECONDS = 1.0
#: What a strategy has learnt can be large: so much of the time is spent on writing it, but it
#: is written every so many checkpoints at least.
_MEMORY_SHARE = 0.03
_MEMORY_EVERY = 60


class Saved(NamedTuple):
    """What the last checkpoint of an interrupted crawl kept."""

    session: dict[str, Any]
    memory: dict[str, NDArray[Any]] | None

    @classmethod
    def of(cls, frontier: SqliteFrontier | GuardedFrontier, topic: Topic | None) -> Saved | None:
        """Return what a job directory holds of a crawl with a topic, or None: it begins here.

        Raises :class:`FrontierError` where it is damaged, or this crawl has no ``topic``: its
        pages would be missing in the run's folder.
        """
        kept = frontier.recall("session")
        if kept is None:
            return None
        try:
            session = json.loads(kept)
            begun = session["topic"]
        except (ValueError, TypeError, KeyError) as error:
            raise FrontierError(
                f"the job directory's note of its crawl is damaged: {error}; take another JOBDIR"
            ) from error
        if topic is None:
            raise FrontierError(
                f"the job directory holds a crawl with the topic {begun!r}, and this "
                "one has none; give it that topic, or take another JOBDIR"
            )
        return cls(session, unpack_memory(frontier.recall("strategy")))


class Checkpoints:
    """Commits a crawl every second, and when it ends.

    Parameters
    ----------
    settle
        settles the requests that the engine is done with
    """

    def __init__(
        self,
        frontier: GuardedFrontier,
        *,
        session: Session | None,
        scope: Scope,
        settle: Callable[[], None],
    ) -> None:
        self._frontier = frontier
        self._session = session
        self._scope = scope
        self._settle = settle
        self._made = 0
        self._memory_at = 0  # the checkpoint that has it next
        self._remembered: int | None = None  # how many pages it knows; None: it stays as it was
        self._loop = create_looping_call(self.make)

    def start(self) -> None:
        """Commit where the run folder is, and begin to commit every second."""
        self.make()
        self._loop.start(_SECONDS, now=False)

    def stop(self) -> None:
        """Make the last checkpoint."""
        if self._loop.running:
            self._loop.stop()
        self.make(last=True)

    def make(self, *, last: bool = False) -> None:
        """Commit what happened so far."""
        self._settle()
        remembered = {}
        begun = time.monotonic()
        if self._session is not None:
            state = {**self._session.state(), "scope": self._scope.state()}
            if self._session.folder is not None and self._session.folder.broken:
                self._frontier.give_up()  # what was settled has lines that are not written
                return
            if last or self._made >= self._memory_at:
                memory = self._session.memory()
                if memory is not None:
                    remembered["strategy"] = pack_memory(memory)
                    self._remembered = self._session.fetched
            if self._remembered is not None:
                state["remembered"] = self._remembered
            remembered["session"] = json.dumps(state).encode()
        self._frontier.commit(remembered)
        if "strategy" in remembered:
            seconds = time.monotonic() - begun
            every = 1 + int(seconds / _SECONDS / _MEMORY_SHARE)
            self._memory_at = self._made + min(every, _MEMORY_EVERY)
        self._made += 1


def pack_memory(memory: Mapping[str, NDArray[Any]]) -> bytes:
    """Return what a strategy has learnt as the bytes of an ``.npz``."""
    for name, array in memory.items():
        if array.dtype.hasobject:
            raise ValueError(f"memory {name!r} holds Python objects; give an array of numbers")
    buffer = io.BytesIO()
    arrays: dict[str, Any] = dict(memory)
    np.savez(buffer, **arrays)  # compressing megabytes would hold the crawl up
    return buffer.getvalue()


def unpack_memory(data: bytes | None) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of :func:`pack_memory`; None for None."""
    if data is None:
        return None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise FrontierError(
            f"the job directory's memory of its strategy is damaged: {error}; take another JOBDIR"
        ) from error
