"""Links of a parsed page: where they lead, what they say, and where in the page they are."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from focusspider.markup import BLOCKS
from focusspider.urls import BaseURL, RefusedURLError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["AGGREGATIONS", "TAG_PATH_DEPTH", "Limits", "Link", "LinkReader", "folded"]

#: Aggregation nodes (hub-seeking 4.4): a link's parent, the parent of that, the nearest
#: block-level ancestor, or the body, which is also called the root.
AGGREGATIONS = ("parent", "grandparent", "block", "body", "root")
#: Names that a tag path keeps, and characters of each.
TAG_PATH_DEPTH = 24
TAG_PATH_NAME = 80

_SELECTOR = "a, area, frame, iframe, link, meta"
# HTML standard, "shared declarative refresh steps": a time, a separator, the URL.
_REFRESH = re.compile(
    r"\s*[\d.]+(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.IGNORECASE | re.DOTALL,
)


class Link(NamedTuple):
    """A link of a page.

    Attributes
    ----------
    url : str
        Absolute, as it would be requested, without fragment.
    anchor : str
        Text of the link, or the alt or title of what it holds; whitespace folded.
    context : str
        Text under the aggregation node; one string for all links under the same node.
        Empty for ``refresh``, ``next`` and ``canonical``.
    tag_path : str
        Names of the tags that lead to it, each with its classes, such as
        ``html/body/div.nav/ul/li/a``; of a longer path the last 24.
    rel : str
        Value of the attribute, in lower case.
    position : int
        Place among the page's links, from 0.
    kind : str
        ``a``, ``area``, ``frame``, ``iframe``, ``refresh``, ``next`` or ``canonical``.
    """

    url: str
    anchor: str = ""
    context: str = ""
    tag_path: str = ""
    rel: str = ""
    position: int = 0
    kind: str = "a"


class Limits(NamedTuple):
    """Most that is kept of a page: links, and characters of an anchor and a context."""

    links: int = 10_000
    anchor: int = 1_000
    context: int = 4_000


class LinkReader:
    """Reads the links of one page.

    Parameters
    ----------
    base : BaseURL
        What the links are relative to.
    own : str
        URL of the page; links that lead to it are left out.
    aggregation : str
        One of :data:`AGGREGATIONS`.
    limits : Limits
    budget : int
        Characters that may be taken out of the tree in all. Nested nodes hold the same
        text again; when the budget is spent, anchors and contexts are empty.

    Attributes
    ----------
    links : list of Link
    refused : Counter
        Number of links that were refused, by reason.
    """

    def __init__(
        self, base: BaseURL, own: str, *, aggregation: str, limits: Limits, budget: int
    ) -> None:
        self.links: list[Link] = []
        self.refused: Counter[str] = Counter()
        self._base = base
        self._own = own
        self._aggregation = aggregation
        self._limits = limits
        self._budget = budget
        self._paths: dict[int, str] = {}
        self._contexts: dict[int, str] = {}

    def read(self, tree: LexborHTMLParser, within: str = "") -> None:
        """Add the links of a tree, or of one element of it; it must not change meanwhile."""
        # Nodes are told apart by address, and another tree may be where the last one was.
        self._paths.clear()
        self._contexts.clear()
        root = tree.css_first(within) if within else tree
        for node in root.css(_SELECTOR) if root is not None else ():
            attributes = node.attributes
            kind, href = _target(node, attributes)
            if href is None:
                continue
            if len(self.links) >= self._limits.links:
                self.refused["links"] += 1
                continue
            try:
                url = self._base.resolve(href)
            except RefusedURLError as error:
                self.refused[error.reason] += 1
                continue
            if url != self._own:
                self._add(node, attributes, kind, url)

    def _add(
        self, node: LexborNode, attributes: Mapping[str, str | None], kind: str, url: str
    ) -> None:
        in_text = kind in {"a", "area", "frame", "iframe"}
        rel = attributes.get("rel")
        self.links.append(
            Link(
                url,
                self._anchor(node, attributes),
                self._context(node) if in_text else "",
                self._tag_path(node, attributes),
                rel.lower() if rel else "",
                len(self.links),
                kind,
            )
        )

    def text(self, node: LexborNode, limit: int) -> str:
        """Return the text under a node, folded, as far as the budget allows."""
        if self._budget <= 0:
            return ""
        text: str = node.text()
        self._budget -= len(text)
        return folded(text, limit)

    def _anchor(self, node: LexborNode, attributes: Mapping[str, str | None]) -> str:
        anchor = self.text(node, self._limits.anchor)
        if anchor:
            return anchor
        for name in ("alt", "title", "aria-label"):
            anchor = folded(attributes.get(name) or "", self._limits.anchor)
            if anchor:
                return anchor
        if node.first_child is not None:
            for image in node.css("img"):
                held = image.attributes
                anchor = folded(held.get("alt") or held.get("title") or "", self._limits.anchor)
                if anchor:
                    return anchor
        return ""

    def _context(self, node: LexborNode) -> str:
        at = self._aggregation_node(node)
        if at is None:
            return ""
        key = at.mem_id
        context = self._contexts.get(key)
        if context is None:
            context = self._contexts[key] = self.text(at, self._limits.context)
        return context

    def _aggregation_node(self, node: LexborNode) -> LexborNode | None:
        parent = node.parent
        if parent is None or self._aggregation == "parent":
            return parent
        if self._aggregation == "grandparent":
            above = parent.parent
            return above if above is not None and above.is_element_node else parent
        if self._aggregation == "block":
            while parent.tag not in BLOCKS:
                above = parent.parent
                if above is None:
                    break
                parent = above
            return parent
        return node.parser.body

    def _tag_path(self, node: LexborNode, attributes: Mapping[str, str | None]) -> str:
        parent = node.parent
        return _joined(self._path(parent) if parent is not None else "", node, attributes)

    def _path(self, node: LexborNode) -> str:
        path = ""
        below: list[LexborNode] = []
        at: LexborNode | None = node
        while at is not None and at.is_element_node:
            known = self._paths.get(at.mem_id)
            if known is not None:
                path = known
                break
            below.append(at)
            at = at.parent
        for at in reversed(below):
            path = self._paths[at.mem_id] = _joined(path, at, at.attributes)
        return path


def _target(node: LexborNode, attributes: Mapping[str, str | None]) -> tuple[str, str | None]:
    """Return the kind of a link and its href; no href where the element is no link."""
    tag = node.tag or ""
    if tag in {"a", "area"}:
        for name in ("href", "xlink:href"):
            if name in attributes:
                return tag, attributes[name] or ""
        return tag, None
    if tag == "meta":
        return "refresh", _refresh(node, attributes)
    if tag == "link":
        relations = (attributes.get("rel") or "").lower().split()
        for kind in ("next", "canonical"):
            if kind in relations and "href" in attributes:
                return kind, attributes["href"] or ""
        return tag, None
    return tag, attributes.get("src")


def _refresh(node: LexborNode, attributes: Mapping[str, str | None]) -> str | None:
    if (attributes.get("http-equiv") or "").strip().lower() != "refresh":
        return None
    # As Scrapy does, not the one that a page has for browsers without scripts.
    if node.parent is not None and node.parent.tag == "noscript":
        return None
    match = _REFRESH.match(attributes.get("content") or "")
    return (match[1] or match[2] or match[3] or None) if match else None


def _joined(path: str, node: LexborNode, attributes: Mapping[str, str | None]) -> str:
    """Return a tag path, longer by the name of a node."""
    name = node.tag or ""
    classes = attributes.get("class")
    if classes:
        name = ".".join([name, *classes.replace("/", "_").split()])[:TAG_PATH_NAME]
    if path.count("/") >= TAG_PATH_DEPTH - 1:
        path = path.partition("/")[2]
    return f"{path}/{name}" if path else name


def folded(text: str, limit: int | None = None) -> str:
    r"""Return a text with each run of whitespace as one space, cut to a length.

    >>> folded(" a  b\n c ", 4)
    'a b'
    """
    if limit is None:
        return " ".join(text.split())
    if len(text) > 4 * limit:  # whitespace is rarely more than three quarters of a text
        text = text[: 4 * limit]
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit].rstrip()
