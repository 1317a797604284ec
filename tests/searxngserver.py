"""A server that speaks the JSON API of SearXNG, as far as its documentation tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.jsonserver import Answer, JsonServer

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SearxngServer"]


class SearxngServer(JsonServer):
    """Finds the pages of a table whose text holds all words of a query.

    Parameters
    ----------
    pages
        URL → title and text; the order is that of the results.
    counts
        Whether an engine behind the instance says how many pages there are.
    key
        The bearer token that is needed, if one is.
    """

    def __init__(
        self,
        pages: Mapping[str, tuple[str, str]],
        *,
        counts: bool = True,
        page_size: int = 10,
        key: str = "",
    ) -> None:
        super().__init__()
        self.pages = dict(pages)
        self.counts = counts
        self.page_size = page_size
        self.key = key
        self.silent: list[list[str]] = []

    def reply(self, path: str, query: dict[str, str], headers: Mapping[str, str]) -> Answer:
        if path != "/search":
            return Answer(404, b"<html>")
        if query.get("format") != "json":
            return Answer(403, b"<html>Forbidden")
        if self.key and headers.get("Authorization") != f"Bearer {self.key}":
            return Answer(401, {"message": f"no such token: {headers.get('Authorization')}"})
        words = query["q"].lower().split()
        found = [
            {"url": url, "title": title, "content": text, "engine": "table", "score": 1.0}
            for url, (title, text) in self.pages.items()
            if set(words) <= set(f"{title} {text}".lower().split())
        ]
        start = (int(query.get("pageno", 1)) - 1) * self.page_size
        return Answer(
            body={
                "query": query["q"],
                "number_of_results": len(found) if self.counts else 0,
                "results": found[start : start + self.page_size],
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": self.silent,
            }
        )
