"""Exchanges what a worker has to say with Redis, beside the crawl."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import call_later, run_in_thread
from scrapy.utils.defer import deferred_from_coro

from focusspider import stats
from focusspider.config import FocusConfig
from focusspider.engine import has_started, pause, stop, wake
from focusspider.errors import FrontierError
from focusspider.frontier.redisclient import AwayError
from focusspider.sharing import Sharing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from scrapy.utils.asyncio import CallLaterResult

    from focusspider.fleet import Fleet
    from focusspider.frontier.exchange import Batch, Reply
    from focusspider.frontier.rediscalls import Beat, Pushed
    from focusspider.frontier.redisview import RedisView
    from focusspider.scheduler import FocusScheduler
    from focusspider.scope import Scope
    from focusspider.session import Session

__all__ = ["Pump"]

logger = logging.getLogger(__name__)

#: Seconds: between two beats, and while there is nothing to ask for; after something was said.
_BEAT_S, _IDLE_S, _SAID_S = 1.0, 0.2, 0.05
#: Between two tries while Redis is away, at most; and how long a signal lets it wait for it.
_RETRY_S, _LAST_S = 1.0, 5.0
#: Between two looks for workers of this machine that have died.
_LOOK_S = 2.0


class Pump:
    """Keeps a worker's frontier and Redis together.

    Parameters
    ----------
    fleet, session, scope
        the worker, and its crawl's session, if it has a topic, and limits
    settle
        settles the requests that the engine is done with
    unrested
        gives the hosts that were asked so lately that nobody may ask them now
    silence, patience
        seconds without a word after which a worker is gone; seconds that Redis may be away
    sharing
        what the strategy learns from other workers
    """

    def __init__(
        self,
        fleet: Fleet,
        crawler: Crawler,
        *,
        session: Session | None,
        scope: Scope,
        settle: Callable[[], None],
        unrested: Callable[[], Collection[str]],
        silence: float,
        patience: float,
        sharing: Sharing,
    ) -> None:
        self._fleet = fleet
        self._sharing = sharing
        self._frontier = fleet.frontier
        self._crawler = crawler
        self._session = session
        self._scope = scope
        self._settle = settle
        self._unrested = unrested
        self._silence = silence
        self._patience = patience
        self._timer: CallLaterResult | None = None
        self._due = 0.0
        self._busy = False
        self._asked = False  # since the last batch was made
        self._next_beat = self._next_look = 0.0
        self._given: list[str] = []
        self._leaving: set[str] = set()
        self._tidied: list[str] = []
        self._noted: dict[str, Any] = {}
        self._marks: dict[str, Any] = {}  # what Redis knows of the files
        #: asks the strategy for what it holds back, and returns whether there is any now
        self.raise_held: Callable[[], Awaitable[bool]] | None = None
        self._raising = self._sending = False
        self._dry = False  # the last exchange has asked for more, and there was nothing
        self._holds_nothing = -1  # pages at which the strategy had nothing more to raise
        #: whether Redis or a file has failed for good
        self.broken = False

    @classmethod
    def of(cls, fleet: Fleet, crawler: Crawler, scheduler: FocusScheduler) -> Pump:
        """Return the pump of a crawl's scheduler."""
        config = FocusConfig.from_settings(crawler.settings)
        return cls(
            fleet,
            crawler,
            session=scheduler.session,
            scope=scheduler.scope,
            settle=scheduler.settle_finished,
            unrested=scheduler.politeness.unrested,
            silence=config.worker_timeout,
            patience=config.frontier_patience,
            sharing=Sharing(fleet, scheduler.session, crawler, seconds=config.share_seconds),
        )

    @property
    def goes_on(self) -> bool:
        """Whether the crawl, of which this is a part, goes on."""
        return not (self.broken or self._fleet.over)

    def start(self) -> None:
        """Begin; the first exchange says where the worker's files are."""
        self._sharing.start()
        self.kick(0.0)

    def kick(self, seconds: float = 0.0) -> None:
        """Exchange in so many seconds, or before."""
        due = time.monotonic() + seconds
        if self._busy or self.broken or (self._timer is not None and self._due <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = call_later(seconds, self._begin)

    def said(self) -> None:
        """Note that there is something to say or to ask, which can wait a moment for more."""
        self._asked = True
        self.kick(0.0 if self._frontier.hungry else _SAID_S)

    async def stop(self, reason: str) -> None:
        """Say the last words, and leave the crawl."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if reason == "shutdown":  # by a signal: somebody waits for the end
            self._patience = min(self._patience, _LAST_S)
        while self._busy:
            await pause(0.01)
        self._busy = True
        if not self.broken:
            self._settle()
            self._next_beat = 0.0
            await self._exchange()
        await self._sharing.stop(writes=not self.broken)
        if not self.broken:
            try:
                await run_in_thread(self._frontier.close, reason)
            except FrontierError as error:
                logger.warning("This worker could not take its leave: %s", error)
        if self.broken and self._session is not None and self._session.folder is not None:
            # what Redis was not told of is fetched again, by whoever goes on
            self._session.folder.close(self._marks)

    def _begin(self) -> None:
        self._timer, self._busy = None, True
        deferred_from_coro(self._turn()).addErrback(self._failed_on_its_own)

    def _failed_on_its_own(self, failure: Any) -> None:
        self._busy = False
        self._fail(FrontierError(f"{failure.getErrorMessage()} (an error in focusspider)"))
        logger.error("The frontier's exchange failed", exc_info=failure.value)

    async def view(self) -> RedisView | None:
        """Return what waits at this worker's hosts, with all that was said before.

        None: Redis is away.
        """
        while (self._frontier.unsaid or self._sending) and not self.broken:
            self.said()
            self.kick()
            await pause(0.002)
        if self.broken:
            return None
        try:
            return await run_in_thread(self._frontier.read_view)
        except AwayError:  # the next exchange says so
            return None

    async def _turn(self) -> None:
        await self._exchange()
        self._busy = False
        if self._may_raise() and self.raise_held is not None and not self._raising:
            self._raising = True
            assert self._session is not None
            fetched = self._session.fetched
            if not await self.raise_held():
                self._holds_nothing = fetched
            self._raising = False
            self._asked = True
        if not self.broken and not self._fleet.over:
            self.kick(self._pause())
        elif not self.broken:
            self.kick(_BEAT_S)  # the others are told that we live, until we are closed

    def _may_raise(self) -> bool:
        """Return whether there is nothing else to do, and the strategy may hold something."""
        return (
            self._holds()
            and self._dry
            and self._frontier.hungry
            and not (self._frontier.at_work or self._frontier.unsaid)
            and not self.broken
            and has_started(self._crawler.engine)
        )

    def _holds(self) -> bool:
        """Return whether the strategy may yet raise what it holds back."""
        session = self._session
        if session is None or not getattr(session.strategy, "holds", False):
            return False
        return self._holds_nothing != session.fetched

    def _pause(self) -> float:
        """Return the seconds until the next exchange, if nobody asks for it before."""
        if self._asked:
            return 0.0 if self._frontier.hungry else _SAID_S
        return _BEAT_S if self._frontier.at_work else _IDLE_S

    async def _exchange(self) -> None:
        self._settle()
        self._asked = self._dry = False
        batch = self._batch()
        if batch is None:
            return
        self._sending = True
        reply = await self._sent(batch)
        self._sending = False
        if reply is not None:
            self._take(batch, reply)

    def _batch(self) -> Batch | None:
        """Collect what is to be said; None: the files cannot be written."""
        now = time.monotonic()
        beat: dict[str, Any] | None = None
        if now >= self._next_beat:
            self._next_beat = now + _BEAT_S
            beat = self._beat()
        note = ""
        if self._session is not None and self._session.folder is not None:
            folder = self._session.folder
            marks = folder.marks()
            if folder.broken:  # what was settled has lines that are not written
                self.broken = True
                return None
            self._noted = marks
            note = json.dumps({"folder": str(folder.path.absolute()), "marks": marks})
        return self._frontier.batch(note=note, beat=beat)

    def _beat(self) -> dict[str, Any]:
        busy = {*self._frontier.busy, *self._unrested()}
        self._given = [host for host in self._leaving if host not in busy]
        self._leaving.difference_update(self._given)
        return {
            "patience_ms": int(self._silence * 1000),
            "starting": not has_started(self._crawler.engine) or self._holds(),
            "busy": sorted(busy | self._leaving),
            "given": self._given,
            "tidied": self._tidied,
        }

    async def _sent(self, batch: Batch) -> Reply | None:
        """Send a batch, as often as it takes; None: Redis is gone for good."""
        since: float | None = None
        wait = 0.05
        while True:
            try:
                reply = await run_in_thread(self._talk, batch)
            except AwayError as error:
                now = time.monotonic()
                if since is None:
                    since = now
                    logger.warning(
                        "%s. The crawl waits for it, up to %g seconds.", error, self._patience
                    )
                    self._stats.inc_value(stats.FLEET_AWAY)
                if now - since >= self._patience:
                    self._fail(
                        FrontierError(
                            f"{error}, for {self._patience:g} seconds "
                            "(FOCUS_FRONTIER_PATIENCE); what Redis was told is safe: start "
                            "again, and the crawl goes on"
                        )
                    )
                    return None
                await pause(wait)
                wait = min(2 * wait, _RETRY_S)
            except FrontierError as error:
                self._fail(error)
                return None
            else:
                if since is not None:
                    logger.info("Redis is back after %.0f s.", time.monotonic() - since)
                return reply

    def _talk(self, batch: Batch) -> Reply:
        """Exchange, in a thread."""
        if batch.beat is not None and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _LOOK_S
            batch.beat["gone"] = self._fleet.dead()
        reply = self._frontier.exchange.send(batch)
        if reply.beat is not None:
            self._tidied = [lost.worker for lost in reply.beat.untidy if self._fleet.tidy(lost)]
        return reply

    def _take(self, batch: Batch, reply: Reply) -> None:
        """Take in what Redis said, and let the engine know."""
        fleet = self._fleet
        self._frontier.apply(batch, reply)
        self._dry = batch.want > 0 and not reply.leased
        if batch.note:
            self._marks = self._noted
        self._count(
            stats.LINK_PUSHED, stats.LINK_KNOWN, stats.LINK_REFUSED, batch.new_links, reply.links
        )
        self._count(
            stats.REQUEST_SCHEDULED,
            stats.REQUEST_KNOWN,
            stats.REQUEST_REFUSED,
            batch.new_requests,
            reply.requests,
        )
        late = set(reply.late)
        fleet.own_pages += sum(
            one.page is not None and one.fingerprint not in late for one in batch.settled
        )
        if reply.late:
            self._stats.inc_value(stats.FLEET_LATE, len(reply.late))
        if self._session is not None:
            fleet.learn(reply.parents, self._session.record)
        for leased in reply.leased:
            self._scope.met(leased.entry.host, leased.host_pages)
        if reply.beat is not None:
            self._hear(reply.beat)
        if reply.leased or fleet.over:
            wake(self._crawler.engine)

    def _hear(self, beat: Beat) -> None:
        fleet, frontier = self._fleet, self._frontier
        fleet.pages = beat.pages
        if self._session is not None:
            self._session.elsewhere = beat.pages - fleet.own_pages
        if beat.reason and not fleet.over:
            fleet.over = beat.reason
        for lost in beat.lost:
            self._stats.inc_value(stats.FLEET_LOST)
            logger.warning(
                "Worker %s (process %s on %s) is gone: what it had is fetched by others.",
                lost.worker,
                lost.what.get("pid", "?"),
                lost.what.get("host", "?"),
            )
        self._stats.max_value(stats.FLEET_WORKERS, beat.workers)
        frontier.keep(self._given)
        self._given = []
        if beat.wanted > 0:
            chosen = sorted(frontier.hosts)[: max(0, beat.wanted - len(self._leaving))]
            self._leaving.update(chosen)
            frontier.release(chosen)
        elif self._leaving:
            frontier.keep(self._leaving)
            self._leaving.clear()

    def _count(
        self, new: str, known: str, refused: str, assumed: int, answers: list[Pushed]
    ) -> None:
        """Correct what was counted when it was said."""
        more = assumed - sum(answer.new for answer in answers)
        turned_away = sum(answer.refused for answer in answers)
        if turned_away:
            stats.count_reason(self._stats, refused, "hosts", turned_away)
        if more:
            self._stats.inc_value(new, -more)
            if more - turned_away:
                self._stats.inc_value(known, more - turned_away)

    def _fail(self, error: FrontierError) -> None:
        self.broken = True
        logger.error("The crawl stops: %s", error)
        stop(self._crawler, "frontier_error")

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None
        return self._crawler.stats
