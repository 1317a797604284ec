"""A stored web as a web graph, whole; and the log of a crawl, which knows some of its links."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from focusspider.errors import NotAPageError, ReplayError
from focusspider.replay.reading import PageReader, Resolver
from focusspider.webgraph.layers import FetchedPage
from focusspider.wholerun import Merged, is_run, run_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from focusspider.page import Page, PageParser
    from focusspider.replay.archive import Archive
    from focusspider.webgraph import WebGraph

__all__ = ["CrawlLog", "add_archive"]

_FIELDS = ("url", "parent", "relevant")  # of a line of crawl.jsonl, that are read here


def add_archive(
    graph: WebGraph,
    archive: Archive,
    parser: PageParser,
    *,
    wanted: Callable[[Page], bool] | None = None,
    told: Callable[[int, int], None] | None = None,
) -> int:
    """Add every HTML page of an archive to a graph, and the links among them.

    A link ends where a crawl of the archive would end: other spellings and redirects of a
    page are aliases of it.

    Parameters
    ----------
    wanted
        Tells of a page whether it is a target.
    told
        is given, after each URL of the archive, how many are done, and of how many

    Returns
    -------
    int
        How many answers were no HTML page: files, redirects, errors.
    """
    resolver, reader = Resolver(), PageReader(parser)
    passed_over = 0
    links: list[tuple[str, list[tuple[str, str]]]] = []  # page, its (URL, anchor)
    with graph.transaction():
        for done, url in enumerate(archive.urls(), 1):
            stored = archive.get(url)
            page = None
            if stored is not None and resolver.add(stored):
                response = reader.response(stored)
                try:
                    page = None if response is None else parser.parse(response)
                except NotAPageError:
                    page = None
            if page is None or response is None:
                passed_over += 1
            else:
                fetched = FetchedPage.of(response, page)
                fetched.add_to(graph, target=wanted is not None and wanted(page))
                links.append((fetched.url, [(link.url, link.anchor) for link in page.links]))
            if told is not None:
                told(done, len(archive))
        pages = resolver.pages
        for source, named in links:
            for url, anchor in named:
                if url not in graph:
                    node = resolver.node(url)
                    if node is None or pages[node] not in graph:
                        continue
                    graph.add_alias(url, pages[node])
                graph.add_edge(source, url, anchor)
    return passed_over


class CrawlLog:
    """What ``crawl.jsonl`` of a run's folder says of the pages that were fetched.

    Attributes
    ----------
    folder : Path
    relevant : tuple of str
        URLs of the pages that were judged relevant, in the order of fetching.
    warcs : tuple of Path
        What the crawl wrote of the pages themselves, if it was asked to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts = run_parts(folder)
        paths = [part / "crawl.jsonl" for part in self._parts]
        self._merged = Merged(
            [_lines(path) if path.exists() or len(paths) == 1 else () for path in paths]
        )
        self._parents: dict[str, str] = {}
        relevant: dict[str, None] = {}
        for line in self._merged:
            if line["relevant"]:
                relevant.setdefault(line["url"])
            if line["parent"] is not None:
                self._parents.setdefault(line["url"], line["parent"])
        self.relevant = tuple(relevant)
        self.warcs = tuple(
            path for part in self._parts for path in sorted(part.glob("pages*.warc.gz"))
        )

    @staticmethod
    def is_at(path: Path) -> bool:
        """Return whether a path is the folder of a run, of one process or of several workers."""
        return is_run(path)

    def backlinks(self, url: str, n: int) -> Sequence[str]:
        """Return the page whose link the crawl followed to another: one at most."""
        parent = self._parents.get(url)
        return [parent] if parent is not None and n > 0 else []

    def pages(self) -> Iterator[FetchedPage]:
        """Yield the pages whose HTML the items hold (FOCUS_EXPORT_BODY), if there are items."""
        paths = [part / "items.jsonl" for part in self._parts]
        journals = [_objects(path) if path.exists() else () for path in paths]
        for line in self._merged.items(journals):
            url, body = line.get("url"), line.get("body")
            if isinstance(url, str) and isinstance(body, str):
                yield FetchedPage(
                    url,
                    body.encode("utf-8", "replace"),
                    content_type="text/html; charset=utf-8",
                )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_objects(path), 1):
        missing = next((repr(name) for name in _FIELDS if name not in line), None)
        url, parent = line.get("url"), line.get("parent")
        if missing or not isinstance(url, str) or not isinstance(parent, str | None):
            problem = f"no {missing}" if missing else "a URL that is no text"
            raise ReplayError(
                f"{path}: line {number} has {problem}; it is not what a crawl wrote: name the "
                "folder of a run, exports/TOPIC/RUN"
            )
        yield line


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """Read the objects of a journal, of which the last may be half written."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for text in file:
                try:
                    line = json.loads(text)
                except ValueError:
                    continue
                if isinstance(line, dict):
                    yield line
    except OSError as error:
        raise ReplayError(f"{path}: cannot be read: {error.strerror}") from None
