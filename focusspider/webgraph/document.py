"""What a browser loaded, and whether a crawl would take it for a page."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from focusspider.urls import RefusedURLError, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PASSED_OVER", "Document", "PassedOverError", "cleaned"]

#: Why a document is no page of the graph, as it is told to the person.
PASSED_OVER = {
    "url": "its address is not one that a crawl would ask for",
    "method": "it is the answer to a form that was posted",
    "http": "the server answered with an error",
    "no_body": "what the browser loaded is not known",
    "empty": "it is empty",
    "not_html": "it is no HTML",
    "too_large": "it is too large",
}


class Document(NamedTuple):
    """What a browser loaded, once redirects were followed.

    Attributes
    ----------
    body : bytes, str or None
        Bytes are in the charset that ``content_type`` or the document declares; None where
        the body is not known.
    moved_from : sequence of str
        The URLs that redirected to it.
    """

    url: str
    body: bytes | str | None
    content_type: str = "text/html"
    content_language: str = ""
    status: int = 200
    method: str = "GET"
    moved_from: Sequence[str] = ()


class PassedOverError(Exception):
    """A document is no page of the graph; ``reason`` is a key of :data:`PASSED_OVER`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def cleaned(document: Document) -> Document:
    """Return a document with its URLs as a crawl would ask for them, and plain headers."""
    try:
        url = resolve("", document.url)
    except RefusedURLError:
        raise PassedOverError("url") from None
    if document.method.upper() != "GET":
        raise PassedOverError("method")
    status = 200 if document.status == 304 else document.status  # it is as it was before
    if not 200 <= status < 300:
        raise PassedOverError("http")
    moved_from = []
    for name in document.moved_from:
        with contextlib.suppress(RefusedURLError):
            moved_from.append(resolve("", name))
    return document._replace(
        url=url,
        status=status,
        moved_from=moved_from,
        content_type=_header(document.content_type),
        content_language=_header(document.content_language),
    )


def _header(value: str) -> str:
    return "".join(filter(str.isprintable, value.encode("ascii", "ignore").decode()))[:200]
