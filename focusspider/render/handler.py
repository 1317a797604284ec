"""Scrapy's download handler for pages that are rendered.

A page is fetched once, by the handler that would have fetched it without us, and the browser
is given what came. So redirects, retries, robots.txt, cookies, proxies, limits of size and
delays are Scrapy's as ever, a replayed archive is rendered like the web, and there is always
the plain response to fall back on. The request stays in its downloader slot until the page
has left the browser.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Request, Response
from scrapy.utils.misc import build_from_crawler, load_object

from focusspider import stats
from focusspider.config import FocusConfig
from focusspider.engine import stop
from focusspider.markup import text_of
from focusspider.render.browser import Browser, RenderError
from focusspider.render.permission import Permission
from focusspider.render.policy import RenderPolicy
from focusspider.session import Session

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from focusspider.render.browser import Rendered

__all__ = ["RenderDownloadHandler", "Renderer"]

logger = logging.getLogger(__name__)

_renderers: WeakKeyDictionary[Crawler, Renderer] = WeakKeyDictionary()


class RenderDownloadHandler(BaseDownloadHandler):
    """Fetches a page by another handler, and renders it where the policy says so."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        renderer = _renderers.get(crawler)
        if renderer is None:
            renderer = _renderers[crawler] = Renderer(crawler)
        self._renderer = renderer

    async def download_request(self, request: Request) -> Response:
        """Return the page of a request."""
        return await self._renderer.download(request)

    async def close(self) -> None:
        """End the browser, and the handlers that fetch."""
        await self._renderer.close()


class Renderer:
    """What the handlers of http and https share."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._config = config = FocusConfig.from_settings(crawler.settings)
        session = Session.of(crawler)
        self._policy = RenderPolicy.of(config, session.topic if session else None)
        self._plain = {
            scheme: build_from_crawler(load_object(handler), crawler)
            for scheme, handler in {
                **{s: crawler.settings["DOWNLOAD_HANDLERS_BASE"][s] for s in ("http", "https")},
                **config.render_handlers,
            }.items()
        }
        self._decoder = HttpCompressionMiddleware(crawler=crawler)
        self._decoder.stats = None
        max_size = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self._browser = Browser(
            crawler,
            program=config.chromium,
            pages=config.render_pages,
            blocked=frozenset(config.render_block),
            most_requests=config.render_requests,
            max_size=max_size,
        )
        self._permission = Permission(crawler, self._fetch_decoded)
        self._trial = asyncio.Lock()
        self._works: bool | None = None
        self._closed = False
        crawler.signals.connect(self._count_open, signals.spider_closed)

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None
        return self._crawler.stats

    async def download(self, request: Request) -> Response:
        """Fetch a page, and render it where that is wanted."""
        await self._ready()
        response = await self._fetch(request)
        if request.method != "GET" or response.status != 200 or "playwright" in response.flags:
            return response
        document = self._decoded(request, response)
        if not isinstance(document, HtmlResponse) or not document.body:
            return response
        if not self._policy.wants(text_of(document)):
            return response
        try:
            rendered = await self._browser.render(
                request,
                document,
                self._policy,
                allowed=self._permission.of(request),
                fetch=self._stored if self._config.replay else None,
            )
        except RenderError as error:
            logger.debug("Not rendered: %s", error)
            stats.count_reason(self._stats, stats.RENDER_FAILED, error.reason)
            return response
        self._count(rendered)
        return _response(document, rendered.html, response)

    async def _ready(self) -> None:
        """Start the browser before anything is asked of the web; without it, there is no crawl."""
        async with self._trial:
            if self._works is None:
                try:
                    await self._browser.try_out()
                except RenderError as error:
                    logger.error("The crawl stops: the browser does not work: %s", error)
                    stop(self._crawler, "render_error")
                    self._works = False
                else:
                    self._works = True
        if not self._works:
            raise IgnoreRequest("the browser does not work")

    async def _fetch(self, request: Request) -> Response:
        scheme = request.url.partition(":")[0]
        response: Response = await self._plain[scheme].download_request(request)
        return response

    async def _stored(self, url: str) -> Response | None:
        """Answer what a page asks for from the archive."""
        try:
            return await self._fetch_decoded(Request(url))
        except Exception as error:  # noqa: BLE001 - as many kinds as there are handlers
            logger.debug("%s, for a page in the browser: %s", url, error)
            return None

    async def _fetch_decoded(self, request: Request) -> Response:
        return self._decoded(request, await self._fetch(request))

    def _decoded(self, request: Request, response: Response) -> Response:
        """Return a response without its content codings, as it is where they are wrong."""
        try:
            decoded = self._decoder.process_response(request, response.copy())
        except Exception:  # noqa: BLE001 - whatever it is, Scrapy will come to it, and say so
            return response
        assert isinstance(decoded, Response)
        return decoded

    def _count(self, rendered: Rendered) -> None:
        self._stats.inc_value(stats.RENDER_PAGE)
        probed = rendered.probed
        for key, count in (
            (stats.RENDER_ACTION, probed.actions),
            (stats.RENDER_STATE, probed.states),
            (stats.RENDER_LINK, probed.links),
            (stats.RENDER_DIALOG, rendered.dialogs),
        ):
            if count:
                self._stats.inc_value(key, count)
        if probed.stopped:
            stats.count_reason(self._stats, stats.RENDER_STOPPED, probed.stopped)
        for reason, count in rendered.refused.items():
            stats.count_reason(self._stats, stats.RENDER_REFUSED, reason, count)

    def _count_open(self) -> None:
        self._stats.set_value(stats.RENDER_OPEN, self._browser.open_pages)

    async def close(self) -> None:
        """End the browser, and the handlers that fetch; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        await self._browser.close()
        for handler in self._plain.values():
            await handler.close()


def _response(document: HtmlResponse, html: str, fetched: Response) -> HtmlResponse:
    """Return a response like the one that was fetched, with the rendered page."""
    headers = document.headers.copy()
    for name in ("Content-Length", "Content-Encoding"):
        headers.pop(name, None)
    headers["Content-Type"] = "text/html; charset=utf-8"
    return HtmlResponse(
        fetched.url,
        status=fetched.status,
        headers=headers,
        body=html.encode("utf-8", "replace"),
        encoding="utf-8",
        flags=[*fetched.flags, "rendered"],
        certificate=fetched.certificate,
        ip_address=fetched.ip_address,
        protocol=fetched.protocol,
    )
