"""The contract of a search engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from focusspider.urls import RefusedURLError, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Answer", "Hit", "SearchEngine", "hits_of"]


class Hit(NamedTuple):
    """A page that an engine names."""

    url: str
    title: str


class Answer(NamedTuple):
    """What an engine says of a query: its first hits, and how many it has in all.

    ``total`` is None where the engine does not tell.
    """

    hits: tuple[Hit, ...]
    total: int | None


class SearchEngine(Protocol):
    """Finds pages that hold all words of a query."""

    def search(self, query: str, n: int) -> Answer:
        """Return up to n hits, the best first.

        Raises ServiceError where the engine refuses to work.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


def hits_of(found: Iterable[tuple[object, object]], n: int) -> tuple[Hit, ...]:
    """Return the first n hits of URLs and titles as others wrote them, each URL once.

    >>> hits_of([("HTTP://A.example", "A "), ("mailto:x", "B"), ("http://a.example/", "C")], 5)
    (Hit(url='http://a.example/', title='A'),)
    """
    hits: dict[str, Hit] = {}
    for url, title in found:
        try:
            spelt = resolve("", url) if isinstance(url, str) else ""
        except RefusedURLError:
            continue
        if spelt and spelt not in hits:
            hits[spelt] = Hit(spelt, " ".join(title.split()) if isinstance(title, str) else "")
            if len(hits) == n:
                break
    return tuple(hits.values())
