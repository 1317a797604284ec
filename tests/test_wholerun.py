"""A run that several workers wrote: a real one, shared out among them, reads as it did."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from focusspider.commands.summary import summary
from focusspider.replay import open_archive
from focusspider.replay.wholegraph import CrawlLog
from focusspider.report.crawlpage import crawl_page
from focusspider.report.runlog import read_run, read_titles
from focusspider.wholerun import (
    is_run,
    merged_report,
    read_items,
    read_pages,
    read_report,
    run_parts,
)
from tests.crawls import crawl
from tests.fleet import jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

PAGES = 40


def write(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = crawl(
        tmp_path_factory.mktemp("alone"), "topic=sample", f"pages={PAGES}",
        FOCUS_REPLAY="sample", FOCUS_EXPORT_WARC=True, FOCUS_RUN="run",
    )  # fmt: skip
    assert run.folder is not None
    assert run.run["fetched"] == PAGES
    return run.folder


def worker_of(url: str) -> int:
    """Each host is one worker's, of three."""
    return sum(urlsplit(url).netloc.encode()) % 3


@pytest.fixture
def shared(alone: Path, tmp_path: Path) -> Path:
    """The same run, as three workers would have written it."""
    folder = tmp_path / "run"
    report = json.loads((alone / "run.json").read_text())
    for number in range(3):
        part = folder / f"worker-{(2, 10, 1)[number]}"
        part.mkdir(parents=True)
        for name in ("crawl.jsonl", "items.jsonl"):
            own = [line for line in jsonl(alone / name) if worker_of(line["url"]) == number]
            write(part / name, [{**line, "n": n} for n, line in enumerate(own, 1)])
        pages = jsonl(part / "crawl.jsonl")
        assert pages, "each has something"
        own = {
            "fetched": len(pages),
            "relevant": sum(page["relevant"] for page in pages),
            "stats": {"focus/page/fetched": len(pages), "focus/frontier/waiting": 7},
        }
        (part / "run.json").write_text(json.dumps({**report, **own}))
    shutil.copy(alone / "pages.warc.gz", folder / "worker-2")
    return folder


def without(line: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in names}


def test_pages_and_items_are_those_of_one_process(alone: Path, shared: Path) -> None:
    assert [part.name for part in run_parts(shared)] == ["worker-1", "worker-2", "worker-10"]
    assert run_parts(alone) == [alone]
    assert is_run(shared)
    assert is_run(alone)
    assert not is_run(shared.parent)
    # pages of one moment may change places
    for read, name in ((read_pages, "crawl.jsonl"), (read_items, "items.jsonl")):
        whole = jsonl(alone / name)
        assert list(read(alone)) == whole
        found = [without(line, "n") for line in read(shared)]
        assert [line["time"] for line in found] == [line["time"] for line in whole]
        assert sorted(map(str, found)) == sorted(str(without(line, "n")) for line in whole)


def test_the_report_is_that_of_one_process(alone: Path, shared: Path) -> None:
    one, all_of_them = read_run(alone), read_run(shared)
    assert all_of_them.problems == one.problems == []
    assert {page.url: page[3:] for page in all_of_them.pages} == {
        page.url: page[3:] for page in one.pages
    }
    named = [
        {page.url: log.pages[page.parent].url if page.parent >= 0 else None for page in log.pages}
        for log in (one, all_of_them)
    ]
    assert named[0] == named[1]
    urls = {page.url for page in one.pages}
    assert read_titles(one, urls) == read_titles(all_of_them, urls)
    assert all_of_them.run["fetched"] == PAGES
    assert all_of_them.run["relevant"] == one.run["relevant"]
    assert all_of_them.run["harvest_rate"] == one.run["harvest_rate"]
    assert all_of_them.stats() == {"focus/page/fetched": PAGES, "focus/frontier/waiting": 7}
    page = crawl_page(all_of_them, None)
    assert f"<b>{PAGES}</b><span>pages fetched" in page
    assert "<dt>Workers</dt><dd>3</dd>" in page
    assert "Workers" not in crawl_page(one, None)


def test_the_summary_is_that_of_one_process(alone: Path, shared: Path) -> None:
    one, all_of_them = (summary([folder]).splitlines() for folder in (alone, shared))
    files = slice(one.index("Files:"), one.index("First finds:"))
    assert [line for line in all_of_them if "worker-" not in line] == [
        *one[: files.start + 1], *one[files.stop - 1 :],
    ]  # fmt: skip
    assert sum("worker-" in line for line in all_of_them) == 3 * 3 + 1
    assert read_report(shared)["stop_reason"] == "page_limit"


def test_training_and_replay_are_those_of_one_process(alone: Path, shared: Path) -> None:
    one, all_of_them = CrawlLog(alone), CrawlLog(shared)
    assert CrawlLog.is_at(shared)
    assert sorted(one.relevant) == sorted(all_of_them.relevant)
    for page in jsonl(alone / "crawl.jsonl"):
        assert one.backlinks(page["url"], 1) == all_of_them.backlinks(page["url"], 1)
    assert all_of_them.warcs == (shared / "worker-2/pages.warc.gz",)
    assert sorted(open_archive(shared).urls()) == sorted(open_archive(alone).urls())


def test_a_page_that_two_fetched_counts_once(shared: Path) -> None:
    """worker-2 was killed, and what it had not committed was fetched by worker-1 again."""
    item = jsonl(shared / "worker-2/items.jsonl")[-1]
    page = next(p for p in jsonl(shared / "worker-2/crawl.jsonl") if p["url"] == item["url"])
    later = {"time": "2999-01-01T00:00:00.000+00:00"}
    for name, line in (("crawl.jsonl", page), ("items.jsonl", item)):
        with (shared / "worker-1" / name).open("a") as file:
            file.write(json.dumps({**line, **later, "n": 99}) + "\n")
    report = json.loads((shared / "worker-1/run.json").read_text())
    report["fetched"], report["relevant"] = report["fetched"] + 1, report["relevant"] + 1
    report["ended"] = "2999-01-01T00:00:00+00:00"
    (shared / "worker-1/run.json").write_text(json.dumps(report))
    log = read_run(shared)
    assert log.problems == ["Pages that a second worker fetched too, counted once: 1."]
    assert len(log.pages) == len({one.url for one in log.pages}) == PAGES
    assert len(list(read_pages(shared))) == PAGES
    assert [one for one in read_items(shared) if one["url"] == item["url"]] == [item]
    assert read_report(shared)["fetched"] == PAGES


def test_an_item_whose_page_was_lost_is_not_there_twice(shared: Path) -> None:
    """worker-2 wrote the item and was killed before the page; worker-1 has both."""
    item = jsonl(shared / "worker-2/items.jsonl")[-1]
    pages = jsonl(shared / "worker-2/crawl.jsonl")
    lost = next(page for page in pages if page["url"] == item["url"])
    write(shared / "worker-2/crawl.jsonl", [page for page in pages if page is not lost])
    again = {**item, "n": 99, "time": "2999-01-01T00:00:00.000+00:00"}
    for name, line in (("crawl.jsonl", lost), ("items.jsonl", again)):
        with (shared / "worker-1" / name).open("a") as file:
            file.write(json.dumps(line) + "\n")
    assert [one for one in read_items(shared) if one["url"] == item["url"]] == [again]


def test_items_of_any_form_that_two_have_alike_are_there_once(tmp_path: Path) -> None:
    for number, items in ((1, [{"a": 1}, {"a": 1}, {"url": ["x"]}]), (2, [{"a": 1}, {"b": 2}])):
        (tmp_path / f"worker-{number}").mkdir()
        write(tmp_path / f"worker-{number}/items.jsonl", items)
        write(tmp_path / f"worker-{number}/crawl.jsonl", [])
    # within one worker they stay: a spider may mean it
    assert sorted(map(str, read_items(tmp_path))) == sorted(
        map(str, [{"a": 1}, {"a": 1}, {"url": ["x"]}, {"b": 2}])
    )


def test_without_times_workers_take_turns(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"worker-{number}").mkdir()
        lines = [{"url": f"http://h{number}.example/{n}"} for n in range(3 - number)]
        write(tmp_path / f"worker-{number}/crawl.jsonl", lines)
    assert [line["url"][7:] for line in read_pages(tmp_path)] == [
        "h1.example/0", "h2.example/0", "h1.example/1",
    ]  # fmt: skip


BEGAN, MIDDLE, END = (f"2026-11-28T03:00:{seconds}+00:00" for seconds in ("00", "10", "20"))
OVER = {"started": BEGAN, "ended": MIDDLE, "stop_reason": "shutdown", "fetched": 3, "relevant": 1}
LAST = {**OVER, "started": MIDDLE, "ended": END, "stop_reason": "page_limit"}
OPEN = {**OVER, "ended": None, "stop_reason": None, "fetched": 0, "relevant": 0}


@pytest.mark.parametrize(
    ("reports", "latest", "reason", "ended"),
    [
        ([LAST, OVER], END, "page_limit", END),
        ([OVER, LAST], "2026-11-28T03:00:20.999+00:00", "page_limit", END),  # of the last second
        ([OVER, LAST, OPEN], MIDDLE, "page_limit", END),  # that one was killed
        ([OVER, LAST, OPEN], "2026-11-28T03:00:21.000+00:00", None, None),  # at work
        ([OPEN, OPEN], MIDDLE, None, None),
        ([OVER, {}], BEGAN, "shutdown", MIDDLE),  # one that can't be read
        ([LAST], "", "page_limit", END),
    ],
)
def test_why_a_crawl_stopped(
    reports: list[dict[str, Any]], latest: str, reason: str | None, ended: str | None
) -> None:
    found = merged_report(reports, latest)
    assert (found["stop_reason"], found["ended"]) == (reason, ended)
    assert found["started"] == min(report["started"] for report in reports if report)
    assert found["workers"] == sum(1 for report in reports if report)


def test_counts_are_summed_but_for_those_of_all() -> None:
    own = {"focus/page/fetched": 3, "focus/fleet/workers": 2, "focus/frontier/done": 9,
           "focus/frontier/waiting": 5, "downloader/x": 1, "focus/odd": "text"}  # fmt: skip
    other = {"focus/page/fetched": 4, "focus/fleet/workers": 3, "focus/frontier/done": 8,
             "focus/frontier/waiting": 6}  # fmt: skip
    found = merged_report([{**LAST, "stats": own}, {**OVER, "stats": other}], END)
    assert found["stats"] == {
        "focus/page/fetched": 7, "focus/fleet/workers": 3, "focus/frontier/done": 9,
        "focus/frontier/waiting": 5,
    }  # fmt: skip
    assert merged_report([{}, {}], "") == {}


def kill(shared: Path) -> None:
    report = json.loads((shared / "worker-1/run.json").read_text())
    unclosed = {"ended": None, "stop_reason": None, "fetched": 0, "relevant": 0, "stats": {}}
    (shared / "worker-1/run.json").write_text(json.dumps({**report, **unclosed}))
    with (shared / "worker-1/crawl.jsonl").open("a") as file:
        file.write('{"n": 99, "url": "http://cut')


@pytest.mark.parametrize(
    ("damage", "problems", "pages"),
    [
        (
            kill,
            [
                "The last line of worker-1/crawl.jsonl is cut",
                "Not closed, and so going on or killed: w",
            ],
            PAGES,
        ),
        (
            lambda shared: (shared / "worker-10/run.json").unlink(),
            [
                "worker-10/run.json can't be read (No such file",
                "Not closed, and so going on or killed: w",
            ],
            PAGES,
        ),
        (
            lambda shared: shutil.rmtree(shared / "worker-10"),
            ["Pages whose parent crawl.jsonl does not have before them"],
            None,
        ),
        (
            lambda shared: (shared / "worker-10/crawl.jsonl").unlink(),
            ["worker-10/crawl.jsonl can't be read (No such file"],
            None,
        ),
    ],
)
def test_what_a_worker_left_undone_is_said(
    shared: Path, damage: Callable[[Path], None], problems: list[str], pages: int | None
) -> None:
    damage(shared)
    log = read_run(shared)
    for problem in problems:
        assert any(one.startswith(problem) for one in log.problems), log.problems
    assert len(log.pages) == (pages or len(log.pages)) > 0
    assert summary([shared]).splitlines()[3].split()[1] == str(len(log.pages))
    assert len(CrawlLog(shared).relevant) == sum(log.relevant)
