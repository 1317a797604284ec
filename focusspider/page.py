"""Response → page and its links: parsed once, shared by relevance, strategy and items.

A page holds plain strings. The parser's tree, which is ten times larger, is gone when
:meth:`PageParser.parse` returns. What costs more than the tree, the folded text and the
term vectors, is made when it is first asked for, and kept; so are the data tables, for which the
markup is kept until then.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from scrapy.http import HtmlResponse
from selectolax.lexbor import LexborHTMLParser

from focusspider.errors import UnknownNameError
from focusspider.keytable import url_key
from focusspider.links import AGGREGATIONS, Limits, Link, LinkReader, folded, remove, select
from focusspider.markup import decoded, prepared, text_of, without_frames
from focusspider.outline import LeafReader, Leaves, Outline, OutlineReader
from focusspider.tables import DataTable, has_tables, read_tables
from focusspider.text import Analyzer, Terms, language_name
from focusspider.urls import MAX_URL_LENGTH, BaseURL, RefusedURLError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray
    from scrapy.http import Response
    from selectolax.lexbor import LexborNode

    from focusspider.markup import Prepared
    from focusspider.outline import TreeReader

__all__ = ["AGGREGATIONS", "Link", "Page", "PageParser"]

# No text for reading, or, for browsers without frames, markup as one raw text.
_UNREAD = "script, style, template, noembed, noframes"
# Shown by a script, if at all; its links are worth following all the same.
_HIDDEN = "[hidden]"
#: Characters of a title, a heading or a meta element, and number of headings.
MAX_TITLE = 2_000
MAX_HEADINGS = 1_000
#: Titles that are looked at for one that is not of a drawing.
MAX_TITLES = 100


class Page:
    """What one response says.

    Attributes
    ----------
    url : str
        Of the response, as it is.
    status : int
    language : str or None
        Name of the language that the page declares, None for none that is known.
    title : str
    headings : tuple of str
    description, keywords : str
        Of the ``<meta>`` elements.
    canonical : str or None
        URL that the page gives as its own; it is among the links too.
    links : tuple of Link
        In the order of the page, without those to the page itself.
    moved_from : tuple of str
        The URLs that redirected to the page, in their order.
    pointing : str or None
        Anchor of the link that the crawl followed to the page, None for a seed. It is set by
        who has fetched the page: the request carries it.
    refused : Counter
        How many links were refused, by reason: those of
        :class:`~focusspider.urls.RefusedURLError`, and ``links`` for those beyond the
        limit.
    """

    def __init__(
        self,
        url: str,
        *,
        analyzer: Analyzer,
        status: int = 200,
        language: str | None = None,
        title: str = "",
        headings: Iterable[str] = (),
        description: str = "",
        keywords: str = "",
        source_text: str = "",
        table_markup: str = "",
        links: Sequence[Link] = (),
        refused: Counter[str] | None = None,
        moved_from: Sequence[str] = (),
        key_of: Callable[[str], int] = url_key,
        show: Callable[[TreeReader], object] | None = None,
    ) -> None:
        self.url = url
        self.status = status
        self.language = language
        self.title = title
        self.headings = tuple(headings)
        self.description = description
        self.keywords = keywords
        self.links = tuple(links)
        self.canonical = next((link.url for link in links if link.kind == "canonical"), None)
        self.refused: Counter[str] = Counter() if refused is None else refused
        self.moved_from = tuple(moved_from)
        self.pointing: str | None = None
        self._key_of = key_of
        self._show = show
        self._source_text = source_text
        self._table_markup = table_markup
        self._analyzer = analyzer
        self._terms: dict[str, Terms] = {}

    @cached_property
    def text(self) -> str:
        """The text that a reader sees, without the title; whitespace folded."""
        return folded(self._source_text)

    @cached_property
    def terms(self) -> Terms:
        """Terms of title and text, in the page's language."""
        return self._analyzer.terms(f"{self.title} {self._source_text}", self.language)

    @cached_property
    def heading_terms(self) -> Terms:
        """Terms of the headings, in the page's language."""
        return self._analyzer.terms(" ".join(self.headings), self.language)

    @cached_property
    def tables(self) -> tuple[DataTable, ...]:
        """The data tables and definition lists, without those that are there for the layout."""
        markup, self._table_markup = self._table_markup, ""
        return read_tables(markup) if markup else ()

    @cached_property
    def key(self) -> int:
        """What the frontier calls the page: the first 8 bytes of its request's fingerprint."""
        return self._key_of(self.url)

    @cached_property
    def link_keys(self) -> NDArray[np.uint64]:
        """What the frontier calls each of the links, (n_links,)."""
        return np.array([self._key_of(link.url) for link in self.links], dtype=np.uint64)

    @cached_property
    def moved_from_keys(self) -> tuple[int, ...]:
        """What the frontier called the URLs that redirected to the page."""
        return tuple(map(self._key_of, self.moved_from))

    @cached_property
    def outline(self) -> Outline:
        """Where the links are in the page's tree; for it the page is parsed once more."""
        reader = OutlineReader()
        if self._show is None:  # it was not parsed, and there is no tree
            return Outline(reader.outline().parents, np.full(len(self.links), -1, dtype=np.int32))
        self._show(reader)
        return reader.outline()

    @cached_property
    def leaves(self) -> Leaves:
        """The texts of the page's tree, and where its links are among them; likewise."""
        if self._show is None:
            return Leaves((), [(0, 0)] * len(self.links))
        reader = LeafReader()
        self._show(reader)
        return reader.leaves()

    def leaf_terms(self, text: str) -> Terms:
        """Return the terms of a leaf, in the page's language."""
        return self._terms_of(text)

    def context_terms(self, link: Link) -> Terms:
        """Return the terms of a link's context, in the page's language."""
        return self._terms_of(link.context)

    def anchor_terms(self, link: Link) -> Terms:
        """Return the terms of a link's anchor, in the page's language."""
        return self._terms_of(link.anchor)

    def _terms_of(self, text: str) -> Terms:
        terms = self._terms.get(text)
        if terms is None:
            terms = self._terms[text] = self._analyzer.terms(text, self.language)
        return terms

    def __repr__(self) -> str:
        return f"<Page {self.url} {self.title[:60]!r}, {len(self.links)} links>"


class PageParser:
    """Makes pages of responses.

    Parameters
    ----------
    analyzer : Analyzer
        Makes the terms.
    aggregation : {"parent", "grandparent", "block", "body", "root"}
        Whose text is a link's context; with the last two ``dom`` is a best-first search.
    max_links : int
        Links of a page that are kept; the others are counted as refused.
    max_url_length, max_text, max_anchor, max_context : int
        Longest URL, text, anchor and context, in characters. A longer URL is refused, the
        others are cut.
    max_size : int
        Largest source that is parsed: bytes of a response, characters of a string.

    Attributes
    ----------
    key_of : callable
        Gives a URL the key that the frontier has for it. A crawl sets it when it knows how
        requests are told apart (``REQUEST_FINGERPRINTER_CLASS``).
    """

    def __init__(
        self,
        *,
        analyzer: Analyzer,
        aggregation: str = "parent",
        max_links: int = 10_000,
        max_url_length: int = MAX_URL_LENGTH,
        max_text: int = 1_000_000,
        max_anchor: int = 1_000,
        max_context: int = 4_000,
        max_size: int = 10_000_000,
    ) -> None:
        if aggregation not in AGGREGATIONS:
            raise UnknownNameError("aggregation", aggregation, AGGREGATIONS)
        self.analyzer = analyzer
        self.aggregation = aggregation
        self.limits = Limits(links=max_links, anchor=max_anchor, context=max_context)
        self.max_url_length = max_url_length
        self.max_text = max_text
        self.max_size = max_size
        self.key_of: Callable[[str], int] = url_key

    def parse(self, response: Response) -> Page:
        """Return the page of a response.

        Raises
        ------
        NotAPageError
            ``empty``, ``too_large`` or ``not_html``; nothing else, whatever the body.
        """
        html = decoded(response, max_size=self.max_size)
        language = response.headers.get("Content-Language")
        return self._parse(
            html,
            response.url,
            response.status,
            encoding=getattr(response, "encoding", "utf-8"),
            language=language.decode("latin-1") if language else None,
            moved_from=_redirects(response),
        )

    def parse_html(self, html: str | bytes, url: str, *, status: int = 200) -> Page:
        """Return the page of HTML that was found at a URL.

        The charset of bytes is found as Scrapy finds that of a response without headers: by
        a byte order mark, what the markup declares, or what the bytes look like.
        """
        encoding = "utf-8"
        if isinstance(html, bytes):
            response = HtmlResponse(url, body=html[: self.max_size])
            html, encoding = text_of(response), response.encoding
        return self._parse(html[: self.max_size], url, status, encoding=encoding)

    def _parse(
        self,
        html: str,
        url: str,
        status: int,
        *,
        encoding: str = "utf-8",
        language: str | None = None,
        moved_from: Sequence[str] = (),
    ) -> Page:
        source = prepared(html)
        root, content, reader, title = self._read(source, url, encoding)
        headings = [
            reader.text(node, MAX_TITLE)
            for node in select(content, "h1, h2, h3, h4, h5, h6")[:MAX_HEADINGS]
        ]
        remove(content, _HIDDEN)
        body = content.parser.body
        meta = _meta(root)
        return Page(
            url,
            analyzer=self.analyzer,
            status=status,
            language=_language(root, meta, language),
            title=title,
            headings=headings,
            description=folded(meta.get("description", ""), MAX_TITLE),
            keywords=folded(meta.get("keywords", ""), MAX_TITLE),
            source_text=body.text()[: self.max_text] if body is not None else "",
            table_markup=source.page if has_tables(source.page) else "",
            links=reader.links,
            refused=reader.refused,
            moved_from=moved_from,
            key_of=self.key_of,
            show=partial(self._read, source, url, encoding),
        )

    def _read(
        self, source: Prepared, url: str, encoding: str, shown: TreeReader | None = None
    ) -> tuple[LexborNode, LexborNode, LinkReader, str]:
        """Return a page's tree, that of its content, its links and its title."""
        root = _tree(source.page)
        own = BaseURL(url, self.max_url_length, encoding)
        reader = LinkReader(
            _base(root, own),
            own.url,
            aggregation=self.aggregation,
            limits=self.limits,
            budget=self.max_size + 4 * len(source.page),
            shown=shown,
        )
        title = _title(root, reader)
        reader.read(root)
        content = root
        if root.parser.body is None:  # a frameset
            content = _tree(without_frames(source.page))
            reader.read(content, "body a, body area, body iframe")
        if source.noscript:  # without the frames and refreshes of trackers
            reader.read(_tree(source.noscript), "a, area")
        return root, content, reader, title


def _redirects(response: Response) -> Sequence[str]:
    """Return the URLs whose redirects Scrapy followed to a response."""
    if response.request is None:
        return ()
    urls: Sequence[str] = response.request.meta.get("redirect_urls", ())
    return urls


def _tree(html: str) -> LexborNode:
    """Return the root of a tree without what is not for reading."""
    root = LexborHTMLParser(html.encode("utf-8", "replace")).root
    assert root is not None  # a parser of HTML makes one of anything
    remove(root, _UNREAD)
    for frame in reversed(select(root, "iframe")):  # they hold text for browsers without frames
        if frame.first_child is not None:
            frame.first_child.decompose()
    return root


def _base(root: LexborNode, own: BaseURL) -> BaseURL:
    """Return what links are relative to: the first ``<base>``, if it leads anywhere."""
    for node in select(root, "base[href]")[:1]:
        with contextlib.suppress(RefusedURLError):
            return BaseURL(own.resolve(node.attributes["href"] or ""), own.max_length, own.encoding)
    return own


def _title(root: LexborNode, reader: LinkReader) -> str:
    """Take the title out of a tree; in broken markup it may be in the body."""
    for node in select(root, "title")[:MAX_TITLES]:
        above = node.parent
        while above is not None and above.tag not in {"svg", "body", "head"}:
            above = above.parent
        if above is None or above.tag != "svg":
            title = reader.text(node, MAX_TITLE)
            node.decompose()
            return title
    return ""


def _meta(root: LexborNode) -> dict[str, str]:
    """Return the content of the page's meta elements by their name, the first of each."""
    found: dict[str, str] = {}
    for node in select(root, "meta[content]"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("http-equiv") or ""
        found.setdefault(name.strip().lower(), attributes["content"] or "")
    return found


def _language(root: LexborNode, meta: dict[str, str], header: str | None) -> str | None:
    attributes = root.attributes
    for declared in (
        attributes.get("lang"),
        attributes.get("xml:lang"),
        meta.get("content-language"),
        header,
    ):
        name = language_name((declared or "").partition(",")[0])
        if name:
            return name
    return None
