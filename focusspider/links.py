"""Links of a parsed page: where they lead, what they say, and where in the page they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborCSSSelector

from focusspider.markup import BLOCKS
from focusspider.urls import BaseURL, RefusedURLError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from focusspider.outline import TreeReader

__all__ = [
    "AGGREGATIONS",
    "LINKS",
    "TAG_PATH_DEPTH",
    "Limits",
    "Link",
    "LinkReader",
    "folded",
    "remove",
    "select",
    "tag_path",
]

#: Aggregation nodes (hub-seeking 4.4): a link's parent, the parent of that, the nearest
#: block-level ancestor, or the body, which is also called the root.
AGGREGATIONS = ("parent", "grandparent", "block", "body", "root")
#: Names that a tag path keeps, and characters of each.
TAG_PATH_DEPTH = 24
TAG_PATH_NAME = 80

#: Elements that lead somewhere; a selector.
LINKS = "a, area, frame, iframe, link, meta"
_Attributes = Mapping[str, "str | None"]
_IN_TEXT = frozenset(["a", "area", "frame", "iframe"])
# A parser would make one of its own at its first query, which takes longer than parsing.
_SELECTOR: LexborCSSSelector = LexborCSSSelector()  # type: ignore[no-untyped-call]
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
    shown : TreeReader or None
        Is shown where the links are in the tree, where somebody wants to know.

    Attributes
    ----------
    links : list of Link
    refused : Counter
        Number of links that were refused, by reason.
    """

    def __init__(
        self,
        base: BaseURL,
        own: str,
        *,
        aggregation: str,
        limits: Limits,
        budget: int,
        shown: TreeReader | None = None,
    ) -> None:
        self.links: list[Link] = []
        self.refused: Counter[str] = Counter()
        self._base = base
        self._own = own
        self._aggregation = aggregation
        self._limits = limits
        self._budget = budget
        self._shown = shown
        self._paths: dict[int, str] = {}
        self._contexts: dict[int, str] = {}

    def read(self, root: LexborNode, elements: str = LINKS) -> None:
        """Add the links under the root of a tree, which must not change meanwhile."""
        # Nodes are told apart by address, and another tree may be where the last one was.
        self._paths.clear()
        self._contexts.clear()
        if self._shown is not None:
            self._shown.begin(root)
        for node in select(root, elements):
            attributes = node.attributes
            kind, href = _target(node.tag or "", attributes)
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

    def _add(self, node: LexborNode, attributes: _Attributes, kind: str, url: str) -> None:
        parent = node.parent
        context = path = ""
        if parent is not None:
            path = self._path(parent)
            if kind in _IN_TEXT:
                context = self._context(parent)
        if self._shown is not None:
            self._shown.add(node)
        rel = attributes.get("rel")
        self.links.append(
            Link(
                url,
                self._anchor(node, attributes),
                context,
                _joined(path, node.tag or "", attributes),
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

    def _anchor(self, node: LexborNode, attributes: _Attributes) -> str:
        anchor = self.text(node, self._limits.anchor)
        if anchor:
            return anchor
        for name in ("alt", "title", "aria-label"):
            anchor = folded(attributes.get(name) or "", self._limits.anchor)
            if anchor:
                return anchor
        if node.first_child is not None:
            for image in select(node, "img"):
                held = image.attributes
                anchor = folded(held.get("alt") or held.get("title") or "", self._limits.anchor)
                if anchor:
                    return anchor
        return ""

    def _context(self, parent: LexborNode) -> str:
        node = parent if self._aggregation == "parent" else self._aggregation_node(parent)
        key = node.mem_id
        context = self._contexts.get(key)
        if context is None:
            context = self._contexts[key] = self.text(node, self._limits.context)
        return context

    def _aggregation_node(self, node: LexborNode) -> LexborNode:
        if self._aggregation == "grandparent":
            above = node.parent
            return above if above is not None and above.is_element_node else node
        if self._aggregation == "block":
            at: LexborNode | None = node
            while at is not None and at.tag not in BLOCKS:
                at = at.parent
            return at or node
        return node.parser.body or node

    def _path(self, node: LexborNode) -> str:
        """Return the tag path of a node, and remember those of all above it."""
        path = self._paths.get(node.mem_id)
        if path is not None:
            return path
        below = []
        at: LexborNode | None = node
        while at is not None and at.is_element_node:
            key = at.mem_id
            path = self._paths.get(key)
            if path is not None:
                break
            below.append((key, at))
            at = at.parent
        path = path or ""
        for key, at in reversed(below):
            path = self._paths[key] = _joined(path, at.tag or "", at.attributes)
        return path


def select(root: LexborNode, selector: str) -> list[LexborNode]:
    """Return the nodes under a root that a CSS selector finds, in their order."""
    found: list[LexborNode] = _SELECTOR.find(selector, root)
    return found


def remove(root: LexborNode, selector: str) -> None:
    """Take the nodes under a root that a CSS selector finds out of the tree."""
    for node in reversed(select(root, selector)):  # those within others first
        node.decompose()


def tag_path(node: LexborNode) -> str:
    """Return the names of the tags that lead to a node, and its own, each with its classes."""
    above: list[LexborNode] = []
    at: LexborNode | None = node
    while at is not None and at.is_element_node and len(above) < TAG_PATH_DEPTH:
        above.append(at)
        at = at.parent
    path = ""
    for at in reversed(above):
        path = _joined(path, at.tag or "", at.attributes)
    return path


def _target(tag: str, attributes: _Attributes) -> tuple[str, str | None]:
    """Return the kind of a link and its href; no href where the element is no link."""
    if tag in {"a", "area"}:
        for name in ("href", "xlink:href"):
            if name in attributes:
                return tag, attributes[name] or ""
        return tag, None
    if tag == "meta":
        return "refresh", _refresh(attributes)
    if tag == "link":
        relations = (attributes.get("rel") or "").lower().split()
        for kind in ("next", "canonical"):
            if kind in relations and "href" in attributes:
                return kind, attributes["href"] or ""
        return tag, None
    return tag, attributes.get("src")


def _refresh(attributes: _Attributes) -> str | None:
    if (attributes.get("http-equiv") or "").strip().lower() != "refresh":
        return None
    match = _REFRESH.match(attributes.get("content") or "")
    return (match[1] or match[2] or match[3] or None) if match else None


def _joined(path: str, tag: str, attributes: _Attributes) -> str:
    """Return a tag path, longer by one element."""
    classes = attributes.get("class")
    if classes:
        tag = ".".join([tag, *classes.replace("/", "_").split()])[:TAG_PATH_NAME]
    if path.count("/") >= TAG_PATH_DEPTH - 1:
        path = path.partition("/")[2]
    return f"{path}/{tag}" if path else tag


def folded(text: str, limit: int | None = None) -> str:
    r"""Return a text with each run of whitespace as one space, cut to a length.

    >>> folded(" a  b\n c ", 4)
    'a b'
    """
    if limit is not None and len(text) > 4 * limit:
        text = text[: 4 * limit]  # whitespace is rarely more than three quarters of a text
    text = text.strip()
    # The space is the only whitespace that is printable.
    if "  " in text or not text.isprintable():
        text = " ".join(text.split())
    return text if limit is None or len(text) <= limit else text[:limit].rstrip()
