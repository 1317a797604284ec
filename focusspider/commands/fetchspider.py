"""Pages for a command's work: a spider fetches what it is told to, as any crawl does."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.spidermiddlewares.httperror import HttpError

from focusspider.engine import wake
from focusspider.errors import NotAPageError
from focusspider.failures import reason_of
from focusspider.spiders.focus import FocusSpider
from focusspider.webgraph.layers import Failed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings, Settings
    from twisted.python.failure import Failure

    from focusspider.page import Page, PageParser

__all__ = ["FetchSpider", "fetch_in_crawl"]

_KEY = "focus_fetch"  # of a request's meta: the number of the page that waits for it

_PAUSE = 0.05  # seconds


def fetch_in_crawl(
    settings: Settings,
    work: Callable[[Callable[..., Awaitable[Any]]], Awaitable[None]],
    **parameters: Any,
) -> bool:
    """Do work that needs pages in a crawl of its own; return False where it was stopped.

    The other parameters are those of :class:`FetchSpider`, and what the work raises is raised.
    """
    from scrapy.crawler import AsyncCrawlerProcess

    # nothing is scored, resumed or exported here
    for name, value in (("FOCUS_SCORING", False), ("JOBDIR", None), ("FEEDS", {})):
        settings.set(name, value, priority="cmdline")
    addons = settings.getdict("ADDONS")
    if not any(str(addon).rpartition(".")[2].startswith("FocusAddon") for addon in addons):
        settings.set("ADDONS", {**addons, "focusspider.FocusAddon": 500}, "cmdline")
    outcome = _Outcome()
    process = AsyncCrawlerProcess(settings)
    process.crawl(FetchSpider, work=work, outcome=outcome, **parameters)
    process.start()
    if outcome.error is not None:
        raise outcome.error
    return outcome.finished


class _Outcome:
    """How the work of a spider ended; ``error`` is what it raised."""

    def __init__(self) -> None:
        self.finished = False
        self.error: Exception | None = None


class FetchSpider(Spider):
    """Does one piece of work, which asks it for pages.

    Requests go through scheduler and downloader like those of any spider: robots.txt,
    delays, Retry-After, redirects and retries are the crawl's.

    Parameters
    ----------
    name
        of the command, for the log
    work
        is given a function that fetches URLs, and returns what ``read`` makes of each page
    parser
        tells what is a page
    read
        makes of a response and its page what the work wants of them
    counted
        the stats of pages that came and of those that did not
    outcome
        is told how the work ended
    """

    def __init__(
        self,
        *,
        name: str,
        work: Callable[[Callable[..., Awaitable[Any]]], Awaitable[None]],
        parser: PageParser,
        read: Callable[[Response, Page], Any],
        counted: tuple[str, str],
        outcome: _Outcome,
    ) -> None:
        super().__init__(name)
        self._work = work
        self._parser = parser
        self._read = read
        self._counted = counted
        self._outcome = outcome
        self._requests: asyncio.Queue[Request | None] = asyncio.Queue()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> FetchSpider:
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

    async def fetch(self, urls: Sequence[str]) -> list[Any]:
        """Return what comes of several URLs, in their order, or :class:`Failed`."""
        futures = []
        for url in urls:
            self._asked += 1
            future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
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
            page = self._parser.parse(response)
        except NotAPageError as error:
            self._came(response.meta.get(_KEY), Failed(error.reason))
            return
        self._came(response.meta.get(_KEY), self._read(response, page))

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

    def _came(self, number: int | None, result: Any) -> None:
        future = self._waiting.pop(number, None) if number is not None else None
        if future is not None and not future.done():
            future.set_result(result)
            assert self.crawler.stats is not None
            came, failed = self._counted
            self.crawler.stats.inc_value(failed if isinstance(result, Failed) else came)
