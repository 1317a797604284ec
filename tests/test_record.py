from __future__ import annotations

import json
from typing import TYPE_CHECKING

from focusspider.record import CrawlRecord, content_of
from tests.pages import page

if TYPE_CHECKING:
    from pathlib import Path


def line(record: CrawlRecord, n: int, digest: str, parent: int) -> str:
    return json.dumps(
        {"n": n, "url": record.url(n), "parent": record.url(parent), "relevant": n == 2,
         "digest": digest}
    )  # fmt: skip


TIDES = "<title>Tides</title><p>" + "High water is at noon. " * 10


def content(html: str) -> bytes:
    return content_of(page(html), html.encode())


def test_the_same_text_is_the_same_content() -> None:
    other = TIDES.replace("<p>", "<script>token = 7</script><p>") + "<a href='/x?session=7'></a>"
    assert content(TIDES) == content(other)
    assert content(TIDES) == content(TIDES.replace(" is at", "\n  is <b>at</b>"))
    assert content(TIDES) != content(TIDES.replace("noon", "one"))
    assert content(TIDES) != content(TIDES.replace("Tides", "Tides of June"))


def test_without_text_that_says_what_it_is_the_bytes_decide() -> None:
    frames = "<title>A</title><frameset><frame src='{}.html'></frameset>"
    assert content(frames.format("a")) != content(frames.format("b"))
    assert content(frames.format("a")) == content(frames.format("a"))
    assert content("<p>Please wait …<script src=a></script>") != content("<p>Please wait …")
    assert content_of(None, b"%PDF-1.4") == b"%PDF-1.4"


def test_a_crawl_is_remembered_by_numbers() -> None:
    record = CrawlRecord()
    seed, _, first = record.add("http://a/", 0, b"one", owner="s")
    assert (seed, first) == (1, 1)
    child, digest, first = record.add("http://a/b", seed, b"two", owner="c")
    twin, twins, first = record.add("http://a/c", child, b"two", owner="t")
    assert (first, twins) == (child, digest)
    assert record.path(twin) == ["http://a/", "http://a/b", "http://a/c"]
    assert record.path(0) == []
    assert record.url(0) is None


def test_without_a_log_numbers_and_counts_go_on() -> None:
    record = CrawlRecord()
    record.add("http://a/", 0, b"one", owner="s")
    record.judged(relevant=True)
    record.add("http://a/b", 1, b"two", owner="c")
    record.judged(relevant=False)
    again = CrawlRecord()
    again.restore(json.loads(json.dumps(record.state())), None)
    assert (again.fetched, again.relevant) == (2, 1)
    n, _, _ = again.add("http://a/c", 2, b"three", owner="t")
    assert n == 3, "a number that a link carries is not given to another page"
    assert again.path(n) == ["http://a/c"]


def test_it_goes_on_after_a_crash(tmp_path: Path) -> None:
    """Three pages were fetched, and the second was not settled: its child knows it still."""
    record = CrawlRecord()
    log = tmp_path / "crawl.jsonl"
    rows = []
    for url, parent, body, owner in (
        ("http://a/", 0, b"one", "s"),
        ("http://a/b", 1, b"two", "c"),
        ("http://a/c", 1, b"three", "t"),
    ):
        n, digest, _ = record.add(url, parent, body, owner=owner)
        record.judged(relevant=n == 2)
        rows.append(line(record, n, digest, parent))
    record.settled("s")
    record.settled("t")
    state = json.loads(json.dumps(record.state()))
    log.write_text(rows[0] + "\n" + rows[2] + "\n")

    again = CrawlRecord()
    again.restore(state, log)
    assert (again.fetched, again.relevant) == (2, 0)
    assert again.path(3) == ["http://a/", "http://a/c"]
    n, _, first = again.add("http://a/b", 1, b"three", owner="c")
    assert n == 4, "numbers are not used twice"
    assert first == 3, "what is the same is still known"
    assert again.path(2) == ["http://a/", "http://a/b"], "links that it brought carry its number"


def test_a_page_that_its_own_child_leads_to_ends_the_path(tmp_path: Path) -> None:
    """A crash lost /a, whose child had been fetched; that led to /a again, and one more crash."""
    log = tmp_path / "crawl.jsonl"
    pages = [("http://a/", None), ("http://a/b", "http://a/a"), ("http://a/a", "http://a/b")]
    log.write_text(
        "".join(
            json.dumps({"n": n, "url": url, "parent": parent, "relevant": False, "digest": f"0{n}"})
            + "\n"
            for n, (url, parent) in zip((1, 3, 4), pages, strict=True)
        )
    )
    record = CrawlRecord()
    record.restore({"last": 4, "open": [], "fetched": 3, "relevant": 0}, log)
    assert record.path(4) == ["http://a/b", "http://a/a"]
    assert record.path(3) == ["http://a/a", "http://a/b"]
