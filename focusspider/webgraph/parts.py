"""What a web graph hands out: its pages, its edges, and both as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy.http import Headers, TextResponse
from scrapy.responsetypes import responsetypes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["GraphArrays", "GraphEdge", "GraphPage", "as_utf8", "response_of"]


class GraphPage(NamedTuple):
    """A page of a graph, without its HTML.

    Attributes
    ----------
    number : int
        From 0, in the order of adding; the index into :class:`GraphArrays`.
    target, extra : bool
        Whether it is wanted; and whether that was found by its likeness to a target, not
        said by the user.
    layer : int or None
        In which back-link layer it was found; None where there are none.
    """

    number: int
    url: str
    title: str
    status: int
    content_type: str
    content_language: str
    target: bool
    extra: bool
    layer: int | None


class GraphEdge(NamedTuple):
    """A link from one page to another; ``anchor`` is its text."""

    source: str
    destination: str
    anchor: str


class GraphArrays(NamedTuple):
    """A graph as numbers: edge e leads from page ``sources[e]`` to ``destinations[e]``.

    ``sources`` and ``destinations`` are (n_edges,), in the order in which edges were added;
    ``targets``, the wanted pages, is (n_pages,), and so are ``urls``, in the order of pages.
    """

    urls: tuple[str, ...]
    sources: NDArray[np.int64]
    destinations: NDArray[np.int64]
    targets: NDArray[np.bool_]


def as_utf8(content_type: str) -> str:
    """Return the type of a page whose text is kept in UTF-8, whatever charset it had."""
    return f"{content_type.partition(';')[0]}; charset=utf-8"


def response_of(page: GraphPage, body: bytes) -> TextResponse:
    """Return a page as the response it came as, in the charset that it declares."""
    headers = Headers({"Content-Type": page.content_type})
    if page.content_language:
        headers["Content-Language"] = page.content_language
    kind = responsetypes.from_args(headers=headers, url=page.url, body=body)
    if not issubclass(kind, TextResponse):
        kind = TextResponse
    return kind(page.url, status=page.status, headers=headers, body=body)
