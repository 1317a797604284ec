"""A server that speaks the JSON API of SearXNG, as far as its documentation tells."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from tests.mozserver import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

__all__ = ["SearxngServer"]


class SearxngServer:
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
        self.pages = dict(pages)
        self.counts = counts
        self.page_size = page_size
        self.key = key
        self.silent: list[list[str]] = []
        self.instead: list[Answer] = []
        self.asked: list[dict[str, str]] = []
        self.headers: list[Mapping[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                answer = server.answer(parts.path, query, self.headers)
                if answer.body is None:
                    self.close_connection = True
                    return
                data = answer.body if isinstance(answer.body, bytes) else None
                data = json.dumps(answer.body).encode() if data is None else data
                self.send_response(answer.status)
                for name, value in {**answer.headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=[0.02], daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, path: str, query: dict[str, str], headers: Mapping[str, str]) -> Answer:
        self.asked.append(query)
        self.headers.append(headers)
        if self.instead:
            return self.instead.pop(0)
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
