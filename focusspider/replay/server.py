"""Serve a stored web over HTTP, on this machine alone.

    python -m focusspider.replay.server [--port 8480] [PATH ...]

Without a path it serves the sample web. The server is a forward proxy: whatever asks through
it sees the stored hosts under their own names::

    http_proxy=http://127.0.0.1:8480 scrapy crawl focus -a topic=topics/sample.toml

To look around in a browser without setting a proxy, open http://127.0.0.1:8480/: it lists the
hosts, and serves each page under ``/~/HOST/PATH`` with its links rewritten to that form. Through
the proxy, bytes are as they were stored. A URL that is not stored is a 404; there is no HTTPS.

Nothing but 127.0.0.1 can be listened on: a proxy for everyone is not what anybody wants here.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from focusspider.errors import FocusError
from focusspider.replay.archive import Stored, answer
from focusspider.replay.spec import SAMPLE, open_archive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focusspider.replay.archive import Archive

__all__ = ["ReplayServer", "main"]

DEFAULT_PORT = 8480

_HOST = "127.0.0.1"
_BROWSE = "/~/"
_LINK = re.compile(
    rb"""((?:\b(?:href|src|action)\s*=\s*|content\s*=\s*["']?\s*\d+\s*;\s*url\s*=)["']?)"""
    rb"""((?:https?:/)?/[^\s"'>]*)""",
    re.IGNORECASE,
)


class ReplayServer(ThreadingHTTPServer):
    """An HTTP proxy whose web is an archive; port 0 takes any free port.

    Use it as a context manager around ``serve_forever``, as any server of the standard
    library.
    """

    daemon_threads = True

    def __init__(self, archive: Archive, port: int = DEFAULT_PORT) -> None:
        self.archive = archive
        super().__init__((_HOST, port), _Handler)

    @property
    def url(self) -> str:
        """The address of the server, for ``http_proxy`` and for a browser."""
        return f"http://{_HOST}:{self.server_port}"

    def hosts(self) -> dict[str, int]:
        """Return the hosts, with how many URLs each has."""
        counts: dict[str, int] = {}
        for url in self.archive.urls():
            host = urlsplit(url).netloc
            counts[host] = counts.get(host, 0) + 1
        return counts


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "focusspider"
    timeout = 60  # seconds that an idle connection stays open
    server: ReplayServer

    def do_GET(self) -> None:
        """Answer from the archive."""
        target = self.path
        if target.lower().startswith(("http://", "https://")):
            self._send(self._answer(target))
        elif target.startswith(_BROWSE):
            self._send(_browsable(self._answer(f"http://{target.removeprefix(_BROWSE)}")))
        elif target == "/":
            self._send(_index(self.server))
        else:
            self._send(_plain(404, "Ask through the proxy, or for /~/HOST/PATH.\n"))

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def do_CONNECT(self) -> None:
        """Refuse to tunnel: what is stored cannot be signed as its host."""
        self._send(_plain(501, "HTTPS is not served here; use http:// URLs.\n"))
        self.close_connection = True

    def do_POST(self) -> None:
        """Refuse to take anything; methods that are rarer are a 501 of http.server's."""
        self._send(_plain(405, "Stored pages take no input.\n", ("Allow", "GET, HEAD")))
        self.close_connection = True  # the body has not been read

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep the terminal quiet."""

    def _answer(self, url: str) -> Stored:
        try:
            stored = answer(self.server.archive, url)
        except FocusError as error:
            return _plain(500, f"{error}\n")
        return stored or _plain(404, f"{url} is not in the archive.\n")

    def _send(self, stored: Stored) -> None:
        with contextlib.suppress(ConnectionError):  # the client has had enough
            self.send_response_only(stored.status)  # Server and Date are the stored ones
            for name, value in stored.headers:
                if not re.search(r"[\r\n]", name + value):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(stored.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(stored.body)


def _plain(status: int, text: str, *headers: tuple[str, str]) -> Stored:
    kind = ("Content-Type", "text/plain; charset=utf-8")
    return Stored("", status, (kind, *headers), text.encode())


def _index(server: ReplayServer) -> Stored:
    rows = "\n".join(
        f'<li><a href="{_BROWSE}{escape(host)}/">{escape(host)}</a> ({count})</li>'
        for host, count in server.hosts().items()
    )
    text = (
        f"<!DOCTYPE html><title>Replay</title><h1>Stored hosts</h1>\n<ul>\n{rows}\n</ul>\n"
        f"<p>As a proxy ({server.url}) this server answers under the hosts' own names.</p>\n"
    )
    return Stored("", 200, (("Content-Type", "text/html; charset=utf-8"),), text.encode())


def _browsable(stored: Stored) -> Stored:
    """Rewrite what leads out of ``/~/``: Location, and links that are not relative."""
    headers = tuple(
        (name, _inside(urljoin(stored.url, value)) if name.lower() == "location" else value)
        for name, value in stored.headers
    )
    body = stored.body
    if "html" in stored.header("Content-Type").lower() and not stored.header("Content-Encoding"):
        host = urlsplit(stored.url).netloc

        def rewrite(link: re.Match[bytes]) -> bytes:
            url = link[2].decode("latin-1")
            return link[1] + _inside(urljoin(f"http://{host}/", url)).encode("latin-1")

        body = _LINK.sub(rewrite, body)
    return stored._replace(headers=headers, body=body)


def _inside(url: str) -> str:
    return _BROWSE + url.partition("://")[2] if url.startswith(("http:", "https:")) else url


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m focusspider.replay.server",
        description="Serve a stored web on 127.0.0.1, as an HTTP proxy.",
    )
    parser.add_argument("path", nargs="*", default=[SAMPLE], help="WARC, WACZ, folder, or sample")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        server = ReplayServer(open_archive(options.path), options.port)
    except FocusError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (OSError, OverflowError) as error:
        print(f"error: port {options.port} cannot be listened on: {error}", file=sys.stderr)
        return 2
    with server:
        print(
            f"{len(server.archive)} URLs on {len(server.hosts())} hosts, from "
            f"{', '.join(options.path)}: {server.url}\n"
            f"As a proxy: http_proxy={server.url}   In a browser: {server.url}/   Stop: Ctrl-C",
            flush=True,
        )
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
