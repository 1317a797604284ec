"""What the strategies of several workers learn from each other, by way of Redis.

Every so often a worker writes what it has learnt of its own pages, as a whole
(:class:`~focusspider.strategies.base.Sharer`), and reads what others have written since. What
a worker that is gone had written stays: its pages count, and whoever goes on with the crawl
begins with it.

Keys of the crawl in Redis
--------------------------
``s``
    hash: worker -> its contribution, an archive of arrays (:mod:`focusspider.models.archive`)
``sv``
    hash: worker -> how often it has written one
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from scrapy.utils.asyncio import call_later, run_in_thread
from scrapy.utils.defer import deferred_from_coro

from focusspider import stats
from focusspider.engine import pause, turn
from focusspider.errors import FrontierError
from focusspider.frontier.redisclient import AwayError
from focusspider.models.archive import pack_arrays, unpack_arrays
from focusspider.strategies.base import BaseStrategy

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

    from focusspider.fleet import Fleet
    from focusspider.session import Session
    from focusspider.strategies.base import Contribution, ContributionWork

__all__ = ["MAX_CONTRIBUTION", "Sharing"]

logger = logging.getLogger(__name__)

#: Bytes of a contribution.
MAX_CONTRIBUTION = 8_000_000
#: Most of the time that may go into it.
_SHARE = 0.02


class _Talk(NamedTuple):
    """What came of an exchange: whether this worker's part was written, and what was read.

    A contribution that cannot be read is None. ``seconds`` is the CPU that it took.
    """

    written: bool
    read: list[tuple[str, Contribution | None]]
    seconds: float


class Sharing:
    """Shares what the strategy of one worker learns with the other workers of its crawl.

    Parameters
    ----------
    fleet, crawler
        the worker
    session
        its crawl's, if that has a topic
    seconds
        how often; 0: never
    """

    def __init__(
        self,
        fleet: Fleet,
        session: Session | None,
        crawler: Crawler,
        *,
        seconds: int,
    ) -> None:
        self._client = fleet.client
        self._worker = fleet.worker
        self._session = session
        self._crawler = crawler
        self._seconds = seconds
        self._timer: CallLaterResult | None = None
        self._busy = False
        self._told = 0  # pages when the last contribution was written
        self._known: dict[str, bytes] = {}  # worker -> version of what was read of it
        self._stopped = False
        self._over = session is None or not seconds or not hasattr(session.strategy, "join")

    def start(self) -> None:
        """Say what is shared, and begin."""
        if self._session is None:
            return
        learns = getattr(type(self._session.strategy), "observe", BaseStrategy.observe)
        if not self._over:
            logger.info(
                "Worker %s: the strategy %r also learns from what the other workers have "
                "learnt, every %d s.",
                self._worker,
                self._session.strategy_name,
                self._seconds,
            )
            self._timer = call_later(0, self._begin)
        elif learns is not BaseStrategy.observe:
            logger.info(
                "Worker %s: the strategy %r learns from the pages of this worker alone.",
                self._worker,
                self._session.strategy_name,
            )

    async def stop(self, *, writes: bool) -> None:
        """End, and before that write what was learnt up to now, if Redis can be told."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._busy:
            await pause(0.01)
        if writes and not self._over:
            await self._exchange(reads=False)

    def _begin(self) -> None:
        self._timer = None
        self._busy = True
        deferred_from_coro(self._turn())

    async def _turn(self) -> None:
        spent = await self._exchange()
        self._busy = False
        if not (self._over or self._stopped):
            self._timer = call_later(max(self._seconds, spent / _SHARE), self._begin)

    async def _exchange(self, *, reads: bool = True) -> float:
        """Write and read, and return the seconds of CPU that it took.

        Whatever fails, the crawl goes on without.
        """
        session = self._session
        assert session is not None
        spent = 0.0
        if not session.begun:  # its targets are not there yet
            return spent
        fetched = session.fetched
        try:
            given = session.strategy.contribution() if fetched != self._told else None  # type: ignore[attr-defined]
            talk = await run_in_thread(self._talk, given, reads)
            if talk.written:
                self._told = fetched
                self._count(stats.FLEET_SHARED)
            spent = talk.seconds
            for worker, contribution in talk.read:
                begun = time.thread_time()
                self._join(worker, contribution)
                spent += time.thread_time() - begun
                await turn()
        except AwayError:
            logger.debug("What is learnt waits for Redis")  # the frontier's exchange says more
        except FrontierError as error:
            self._over = True
            logger.warning("What is learnt is not shared any more: %s", error)
        except Exception:
            self._over = True
            logger.exception("What is learnt is not shared any more: the strategy failed")
        return spent

    def _join(self, worker: str, contribution: Contribution | None) -> None:
        assert self._session is not None
        try:
            if contribution is None:
                raise ValueError("it is no archive of arrays, or too large")
            self._session.strategy.join(worker, contribution)  # type: ignore[attr-defined]
        except ValueError as error:
            self._count(stats.FLEET_UNREADABLE)
            logger.warning("What worker %s has learnt cannot be read: %s", worker, error)
        else:
            self._count(stats.FLEET_JOINED)

    def _count(self, key: str) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(key)

    def _talk(self, given: Contribution | ContributionWork | None, reads: bool) -> _Talk:
        """Write what is given, and read what is new; in a thread."""
        begun = time.thread_time()
        contribution = given() if callable(given) else given
        redis, parts, versions = self._client.redis, *map(self._client.key, ("s", "sv"))
        if contribution is not None:
            data = pack_arrays(contribution)
            if len(data) > MAX_CONTRIBUTION:
                raise FrontierError(
                    f"a contribution of {len(data)} bytes, and {MAX_CONTRIBUTION} are the most"
                )
            with self._client.explained():
                pipe = redis.pipeline(transaction=True)
                pipe.hset(parts, self._worker, data)
                pipe.hincrby(versions, self._worker, 1)
                pipe.execute()
        read = self._new() if reads else []
        return _Talk(contribution is not None, read, time.thread_time() - begun)

    def _new(self) -> list[tuple[str, Contribution | None]]:
        """Read what has changed of other workers."""
        redis, parts, versions = self._client.redis, *map(self._client.key, ("s", "sv"))
        found: list[tuple[str, Contribution | None]] = []
        with self._client.explained():
            current: dict[bytes, bytes] = redis.hgetall(versions)
            for name in sorted(current):
                worker = name.decode("utf-8", "replace")
                if not name.isdigit() or worker == self._worker:  # no worker, or this one
                    continue
                if self._known.get(worker) == current[name]:
                    continue
                size: int = redis.hstrlen(parts, name)
                data: bytes = (redis.hget(parts, name) or b"") if size <= MAX_CONTRIBUTION else b""
                self._known[worker] = current[name]
                found.append((worker, _unpacked(data)))
        return found


def _unpacked(data: bytes) -> Contribution | None:
    try:
        return unpack_arrays(data, max_size=MAX_CONTRIBUTION)
    except ValueError:
        return None
