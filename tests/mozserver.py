"""A server that speaks Moz's Links API, as far as its documentation tells."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

__all__ = ["KEY", "Answer", "MozServer"]

KEY = "secret-of-the-account"


@dataclass
class Answer:
    """An answer in the place of the next one; ``body`` None closes the connection."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class MozServer:
    """Answers from a table of target → linking pages, both without scheme."""

    def __init__(self, links: Mapping[str, Sequence[str]], *, page_size: int = 50) -> None:
        self.links = dict(links)
        self.page_size = page_size
        self.instead: list[Answer] = []
        self.asked: list[dict[str, Any]] = []
        self.rows = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = server.answer(body, self.headers)
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
        return f"http://127.0.0.1:{self._http.server_port}/v2/links"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        self.asked.append(body)
        if self.instead:
            return self.instead.pop(0)
        if headers.get("x-moz-token") != KEY:
            return Answer(401, {"error": {"message": f"no such token: {headers['x-moz-token']}"}})
        if not body.get("target"):
            return Answer(400, {"error": {"message": "Please include a target"}})
        pages = self.links.get(body["target"], ())
        start = int(body.get("next_token") or 0)
        end = start + min(self.page_size, body["limit"])
        results = [
            {"source": {"page": page, "domain_authority": 1}, "target": {"page": body["target"]},
             "anchor_text": "link"}
            for page in pages[start:end]
        ]  # fmt: skip
        self.rows += len(results)
        return Answer(body={"results": results, "next_token": str(end) if end < len(pages) else ""})
