"""The strategy and the judge, as a Scrapy spider middleware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, IgnoreRequest, NotConfigured

from focusspider import stats
from focusspider.page import Link
from focusspider.payload import ScoredLink, link_request
from focusspider.priority import to_level
from focusspider.scheduler import FocusScheduler
from focusspider.session import META, Session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from focusspider.session import Visit
    from focusspider.strategies.base import LinkScores

__all__ = ["FocusMiddleware"]


class FocusMiddleware:
    """Judges each page that reaches the spider, and scores the links that leave it.

    A spider may yield :class:`~focusspider.page.Link` objects: they are scored and go into
    the frontier as strings. The Requests that it yields are given the score of the link
    that they follow, where the page has that link. With Scrapy's own scheduler they are
    given a ``priority`` on at most 64 levels, since it keeps a queue for each.
    """

    def __init__(self, session: Session, crawler: Crawler) -> None:
        self._session = session
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FocusMiddleware:
        """Build the middleware of a crawl; without a topic there is nothing to score."""
        session = Session.of(crawler)
        if session is None:
            raise NotConfigured("no topic")
        assert crawler.stats is not None
        session.stats = crawler.stats
        middleware = cls(session, crawler)
        crawler.signals.connect(middleware._closed, signals.spider_closed)
        return middleware

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None
        return self._crawler.stats

    def process_spider_input(self, response: Response) -> None:
        """Judge the page before its callback runs."""
        if (response.meta.get(META) or {}).get("target"):
            return
        if self._session.remaining == 0:  # only Scrapy's own scheduler lets it come to this
            raise IgnoreRequest("the limit of pages is reached")
        self._session.visit(response)
        scheduler = self._scheduler()
        if scheduler is not None:
            scheduler.brought_page(response.request)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Score what the callback yields, and pass the rest through."""
        visit = self._session.visited(response)
        if visit is None:  # a target, or an answer that is no success: its errback has run
            async for output in result:
                yield output
            return
        scorer = _Scorer(self._session, visit)
        links: list[Link] = []
        async for output in result:
            if isinstance(output, Link):
                links.append(output)
            elif isinstance(output, Request):
                yield self._scored(output, scorer)
            else:
                yield output
        if links:
            for request in self._push(links, scorer):
                yield request
        self._rerank()
        if self._session.remaining == 0 and self._scheduler() is None:
            raise CloseSpider("page_limit")

    def _push(self, links: Sequence[Link], scorer: _Scorer) -> list[Request]:
        """Hand links to the frontier, or make Requests of them for Scrapy's scheduler."""
        visit = scorer.visit
        scheduler = self._scheduler()
        if scheduler is None:
            assert self._crawler.spider is not None
            return [
                self._scored(
                    link_request(link.url, self._crawler.spider, visit.depth + 1, {}), scorer, link
                )
                for link in links
            ]
        explain = self._session.config.explain
        scheduler.push_links(
            [
                ScoredLink(
                    link.url,
                    scorer.priority(link.position),
                    link.anchor,
                    scorer.explain(link.position) if explain else None,
                )
                for link in links
            ],
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

    def _scored(self, request: Request, scorer: _Scorer, link: Link | None = None) -> Request:
        """Give a Request the score of its link, and what its page will be logged with."""
        link = link or scorer.link_of(request.url)
        focus: dict[str, Any] = {"parent": scorer.visit.n}
        if link is not None:
            priority = scorer.priority(link.position)
            focus |= {"priority": priority, "anchor": link.anchor}
            if scorer.scores.state is not None:
                focus["state"] = list(scorer.scores.state)
            if self._session.config.explain:
                focus["explain"] = scorer.explain(link.position)
            if self._scheduler() is None:
                request.priority = to_level(priority)
        request.meta[META] = focus
        return request

    def _rerank(self) -> None:
        """Let the strategy re-order what waits, every so many pages."""
        strategy = self._session.strategy
        every = getattr(strategy, "rerank_every", 0)
        if not every or self._session.fetched % every:
            return
        scheduler = self._scheduler()
        if scheduler is None:
            return
        reranking = strategy.rerank(scheduler.frontier.view)
        if reranking is not None:
            scheduler.frontier.reprioritise(reranking.ids, reranking.priorities)
            self._stats.inc_value(stats.STRATEGY_RERANK)

    def _closed(self, reason: str) -> None:
        self._session.close(reason)


class _Scorer:
    """The scores of one page's links, computed when the first is asked for."""

    def __init__(self, session: Session, visit: Visit) -> None:
        self.visit = visit
        self._session = session
        self._scores: LinkScores | None = None
        self._by_url: dict[str, Link] | None = None

    @property
    def scores(self) -> LinkScores:
        if self._scores is None:
            self._scores = self._session.score(self.visit)
        return self._scores

    def priority(self, position: int) -> int:
        return int(self.scores.priorities[position])

    def explain(self, position: int) -> dict[str, float]:
        return {
            name: round(float(values[position]), 6) for name, values in self.scores.parts.items()
        }

    def link_of(self, url: str) -> Link | None:
        """Return the page's link to a URL, the best where it has several."""
        if self.visit.page is None:
            return None
        if self._by_url is None:
            self._by_url = {}
            for link in self.visit.page.links:
                known = self._by_url.get(link.url)
                if known is None or self.priority(known.position) < self.priority(link.position):
                    self._by_url[link.url] = link
        return self._by_url.get(url)
