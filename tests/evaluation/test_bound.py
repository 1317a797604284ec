from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from focusspider.errors import BenchmarkError
from focusspider.evaluation.bound import StoredTruth, bound_of
from focusspider.evaluation.graph import stored_graph
from focusspider.evaluation.pool import run_jobs, tail
from focusspider.parsing import parser_of
from focusspider.replay import Stored
from focusspider.replay.reading import stored_page
from tests.shelf import Shelf

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = Settings()


def stored(path: str, body: str, kind: str = "text/html", host: str = "a.example") -> Stored:
    return Stored(f"http://{host}{path}", 200, (("Content-Type", kind),), body.encode())


SHELF = Shelf(
    stored("/", '<a href="/news">n</a><a href="/old">o</a><a href="http://b.example/">b</a>'),
    stored("/news", '<p>weather</p><a href="/clock.txt">t</a>'),
    stored("/clocks", "<p>clock clock pendulum</p>"),
    stored("/clock.txt", "clock clock", "image/png"),
    Stored("http://a.example/old", 301, (("Location", "/clocks"),), b""),
    stored("/", "<p>clock</p>", host="b.example"),
)


def truth(**arguments: Any) -> StoredTruth:
    table: dict[str, Any] = {
        "name": "c", "keywords": ["clock"], "seeds": ["http://a.example/"],
        "relevance": {"kind": "cosine", "threshold": 0.5},
    }  # fmt: skip
    return StoredTruth({**table, **arguments}, SHELF, SETTINGS)


def bound(**arguments: Any) -> Any:
    graph = stored_graph(SHELF, parser_of("english", SETTINGS))
    return bound_of(graph, truth(**arguments), arguments.get("pages"))


def test_a_judge_that_reads_the_pages() -> None:
    found = bound()
    assert found.targets == {"http://a.example/clocks", "http://b.example/"}
    # the index, then both targets; news and the picture are left
    assert (found.reachable, found.found_at, found.fetched) == (5, (2, 3), 5)


def test_the_scope_and_the_budget() -> None:
    found = bound(allow=["a.example"], pages=2)
    assert found.targets == {"http://a.example/clocks"}
    assert (found.reachable, found.found_at, found.fetched) == (4, (2,), 2)


def test_targets_teach_the_judge() -> None:
    examples = truth(targets=["http://a.example/old"], keywords=[])
    urls = ["http://a.example/news", "http://a.example/clocks", "http://a.example/old"]
    assert examples.relevant(urls) == ["http://a.example/clocks"]  # a redirect is no page


def test_what_a_request_ends_at() -> None:
    page = stored_page(SHELF, "http://a.example/old")
    assert page is not None
    assert page.url == "http://a.example/clocks"
    assert stored_page(SHELF, "http://a.example/none") is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": ["http://a.example/none"]}, "crawl c: none of its seeds is in the corpus"),
        ({"keywords": ["ship"]}, "none of the 5 pages that it can reach is relevant"),
    ],
)
def test_a_crawl_that_cannot_be(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        bound(**arguments)


LOG = """\
2026-11-27 10:15:00 [scrapy.core.engine] INFO: Spider opened
2026-11-27 10:15:01 [scrapy.core.scraper] ERROR: Spider error processing <GET http://a.example/>
Traceback (most recent call last):
{frames}RuntimeError: broken
2026-11-27 10:15:02 [scrapy.core.engine] INFO: Spider closed (finished)
"""


def test_the_end_of_a_log_is_its_last_error(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    assert "no log" in tail(log)
    log.write_text("")
    assert "empty" in tail(log)
    log.write_text("one\ntwo\nthree\n")
    assert tail(log, 2) == "    two\n    three"
    log.write_text(LOG.format(frames="  a frame\n" * 2))
    lines = tail(log).splitlines()
    assert len(lines) == 5
    assert lines[-1] == "    RuntimeError: broken"
    log.write_text(LOG.format(frames="  a frame\n" * 50))
    lines = tail(log).splitlines()
    assert len(lines) == 12
    assert "ERROR: Spider error" in lines[0]
    assert lines[-1] == "    RuntimeError: broken"


def test_a_worker_tells_what_cannot_be_replayed(tmp_path: Path) -> None:
    job = {"kind": "bounds", "archive": [str(tmp_path / "none.warc")], "log": str(tmp_path / "l")}
    answers = list(run_jobs([job, job], 1))
    assert [answer.wrong_input for answer in answers] == [True, True]
    assert "none.warc: there is no such file" in str(answers[0].problem)


def test_no_worker_is_left_when_nobody_listens(tmp_path: Path) -> None:
    job = {"kind": "bounds", "archive": ["sample"], "log": str(tmp_path / "l"), "crawls": []}
    before = _children()
    answers = run_jobs([job, job, job], 2)
    next(answers)
    answers.close()
    assert _children() == before


def _children() -> set[str]:
    """Return the processes whose parent is this one, as Linux lists them."""
    path = f"/proc/self/task/{os.getpid()}/children"
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123 - no file of a folder
            return set(file.read().split())
    except OSError:
        return set()
