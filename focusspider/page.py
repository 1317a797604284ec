"""Response → page and its links: parsed once, shared by relevance, strategy and items.

A page holds plain strings only; the parser's tree is gone when :meth:`PageParser.parse`
returns. What costs more than the tree, the term vectors, is made when it is first asked
for and kept.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from scrapy.http import TextResponse
from selectolax.lexbor import LexborHTMLParser

from focusspider.errors import NotAPageError, UnknownNameError
from focusspider.text import Analyzer, Terms, language_name
from focusspider.urls import MAX_URL_LENGTH, BaseURL, RefusedURLError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response
    from selectolax.lexbor import LexborNode

__all__ = ["AGGREGATIONS", "Link", "Page", "PageParser"]

#: The aggregation nodes of hub-seeking 4.4 whose text is a link's context.
AGGREGATIONS = ("parent", "grandparent", "block", "body", "root")

_BLOCKS = frozenset(
    "address article aside blockquote body button caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html "
    "legend li main map menu nav noframes ol optgroup option p pre search section select summary "
    "table tbody td textarea tfoot th thead tr ul".split()
)
_SEPARATED = re.compile(
    rf"<(?=/?(?:{'|'.join(sorted(_BLOCKS | {'br', 'img', 'input', 'iframe'}))})\b)", re.IGNORECASE
)
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?([\"']?)(.*)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[A-Za-z!/?]")
_PATH_DEPTH = 24
_LABEL_LENGTH = 80


class Link(NamedTuple):
    """A link of a page.

    ``url`` is absolute, without fragment. ``anchor`` is the text of the link, or the alt
    or title of what it holds. ``context`` is the text under the aggregation node; links
    under one node share one string. ``tag_path`` names the tags that lead to it, with
    their classes, such as ``html/body/div.nav/ul/li/a``: the last 24 at most. ``position``
    counts the links of the page from 0. ``kind`` is ``a``, ``area``, ``frame``,
    ``iframe``, ``refresh``, ``next`` or ``canonical``.
    """

    url: str
    anchor: str = ""
    context: str = ""
    tag_path: str = ""
    rel: str = ""
    position: int = 0
    kind: str = "a"


class Page:
    """What one response says.

    Attributes
    ----------
    url : str
    status : int
    language : str or None
        Name of the page's language, from its markup or headers.
    title : str
    headings : tuple of str
    description, keywords : str
        Of the ``<meta>`` elements.
    canonical : str or None
    links : tuple of Link
    refused : Counter
        How many links were refused, by reason: those of
        :class:`~focusspider.urls.RefusedURLError`, and ``links`` for those beyond the
        limit.
    """

    def __init__(
        self,
        *,
        url: str,
        status: int = 200,
        language: str | None = None,
        title: str = "",
        headings: tuple[str, ...] = (),
        description: str = "",
        keywords: str = "",
        canonical: str | None = None,
        raw_text: str = "",
        links: tuple[Link, ...] = (),
        refused: Counter[str] | None = None,
        analyzer: Analyzer,
    ) -> None:
        self.url = url
        self.status = status
        self.language = language
        self.title = title
        self.headings = headings
        self.description = description
        self.keywords = keywords
        self.canonical = canonical
        self.links = links
        self.refused: Counter[str] = Counter() if refused is None else refused
        self._raw_text = raw_text
        self._analyzer = analyzer
        self._terms_of: dict[str, Terms] = {}

    @cached_property
    def text(self) -> str:
        """The text as a reader sees it, whitespace folded."""
        return _folded(self._raw_text)

    @cached_property
    def terms(self) -> Terms:
        """Terms of title and text, in the page's language."""
        return self._analyzer.terms(f"{self.title} {self._raw_text}", self.language)

    def context_terms(self, link: Link) -> Terms:
        """Return the terms of a link's context."""
        return self._terms(link.context)

    def anchor_terms(self, link: Link) -> Terms:
        """Return the terms of a link's anchor."""
        return self._terms(link.anchor)

    def _terms(self, text: str) -> Terms:
        terms = self._terms_of.get(text)
        if terms is None:
            terms = self._terms_of[text] = self._analyzer.terms(text, self.language)
        return terms

    def __repr__(self) -> str:
        return f"<Page {self.url} {self.title[:60]!r}, {len(self.links)} links>"


class PageParser:
    """Makes pages of responses.

    Parameters
    ----------
    analyzer : Analyzer
    aggregation : {"parent", "grandparent", "block", "body", "root"}
        Whose text is a link's context: its parent, the parent of that, the nearest
        block-level ancestor, or the whole page, which makes ``dom`` a best-first search.
    max_links : int
        Links of a page that are kept; the others are counted as refused.
    max_url_length, max_text, max_anchor, max_context : int
        Longest URL, text, anchor and context, in characters.
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
    ) -> None:
        if aggregation not in AGGREGATIONS:
            raise UnknownNameError("aggregation", aggregation, AGGREGATIONS)
        self.analyzer = analyzer
        self.aggregation = aggregation
        self.max_links = max_links
        self.max_url_length = max_url_length
        self.max_text = max_text
        self.max_anchor = max_anchor
        self.max_context = max_context

    def parse(self, response: Response) -> Page:
        """Return the page of a response.

        Raises
        ------
        NotAPageError
            ``empty``, or ``not_html`` for anything that a browser shows no page of.
        """
        if not response.body:
            raise NotAPageError("empty", f"{response.url} has no body")
        if not isinstance(response, TextResponse) or not _TAG.search(response.text):
            raise NotAPageError("not_html", f"{response.url} is no HTML")
        return self.parse_html(response.text, response.url, status=response.status)

    def parse_html(self, html: str | bytes, url: str, *, status: int = 200) -> Page:
        """Return the page of a piece of HTML that was found at a URL."""
        if isinstance(html, bytes):
            html = html.decode("utf-8", "replace")
        tree = LexborHTMLParser(_SEPARATED.sub(" <", html).encode("utf-8", "replace"))
        tree.strip_tags(["script", "style", "template"])
        own = _without_fragment(url)
        base = BaseURL(own, self.max_url_length)
        base_node = tree.css_first("base[href]")
        if base_node is not None:
            try:
                base = BaseURL(
                    base.resolve(base_node.attributes["href"] or ""), self.max_url_length
                )
            except RefusedURLError:
                pass
        refused: Counter[str] = Counter()
        links = tuple(self._links(tree, base, own, refused))
        canonical = next((link.url for link in links if link.kind == "canonical"), None)
        title = tree.css_first("title")
        meta = {
            (node.attributes.get("name") or "").lower(): node.attributes.get("content") or ""
            for node in tree.css("meta[name]")
        }
        root = tree.root
        lang = (root.attributes.get("lang") if root is not None else None) or None
        body = tree.body
        return Page(
            url=url,
            status=status,
            language=language_name(lang),
            title=_folded(title.text()) if title is not None else "",
            headings=tuple(_folded(node.text()) for node in tree.css("h1, h2, h3, h4, h5, h6")),
            description=_folded(meta.get("description", "")),
            keywords=_folded(meta.get("keywords", "")),
            canonical=canonical,
            raw_text=body.text()[: self.max_text] if body is not None else "",
            links=links,
            refused=refused,
            analyzer=self.analyzer,
        )

    def _links(
        self, tree: LexborHTMLParser, base: BaseURL, own: str, refused: Counter[str]
    ) -> Iterator[Link]:
        paths: dict[int, str] = {}
        contexts: dict[int, str] = {}
        position = 0
        for node in tree.css("a, area, frame, iframe, link, meta"):
            attributes = node.attributes
            kind, href = _target(node.tag or "", attributes)
            if href is None:
                continue
            if position >= self.max_links:
                refused["links"] += 1
                continue
            try:
                url = base.resolve(href)
            except RefusedURLError as error:
                refused[error.reason] += 1
                continue
            if url == own:
                continue
            yield Link(
                url,
                _anchor(node, attributes)[: self.max_anchor],
                self._context(node, contexts),
                _tag_path(node, paths),
                attributes.get("rel") or "",
                position,
                kind,
            )
            position += 1

    def _context(self, node: LexborNode, contexts: dict[int, str]) -> str:
        at = self._aggregation_node(node)
        if at is None:
            return ""
        key = at.mem_id
        context = contexts.get(key)
        if context is None:
            context = contexts[key] = _folded(at.text()[: 2 * self.max_context])[: self.max_context]
        return context

    def _aggregation_node(self, node: LexborNode) -> LexborNode | None:
        parent = node.parent
        if parent is None or self.aggregation == "parent":
            return parent
        if self.aggregation == "grandparent":
            return parent.parent or parent
        if self.aggregation == "block":
            while parent.tag not in _BLOCKS and parent.parent is not None:
                parent = parent.parent
            return parent
        return node.parser.body


def _target(tag: str, attributes: dict[str, str | None]) -> tuple[str, str | None]:
    """Return the kind and the href of an element; None where it is no link."""
    if tag in {"a", "area"}:
        for name in ("href", "xlink:href"):
            if name in attributes:
                return tag, attributes[name] or ""
        return tag, None
    if tag in {"frame", "iframe"}:
        return tag, attributes.get("src")
    if tag == "meta":
        if (attributes.get("http-equiv") or "").lower() != "refresh":
            return "refresh", None
        match = _REFRESH.match(attributes.get("content") or "")
        href = match[2].partition(match[1])[0] if match and match[1] else match and match[2]
        return "refresh", href or None
    for kind in ("next", "canonical"):
        if kind in (attributes.get("rel") or "").lower().split():
            return kind, attributes.get("href")
    return "link", None


def _anchor(node: LexborNode, attributes: dict[str, str | None]) -> str:
    text = _folded(node.text())
    if text:
        return text
    image = node.css_first("img[alt]")
    alt = image.attributes.get("alt") if image is not None else None
    return _folded(alt or attributes.get("alt") or attributes.get("title") or "")


def _tag_path(node: LexborNode, paths: dict[int, str]) -> str:
    chain: list[tuple[int, str]] = []
    path = ""
    at: LexborNode | None = node
    while at is not None and at.tag and not at.tag.startswith("-"):
        key = at.mem_id
        known = paths.get(key)
        if known is not None:
            path = known
            break
        classes = (at.attributes.get("class") or "").replace("/", "_").split()
        chain.append((key, ".".join([at.tag, *classes])[:_LABEL_LENGTH]))
        at = at.parent
    for key, label in reversed(chain):
        path = f"{path}/{label}" if path else label
        if path.count("/") >= _PATH_DEPTH:
            path = path.partition("/")[2]
        paths[key] = path
    return path


def _folded(text: str) -> str:
    return " ".join(text.split())


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]
