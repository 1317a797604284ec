"""A Scrapy scheduler that keeps priority and politeness together.

It has two doors. Requests that a spider yields come in by Scrapy's own
(:meth:`FocusScheduler.enqueue_request`). Links come in by the second
(:meth:`FocusScheduler.push_links`): a Request that turns out a duplicate costs more than
the rest of its link, so a Request is built when the link is leased. Both meet the same
frontier and the same limits.

It is useful without the rest of focusspider: with ``SCHEDULER =
"focusspider.FocusScheduler"`` alone, priorities are the user's own ``Request.priority``.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro

from focusspider import onemessage, stats
from focusspider.admission import Admission, count_dropped
from focusspider.checkpoint import Checkpoints, Saved
from focusspider.config import FocusConfig
from focusspider.crawlfrontier import fleet_of, frontier_of
from focusspider.engine import (
    Waker,
    in_progress,
    scheduler_of,
    slot_defaults,
    wake,
    warn_of_unused,
)
from focusspider.explaining import explain_lease
from focusspider.frontier import Entry, Outcome
from focusspider.frontier.guarded import GuardedFrontier
from focusspider.identity import Identity
from focusspider.leases import Leases
from focusspider.payload import RequestWriter, ScoredLink, pack, read
from focusspider.politeness import Politeness
from focusspider.priority import HELD, around_scores
from focusspider.pump import Pump
from focusspider.scope import Scope
from focusspider.session import Session
from focusspider.urls import Fingerprinter, host_of
from focusspider.visits import META, Visit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred

    from focusspider.fleet import Fleet
    from focusspider.frontier import Frontier

__all__ = ["FocusScheduler", "ScoredLink"]

#: Requests of full hosts that are dropped before the engine has its turn again.
_MAX_DROPPED = 500


class FocusScheduler(BaseScheduler):
    """Feeds the engine from a :class:`~focusspider.frontier.Frontier`.

    Parameters
    ----------
    frontier, politeness, scope, fingerprinter
        what waits; which hosts may be asked; what belongs to the crawl; what is the same
    crawler
        for the engine's hints, the signals and the statistics
    session
        of a focused crawl, whose budget of pages is kept; None: there is no budget
    explain
        log each request that is leased, with the parts of its score
    fleet
        this worker among those that share the frontier; None: it shares it with nobody
    """

    def __init__(
        self,
        *,
        frontier: Frontier,
        politeness: Politeness,
        scope: Scope,
        fingerprinter: Fingerprinter,
        crawler: Crawler,
        session: Session | None = None,
        explain: bool = False,
        fleet: Fleet | None = None,
    ) -> None:
        self.frontier = frontier
        self._fleet = fleet
        self.pump: Pump | None = None
        self.politeness = politeness
        self.scope = scope
        self._identity = Identity(fingerprinter)
        url_length = crawler.settings.getint("URLLENGTH_LIMIT")
        self._admission = Admission(scope, session, max_url_length=url_length)
        self.session = session
        self._crawler = crawler
        self._explain = explain
        self._leases = Leases(
            frontier, politeness, scope, settled=session.settled if session else None
        )
        # one at a time means one page at a time: its links are pushed before the next lease
        self._serial = crawler.settings.getint("CONCURRENT_REQUESTS") == 1
        self._waker = Waker(crawler)
        self._writer: RequestWriter | None = None
        self._checkpoints: Checkpoints | None = None
        self.closed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FocusScheduler:
        """Build the scheduler of a crawl from its settings."""
        onemessage.install()
        settings = crawler.settings
        warn_of_unused(settings)
        config = FocusConfig.from_settings(settings)
        session = Session.of(crawler)
        assert crawler.engine is not None
        assert crawler.request_fingerprinter is not None
        downloader = crawler.engine.downloader
        topic = session.topic if session else None
        fleet = fleet_of(crawler, config, session)
        frontier = fleet.frontier if fleet else frontier_of(crawler, config, session)
        saved = Saved.of(frontier, topic) if isinstance(frontier, GuardedFrontier) else None
        scheduler = cls(
            frontier=frontier,
            politeness=Politeness(
                slots=downloader.slots,
                new_slot=slot_defaults(crawler),
                clock=time.monotonic,
                first_alone=settings.getbool("ROBOTSTXT_OBEY"),
            ),
            scope=Scope(
                sites=topic.sites if topic else None,
                limits=topic.limits if topic else None,
                counts_hosts=fleet is None,  # else Redis does
                allowed_domains=getattr(crawler.spider, "allowed_domains", None) or (),
                max_depth=settings.getint("DEPTH_LIMIT"),
                max_segment_repeats=config.max_segment_repeats,
                stored=session.stored if session else None,
            ),
            fingerprinter=Fingerprinter(crawler.request_fingerprinter),
            crawler=crawler,
            session=session,
            explain=config.explain,
            fleet=fleet,
        )
        if saved is not None and session is not None:
            scheduler.scope.restore(saved.session["scope"], session.record.urls())
            scheduler._admission.resumed = True
        return scheduler

    @classmethod
    def of(cls, crawler: Crawler) -> FocusScheduler | None:
        """Return the scheduler of a crawl, or None where it is another one."""
        assert crawler.engine is not None
        scheduler = scheduler_of(crawler.engine)
        # not isinstance: for Scrapy's base class, whatever has its methods is a scheduler
        return scheduler if cls in type(scheduler).__mro__ else None  # type: ignore[return-value]

    def open(self, spider: Spider) -> None:
        """Listen to what the downloader and the engine say of our requests."""
        self._spider = spider
        if self.session is not None:
            self.session.settles = True
        if self._fleet is not None:
            self._writer = RequestWriter(spider, self._stats, parent=self._fleet.outward)
            self.pump = Pump.of(self._fleet, self._crawler, self)
            self.pump.start()
        if isinstance(self.frontier, GuardedFrontier):
            self._writer = RequestWriter(spider, self._stats)
            self._checkpoints = Checkpoints(
                self.frontier,
                session=self.session,
                scope=self.scope,
                settle=self.settle_finished,
            )
            self._checkpoints.start()
        connect = self._crawler.signals.connect
        connect(self._leases.reached_downloader, signals.request_reached_downloader)
        connect(self._leases.left_downloader, signals.request_left_downloader)
        connect(self._leases.answered, signals.response_received)
        connect(self._idle, signals.spider_idle)

    def close(self, reason: str) -> Deferred[None] | None:
        """Settle what is finished, and count what is left."""
        self.closed = True
        self._waker.cancel()
        if self.pump is not None:
            return deferred_from_coro(self._leave(self.pump, reason))
        self.settle_finished()
        if self._checkpoints is not None:
            self._checkpoints.stop()
        self._count_left()
        self.frontier.close(reason)
        return None

    async def _leave(self, pump: Pump, reason: str) -> None:
        await pump.stop(reason)
        self._count_left()

    def _count_left(self) -> None:
        for key, value in self.frontier.counts.by_stat().items():
            self._stats.set_value(key, value)

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None
        return self._crawler.stats

    def __len__(self) -> int:
        return self.frontier.counts.waiting

    def has_pending_requests(self) -> bool:
        """Return whether anything waits that is not held and that the budget still allows."""
        if self.pump is not None:
            return self.pump.goes_on and self._budget() != 0  # others may find more
        if not self.frontier.counts.waiting or self._budget() == 0:
            return False
        return not self._holds() or bool((self.frontier.view.priorities != HELD).any())

    def _holds(self) -> bool:
        return self.session is not None and getattr(self.session.strategy, "holds", False)

    def _budget(self) -> int | None:
        return self.session.remaining if self.session else None

    # -- the two doors ---------------------------------------------------------------

    def enqueue_request(self, request: Request) -> bool:
        """Take a request that a spider or a middleware yields; False: it was refused."""
        if request in self._leases:
            self._leases.returned(request)
            self._stats.inc_value(stats.FRONTIER_RETURNED)
            return True
        fingerprint = self._identity.of(request)
        if "redirect_urls" in request.meta:
            self._redirected(request, request.meta["redirect_urls"][-1])
        host = self.host(request)
        tried = self._leases.tried(fingerprint, request) if "retry_times" in request.meta else None
        if tried is not None:
            # Scrapy marks what it retries, for its own filter; a redirect would inherit it
            request.dont_filter = tried.dont_filter
            self._leases.again(self._entry(fingerprint, host, request))
            self._stats.inc_value(stats.FRONTIER_RETRIED)
            return True
        reason = self._admission.refuses(request)
        if reason:
            stats.count_reason(self._stats, stats.REQUEST_REFUSED, reason)
            return False
        if request.dont_filter and not (self._fleet and request.meta.get("is_start_request")):
            # the number grows with each request, also over restarts
            number = self._fleet.next_apart() if self._fleet else sum(self.frontier.counts)
            fingerprint = self._identity.set_apart(request, number)
        if self._push([self._entry(fingerprint, host, request)]):
            self._stats.inc_value(stats.REQUEST_SCHEDULED)
            return True
        redirected = "redirect_urls" in request.meta
        self._stats.inc_value(stats.FRONTIER_REDIRECT_KNOWN if redirected else stats.REQUEST_KNOWN)
        return False

    def push_links(
        self,
        links: Iterable[ScoredLink],
        *,
        depth: int,
        parent: int = 0,
        state: tuple[float, ...] | None = None,
    ) -> int:
        """Take the links of a page, and return how many were new.

        ``depth`` is theirs, ``parent`` the number of the page in the crawl's log, and
        ``state`` what they inherit from it.
        """
        entries = []
        origin = self._fleet.outward(parent) if self._fleet else parent
        refused: Counter[str] = Counter()
        found = 0
        for link in links:
            found += 1
            host = host_of(link.url)
            reason = self.scope.refuses(link.url, host, depth)
            if reason:
                refused[reason] += 1
                continue
            fingerprint = self._identity.of_url(link.url)
            payload = pack(link, depth, origin, state)
            entries.append(Entry(fingerprint, host, link.priority, payload))
        pushed = self._push(entries)
        for reason, count in refused.items():
            stats.count_reason(self._stats, stats.LINK_REFUSED, reason, count)
        self._stats.inc_value(stats.LINK_FOUND, found)
        self._stats.inc_value(stats.LINK_PUSHED, pushed)
        self._stats.inc_value(stats.LINK_KNOWN, len(entries) - pushed)
        if pushed:
            self._stats.max_value("request_depth_max", depth)
            wake(self._crawler.engine)
        return pushed

    def _push(self, entries: list[Entry]) -> int:
        if self.pump is not None:
            self.pump.said()
        return self.frontier.push(entries)

    def _entry(self, fingerprint: bytes, host: str, request: Request) -> Entry:
        priority = self._admission.priority(request)  # which may note itself in the request
        payload = self._writer.payload(request) if self._writer else request
        return Entry(fingerprint, host, priority, payload)

    def host(self, request: Request) -> str:
        """Return the name of the downloader slot that a request uses."""
        assert self._crawler.engine is not None
        return str(self._crawler.engine.downloader.get_slot_key(request))

    def _redirected(self, request: Request, source: str) -> None:
        """Take leave of the URL that redirects to this request, and whose turn it has."""
        self._leases.redirected(self._identity.of_earlier(source, request))
        if request.meta.get("download_slot") == host_of(source):
            del request.meta["download_slot"]  # the downloader's note of where it has been
        if self.session is not None:  # next, by Scrapy's REDIRECT_PRIORITY_ADJUST
            place = around_scores(request.priority)
            request.meta[META] = {**(request.meta.get(META) or {}), "place": place}

    # -- to the downloader -----------------------------------------------------------

    def brought_page(self, request: Request | None, visit: Visit) -> None:
        """Note that the response to a request is a page of the crawl."""
        fingerprint = self._leases.fingerprint(request)
        if self._fleet is not None and fingerprint is not None:
            self._fleet.brought(fingerprint, visit)
        self._leases.brought_page(request)

    def is_early(self, request: Request) -> bool:
        """Return whether a request is ours, and its host can't start it now after all."""
        return request in self._leases and not self.politeness.can_start(self.host(request))

    def next_request(self) -> Request | None:
        """Return the best request that can start now, or None."""
        self.settle_finished()
        if self.session is not None and not self.session.begun:
            return None  # the targets come first, and nothing can be judged without them
        if self._serial and self._leases:
            return None
        budget = self._budget()
        if budget is not None and budget <= len(self._leases):
            return None  # what is on its way may use up the budget
        for _ in range(_MAX_DROPPED):
            entries = self.frontier.lease(1, self._leases)
            if not entries:
                self._wake_when_due()
                return None
            entry = entries[0]
            reason = "host_full" if self.scope.host_full(entry.host) else None
            request = None if reason else read(entry, self._spider, self._stats)
            if request and not (reason := self._admission.refuses_waiting(request)):
                if self._fleet is not None and isinstance(entry.payload, bytes):
                    self._fleet.arrived(request.meta.get(META) or {})
                self._leases.add(entry, request)
                if self._explain:
                    explain_lease(entry, request, self.session)
                return request
            self.frontier.settle(entry.fingerprint, Outcome.DROPPED)
            if reason:
                count_dropped(self._stats, reason)
        wake(self._crawler.engine)
        return None

    def _wake_when_due(self) -> None:
        """Have the engine ask again when the first host that had to wait is due."""
        if self.pump is not None:
            self.pump.said()
        elif not self.frontier.counts.waiting:
            return
        seconds = self.politeness.next_due()
        if seconds is not None:  # a host whose slot is full wakes the engine by its response
            self._waker.wake_in(seconds)

    def settle_finished(self) -> None:
        """Settle the requests that the engine is done with."""
        if self._leases:
            assert self._crawler.engine is not None
            self._leases.settle(in_progress(self._crawler.engine))

    def _idle(self) -> None:
        """Give the reason where the crawl stops for one of ours."""
        reason = self.session.stop_reason() if self.session is not None else None
        if reason is None and self._fleet is not None:
            reason = self._fleet.over or None
        if reason is None and self._holds() and self.frontier.counts.waiting:
            reason = "strategy_done"
        if reason:
            raise CloseSpider(reason)
