"""From a response to markup that a parser can be given.

Three things happen to the source before it is parsed. It is looked at: what no browser
would show as a page is refused. A space goes before each tag of a block, so that the text
of a tree, which the parser joins without one, has the words that a reader sees. And
markup that would keep the parser busy for minutes is flattened (:mod:`focusspider.hostile`).
"""

from __future__ import annotations

import re
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from scrapy.http import HtmlResponse, TextResponse, XmlResponse

from focusspider.errors import NotAPageError
from focusspider.hostile import VOID, flat, is_hostile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.http import Response

__all__ = ["BLOCKS", "Prepared", "decoded", "prepared", "text_of", "without_frames"]

#: Elements that begin a line of their own, or a cell.
BLOCKS = frozenset(
    """
    address article aside blockquote body button caption center dd details dialog dir div dl
    dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html
    legend li main map menu nav noframes ol optgroup option p pre search section select summary
    table tbody td textarea tfoot th thead title tr ul
    """.split()  # noqa: SIM905 - sixty quoted words are harder to read
)

_ANY_TAG = re.compile(r"<[A-Za-z!/?]")
_HTML_START = re.compile(
    r"(?:\s|<!--(?s:.*?)-->|<\?(?s:.*?)\?>)*+"
    r"<(?:!doctype\s+html|html|head|body|title|meta|base|link|script|style|frameset|center"
    r"|table|div|h[1-6]|p|a|b|font|ul|ol|dl|img|br|hr)\b",
    re.IGNORECASE,
)
#: How much of a source is looked at to tell what it is.
_SNIFFED = 20_000
_MAGIC = (
    "%PDF-", "%!PS", "{\\rtf", "PK\x03\x04", "GIF8", "\x89PNG", "\x7fELF", "\x1f\x8b", "MZ\x90",
    "\xff\xd8\xff", "ID3", "OggS", "RIFF", "\xd0\xcf\x11\xe0", "Rar!", "7z\xbc\xaf", "BZh",
)  # fmt: skip
_DATA = ("{", "[", "<?xml", "BEGIN:V")
# Not possessive: before Python 3.11.5 a look-ahead within a possessive group ends the search.
# No text can be taken apart in two ways here, so that it takes linear time all the same.
_OTHER_XML = re.compile(
    r"(?:<\?xml[^<>]*>\s*)?(?:<(?!!doctype\s+html)![^<>]*>\s*)*"
    r"<(?:rss|feed|urlset|sitemapindex|rdf:RDF|opml|kml|svg)\b",
    re.IGNORECASE,
)
#: What Scrapy takes for HTML, and browsers for XML.
_XHTML = "application/xhtml+xml"
_EMPTY_XML = re.compile(r"<([A-Za-z][\w:.-]*+)(\s[^<>]*)?/>")


def decoded(response: Response, *, max_size: int) -> str:
    """Return the markup of a response, in the charset that Scrapy finds.

    What is served as HTML is markup, unless it begins like another format, or has no tag
    and is JSON or no text. What is served as anything else of text is markup where it
    begins like HTML. Plain text, under either type, is a page without links, as browsers
    show it; calendars, feeds and data are not.

    Raises
    ------
    NotAPageError
        ``empty``, ``too_large`` or ``not_html``.
    """
    size = len(response.body)
    if size > max_size:
        raise NotAPageError(
            "too_large", f"{response.url} has {size:,} bytes; at most {max_size:,} are parsed"
        )
    if not response.body.strip(b"\0 \t\r\n\f"):
        raise NotAPageError("empty", f"{response.url} has an empty body")
    if not isinstance(response, TextResponse):
        raise NotAPageError("not_html", f"{response.url} is no text: {_type(response)}")
    text = text_of(response)
    start = text[:_SNIFFED].lstrip("\ufeff \t\r\n\f")
    as_html = isinstance(response, HtmlResponse)
    if response.body[:8].decode("latin-1").startswith(_MAGIC) or _OTHER_XML.match(start):
        shown = False
    elif _ANY_TAG.search(text) if as_html else _HTML_START.match(start):
        shown = True
    else:
        shown = (as_html or _type(response).startswith("text/plain")) and _is_prose(start)
        text = text if as_html else escape(text, quote=False)
    if not shown:
        raise NotAPageError("not_html", f"{response.url} is no HTML: {_type(response)}")
    if isinstance(response, XmlResponse) or _type(response).startswith(_XHTML):
        return _EMPTY_XML.sub(_closed, text)
    return text


def text_of(response: TextResponse) -> str:
    """Return the body of a response in the charset that Scrapy finds, whatever it names."""
    try:
        return response.text
    except (LookupError, ValueError):  # such as charset=base64, which is none of text
        return response.body.decode("utf-8", "replace")


def _type(response: Response) -> str:
    content_type = response.headers.get("Content-Type") or b"no Content-Type"
    return content_type.decode("latin-1")[:100]


def _is_prose(start: str) -> bool:
    unreadable = sum(map(start.count, "\0\x01\x02\x03\x04\ufffd"))
    return not start.startswith(_DATA) and 20 * unreadable < len(start)


def _closed(match: re.Match[str]) -> str:
    """Close an empty element of XHTML: a parser of HTML takes it for a start tag."""
    if match[1].lower() in VOID:
        return match[0]
    return f"<{match[1]}{match[2] or ''}></{match[1]}>"


def _separating(names: Iterable[str]) -> re.Pattern[str]:
    """Match the ``<`` of tags; grouped by first letter, which is three times faster."""
    groups = "|".join(
        f"[{first}{first.upper()}](?:{'|'.join(f'(?i:{name[1:]})' for name in group)})"
        for first, group in groupby(sorted(names), key=itemgetter(0))
    )
    return re.compile(rf"<(?=/?+(?:{groups})\b)")


_SEPARATED = _separating(BLOCKS | {"br", "iframe", "img", "input"})


class Prepared(NamedTuple):
    """Markup for a parser: that of the page, and of what it has for browsers without scripts."""

    page: str
    noscript: str


def prepared(html: str) -> Prepared:
    """Return markup whose tree has the same elements, and spaces where blocks meet.

    The space may fall into an attribute or a script that holds markup as text, and into
    tables and preformatted text; neither a URL without ``<`` nor folded text shows it.
    What is in ``<noscript>`` is apart: without scripts, an element that is left open in it
    would have the rest of the page in it. A link that is left open ends at the next block,
    where a parser would open it again, and again in every block after it.

    >>> prepared("<li>a<b>c</b><LI>b<td>c</td>").page
    ' <li>a<b>c</b> <LI>b <td>c </td>'
    >>> prepared("<a href=x>y<p><a href=z>w</a>").page
    '<a href=x>y</a> <p><a href=z>w</a>'
    """
    html = html.replace("\0", "")
    if is_hostile(html):
        html = flat(html)
    noscript = ""
    if _NOSCRIPT.search(html):
        html, noscript = _apart(_NOSCRIPT.split(html))
    ends = _LINK.findall(html)
    if len(ends) > 2 * ends.count("/"):
        first, *others = _BEFORE_LINK.split(html)
        html = first + "".join(map(_closed_link, others))
    return Prepared(_SEPARATED.sub(" <", html), _SEPARATED.sub(" <", noscript))


_NOSCRIPT = re.compile(r"<(/?)[nN][oO](?i:script)\b[^<>]*>")
_LINK = re.compile(r"<(/?)[Aa][\s>]")
_BEFORE_LINK = re.compile(r"(?=<[Aa]\s)")
_LINK_END = re.compile(r"</[Aa][\s>]")


def _apart(pieces: list[str]) -> tuple[str, str]:
    """Part what is within ``<noscript>``, as far as it is closed, from what is not."""
    outside = [pieces[0]]
    inside: list[str] = []
    for place in range(1, len(pieces), 2):
        slash, piece = pieces[place : place + 2]
        closed = not slash and pieces[place + 2 : place + 3] == ["/"]
        (inside if closed else outside).append(piece)
    return " ".join(outside), " ".join(inside)


def _closed_link(piece: str) -> str:
    """End a link before the next block, where it has no end; ``piece`` is up to the next."""
    if _LINK_END.search(piece):
        return piece
    block = _SEPARATED.search(piece, piece.find(">") + 1)
    if block is None:
        return piece
    return f"{piece[: block.start()]}</a>{piece[block.start() :]}"


def without_frames(html: str) -> str:
    """Return the page that a frameset has for browsers that know no frames.

    Many of the nineties say ``<noframe>``, or nothing, before it; a parser that knows
    frames throws all of it away.

    >>> without_frames("<frameset><frame src=a></frameset><noframe><body>b</body>")
    '<body>b</body>'
    """
    return _FRAMES.sub("", html)


_FRAMES = re.compile(r"</?(?:frameset|frame|noframes?)\b[^<>]*>?", re.IGNORECASE)
