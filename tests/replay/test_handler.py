"""The handler within a real Scrapy crawl, in a process of its own."""

from __future__ import annotations

import gzip
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.replay.spec import replay_settings
from tests.replay.archives import HTML, Record, write_warc
from tests.replay.fetch import fetch

if TYPE_CHECKING:
    from pathlib import Path

PAGE = b"<html><title>A page</title><p>and its text</p></html>"
ROBOTS = b"User-agent: *\nDisallow: /private/\n"
BASE = "http://a.example"


def redirect(path: str, target: str, status: str = "302 Found") -> Record:
    return Record(f"{BASE}{path}", b"", status, (("Location", target),))


RECORDS = (
    Record(f"{BASE}/robots.txt", ROBOTS, headers=(("Content-Type", "text/plain"),)),
    Record(f"{BASE}/", PAGE),
    Record(f"{BASE}/private/x", PAGE),
    Record(f"{BASE}/dir/", PAGE),
    Record(
        f"{BASE}/packed", gzip.compress(PAGE), headers=(*HTML, ("Content-Encoding", "gzip"))
    ),
    Record(f"{BASE}/unpacked", PAGE, headers=(*HTML, ("Content-Encoding", "gzip"))),
    Record(f"{BASE}/cyrillic", "<p>щи</p>".encode("koi8-r"),
           headers=(("Content-Type", "text/html; charset=koi8-r"),)),
    Record(f"{BASE}/data", b"{}", headers=(("Content-Type", "application/json"),)),
    Record(f"{BASE}/image", b"\0\1\2", headers=(("Content-Type", "image/png"),)),
    Record(f"{BASE}/gone", b"<p>gone", status="410 Gone"),
    Record(f"{BASE}/big", b"<p>" + b"x" * 5000),
    Record(f"{BASE}/untyped", b"<html>untyped</html>", headers=()),
    redirect("/1", "/2", "301 Moved Permanently"),
    redirect("/2", f"{BASE}/3"),
    redirect("/3", "dir"),
    redirect("/left", "/right"),
    redirect("/right", "/left"),
    Record("https://b.example/secure", PAGE),
)  # fmt: skip


@pytest.fixture(scope="module")
def warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_warc(tmp_path_factory.mktemp("replay") / "site.warc.gz", *RECORDS)


@pytest.fixture(scope="module")
def got(warc: Path) -> dict[str, dict[str, Any]]:
    """One crawl that asks for nearly everything."""
    settings = {**replay_settings(warc), "ROBOTSTXT_OBEY": True, "REDIRECT_MAX_TIMES": 5}
    return fetch(
        settings,
        *(record.url for record in RECORDS[1:]),
        f"{BASE}/dir",
        f"{BASE}/dir/index.html",
        f"{BASE}/missing",
        "http://nowhere.example/page",
        {"url": f"{BASE}/?head", "method": "HEAD"},
        {"url": "https://a.example/dir/", "method": "HEAD"},
        {"url": f"{BASE}/#post", "method": "POST", "body": "x=1"},
        {"url": f"{BASE}/big#small", "meta": {"download_maxsize": 100}},
    )


@pytest.mark.parametrize(
    ("path", "status", "kind", "body"),
    [
        ("/", 200, "HtmlResponse", PAGE),
        ("/packed", 200, "HtmlResponse", PAGE),
        ("/unpacked", 200, "HtmlResponse", PAGE),
        ("/data", 200, "JsonResponse", b"{}"),
        ("/image", 200, "Response", b"\0\1\2"),
        ("/untyped", 200, "HtmlResponse", b"<html>untyped</html>"),
        ("/gone", 410, "HtmlResponse", b"<p>gone"),
        ("/missing", 404, "HtmlResponse", b""),
        ("/big", 200, "HtmlResponse", b"<p>" + b"x" * 5000),
        ("/#post", 405, "TextResponse", b""),
        ("/?head", 404, "HtmlResponse", b""),
    ],
)
def test_responses(got: dict, path: str, status: int, kind: str, body: bytes) -> None:
    response = got[BASE + path]
    assert response["status"] == status
    assert response["body"].encode("latin-1") == body
    assert response["type"] == kind


def test_the_charset_is_the_stored_one(got: dict) -> None:
    assert got[f"{BASE}/cyrillic"]["text"] == "<p>щи</p>"


def test_a_chain_of_redirects_is_followed(got: dict) -> None:
    response = got[f"{BASE}/1"]
    assert response["url"] == f"{BASE}/dir/"
    assert response["body"].encode() == PAGE
    # The last of them is ours: the page is stored as /dir/.
    assert response["redirects"] == [f"{BASE}/{name}" for name in ("1", "2", "3", "dir")]


@pytest.mark.parametrize("path", ["/dir", "/dir/index.html"])
def test_another_spelling_is_redirected(got: dict, path: str) -> None:
    response = got[BASE + path]
    assert (response["url"], response["status"]) == (f"{BASE}/dir/", 200)
    assert response["redirects"] == [BASE + path]


def test_the_other_scheme_is_redirected(got: dict) -> None:
    response = got["https://a.example/dir/"]
    assert (response["url"], response["redirects"]) == (f"{BASE}/dir/", ["https://a.example/dir/"])
    assert response["body"] == ""  # HEAD
    assert got["https://b.example/secure"]["url"] == "https://b.example/secure"


def test_a_loop_of_redirects_ends(got: dict) -> None:
    assert got[f"{BASE}/left"]["error"] == "IgnoreRequest"
    assert "max redirections" in got[f"{BASE}/left"]["message"]


def test_robots_are_obeyed(got: dict) -> None:
    assert got[f"{BASE}/private/x"]["error"] == "IgnoreRequest"
    assert "robots.txt" in got[f"{BASE}/private/x"]["message"]
    assert got["stats"]["robotstxt/forbidden"] == 1


def test_a_host_without_robots_allows_everything(got: dict) -> None:
    assert got["http://nowhere.example/page"]["status"] == 404
    assert got["stats"]["robotstxt/response_status_count/404"] >= 2  # nowhere and b.example


def test_a_body_that_is_too_big_fails(got: dict) -> None:
    failed = got[f"{BASE}/big#small"]
    assert failed["error"] == "DownloadCancelledError"
    assert "5003 bytes exceed DOWNLOAD_MAXSIZE, 100" in failed["message"]


def test_latency_is_known_to_autothrottle(got: dict) -> None:
    assert 0 <= got[f"{BASE}/"]["latency"] < 5


def test_nothing_is_logged(got: dict) -> None:
    assert got["log"]["text"] == ""


def test_a_missing_page_can_fail_as_an_unknown_host_does(warc: Path) -> None:
    settings = {**replay_settings(warc, missing="dns"), "ROBOTSTXT_OBEY": True}
    got = fetch(settings, f"{BASE}/", f"{BASE}/missing", "http://nowhere.example/page")
    assert got[f"{BASE}/"]["status"] == 200
    for url in (f"{BASE}/missing", "http://nowhere.example/page"):
        assert got[url]["error"] == "CannotResolveHostError"
        assert f"{url} is not in FOCUS_REPLAY" in got[url]["message"]
    # robots.txt is a 404 all the same, or every unknown host would be an error in the log.
    assert got["stats"]["robotstxt/response_status_count/404"] == 1
    assert not any(key.startswith("robotstxt/exception_count") for key in got["stats"])


def test_the_delay_of_a_host_is_kept(warc: Path) -> None:
    delay = 0.2
    settings = {**replay_settings(warc), "DOWNLOAD_DELAY": delay, "DOWNLOAD_DELAY_JITTER": 0}
    urls = [f"{BASE}/{name}" for name in ("", "data", "big", "dir/")]
    got = fetch(settings, *urls, "https://b.example/secure")
    times = sorted(got[url]["time"] for url in urls)
    gaps = [later - sooner for sooner, later in pairwise(times)]
    assert min(gaps) > 0.9 * delay
    assert got["https://b.example/secure"]["time"] < times[2]  # another host does not wait


def test_an_archive_that_cannot_be_opened_fails_every_request(tmp_path: Path) -> None:
    got = fetch(replay_settings(tmp_path / "none.warc"), f"{BASE}/")
    assert got[f"{BASE}/"]["error"] == "NotSupported"
    assert "none.warc: there is no such file or folder" in got[f"{BASE}/"]["message"]


def test_the_sample_web_needs_no_file() -> None:
    got = fetch(replay_settings("sample"), "http://www.dalemuseum.example/clocks")
    response = got["http://www.dalemuseum.example/clocks"]
    assert response["url"] == "http://www.dalemuseum.example/galleries/clocks.html"
    assert "The clock gallery" in response["text"]
