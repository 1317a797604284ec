"""A server on loopback that answers in JSON, as the services do that are asked over HTTP."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

__all__ = ["Answer", "JsonServer"]


@dataclass
class Answer:
    """An answer: ``body`` as JSON, or as the bytes that it is; None closes the connection."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class JsonServer(ABC):
    """Answers what it is asked by :meth:`reply`, or by the next of ``instead``.

    ``asked`` has the query of each GET, or the body of each POST; ``headers`` theirs.
    """

    def __init__(self) -> None:
        self.instead: list[Answer] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                query = parse_qs(urlsplit(self.path).query)
                self._answer({name: values[0] for name, values in query.items()})

            def do_POST(self) -> None:
                self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _answer(self, asked: dict[str, Any]) -> None:
                answer = server.answer(urlsplit(self.path).path, asked, self.headers)
                if answer.body is None:
                    self.close_connection = True
                    return
                data = answer.body
                if not isinstance(data, bytes):
                    data = json.dumps(data).encode()
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

    def answer(self, path: str, asked: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        self.asked.append(asked)
        self.headers.append(headers)
        return self.instead.pop(0) if self.instead else self.reply(path, asked, headers)

    @abstractmethod
    def reply(self, path: str, asked: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        """Return the answer to what was asked."""
