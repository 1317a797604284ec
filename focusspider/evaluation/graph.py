"""The graph of a stored web: what a crawl of it can reach, for the bound and the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.replay.reading import PageReader, Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from focusspider.page import PageParser
    from focusspider.replay import Archive

__all__ = ["PageReader", "StoredGraph", "stored_graph"]


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
        resolver: Resolver,
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
    resolver, reader = Resolver(), PageReader(parser)
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
