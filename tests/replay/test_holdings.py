from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from focusspider.replay import Stored, answer, open_archive
from focusspider.replay.holdings import Holdings
from tests.crawls import crawl
from tests.shelf import Shelf

if TYPE_CHECKING:
    from pathlib import Path

HTML = (("Content-Type", "text/html"),)


SHELF = Shelf(
    Stored("http://a.example/", 200, HTML, b"<p>home"),
    Stored("http://a.example/~x/index.html", 200, HTML, b"<p>x"),
    Stored("http://a.example/moved", 302, (("Location", "/"),), b""),
    Stored("http://a.example:8080/p", 200, HTML, b"<p>p"),
)


@pytest.mark.parametrize(
    ("url", "held"),
    [
        ("http://a.example/", True),
        ("http://a.example/#top", True),
        ("HTTP://A.example:80", True),
        ("https://a.example/", True),
        ("http://a.example/%7Ex/", True),
        ("http://a.example/~x", True),
        ("http://a.example/moved", True),
        ("http://a.example/moved/", False),
        ("http://a.example:8080/p", True),
        ("http://a.example/p", False),
        ("http://a.example/y", False),
        ("http://b.example/", False),
        ("mailto:x@a.example", False),
        ("http://[a.example/", False),
    ],
)
def test_what_is_held_is_what_is_answered(url: str, held: bool) -> None:
    assert (url in Holdings(SHELF)) is held
    assert (answer(SHELF, url) is not None) is held


def test_no_page_is_read() -> None:
    shelf = Shelf(Stored("http://a.example/", 200, HTML, b"<p>home"))
    holdings = Holdings(shelf)
    assert "http://a.example/" in holdings
    assert "http://a.example/other" not in holdings
    assert "http://a.example" in holdings
    assert shelf.reads == 0


def test_every_page_of_the_sample_web_is_held_in_its_spellings() -> None:
    archive = open_archive("sample")
    holdings = Holdings(archive)
    for url in archive.urls():
        assert url in holdings
        assert url.replace("http://", "HTTP://", 1) in holdings


def test_a_crawl_asks_for_nothing_that_is_not_stored(tmp_path: Path) -> None:
    done = crawl(
        tmp_path,
        "topic=topics/sample.toml",
        "pages=40",
        FOCUS_REPLAY="sample",
        FOCUS_REPLAY_MISSING="refuse",
        ROBOTSTXT_OBEY=False,
    )
    assert done.code == 0, done.log
    stats = done.stats
    assert stats["focus/link/refused/not_stored"] > 0
    assert "downloader/response_status_count/404" not in stats
    assert stats["focus/link/found"] == (
        stats["focus/link/pushed"] + stats["focus/link/known"] + stats["focus/link/refused"]
    )
