"""robots.txt, for what a page in the browser asks for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http import Request
from scrapy.utils.misc import build_from_crawler, load_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

__all__ = ["Permission"]

_REDIRECTS = 5


class Permission:
    """Whether the robots.txt of a host lets one of its URLs be asked for.

    The rules of the page's own host are known to Scrapy. Those of others, where scripts and
    data are, are fetched once a crawl, beside Scrapy's slots, as what they are about is too.
    A robots.txt that can't be had forbids nothing. With ``ROBOTSTXT_OBEY = False``, or
    ``dont_obey_robotstxt`` in the meta of the page's request, nothing is forbidden.

    Parameters
    ----------
    fetch
        fetches and decodes without any middleware
    """

    def __init__(self, crawler: Crawler, fetch: Callable[[Request], Awaitable[Response]]) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._fetch = fetch
        self._obeys = settings.getbool("ROBOTSTXT_OBEY")
        self._agent: str | None = settings["ROBOTSTXT_USER_AGENT"]
        self._default_agent: str = settings["USER_AGENT"]
        self._parser_class = load_object(settings["ROBOTSTXT_PARSER"])
        self._parsers: dict[str, asyncio.Future[RobotParser | None]] = {}

    def of(self, request: Request) -> Callable[[str], Awaitable[bool]]:
        """Return what says whether the page of a request may ask for a URL."""
        agent = self._agent or request.headers.get("User-Agent") or self._default_agent
        own = urlsplit(request.url).netloc
        obeys = self._obeys and not request.meta.get("dont_obey_robotstxt")

        async def allowed(url: str) -> bool:
            if not obeys:
                return True
            parser = await (self._known(request) if urlsplit(url).netloc == own else self._of(url))
            return parser is None or bool(parser.allowed(url, agent))

        return allowed

    async def _known(self, request: Request) -> RobotParser | None:
        middleware = self._crawler.get_downloader_middleware(RobotsTxtMiddleware)
        return await middleware.robot_parser(request) if middleware is not None else None

    async def _of(self, url: str) -> RobotParser | None:
        parts = urlsplit(url)
        parser = self._parsers.get(parts.netloc)
        if parser is None:
            fetching = self._fetched(f"{parts.scheme}://{parts.netloc}/robots.txt")
            parser = self._parsers[parts.netloc] = asyncio.ensure_future(fetching)
        return await asyncio.shield(parser)  # other pages wait for it too

    async def _fetched(self, url: str) -> RobotParser | None:
        try:
            response = await self._fetch(Request(url))
            for _ in range(_REDIRECTS):
                location = response.headers.get("Location")
                if not (300 <= response.status < 400 and location):
                    break
                url = urljoin(url, location.decode("latin-1"))
                response = await self._fetch(Request(url))
        except Exception:  # noqa: BLE001 - of any handler; Scrapy's middleware does the same
            return None
        parser: RobotParser = build_from_crawler(self._parser_class, self._crawler, response.body)
        return parser
