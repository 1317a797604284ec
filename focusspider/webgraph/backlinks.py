"""A graph that is there already, asked for back-links and for the pages themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.webgraph.layers import Failed, FetchedPage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focusspider.webgraph.store import WebGraph

__all__ = ["GraphBacklinks", "copy_links", "page_of"]


class GraphBacklinks:
    """The links of a whole graph, such as that of an archive, read once.

    Pages that link to one are in the order in which they were added to the graph.
    """

    def __init__(self, graph: WebGraph) -> None:
        self._graph = graph
        self._sources: dict[str, list[str]] = {}
        for edge in graph.edges():
            self._sources.setdefault(edge.destination, []).append(edge.source)
        order = {page.url: page.number for page in graph.pages()}
        for sources in self._sources.values():
            sources.sort(key=order.__getitem__)

    def backlinks(self, url: str, n: int) -> Sequence[str]:
        """Return up to n pages that link to one; none for what is not in the graph."""
        found: dict[str, None] = {}
        for page in self._graph.resolved(url):
            found.update(dict.fromkeys(self._sources.get(page, ())))
        return list(found)[:n]

    def pages(self, urls: Sequence[str]) -> list[FetchedPage | Failed]:
        """Return pages of the graph, in the order of their URLs."""
        return [self._page(url) for url in urls]

    def _page(self, url: str) -> FetchedPage | Failed:
        return page_of(self._graph, url) if url in self._graph else Failed("not stored")


def page_of(graph: WebGraph, url: str) -> FetchedPage:
    """Return a page of a graph as it came, by its URL or an alias of it."""
    page = graph.page(url)
    return FetchedPage(
        page.url,
        graph.body(page.url),
        page.title,
        page.status,
        page.content_type,
        page.content_language,
    )


def copy_links(whole: WebGraph, graph: WebGraph) -> None:
    """Add the links and aliases of a whole graph that are of pages of another one."""
    with graph.transaction():
        for url, page in whole.aliases():
            if page in graph:
                graph.add_alias(url, page)
        for edge in whole.edges():
            if edge.source in graph and edge.destination in graph:
                graph.add_edge(*edge)
