from __future__ import annotations

import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from focusspider.replay.sample import SAMPLE_SEEDS, sample_web
from focusspider.replay.server import ReplayServer, main
from focusspider.replay.spec import open_archive
from tests.replay.archives import HTML, Record, write_warc

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def serving(archive) -> Iterator[ReplayServer]:
    with ReplayServer(archive, port=0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with serving(sample_web()) as server:
        yield server


def browser(server: ReplayServer) -> urllib.request.OpenerDirector:
    """Return something that asks for everything through the proxy."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({"http": server.url}))


def ask(server: ReplayServer, method: str, target: str, body: bytes | None = None):
    """Send one request as it is, and return status, headers and body."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    try:
        connection.request(method, target, body)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def test_through_the_proxy_pages_are_as_they_were_stored(server: ReplayServer) -> None:
    web = sample_web()
    opener = browser(server)
    for url in SAMPLE_SEEDS:
        with opener.open(url, timeout=10) as response:
            assert response.status == 200
            assert response.url == url
            assert response.read() == web.get(url).body
            assert response.headers["Content-Type"].startswith("text/html")


def test_redirects_are_followed_and_missing_pages_are_missing(server: ReplayServer) -> None:
    opener = browser(server)
    with opener.open("http://www.dalemuseum.example/clocks", timeout=10) as response:
        assert response.url == "http://www.dalemuseum.example/galleries/clocks.html"
    with opener.open("http://www.dalemuseum.example/galleries/pottery.html/", timeout=10) as alias:
        assert alias.url == "http://www.dalemuseum.example/galleries/pottery.html"
    for url in ("http://www.dalemuseum.example/gone", "http://closed.example/"):
        with pytest.raises(urllib.error.HTTPError, match="404") as missing:
            opener.open(url, timeout=10)
        assert b"is not in the archive" in missing.value.read()
        missing.value.close()


def test_one_connection_serves_many_requests(server: ReplayServer) -> None:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    try:
        for url in [*SAMPLE_SEEDS, "http://www.thornby.example/gone"]:
            connection.request("GET", url)
            assert connection.getresponse().read()
        connection.request("HEAD", SAMPLE_SEEDS[0])
        response = connection.getresponse()
        assert response.read() == b""
        length = int(response.headers["Content-Length"])
        assert length == len(sample_web().get(SAMPLE_SEEDS[0]).body)
        connection.request("GET", SAMPLE_SEEDS[1])
        assert connection.getresponse().status == 200
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("method", "target", "status", "text"),
    [
        ("CONNECT", "www.thornby.example:443", 501, b"HTTPS is not served"),
        ("POST", "http://www.thornby.example/", 405, b"no input"),
        ("PUT", "http://www.thornby.example/", 501, b""),
        ("GET", "/somewhere", 404, b"/~/HOST/PATH"),
        ("GET", "/~/no.example/", 404, b"is not in the archive"),
        ("GET", "https://www.thornby.example/", 301, b""),
    ],
)
def test_what_it_answers_otherwise(server, method, target, status, text) -> None:
    got, headers, body = ask(server, method, target)
    assert (got, text in body) == (status, True)
    if status == 301:
        assert headers["Location"] == "http://www.thornby.example/"


def test_a_browser_without_a_proxy_stays_within(server: ReplayServer) -> None:
    index = ask(server, "GET", "/")[2].decode()
    hosts = re.findall(r'href="/~/([^"/]+)/"', index)
    assert len(hosts) == 12
    for host in hosts:
        status, headers, body = ask(server, "GET", f"/~/{host}/")
        if status == 301:  # the wiki's first page has a name
            status, _, body = ask(server, "GET", headers["Location"])
        assert status == 200
        links = re.findall(rb"""(?:href|src)\s*=\s*["']?([^\s"'>]+)""", body, re.IGNORECASE)
        assert links
        for link in links:
            assert not link.startswith(b"http")
            assert not link.startswith(b"/") or link.startswith(b"/~/")
    _, headers, _ = ask(server, "GET", "/~/www.dalemuseum.example/clocks")
    assert headers["Location"] == "/~/www.dalemuseum.example/galleries/clocks.html"
    moved = ask(server, "GET", "/~/www.alderton.example/map.html")[2]
    assert b'<base href="/~/www.alderton.example/office/">' in moved


def test_any_archive_is_served(tmp_path: Path) -> None:
    packed = gzip.compress(b"<a href=/x>x</a>")
    path = write_warc(
        tmp_path / "a.warc.gz",
        Record("http://a.example/", packed, headers=(*HTML, ("Content-Encoding", "gzip"))),
        Record(
            "http://a.example/cookie", headers=(*HTML, ("Set-Cookie", "a=1"), ("Server", "old"))
        ),
    )
    archive = open_archive(path)
    with serving(archive) as server:
        status, headers, body = ask(server, "GET", "http://a.example/")
        assert (status, headers["Content-Encoding"], body) == (200, "gzip", packed)
        assert ask(server, "GET", "/~/a.example/")[2] == packed
        headers = ask(server, "GET", "http://a.example/cookie")[1]
        assert (headers["Set-Cookie"], headers.get_all("Server")) == ("a=1", ["old"])
        path.unlink()
        assert ask(server, "GET", "http://a.example/")[0] == 500
        assert ask(server, "GET", "http://a.example/robots.txt")[0] == 404


def test_it_listens_on_loopback_only(server: ReplayServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    with socket.socket() as other:
        other.settimeout(2)
        with pytest.raises(ConnectionRefusedError):
            other.connect(("127.0.0.2", server.server_port))


def test_the_command(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "focusspider.replay.server", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"URLs on 12 hosts, from sample: (http://127\.0\.0\.1:\d+)", line)
        assert found, line + process.stderr.read()
        proxy = urllib.request.ProxyHandler({"http": found[1]})
        with urllib.request.build_opener(proxy).open(SAMPLE_SEEDS[0], timeout=10) as response:
            assert b"Dale Museum" in response.read()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert errors == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.warc"], "error: missing.warc: there is no such file"),
        (["--port", "99999"], "error: port 99999 cannot be listened on"),
        (["sample", "other"], "error: FOCUS_REPLAY = 'sample' stands alone"),
    ],
)
def test_wrong_arguments_are_one_line(capsys, arguments: list[str], message: str) -> None:
    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(message)
    assert errors.count("\n") == 1


def test_a_port_that_is_taken(server: ReplayServer, capsys) -> None:
    assert main(["--port", str(server.server_port)]) == 2
    assert "cannot be listened on" in capsys.readouterr().err
