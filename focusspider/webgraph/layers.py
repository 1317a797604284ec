"""Back-link layers: the pages that lead to the targets, found by asking who links to what.

Layer 0 are the targets. A layer is the pages that link to those of the layer before it, up
to ``per_layer`` of them, shared out evenly among the pages they link to; then come all links
between pages that are known (memm-crf 3.1).
"""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, Protocol

from focusspider.errors import NotAPageError, WebGraphError
from focusspider.urls import BaseURL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from scrapy.http import Response

    from focusspider.page import Page, PageParser
    from focusspider.webgraph.store import WebGraph

__all__ = ["BacklinkSource", "Failed", "FetchedPage", "LayerReport", "add_links", "grow"]

LAYERS = 4
PER_LAYER = 600


class BacklinkSource(Protocol):
    """Tells which pages link to a page."""

    def backlinks(self, url: str, n: int) -> Sequence[str]:
        """Return up to n URLs of pages that link to a URL, the best known first."""
        ...


class FetchedPage(NamedTuple):
    """A page as it came, for :meth:`WebGraph.add_page`."""

    url: str
    body: bytes
    title: str = ""
    status: int = 200
    content_type: str = "text/html"
    content_language: str = ""
    moved_from: tuple[str, ...] = ()

    @classmethod
    def of(cls, response: Response, page: Page) -> FetchedPage:
        """Return what a graph keeps of a response, whose page was parsed."""
        header = response.headers.get
        return cls(
            response.url.partition("#")[0],
            response.body,
            page.title,
            response.status,
            (header("Content-Type") or b"text/html").decode("latin-1"),
            (header("Content-Language") or b"").decode("latin-1"),
            page.moved_from,
        )

    def add_to(self, graph: WebGraph, *, target: bool = False, layer: int | None = None) -> bool:
        """Add the page to a graph; return False where it is known there."""
        return graph.add_page(
            self.url,
            self.body,
            target=target,
            title=self.title,
            status=self.status,
            content_type=self.content_type,
            content_language=self.content_language,
            layer=layer,
            moved_from=self.moved_from,
        )


class Failed(NamedTuple):
    """Why a page did not come, in a word or two."""

    reason: str


class LayerReport(NamedTuple):
    """How one layer went.

    Attributes
    ----------
    asked : int
        Pages whose back-links were asked for.
    found : int
        Back-links that were named, of pages not yet known, each once.
    added : int
        Pages that came, and are the layer.
    failed : Counter
        Why others did not come: how many, by reason.
    """

    layer: int
    asked: int
    found: int
    added: int
    failed: Counter[str]


async def grow(
    graph: WebGraph,
    targets: Sequence[str],
    *,
    ask: Callable[[str, int], Awaitable[Sequence[str]]],
    fetch: Callable[[Sequence[str]], Awaitable[Sequence[FetchedPage | Failed]]],
    layers: int = LAYERS,
    per_layer: int = PER_LAYER,
    told: Callable[[LayerReport], None] | None = None,
) -> list[LayerReport]:
    """Fill an empty graph with targets and the layers before them; no links yet.

    Each page of a layer of m is asked for per_layer / m pages that link to it, and they come
    one of each in turn. Where the next layer is not full by that, since they are known or
    don't come, those that may have more are asked for four times as many, and so on.

    Parameters
    ----------
    targets
        URLs of the pages that are wanted.
    ask
        Returns up to n pages that link to a URL; see :class:`BacklinkSource`.
    fetch
        Returns what comes of several URLs, in their order.
    layers
        How many there are before that of the targets, 1 or more.
    per_layer
        Most pages of each, 1 or more.
    told
        is given each layer when it is done

    Raises
    ------
    WebGraphError
        None of the targets came.
    """
    if layers < 1 or per_layer < 1:
        raise ValueError(f"layers is {layers}, per_layer {per_layer}: both are 1 or more")
    grower = _Grower(graph, fetch)
    report = LayerReport(0, 0, 0, 0, Counter())
    reports = [await grower.add(report, [targets], len(targets))]
    if told is not None:
        told(reports[0])
    if not reports[0].added:
        reasons = ", ".join(f"{count} × {why}" for why, count in reports[0].failed.most_common())
        raise WebGraphError(
            f"none of the {len(targets)} targets came ({reasons}): mend their URLs in the topic"
        )
    for layer in range(1, layers + 1):
        nodes = [page.url for page in graph.pages() if page.layer == layer - 1]
        if not nodes:
            break
        reports.append(await grower.layer(layer, nodes, ask, per_layer))
        if told is not None:
            told(reports[-1])
    return reports


class _Grower:
    """Adds pages to the layers of a graph."""

    def __init__(
        self,
        graph: WebGraph,
        fetch: Callable[[Sequence[str]], Awaitable[Sequence[FetchedPage | Failed]]],
    ) -> None:
        self._graph = graph
        self._fetch = fetch
        self._fetched: set[str] = set()

    async def layer(
        self,
        layer: int,
        nodes: Sequence[str],
        ask: Callable[[str, int], Awaitable[Sequence[str]]],
        room: int,
    ) -> LayerReport:
        """Fill a layer with up to ``room`` pages that link to some of the one before it."""
        report = LayerReport(layer, len(nodes), 0, 0, Counter())
        n = max(1, room // len(nodes))
        while nodes and report.added < room:
            n = min(n, room)
            more: list[str] = []
            for start in range(0, len(nodes), room):  # of more than there is room for, a part
                asked = nodes[start : start + room] if report.added < room else []
                named = [await ask(url, n) for url in asked]
                report = await self.add(report, named, room)
                more += [url for url, said in zip(asked, named, strict=True) if len(said) >= n]
            nodes, n = (more, 4 * n) if n < room else ([], n)
        return report

    async def add(
        self, report: LayerReport, named: Sequence[Sequence[str]], room: int
    ) -> LayerReport:
        """Fetch named pages, the first of each list first, until there are enough."""
        waiting = list(self._new(named))
        report = report._replace(found=report.found + len(waiting))
        while waiting and report.added < room:
            free = room - report.added
            batch, waiting = waiting[:free], waiting[free:]
            self._fetched.update(batch)
            came = await self._fetch(batch)
            added = 0
            with self._graph.transaction():
                for one in came:
                    if isinstance(one, Failed):
                        report.failed[one.reason] += 1
                    elif one.add_to(self._graph, target=not report.layer, layer=report.layer):
                        added += 1  # and else it was known, and was come to by another URL
            report = report._replace(added=report.added + added)
        return report

    def _new(self, named: Sequence[Sequence[str]]) -> Iterator[str]:
        """Yield what is not known and was not asked for, one of each list in turn."""
        seen: set[str] = set()
        for turn in zip_longest(*named):
            for url in turn:
                key = "" if url is None else BaseURL(url).url
                if key and key not in seen and key not in self._fetched:
                    seen.add(key)
                    if key not in self._graph:
                        yield key


def add_links(graph: WebGraph, parser: PageParser) -> None:
    """Read every page, and add its links to pages that are known.

    What can't be parsed is a page without links.
    """
    for known in graph.pages():
        try:
            page = parser.parse(graph.response(known.url))
        except NotAPageError:
            continue
        with graph.transaction():
            for link in page.links:
                if link.url in graph:
                    graph.add_edge(known.url, link.url, link.anchor)
