"""A small real web: an HTTP server on several loopback addresses, each of them a host.

    with Site({"/": "<a href=/b>b</a>", "127.0.0.2/b": Reply("gone", status=404)}) as site:
        crawl(tmp_path, f"seeds={site.url('/')}", ...)
    assert [hit.path for hit in site.hits] == ["/", "/b"]

Hosts with names are had by crawling through it as a proxy (``http_proxy=site.proxy``): it
answers for every host that is asked for.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

__all__ = ["Hit", "Reply", "Site", "links", "most_at_once"]

HOSTS = tuple(f"127.0.0.{n}" for n in range(1, 9))
_REASONS = {200: "OK", 301: "Moved Permanently", 302: "Found", 404: "Not Found",
            429: "Too Many Requests", 500: "Internal Server Error",
            503: "Service Unavailable"}  # fmt: skip


@dataclass(frozen=True)
class Reply:
    """An answer.

    ``delay`` is in seconds. ``raw`` is sent in the place of everything else, and then the
    connection is closed: for answers that are no HTTP, or stop short.
    """

    body: str | bytes = b""
    status: int = 200
    headers: Mapping[str, str | bytes] = field(default_factory=dict)
    delay: float = 0.0
    raw: bytes | None = None

    def encoded(self) -> bytes:
        if self.raw is not None:
            return self.raw
        body = self.body.encode() if isinstance(self.body, str) else self.body
        headers = {"Content-Type": "text/html; charset=utf-8", **self.headers}
        headers["Content-Length"] = str(len(body))
        head = f"HTTP/1.1 {self.status} {_REASONS.get(self.status, 'Status')}\r\n".encode()
        for name, value in headers.items():
            head += name.encode() + b": "
            head += (value.encode("latin-1") if isinstance(value, str) else value) + b"\r\n"
        return head + b"\r\n" + body


@dataclass
class Hit:
    """A request as the server saw it, and the status it sent, 0 for what is no HTTP.

    Times are those of ``time.monotonic``.
    """

    host: str
    path: str
    start: float
    end: float = 0.0
    status: int = 0
    method: str = "GET"


class Site:
    """Serves pages from a thread, and records each request.

    Parameters
    ----------
    pages
        Answers by path (``/b?x=1``), or by host and path (``127.0.0.2/b``), which comes
        first; or a function of both. A text or bytes stand for a Reply of HTML. What is
        not there is a 404; ``/robots.txt`` too, unless it is given.
    hosts
        loopback addresses to listen on, all at the same port
    """

    def __init__(
        self,
        pages: Mapping[str, Reply | str | bytes] | Callable[[str, str], Reply | str | bytes | None],
        hosts: Sequence[str] = HOSTS,
    ) -> None:
        self.pages = pages
        self.hosts = tuple(hosts)
        self.hits: list[Hit] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._sockets = _listeners(self.hosts)
        self.port: int = self._sockets[0].getsockname()[1]
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def url(self, path: str, host: str | None = None) -> str:
        """Return the URL of a path, at the first host or another."""
        return f"http://{host or self.hosts[0]}:{self.port}{path}"

    @property
    def proxy(self) -> str:
        """What ``http_proxy`` must be for hosts with names."""
        return self.url("")

    def at(self, host: str, *, robots: bool = False) -> list[Hit]:
        """Return the requests to a host by their start, those for robots.txt if wanted."""
        hits = [hit for hit in self.hits if hit.host == host]
        return [hit for hit in hits if robots or hit.path != "/robots.txt"]

    def paths(self, host: str) -> list[str]:
        """Return the paths that were asked of a host, in order, without robots.txt."""
        return [hit.path for hit in self.at(host)]

    def counts(self) -> Counter[str]:
        """Return how often each host was asked, without robots.txt."""
        return Counter(hit.host for hit in self.hits if hit.path != "/robots.txt")

    def gaps(self, host: str, *, robots: bool = False) -> list[float]:
        """Return the seconds between the starts of a host's requests."""
        starts = [hit.start for hit in self.at(host, robots=robots)]
        return [later - sooner for sooner, later in itertools.pairwise(starts)]

    def most_at_once(self, host: str) -> int:
        """Return how many requests a host had to answer at a time, at most."""
        return most_at_once(self.at(host))

    async def _open(self) -> None:
        self._servers = [
            await asyncio.start_server(self._connection, sock=sock) for sock in self._sockets
        ]

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._request(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client has gone
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start = time.monotonic()
        method, target, _ = head.split(" ", 2)
        headers = dict(
            line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
        )
        await reader.readexactly(int(headers.get("content-length", 0)))
        named = urlsplit(target if "://" in target else f"http://{headers['host']}{target}")
        path = (named.path or "/") + (f"?{named.query}" if named.query else "")
        hit = Hit(named.hostname or "", path, start, method=method)
        self.hits.append(hit)
        reply = self._reply(hit.host, path)
        hit.status = reply.status if reply.raw is None else 0
        try:
            if reply.delay:
                await asyncio.sleep(reply.delay)
            # the moment after this, the client may know, and ask for the next one
            hit.end = time.monotonic()
            writer.write(reply.encoded())
            await writer.drain()
        finally:
            hit.end = hit.end or time.monotonic()
        return reply.raw is None and "close" not in headers.get("connection", "")

    def _reply(self, host: str, path: str) -> Reply:
        if callable(self.pages):
            found = self.pages(host, path)
        else:
            found = self.pages.get(host + path, self.pages.get(path))
        if found is None:
            return Reply("not here", status=404)
        return found if isinstance(found, Reply) else Reply(found)


def most_at_once(hits: Sequence[Hit]) -> int:
    """Return how many of these requests were open at a time, at most."""
    changes = [(hit.start, 1) for hit in hits] + [(hit.end, -1) for hit in hits]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def links(*targets: str, title: str = "Page", text: str = "") -> str:
    """Return a page with links; the anchor of each is its URL, or what follows a space."""
    anchors = []
    for target in targets:
        href, _, anchor = target.partition(" ")
        anchors.append(f"<p><a href='{href}'>{anchor or href}</a></p>")
    return f"<html><title>{title}</title><body>{text}{''.join(anchors)}</body></html>"


def _listeners(hosts: Sequence[str]) -> list[socket.socket]:
    """Listen on one port that is free at every address."""
    for _ in range(20):
        sockets: list[socket.socket] = []
        port = 0
        try:
            for host in hosts:
                sockets.append(socket.socket())
                sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sockets[-1].bind((host, port))
                port = sockets[-1].getsockname()[1]
        except OSError as error:
            for sock in sockets:
                sock.close()
            taken = error
        else:
            return sockets
    raise taken
