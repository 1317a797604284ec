"""The spider behind ``focus-collect``: it fetches what it is told to, as any crawl does."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.spidermiddlewares.httperror import HttpError

from focusspider import stats
from focusspider.engine import wake
from focusspider.errors import NotAPageError
from focusspider.failures import reason_of
from focusspider.spiders.focus import FocusSpider
from focusspider.webgraph.layers import Failed, FetchedPage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from focusspider.page import PageParser

__all__ = ["CollectSpider", "Outcome"]

_KEY = "focus_collect"  # of a request's meta: the number of the page that waits for it

_PAUSE = 0.05  # seconds


class Outcome:
    """How the work of a spider ended; ``error`` is what it raised."""

    def __init__(self) -> None:
        self.finished = False
        self.error: Exception | None = None


class CollectSpider(Spider):
    """Does one piece of work, which asks it for pages.

    Requests go through scheduler and downloader like those of any spider: robots.txt,
    delays, Retry-After, redirects and retries are the crawl's.

    Parameters
    ----------
    work
        is given a function that fetches pages
    parser
        tells what is a page
    arrived
        is given each page when it has come, to keep it
    outcome
        is told how the work ended
    """

    name = "focus-collect"

    def __init__(
        self,
        *,
        work: Callable[[Callable[..., Awaitable[Any]]], Awaitable[None]],
        parser: PageParser,
        arrived: Callable[[FetchedPage], None],
        outcome: Outcome,
    ) -> None:
        super().__init__()
        self._work = work
        self._parser = parser
        self._arrived = arrived
        self._outcome = outcome
        self._requests: asyncio.Queue[Request | None] = asyncio.Queue()
        self._waiting: dict[int, asyncio.Future[FetchedPage | Failed]] = {}
        self._asked = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> CollectSpider:
        """Build the spider, and hear of requests that the frontier refuses."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._dropped, signals.request_dropped)
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Treat hosts as the spider ``focus`` does, in its project and in others."""
        super().update_settings(settings)
        FocusSpider.update_settings(settings)
        settings.set("ROBOTSTXT_OBEY", True, priority="addon")

    async def start(self) -> AsyncIterator[Any]:
        """Do the work, and yield the requests that it makes."""
        work = asyncio.ensure_future(self._worked())
        try:
            while (request := await self._requests.get()) is not None:
                yield request
        finally:
            work.cancel()
            # once the last page is done with, or it is the next heartbeat that ends the crawl
            asyncio.get_running_loop().call_later(_PAUSE, wake, self.crawler.engine)

    async def _worked(self) -> None:
        try:
            await self._work(self.fetch)
            self._outcome.finished = True
        except Exception as error:  # noqa: BLE001 - the command raises it once more
            self._outcome.error = error
        finally:
            self._requests.put_nowait(None)

    async def fetch(self, urls: Sequence[str]) -> list[FetchedPage | Failed]:
        """Return what comes of several URLs, in their order."""
        futures = []
        for url in urls:
            self._asked += 1
            future: asyncio.Future[FetchedPage | Failed] = (
                asyncio.get_running_loop().create_future()
            )
            self._waiting[self._asked] = future
            futures.append(future)
            self._requests.put_nowait(
                Request(
                    url,
                    callback=self.parse,
                    errback=self.failed,
                    dont_filter=True,  # redirects of two URLs may end at one page
                    meta={_KEY: self._asked},
                )
            )
        return list(await asyncio.gather(*futures))

    def parse(self, response: Response, **_: Any) -> None:
        """Hand over a page."""
        if not 200 <= response.status < 300:  # where the project lets its spiders have errors
            self._came(response.meta.get(_KEY), Failed(f"status {response.status}"))
            return
        try:
            page = FetchedPage.of(response, self._parser.parse(response))
        except NotAPageError as error:
            self._came(response.meta.get(_KEY), Failed(error.reason))
            return
        self._arrived(page)
        self._came(response.meta.get(_KEY), page)

    def failed(self, failure: Failure) -> None:
        """Hand over why there is no page."""
        request: Request = failure.request  # type: ignore[attr-defined]
        error = failure.value
        assert error is not None
        reason = reason_of(error)
        if isinstance(error, HttpError):
            reason = f"status {error.response.status}"
        self.logger.log(
            logging.ERROR if reason == "other" else logging.DEBUG,
            "No page from %s: %s (%s)", request.url, reason, error,
        )  # fmt: skip
        self._came(request.meta.get(_KEY), Failed(reason))

    def _dropped(self, request: Request) -> None:
        self._came(request.meta.get(_KEY), Failed("refused"))

    def _came(self, number: int | None, result: FetchedPage | Failed) -> None:
        future = self._waiting.pop(number, None) if number is not None else None
        if future is not None and not future.done():
            future.set_result(result)
            assert self.crawler.stats is not None
            failed = isinstance(result, Failed)
            self.crawler.stats.inc_value(stats.COLLECT_FAILED if failed else stats.COLLECT_FETCHED)
