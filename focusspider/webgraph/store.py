"""A web graph: pages with their HTML, the links among them, and which of them are wanted.

It is what the methods that learn before a crawl are trained on, in one SQLite file. A page
is known by its request's fingerprint, so that two spellings of a URL are one page. A URL that
leads elsewhere is no page but an alias: a redirect of where it ends, a frameset of the pages
in its frames, which stand for it (HMM 2.1).
"""

from __future__ import annotations

import contextlib
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scrapy.utils.request import RequestFingerprinter

from focusspider.errors import WebGraphError
from focusspider.urls import BaseURL, Fingerprinter
from focusspider.webgraph.database import create_database, explained, open_database
from focusspider.webgraph.digest import MAX_BODY, content_digest, unpacked
from focusspider.webgraph.distances import hop_distances
from focusspider.webgraph.parts import (
    GraphArrays,
    GraphEdge,
    GraphPage,
    as_utf8,
    response_of,
)

if TYPE_CHECKING:
    import os
    import sqlite3
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from numpy.typing import NDArray
    from scrapy.http import TextResponse

__all__ = ["WebGraph"]

_BATCH = 1_000  # pages that are read at a time
_COLUMNS = "id, url, title, status, content_type, content_language, target, layer"
_NONE, _GIVEN, _EXTRA = range(3)  # values of page.target


class WebGraph:
    """A graph in a file: made by :meth:`create` or :meth:`open`, ended by :meth:`close`.

    A context manager that closes it. Each change is a transaction of its own, committed when
    the method returns, unless it is made within :meth:`transaction`.

    Attributes
    ----------
    path : Path
    topic : str
        Name of the topic.
    source : str
        How the graph was made: ``backlinks``, ``archive``, ``crawl``, ``session``, ``har``.
    date : str
        When, as the maker gave it; it may be empty.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._depth = 0  # of transactions
        self._fingerprint_of = Fingerprinter(RequestFingerprinter()).of_url
        try:
            with explained(path):
                meta = dict(connection.execute("SELECT name, value FROM meta"))
        except WebGraphError:
            connection.close()
            raise
        self.topic = meta.get("topic", "")
        self.source = meta.get("source", "")
        self.date = meta.get("date", "")

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], *, topic: str, source: str, date: str = ""
    ) -> WebGraph:
        """Make an empty graph. Raises WebGraphError where the file exists, or can't be made."""
        path = Path(path)
        connection = create_database(path)
        with explained(path):
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [("topic", topic), ("source", source), ("date", date)],
            )
        return cls(path, connection)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, writable: bool = False) -> WebGraph:
        """Open a graph, for reading only unless it is to be ``writable``.

        Raises WebGraphError where it is not there, not ours, of another version, cut short,
        or writing is asked for and not allowed.
        """
        path = Path(path)
        return cls(path, open_database(path, writable=writable))

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._connection.close()

    def __enter__(self) -> WebGraph:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is changed within as one, or none of it where it raises.

        One within another is a part of it.
        """
        with explained(self.path):
            if not self._depth:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if not self._depth and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._depth -= 1
            if not self._depth:
                self._connection.execute("COMMIT")

    def add_page(
        self,
        url: str,
        html: str | bytes,
        *,
        target: bool = False,
        title: str = "",
        status: int = 200,
        content_type: str = "text/html",
        content_language: str = "",
        layer: int | None = None,
        moved_from: Iterable[str] = (),
    ) -> bool:
        """Add a page; return False, and change nothing of it, where it is known.

        Parameters
        ----------
        html
            The body: as text, or the bytes of the answer, unpacked, in the charset that
            ``content_type`` or the page itself declares.
        target
            Whether the page is what the user wants. A known page becomes a target by it.
        moved_from
            URLs that redirected to the page: aliases of it.
        """
        body = html if isinstance(html, bytes) else html.encode("utf-8", "replace")
        if isinstance(html, str):
            content_type = as_utf8(content_type)
        if len(body) > MAX_BODY:
            raise WebGraphError(
                f"page {url} has {len(body):,} bytes; a graph takes {MAX_BODY:,} at most"
            )
        url, fingerprint = self._identified(url)
        row = (
            fingerprint, url, title, status, content_type, content_language,
            _GIVEN if target else _NONE, layer, zlib.compress(body),
        )  # fmt: skip
        with self.transaction():
            done = self._connection.execute(
                "INSERT INTO page (fingerprint, url, title, status, content_type, "
                "content_language, target, layer, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (fingerprint) DO NOTHING",
                row,
            )
            if target and not done.rowcount:
                self.mark_target(url)
            for earlier in moved_from:
                self.add_alias(earlier, url)
        return bool(done.rowcount)

    def add_alias(self, url: str, *pages: str) -> None:
        """Note that a URL leads to pages, without being one; where it is one, it stays so."""
        url, fingerprint = self._identified(url)
        if self._number(url) is not None:
            return
        numbers = [number for page in pages for number in self._known(page)]
        with self.transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO alias VALUES (?, ?, ?)",
                [(fingerprint, url, number) for number in numbers],
            )

    def add_edge(self, source: str, destination: str, anchor: str = "") -> bool:
        """Add a link between known pages or aliases; return whether one was new.

        Parallel links are one edge, with the first anchor that has text; a page's link to
        itself is none. Raises WebGraphError where one of the two is not known.
        """
        pairs = [
            (i, j, anchor) for i in self._known(source) for j in self._known(destination) if i != j
        ]
        new = 0
        with self.transaction():
            for pair in pairs:
                done = self._connection.execute(
                    "INSERT OR IGNORE INTO edge (source, destination, anchor) VALUES (?, ?, ?)",
                    pair,
                )
                new += done.rowcount
                if not done.rowcount and anchor:
                    self._connection.execute(
                        "UPDATE edge SET anchor = ?3 "
                        "WHERE source = ?1 AND destination = ?2 AND anchor = ''",
                        pair,
                    )
        return new > 0

    def mark_target(self, url: str, *, extra: bool = False) -> None:
        """Make a page, or those that a URL leads to, wanted; ``extra``: by its likeness.

        What the user said stays: an extra target never takes its place.
        """
        numbers = self._known(url)
        with self.transaction():
            self._connection.executemany(
                "UPDATE page SET target = ?1 WHERE id = ?2 AND (?1 = 1 OR target = 0)",
                [(_EXTRA if extra else _GIVEN, number) for number in numbers],
            )

    def unmark_target(self, url: str) -> None:
        """Take back that a page, or those that a URL leads to, are wanted."""
        with self.transaction():
            self._connection.executemany(
                "UPDATE page SET target = 0 WHERE id = ?", [(i,) for i in self._known(url)]
            )

    def __len__(self) -> int:
        """Return the number of pages."""
        return int(self._one("SELECT count(*) FROM page"))

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return int(self._one("SELECT count(*) FROM edge"))

    def __contains__(self, url: object) -> bool:
        """Return whether a URL is a page's, or leads to one."""
        return isinstance(url, str) and bool(self._lookup(url))

    def resolved(self, url: str) -> tuple[str, ...]:
        """Return the pages that a URL leads to: its own, or those it is an alias of."""
        return tuple(
            str(self._one("SELECT url FROM page WHERE id = ?", number))
            for number in self._lookup(url)
        )

    def page(self, url: str) -> GraphPage:
        """Return the page at a URL, or that it redirects to. Raises WebGraphError for none."""
        return next(self._pages("WHERE id = ?", self._known(url)[0]))

    def pages(self) -> Iterator[GraphPage]:
        """Yield the pages in the order in which they were added; the graph may change."""
        last = 0
        while True:
            found = list(self._pages(f"WHERE id > ? ORDER BY id LIMIT {_BATCH}", last))
            yield from found
            if not found:
                return
            last = found[-1].number + 1

    def targets(self) -> tuple[str, ...]:
        """Return the URLs of the wanted pages, those found by likeness among them."""
        return tuple(page.url for page in self._pages("WHERE target ORDER BY id"))

    def edges(self) -> Iterator[GraphEdge]:
        """Yield the links in the order in which they were added."""
        with explained(self.path):
            urls = dict(self._connection.execute("SELECT id, url FROM page"))
            for source, destination, anchor in self._connection.execute(
                "SELECT source, destination, anchor FROM edge ORDER BY id"
            ):
                yield GraphEdge(urls[source], urls[destination], anchor)

    def aliases(self) -> Iterator[tuple[str, str]]:
        """Yield each URL that leads to a page without being one, and that page's."""
        with explained(self.path):
            yield from self._connection.execute(
                "SELECT alias.url, page.url FROM alias JOIN page ON page.id = alias.page "
                "ORDER BY alias.url, page.id"
            ).fetchall()

    def body(self, url: str) -> bytes:
        """Return the body of a page as it came, unpacked."""
        number = self._known(url)[0]
        packed = cast("bytes", self._one("SELECT body FROM page WHERE id = ?", number))
        return unpacked(packed, url, self.path)

    def html(self, url: str) -> str:
        """Return the HTML of a page, in the charset that it declares."""
        return self.response(url).text

    def response(self, url: str) -> TextResponse:
        """Return a page as the response it came as, for ``PageParser.parse``."""
        page = self.page(url)
        return response_of(page, self.body(page.url))

    def arrays(self) -> GraphArrays:
        """Return the pages and edges as arrays, which hold what is there now."""
        with explained(self.path):
            pages = self._connection.execute("SELECT url, target FROM page ORDER BY id").fetchall()
            edges = self._connection.execute(
                "SELECT source - 1, destination - 1 FROM edge ORDER BY id"
            ).fetchall()
        ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
        return GraphArrays(
            tuple(url for url, _ in pages),
            ends[:, 0].copy(),
            ends[:, 1].copy(),
            np.array([target > 0 for _, target in pages], dtype=np.bool_),
        )

    def distances(self, n_states: int) -> NDArray[np.int64]:
        """Return the links from each page to the nearest target, (n_pages,).

        n_states - 1 is "so many or more", or that no target can be reached; see
        :func:`~focusspider.webgraph.distances.hop_distances`.
        """
        _, sources, destinations, targets = self.arrays()
        return hop_distances(sources, destinations, targets, n_states=n_states)

    def fingerprint(self) -> str:
        """Return a SHA-256 of the content, in hexadecimal.

        It is of pages with their bodies, layers and targets, of edges and aliases: not of
        topic, source and date, not of the order in which they were added, nor of the file.
        """
        with explained(self.path):
            return content_digest(self._connection, self.path)

    def _identified(self, url: str) -> tuple[str, bytes]:
        """Return a URL as it would be requested, and its fingerprint."""
        try:
            url = BaseURL(url).url
            return url, self._fingerprint_of(url)
        except (ValueError, UnicodeError) as error:
            raise WebGraphError(f"{url!r} cannot be a page of a web graph: {error}") from None

    def _lookup(self, url: str) -> list[int]:
        """Return the ids of the pages that a URL leads to; none for an unknown one."""
        _, fingerprint = self._identified(url)
        with explained(self.path):
            found = (
                self._connection.execute(
                    "SELECT id FROM page WHERE fingerprint = ?", (fingerprint,)
                ).fetchall()
                or self._connection.execute(
                    "SELECT page FROM alias WHERE fingerprint = ? ORDER BY page", (fingerprint,)
                ).fetchall()
            )
        return [number for (number,) in found]

    def _number(self, url: str) -> int | None:
        """Return the id of the page at a URL that is no alias."""
        _, fingerprint = self._identified(url)
        return cast(
            "int | None", self._one("SELECT id FROM page WHERE fingerprint = ?", fingerprint)
        )

    def _known(self, url: str) -> list[int]:
        found = self._lookup(url)
        if not found:
            raise WebGraphError(f"web graph {self.path} has no page {url}: add it first")
        return found

    def _one(self, statement: str, *values: Any) -> Any:
        with explained(self.path):
            row = self._connection.execute(statement, values).fetchone()
        return row[0] if row is not None else None

    def _pages(self, where: str, *values: Any) -> Iterator[GraphPage]:
        with explained(self.path):
            rows = self._connection.execute(f"SELECT {_COLUMNS} FROM page {where}", values)  # noqa: S608
            for number, url, title, status, kind, language, target, layer in rows.fetchall():
                yield GraphPage(
                    number - 1, url, title, status, kind, language,
                    target != _NONE, target == _EXTRA, layer,
                )  # fmt: skip
