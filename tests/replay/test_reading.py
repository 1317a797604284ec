"""Stored answers, read as a crawl would read them."""

from __future__ import annotations

import gzip
import zlib
from importlib.util import find_spec

import pytest

from focusspider.page import PageParser
from focusspider.replay.archive import Stored
from focusspider.replay.reading import PageReader
from focusspider.text import Analyzer

READER = PageReader(PageParser(analyzer=Analyzer()))
HTML = b"<html><title>tides</title><p>High water is at noon."


def stored(encoding: str, body: bytes) -> Stored:
    headers = (("Content-Type", "text/html"), ("Content-Encoding", encoding))
    return Stored("http://a.example/", 200, headers, body)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("gzip", gzip.compress(HTML, mtime=0)), ("deflate", zlib.compress(HTML)), ("identity", HTML)],
)
def test_a_page_is_unpacked(encoding: str, body: bytes) -> None:
    page = READER.read(stored(encoding, body))
    assert page is not None
    assert page.title == "tides"


@pytest.mark.parametrize(
    "encoding",
    [
        "gzip",
        "deflate",
        pytest.param(
            "br",
            marks=pytest.mark.skipif(not find_spec("brotli"), reason="Scrapy leaves it packed"),
        ),
    ],
)
def test_what_is_not_packed_as_it_says_is_no_page(encoding: str) -> None:
    """Recorders unpack pages and leave the header; each decoder has an error of its own."""
    assert READER.response(stored(encoding, HTML)) is None
    assert READER.read(stored(encoding, HTML)) is None
