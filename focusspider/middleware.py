"""The strategy and the judge, as a Scrapy spider middleware."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest, NotConfigured

from focusspider import stats
from focusspider.engine import stop, turn, wake
from focusspider.errors import FocusError
from focusspider.items import fill, item_fields
from focusspider.page import Link
from focusspider.payload import link_request
from focusspider.priority import around_scores, to_level
from focusspider.reranking import Reranker
from focusspider.scheduler import FocusScheduler
from focusspider.scoring import PageScorer
from focusspider.session import Session
from focusspider.urls import Fingerprinter
from focusspider.visits import META, visit_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from focusspider.visits import Visit

__all__ = ["FocusMiddleware"]

logger = logging.getLogger(__name__)


class _OverLimitError(IgnoreRequest):
    """A page came when the limit of pages was reached: its errback runs, if it has one."""


class FocusMiddleware:
    """Judges each page that reaches the spider, and scores the links that leave it.

    A spider may yield :class:`~focusspider.page.Link` objects: they are scored and go into
    the frontier as strings. The Requests that it yields are given the score of the link
    that they follow, or another place; see :meth:`~focusspider.scoring.PageScorer.focus`.
    With Scrapy's own scheduler that is a ``priority`` on at most 64 levels, since it keeps
    a queue for each.
    """

    def __init__(self, session: Session, crawler: Crawler) -> None:
        self._session = session
        self._crawler = crawler
        self._fingerprinter = Fingerprinter(crawler.request_fingerprinter)
        self._reranker = Reranker(session, crawler)
        self._item_fields = session.config.item_fields
        self._begun = session.started.isoformat()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FocusMiddleware:
        """Build the middleware of a crawl; without a topic there is nothing to score."""
        session = Session.of(crawler)
        if session is None:
            raise NotConfigured("no topic")
        assert crawler.stats is not None
        session.stats = crawler.stats
        if session.folder is not None:
            session.folder.failed = partial(_cannot_write, crawler)
        middleware = cls(session, crawler)
        session.parser.key_of = middleware._fingerprinter.key_of
        crawler.signals.connect(middleware._idle, signals.spider_idle)
        crawler.signals.connect(middleware._closed, signals.spider_closed)
        return middleware

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None
        return self._crawler.stats

    def process_spider_input(self, response: Response) -> None:
        """Judge the page before its callback runs."""
        if self._session.remaining == 0:  # only Scrapy's own scheduler lets it come to this
            raise _OverLimitError("the limit of pages is reached")
        scheduler = self._scheduler()
        link = response.meta.get(META)
        if scheduler is None and link and link.get("begun", self._begun) != self._begun:
            # of Scrapy's job directory; the numbers of pages begin anew with each process
            response.meta[META] = {**link, "parent": 0, "begun": self._begun}
        visit = self._session.visit(response)
        if scheduler is not None:
            scheduler.brought_page(response.request, visit)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Learn the targets first, then let the spider start."""
        if not await self._learn_targets():
            stop(self._crawler, "no_target")  # not every Scrapy takes a CloseSpider here
            await turn()
            return
        scheduler = self._scheduler()
        if scheduler is not None and scheduler.pump is not None:
            scheduler.pump.raise_held = self._reranker.raise_held
        async for output in start:
            if isinstance(output, Request) and scheduler is None:
                output.priority = to_level(around_scores(output.priority))
            yield output

    async def _learn_targets(self) -> bool:
        """Fetch the targets of the web, and return whether there is one to learn from."""
        session = self._session
        urls = session.topic.target_urls
        if not urls:
            return True
        engine = self._crawler.engine
        assert engine is not None
        scrapys = self._scheduler() is None
        if scrapys:  # its job directory may hold requests, whose pages can't be judged yet
            engine.pause()
        try:
            await session.targets.fetch(engine, urls)
        finally:
            if scrapys:
                engine.unpause()
        if not session.profile.targets:
            logger.error(
                "None of the %d targets could be fetched: %s",
                len(urls),
                session.targets.failures.in_words(),
            )
            return False
        try:
            session.begin()
        except FocusError as error:  # such as targets that a judge can learn nothing from
            logger.error("%s", error)
            return False
        return True

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Score what the callback yields, and pass the rest through."""
        visit = visit_of(response)
        if visit is None:  # an answer that is no success: its errback has run
            async for output in result:
                yield output
            return
        scorer = PageScorer(self._session, visit, self._fingerprinter)
        links: list[Link] = []
        async for output in result:
            if isinstance(output, Link):
                links.append(output)
            elif isinstance(output, Request):
                yield self._placed(output, scorer)
            else:
                if self._item_fields:
                    self._fill(output, visit, response)
                yield output
        if links:
            for request in self._push(links, scorer):
                yield request
        await self._reranker.after_page()
        if self._session.remaining == 0:
            raise CloseSpider("page_limit")

    def process_spider_exception(
        self,
        response: Response,  # noqa: ARG002
        exception: Exception,
    ) -> tuple[()] | None:
        """Let a page beyond the limit go without an error."""
        return () if isinstance(exception, _OverLimitError) else None

    def _fill(self, item: Any, visit: Visit, response: Response) -> None:
        known = item_fields(self._session, visit, response)
        fill(item, {name: known[name] for name in self._item_fields if name in known})

    def _push(self, links: Sequence[Link], scorer: PageScorer) -> list[Request]:
        """Hand links to the frontier, or make Requests of them for Scrapy's scheduler."""
        visit = scorer.visit
        scheduler = self._scheduler()
        if scheduler is None:
            spider = self._crawler.spider
            assert spider is not None
            return [
                self._placed(link_request(link.url, spider, visit.depth + 1, {}), scorer, link)
                for link in links
            ]
        scheduler.push_links(
            [scorer.scored(link) for link in links],
            depth=visit.depth + 1,
            parent=visit.n,
            state=scorer.scores.state,
        )
        if visit.page is not None and visit.page.refused:
            for reason, count in visit.page.refused.items():
                stats.count_reason(self._stats, stats.LINK_REFUSED, reason, count)
            self._stats.inc_value(stats.LINK_FOUND, visit.page.refused.total())
        return []

    def _scheduler(self) -> FocusScheduler | None:
        return FocusScheduler.of(self._crawler)

    def _placed(self, request: Request, scorer: PageScorer, link: Link | None = None) -> Request:
        """Give a Request its place in the queue, and what its page will be logged with."""
        focus = scorer.focus(request, link)
        # a new one, whatever the callback has copied from the page's own
        request.meta[META] = focus
        if "priority" not in focus:
            self._stats.inc_value(stats.REQUEST_NO_LINK)
        if self._scheduler() is None:
            focus["begun"] = self._begun
            request.priority = to_level(focus["place"] if "place" in focus else focus["priority"])
        return request

    def _idle(self) -> None:
        """Let the strategy ask for what it holds back, before the crawl ends."""
        if self._reranker.when_idle():
            wake(self._crawler.engine)
            raise DontCloseSpider

    def _closed(self, reason: str) -> None:
        self._session.close(reason)


def _cannot_write(crawler: Crawler, error: OSError) -> None:
    """End a crawl that cannot write what it finds."""
    logger.error("The crawl stops: its run folder cannot be written: %s", error)
    stop(crawler, "disk_error")
