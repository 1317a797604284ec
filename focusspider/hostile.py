"""Markup that would keep a parser busy for minutes, recognised and flattened.

The parser's time grows with the square of the depth of a tree, and of the number of
attributes of one element; and each formatting element that is left open is opened again in
every block after it. A source of 500 kB that nests 100,000 elements takes 15 s.

Such a source is recognised by following its tags, as an estimate: markup made to deceive
it can, and what bounds the time then is the limit of a page's size. The worst of what is
let through by the small sizes below takes a few tenths of a second.
"""

from __future__ import annotations

import re

__all__ = ["MAX_DEPTH", "VOID", "flat", "is_hostile"]

#: Deeper trees are flattened. Blink, the engine of most browsers, stops there too.
MAX_DEPTH = 512
#: Formatting elements that are opened again, attributes of one element, and tags of root
#: and body, whose attributes add up: a page with more is flattened.
MAX_REOPENED = 500_000
MAX_ATTRIBUTES = 1_000
MAX_ROOTS = 100

_FEW_TAGS = 2_000
_FEW_FORMATS = 30
_MANY_TAGS = 10_000
_SHORT_SOURCE = 30_000
_LONG_TAG = 5_000

#: Elements without content.
VOID = frozenset(
    """
    area base basefont bgsound br col embed frame hr img input keygen link meta param source
    track wbr
    """.split()  # noqa: SIM905
)
_FORMATTING = frozenset(
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
)
# Elements that end one another, so that a missing end tag nests nothing; those of a table
# are ignored outside of one.
_SIBLINGS = frozenset(["optgroup", "option", "p", "rb", "rp", "rt", "rtc"])
_CELLS = frozenset("caption colgroup tbody td tfoot th thead tr".split())  # noqa: SIM905
# Shapes, which drawings close within the tag.
_SHAPES = frozenset(
    "animate circle ellipse image line path polygon polyline rect set stop use".split()  # noqa: SIM905
)
_ITEMS = frozenset(["li", "dd", "dt"])
_ROOTS = frozenset(["body", "html"])
_KEPT = frozenset(
    ["a", "area", "base", "html", "iframe", "img", "link", "meta", "script", "style", "title"]
)

# A whole tag: a quoted value may hold anything.
_WHOLE_TAG = re.compile(r"<[A-Za-z](?:[^>=]++|=[\s]*+(?:\"[^\"]*+|'[^']*+)?+)*+")
_ATTRIBUTE = re.compile(r"[\s/\"'][A-Za-z_:][^\s=<>\"'/]*(?==|\s|\Z)")
# A start tag of a formatting element.
_FORMATTED = re.compile(
    r"<(?:[bBiIsSuU]|[bB](?i:ig)|[cC](?i:ode)|[eE][mM]|[fF](?i:ont)|[nN](?i:obr)"
    r"|[sS](?i:mall|trike|trong)|[tT][tT])\b[^<>]*"
)
# The name of a tag; formatting elements with their attributes.
_TAG = re.compile(
    rf"<(/?)((?:{'|'.join(sorted(_FORMATTING))})\b[^<>]{{0,200}}|[a-z][a-z0-9-]*)", re.IGNORECASE
)
_MARKUP = re.compile(
    r"</?([A-Za-z][A-Za-z0-9-]*)(?:[^>=]++|=[\s]*+(?:\"[^\"]*+|'[^']*+)?+)*+>?|<![^<>]*>?"
)


def is_hostile(html: str) -> bool:
    """Return whether a parser would need too long; an estimate, in linear time.

    >>> is_hostile("<p>" * 100_000), is_hostile("<div>" * 100_000)
    (False, True)
    """
    if len(html) > _SHORT_SOURCE and any(
        len(tag) > _LONG_TAG and len(_ATTRIBUTE.findall(tag)) > MAX_ATTRIBUTES
        for tag in _WHOLE_TAG.findall(html)
    ):
        return True
    tags = html.count("<")
    suspected = tags > _MANY_TAGS or (
        tags > _FEW_TAGS and len(set(_FORMATTED.findall(html))) > _FEW_FORMATS
    )
    return suspected and _nests(_TAG.findall(html))


def _nests(tags: list[tuple[str, str]]) -> bool:
    """Follow the depth of the tree and the formatting elements that are open."""
    names: dict[str, str] = {}
    opened: dict[str, int] = {}  # elements that nest, by name
    formatting: list[str] = []
    row = 0  # formatting elements since the last other tag: they are in one another
    depth = reopened = roots = 0
    item = ""  # the list item that only other items have followed
    for slash, tag in tags:
        name = names.get(tag)
        if name is None:
            name = names[tag] = _name(tag)
        if not name:
            continue
        if name in _FORMATTING:
            row += _format(formatting, slash, tag)
        elif name in _SIBLINGS or (name in _CELLS and opened.get("table")):
            if not slash:
                row = 0
                reopened += len(formatting)
            continue
        elif name in _ITEMS:
            if not slash:
                row = 0
                reopened += len(formatting)
                depth += bool(item) and (name == "li") is not (item == "li")
            item = name
        elif name in _SHAPES and opened.get("svg"):
            continue
        elif not slash or opened.get(name):
            step = -1 if slash else 1
            opened[name] = opened.get(name, 0) + step
            depth += step
            row = 0
            reopened += len(formatting)
            roots += name in _ROOTS
            item = ""
        if depth + row + len(formatting) > MAX_DEPTH or roots > MAX_ROOTS:
            return True
    return reopened > MAX_REOPENED


def _name(tag: str) -> str:
    """Return the name of a tag; nothing for one that never nests."""
    name = re.split(r"[\s/]", tag, maxsplit=1)[0].lower()
    return "" if name in VOID or name == "a" else name


def _format(formatting: list[str], slash: str, tag: str) -> int:
    """Open or close a formatting element; of the same tag, a parser opens three again."""
    if slash:
        if not formatting:
            return 0
        formatting.pop()
        return -1
    if formatting.count(tag) < 3:
        formatting.append(tag)
    return 1


def flat(html: str) -> str:
    """Return markup without any element but those that link; each other tag is a space.

    >>> flat("<div><b>a</b><a href=x>y</a>")
    '  a <a href=x>y</a>'
    """
    return _MARKUP.sub(_kept, html)


def _kept(match: re.Match[str]) -> str:
    tag = match[0]
    kept = match[1] is not None and match[1].lower() in _KEPT and len(tag) < _LONG_TAG
    return tag if kept else " "
