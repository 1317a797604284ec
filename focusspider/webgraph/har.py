"""A browsing session from a HAR file, which any browser saves (HAR 1.2).

Of all that a browser asked for only documents are taken: not pictures, scripts, and what
scripts fetched. Chromium says which those are (``_resourceType``), newer browsers send it in a
header (``Sec-Fetch-Dest``); else what is HTML and was asked for as a page is one. The order of
entries is that of visiting, but nothing depends on it: edges are the links in the pages. What
was useful is told by a list of URLs, since a HAR does not know it.
"""

from __future__ import annotations

import base64
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider.urls import RefusedURLError, resolve
from focusspider.webgraph.document import PASSED_OVER, Document
from focusspider.webgraph.harfile import har_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from focusspider.webgraph.session import BrowsingSession

__all__ = ["HarReport", "import_har"]


class HarReport(NamedTuple):
    """What an import found.

    Attributes
    ----------
    entries, documents : int
        In the file; what is no document is not looked at.
    passed_over : Counter
        Documents that are no pages, by :data:`~focusspider.webgraph.document.PASSED_OVER`, and
        ``embedded``: what an ``<iframe>`` holds.
    unknown : tuple of (str, str)
        URLs of the list that are no page, each with the reason.
    """

    entries: int
    documents: int
    passed_over: Counter[str]
    unknown: tuple[tuple[str, str], ...]


def import_har(
    path: Path,
    session: BrowsingSession,
    useful: Iterable[str] = (),
    *,
    told: Callable[[int, int], object] | None = None,
) -> HarReport:
    """Play a HAR file to a session, and make targets of the pages that are useful.

    ``told`` is called with the bytes read so far and in all. Raises WebGraphError where the
    file is no HAR, or not a whole one; a single entry that is odd is passed over.
    """
    importer = _Importer(session)
    entries = 0
    for entry in har_entries(path, told):
        entries += 1
        importer.take(entry)
    session.submit()
    unknown = tuple((url, reason) for url in useful if (reason := importer.mark(url)))
    return HarReport(entries, importer.documents, importer.passed_over, unknown)


class _Importer:
    def __init__(self, session: BrowsingSession) -> None:
        self._session = session
        self.documents = 0
        self.passed_over: Counter[str] = Counter()
        self._reasons: dict[str, str] = {}

    def take(self, entry: dict[str, Any] | None) -> None:
        """Let the session see what one entry brought."""
        if entry is None:
            self.passed_over["too_large"] += 1
            return
        request, response = _table(entry, "request"), _table(entry, "response")
        url, status = _plain(_text(request, "url")), _number(response, "status")
        moved_to = _text(response, "redirectURL") or _headers(response).get("location", "")
        if 300 <= status < 400 and moved_to:
            self._session.redirect(url, moved_to)
            return
        sent = _headers(request)
        if not _is_document(entry, sent):
            return
        self.documents += 1
        try:
            resolve("", url)
        except RefusedURLError:  # nothing that a browser shows as a page has such an address
            self.passed_over["url"] += 1
            return
        received = _headers(response)
        content = _table(response, "content")
        document = Document(
            url,
            _body(content),
            received.get("content-type") or _text(content, "mimeType") or "text/html",
            received.get("content-language", ""),
            status,
            _text(request, "method") or "GET",
        )
        tab = _text(entry, "pageref")
        place = sent.get("sec-fetch-dest") or _text(_table(entry, "_initiator"), "type")
        if place in {"frame", "parser"} and self._session.is_framed(url):
            reason = self._session.frame(tab, document)
        elif place in {"iframe", "parser"} or (
            place not in {"document", "frame", "other"} and self._session.is_embedded(url)
        ):
            reason = "embedded"
        else:
            move = "link" if sent.get("referer") else "typed"
            reason = self._session.visit(tab, document, move=move)
        if reason is not None:
            self.passed_over[reason] += 1
            self._reasons[url] = reason

    def mark(self, url: str) -> str:
        """Make a target of a page; return why that is not possible, or nothing."""
        if self._session.mark(url):
            return ""
        reason = self._reasons.get(_plain(url))
        if reason is None:
            return "it is not in the file"
        return PASSED_OVER.get(reason, "it was a part of another page, in an iframe")


def _is_document(entry: dict[str, Any], sent: dict[str, str]) -> bool:
    kind = _text(entry, "_resourceType")
    if kind:
        return kind == "document"
    place = sent.get("sec-fetch-dest")
    if place:
        return place in {"document", "frame", "iframe"}
    content = _table(_table(entry, "response"), "content")
    if "html" not in _text(content, "mimeType").lower() or "x-requested-with" in sent:
        return False
    # What a browser asks for when it wants a page; scripts ask for */* or data.
    return sent.get("accept", "text/html").lstrip().startswith("text/html")


def _body(content: dict[str, Any]) -> bytes | str | None:
    """Return a body: text that the browser decoded, or bytes; None where it was not saved."""
    text = content.get("text")
    if not isinstance(text, str):
        return None
    if _text(content, "encoding").lower() != "base64":
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        return None


def _plain(url: str) -> str:
    """Return a URL as the session spells it, where that is possible."""
    try:
        return resolve("", url)
    except RefusedURLError:
        return url


def _table(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _text(holder: dict[str, Any], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _number(holder: dict[str, Any], key: str) -> int:
    value = holder.get(key)
    return int(value) if isinstance(value, int | float) and 0 <= value < 1_000 else 0


def _headers(message: dict[str, Any]) -> dict[str, str]:
    """Return headers by their names in lower case, the first of each."""
    found: dict[str, str] = {}
    headers = message.get("headers")
    for header in headers if isinstance(headers, list) else ():
        if isinstance(header, dict):
            found.setdefault(_text(header, "name").lower(), _text(header, "value"))
    return found
