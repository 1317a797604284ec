"""An archive read as a crawl would read it: where a request ends, and what page is there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from focusspider.errors import NotAPageError
from focusspider.replay.archive import answer
from focusspider.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from focusspider.page import Page, PageParser
    from focusspider.replay.archive import Archive, Stored

__all__ = ["PageReader", "Resolver", "stored_page"]

#: Scrapy's default for ``REDIRECT_MAX_TIMES``.
_MAX_REDIRECTS = 20


def stored_page(archive: Archive, url: str) -> Stored | None:
    """Return the answer at which a request for a URL ends; None: an error, or nothing."""
    for _ in range(_MAX_REDIRECTS + 1):
        stored = answer(archive, url)
        if stored is None or not stored.is_redirect:
            return stored if stored is not None and 200 <= stored.status < 300 else None
        url = urljoin(url, stored.header("Location"))
    return None


class Resolver:
    """Where a request for a URL ends: an archive of answers without bodies, for ``answer``."""

    def __init__(self) -> None:
        self._answers: dict[str, Stored] = {}
        self._nodes: dict[str, int] = {}
        self._hosts: set[str] = set()

    @property
    def pages(self) -> tuple[str, ...]:
        """The URLs of the pages, in the order in which they were added: their numbers."""
        return tuple(self._nodes)

    def add(self, stored: Stored) -> bool:
        """Know an answer; return whether it is a page."""
        self._answers[stored.url] = stored._replace(body=b"")
        self._hosts.add(host_of(stored.url))
        if not 200 <= stored.status < 300:
            return False
        self._nodes[stored.url] = len(self._nodes)
        return True

    def node(self, url: str) -> int | None:
        """Return the number of the page that a request for a URL ends at, if at one."""
        if host_of(url) not in self._hosts:  # most links, and quicker than to ask
            return None
        stored = stored_page(self, url)
        return None if stored is None else self._nodes.get(stored.url)

    def get(self, url: str) -> Stored | None:
        """Return what is known under a URL."""
        return self._answers.get(url)

    def urls(self) -> Iterator[str]:
        """Yield every URL that is known."""
        return iter(self._answers)

    def __len__(self) -> int:
        """Return how many URLs are known."""
        return len(self._answers)


class PageReader:
    """Reads stored answers as a crawl would, decompressed by Scrapy itself."""

    def __init__(self, parser: PageParser) -> None:
        self.parser = parser
        # Outside of a crawl there is no crawler; these are what the middleware takes of it.
        crawler = SimpleNamespace(settings=Settings(), signals=SignalManager(), stats=None)
        self._compression = HttpCompressionMiddleware(crawler=cast("Crawler", crawler))

    def response(self, stored: Stored) -> Response | None:
        """Return an answer as a crawl has it, or None where it can't be decompressed."""
        headers = Headers()
        for name, value in stored.headers:
            headers.appendlist(name, value)
        kind = responsetypes.from_args(headers=headers, url=stored.url, body=stored.body)
        response = kind(stored.url, status=stored.status, headers=headers, body=stored.body)
        try:
            decoded = self._compression.process_response(Request(stored.url), response)
        except Exception:  # noqa: BLE001 - each decoder has errors of its own
            return None
        return cast("Response", decoded)

    def read(self, stored: Stored) -> Page | None:
        """Return the page of an answer, or None where it is no HTML."""
        response = self.response(stored)
        try:
            return None if response is None else self.parser.parse(response)
        except NotAPageError:
            return None
