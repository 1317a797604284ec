"""A person's browsing session as a web graph (HMM 2.1).

Pages that were visited are nodes, and the links among them are edges, those too that were
not followed. How the person moved is not: going back, a reload or a typed URL adds no edge.

- A redirect counts as the page that it ends at; its own URL becomes an alias of that page.
- A frameset counts as the pages in its frames: it is an alias of them, and a link to it is a
  link to each. What an ``<iframe>`` holds is a part of its page, and no page of its own.
- A link that a script made is not in the page as it was served. Where it was clicked, and
  led to a page, it is an edge all the same.
- *Useful* makes targets of what a tab shows: of a frameset all that it loaded with, or the one
  page that was opened in a frame since.
- *Submit* ends the session; what comes after it is passed over.

What no crawl could fetch or would take for a page is passed over and counted by its reason.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

from scrapy.utils.request import RequestFingerprinter

from focusspider.errors import NotAPageError
from focusspider.links import folded
from focusspider.urls import Fingerprinter, RefusedURLError, resolve
from focusspider.webgraph.document import PASSED_OVER, Document, PassedOverError, cleaned
from focusspider.webgraph.parts import GraphPage, as_utf8, response_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from focusspider.page import Page, PageParser
    from focusspider.webgraph.store import WebGraph

__all__ = ["MOVES", "PASSED_OVER", "BrowsingSession", "Document"]

#: How a person comes to a page: by a link or a script; by a URL that was typed or a bookmark;
#: by a form; by "back" or "forward"; by loading it once more.
MOVES = ("link", "typed", "form", "history", "reload")
_MAX_ANCHOR = 1_000  # characters, of a clicked link


class _Tab:
    """What a tab shows: pages of the graph, and the frameset that they are in."""

    def __init__(self) -> None:
        self.pages: tuple[str, ...] = ()
        self.frameset = ""
        self.loading = False  # the frames of the frameset are those that it came with


class BrowsingSession:
    """Turns what happens in a browser into pages, edges and targets of a graph.

    Each call writes what it adds at once, so that what was recorded outlives whatever ends
    the browser, or this process. A graph that holds pages already is gone on with.

    Parameters
    ----------
    graph : WebGraph
        Open for writing.
    parser : PageParser
        Finds the links.

    Attributes
    ----------
    counts : Counter
        What happened: ``pages``, ``edges`` and ``targets`` that were added; ``visits``, to
        known pages too, and of them how many by each of :data:`MOVES`; ``framesets``; and the
        documents that were passed over, by :data:`PASSED_OVER`.
    roots : list of str
        Where the person began anew, with a typed URL, a bookmark or a form, in order.
    ended : bool
        Whether *Submit* was pressed.
    """

    def __init__(self, graph: WebGraph, parser: PageParser) -> None:
        self.graph = graph
        self.counts: Counter[str] = Counter()
        self.roots: list[str] = []
        self.ended = False
        self._parser = parser
        self._key_of = Fingerprinter(RequestFingerprinter()).of_url
        self._tabs: dict[Hashable, _Tab] = {}
        self._pages: set[bytes] = set()  # by their keys, as everything below
        self._framesets: set[bytes] = set()
        self._iframes: set[bytes] = set()
        self._aliases = {self._key_of(url) for url, _ in graph.aliases()}
        #: The pages that link to a URL, with the anchors.
        self._sources: dict[bytes, dict[str, str]] = {}
        #: The URLs that lead where a URL leads: redirects to it, framesets that frame it.
        self._names: dict[bytes, dict[str, None]] = {}
        #: The pages in which a link to a URL was clicked last, and its anchor.
        self._clicks: dict[bytes, tuple[tuple[str, ...], str]] = {}
        for held in graph.pages():
            self._pages.add(self._key_of(held.url))
            with contextlib.suppress(NotAPageError):
                page = parser.parse(response_of(held, graph.body(held.url)))
                self._note_links(held.url, page)

    def visit(self, tab: Hashable, document: Document, *, move: str = "link") -> str | None:
        """Let a tab, which may have any name, show a document.

        ``move`` is one of :data:`MOVES`. Returns why the document was passed over, a key of
        :data:`PASSED_OVER`, or None where it was not.
        """
        if self.ended:
            return None
        shown = self._tabs[tab] = _Tab()
        return self._show(shown, document, move, top=True)

    def frame(self, tab: Hashable, document: Document, *, move: str = "link") -> str | None:
        """Let a frame of the tab's frameset show a document; otherwise as :meth:`visit`.

        Where the tab shows no frameset the document is a part of its page: nothing is done.
        """
        shown = self._tabs.get(tab)
        if self.ended or shown is None or not shown.frameset:
            return None
        return self._show(shown, document, move, top=False)

    def leave(self, tab: Hashable) -> None:
        """Let a tab show nothing: it is closed, or shows a page of the browser's own."""
        self._tabs.pop(tab, None)

    def click(self, tab: Hashable, url: str, anchor: str = "", *, source: str = "") -> None:
        """Note that a link was clicked; this tab or another may show where it leads.

        ``source`` is the URL of the document in which it was: a frame's, where there are some.
        """
        with contextlib.suppress(RefusedURLError):
            url = resolve("", url)
            pages = self.graph.resolved(source) if source else ()
            pages = pages or self.shown(tab)
            if pages and not self.ended:
                self._clicks[self._key_of(url)] = pages, folded(_storable(anchor), _MAX_ANCHOR)

    def redirect(self, url: str, to: str) -> None:
        """Note that a URL redirects to another one, which may be visited before or after."""
        with contextlib.suppress(RefusedURLError), self.graph.transaction():
            url = resolve("", url)
            self._lead(url, resolve(url, to))

    def useful(self, tab: Hashable, *, wanted: bool = True) -> tuple[str, ...]:
        """Make targets of what a tab shows, or take that back; return the pages."""
        pages = () if self.ended else self.shown(tab)
        self._want(pages, wanted)
        return pages

    def mark(self, url: str) -> bool:
        """Make a target of a page by its URL, also at the end; return whether there is one."""
        try:
            pages = self.graph.resolved(resolve("", url))
        except RefusedURLError:
            return False
        self._want(pages, wanted=True)
        return bool(pages)

    def is_useful(self, tab: Hashable) -> bool:
        """Return whether all that a tab shows is a target."""
        pages = self.shown(tab)
        return bool(pages) and all(self.graph.page(url).target for url in pages)

    def is_framed(self, url: str) -> bool:
        """Return whether a frameset has a document in a frame."""
        return any(self._key_of(name) in self._framesets for name in self._names_of(url))

    def is_embedded(self, url: str) -> bool:
        """Return whether a page has a URL in an iframe."""
        return self._key_of(url) in self._iframes

    def shown(self, tab: Hashable) -> tuple[str, ...]:
        """Return the pages of the graph that a tab shows; none of a document passed over."""
        here = self._tabs.get(tab)
        return here.pages if here is not None else ()

    def submit(self) -> None:
        """End the session."""
        self.ended = True

    def _want(self, pages: Sequence[str], wanted: bool) -> None:
        with self.graph.transaction():
            for url in pages:
                self.counts["targets"] += wanted - self.graph.page(url).target
                if wanted:
                    self.graph.mark_target(url)
                else:
                    self.graph.unmark_target(url)

    def _show(self, tab: _Tab, document: Document, move: str, *, top: bool) -> str | None:
        if move not in MOVES:
            raise ValueError(f"move is {move!r}; give one of {', '.join(MOVES)}")
        try:
            document = cleaned(document)
            with self.graph.transaction():
                self._take(document, move)
        except PassedOverError as passed_over:
            self.counts[passed_over.reason] += 1
            if not tab.loading:
                tab.pages = ()
            return passed_over.reason
        self.counts["visits"] += 1
        self.counts[move] += 1
        if top and move in {"typed", "form"}:
            self.roots.append(document.url)
        if top and self._key_of(document.url) in self._framesets:
            tab.frameset, tab.loading = document.url, True
            return None
        tab.loading = tab.loading and tab.frameset in self._names_of(document.url)
        pages = self.graph.resolved(document.url)
        tab.pages = tuple(dict.fromkeys((*tab.pages, *pages))) if tab.loading else pages
        return None

    def _take(self, document: Document, move: str) -> None:
        """Add what is new of a document."""
        clicked_in = self._clicked(document, move)
        key = self._key_of(document.url)
        if key not in self._pages and key not in self._framesets:
            page = self._parsed(document)
            frames = [link.url for link in page.links if link.kind == "frame"]
            if frames:
                self._framesets.add(key)
                self.counts["framesets"] += 1
                for url in frames:
                    self._lead(document.url, url)
            else:
                self._add_page(document, page)
        for name in document.moved_from:
            self._lead(name, document.url)
        if clicked_in:
            for url in self.graph.resolved(document.url):
                self._arrive(document.url, url)

    def _parsed(self, document: Document) -> Page:
        body = document.body
        if body is None:
            is_text = document.content_type.strip().lower().startswith(("text/", "application/x"))
            raise PassedOverError("no_body" if is_text or not document.content_type else "not_html")
        content_type = document.content_type
        if isinstance(body, str):  # in no charset, whatever the page says of its own
            body = body.encode("utf-8", "replace")
            content_type = as_utf8(content_type)
        about = GraphPage(
            0, document.url, "", document.status, content_type,
            document.content_language, target=False, extra=False, layer=None,
        )  # fmt: skip
        try:
            return self._parser.parse(response_of(about, body))
        except NotAPageError as error:
            raise PassedOverError(error.reason) from None

    def _add_page(self, document: Document, page: Page) -> None:
        assert document.body is not None  # or it would not have been parsed
        self.graph.add_page(
            document.url,
            document.body,
            title=page.title,
            status=document.status,
            content_type=document.content_type,
            content_language=document.content_language,
        )
        self._pages.add(self._key_of(document.url))
        self.counts["pages"] += 1
        self._note_links(document.url, page)
        self._arrive(document.url, document.url)

    def _note_links(self, url: str, page: Page) -> None:
        """Keep the links of a page for what comes, and add those to what is known."""
        for link in page.links:
            if link.kind == "canonical":  # says what the page is, and leads nowhere
                continue
            key = self._key_of(link.url)
            if link.kind == "iframe":
                self._iframes.add(key)
            anchors = self._sources.setdefault(key, {})
            anchors[url] = anchors.get(url) or link.anchor
            if key in self._pages or key in self._aliases:
                for known in self.graph.resolved(link.url):
                    self._add_edge(url, known, link.anchor)

    def _lead(self, name: str, url: str) -> None:
        """Note that one URL leads where another does, and is no page by itself."""
        if self._key_of(name) == self._key_of(url):
            return
        self._names.setdefault(self._key_of(url), {})[name] = None
        for page in self.graph.resolved(url):
            self._arrive(url, page)

    def _arrive(self, url: str, page: str) -> None:
        """Let all that links to a URL, or to one that leads there, link to a page."""
        for name in (url, *self._names_of(url)):
            key = self._key_of(name)
            if key not in self._pages:
                self.graph.add_alias(name, page)
                self._aliases.add(key)
            elif key != self._key_of(page):
                continue  # a page by itself, by now
            for source, anchor in self._sources.get(key, {}).items():
                self._add_edge(source, page, anchor)

    def _names_of(self, url: str) -> dict[str, None]:
        """Return the URLs that lead where a URL leads, however many steps away."""
        found: dict[str, None] = {}
        waiting = [url]
        while waiting:
            for name in self._names.get(self._key_of(waiting.pop()), ()):
                if name not in found and name != url:
                    found[name] = None
                    waiting.append(name)
        return found

    def _clicked(self, document: Document, move: str) -> list[str]:
        """Take the click that led to a document for a link of its pages; return these."""
        found: list[str] = []
        for name in (document.url, *document.moved_from):
            key = self._key_of(name)
            pages, anchor = self._clicks.pop(key, ((), ""))
            if move == "link":
                found.extend(pages)
                for url in pages:
                    anchors = self._sources.setdefault(key, {})
                    anchors[url] = anchors.get(url) or anchor
        return found

    def _add_edge(self, source: str, destination: str, anchor: str) -> None:
        self.counts["edges"] += self.graph.add_edge(source, destination, anchor)


def _storable(text: str) -> str:
    """Return a text without what is no character: halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode()
