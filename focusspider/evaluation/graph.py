"""The graph of a stored web: what a crawl of it can reach, for the bound and the truth."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin

import numpy as np
from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from focusspider.errors import NotAPageError
from focusspider.replay import answer
from focusspider.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from focusspider.page import Page, PageParser
    from focusspider.replay import Archive, Stored

__all__ = ["PageReader", "StoredGraph", "stored_graph"]

#: Scrapy's default for ``REDIRECT_MAX_TIMES``.
_MAX_REDIRECTS = 20


class StoredGraph:
    """The pages of a stored web, and their links to each other.

    Attributes
    ----------
    urls : tuple of str
        URL of each node: the one at which a crawl ends that asks for the page.
    indptr, indices : ndarray of int64
        Node i links to ``indices[indptr[i]:indptr[i + 1]]``, in the order of the links in
        the page, each once. Links to other webs, and of a page to itself, are left out.
    """

    def __init__(
        self,
        urls: tuple[str, ...],
        indptr: NDArray[np.int64],
        indices: NDArray[np.int64],
        resolver: _Resolver,
    ) -> None:
        self.urls = urls
        self.indptr = indptr
        self.indices = indices
        self._resolver = resolver

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.urls)

    def node(self, url: str) -> int | None:
        """Return the page that a request for a URL ends at, through aliases and redirects."""
        return self._resolver.node(url)

    def nodes(self, urls: Iterable[str]) -> list[int]:
        """Return the pages of several URLs, each once; URLs that are not stored are skipped."""
        found = dict.fromkeys(map(self.node, urls))
        return [node for node in found if node is not None]

    def mask(self, urls: Iterable[str]) -> NDArray[np.bool_]:
        """Return which pages the URLs name, (n_nodes,): the targets, say."""
        flags = np.zeros(len(self), dtype=np.bool_)
        flags[self.nodes(urls)] = True
        return flags

    def within(self, allows: Callable[[str], bool]) -> StoredGraph:
        """Return the graph as a crawl sees it that follows no link out of its scope.

        The nodes stay, and keep their numbers; links to pages whose URL is not allowed go.
        """
        allowed = np.array([allows(url) for url in self.urls], dtype=np.bool_)
        kept = allowed[self.indices]
        ends = np.concatenate([[0], np.cumsum(kept)])[self.indptr]
        return StoredGraph(self.urls, ends, self.indices[kept], self._resolver)


def stored_graph(archive: Archive, parser: PageParser) -> StoredGraph:
    """Parse every page of an archive, and find out where its links end.

    A node is a page that a server answered with success: what a crawl fetches and counts,
    be it HTML or not. Redirects are no nodes; a link to one leads to where it ends.
    """
    resolver, reader = _Resolver(), PageReader(parser)
    numbers: dict[str, int] = {}  # of every URL that a link names
    linked: list[list[int]] = []  # the links of each node, as such numbers
    for url in archive.urls():
        stored = archive.get(url)
        if stored is None:
            continue
        if resolver.add(stored):
            page = reader.read(stored)
            urls = [link.url for link in page.links] if page is not None else []
            linked.append([numbers.setdefault(link, len(numbers)) for link in urls])
    ends = list(map(resolver.node, numbers))
    indptr, indices = [0], []
    for node, links in enumerate(linked):
        found = dict.fromkeys(ends[link] for link in links)
        indices.extend([link for link in found if link is not None and link != node])
        indptr.append(len(indices))
    return StoredGraph(
        resolver.pages,
        np.array(indptr, dtype=np.int64),
        np.array(indices, dtype=np.int64),
        resolver,
    )


class _Resolver:
    """Where a request for a URL ends: an archive of answers without bodies, for ``answer``."""

    def __init__(self) -> None:
        self._answers: dict[str, Stored] = {}
        self._nodes: dict[str, int] = {}
        self._hosts: set[str] = set()

    @property
    def pages(self) -> tuple[str, ...]:
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
        for _ in range(_MAX_REDIRECTS + 1):
            if host_of(url) not in self._hosts:  # most links, and quicker than to ask
                return None
            stored = answer(self, url)
            if stored is None:
                return None
            if not stored.is_redirect:
                return self._nodes.get(stored.url)
            url = urljoin(url, stored.header("Location"))
        return None

    def get(self, url: str) -> Stored | None:
        return self._answers.get(url)

    def urls(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)


class PageReader:
    """Reads stored answers as a crawl would, decompressed by Scrapy itself."""

    def __init__(self, parser: PageParser) -> None:
        self.parser = parser
        # Outside of a crawl there is no crawler; these are what the middleware takes of it.
        crawler = SimpleNamespace(settings=Settings(), signals=SignalManager(), stats=None)
        self._compression = HttpCompressionMiddleware(crawler=cast("Crawler", crawler))

    def read(self, stored: Stored) -> Page | None:
        """Return the page of an answer, or None where it is no HTML."""
        headers = Headers()
        for name, value in stored.headers:
            headers.appendlist(name, value)
        kind = responsetypes.from_args(headers=headers, url=stored.url, body=stored.body)
        response = kind(stored.url, status=stored.status, headers=headers, body=stored.body)
        try:
            decoded = self._compression.process_response(Request(stored.url), response)
            return self.parser.parse(cast("Response", decoded))
        except (NotAPageError, IgnoreRequest):
            return None
