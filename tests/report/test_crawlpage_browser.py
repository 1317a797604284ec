"""The page about a crawl in a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from focusspider.report.charts import library
from focusspider.report.crawlpage import crawl_page
from focusspider.report.document import write_page
from focusspider.report.runlog import read_run
from tests.report.hostile import BREAKOUT, NO_LINKS, TEXTS, page, run_folder
from tests.report.watched import drawn, opened

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a crawl of 60 pages, half of them hostile."""
    lines = [page(1)]
    for n in range(2, 61):
        lines.append(
            page(
                n, url=f"http://h{n % 4}.example/{n}?{BREAKOUT if n % 2 else ''}",
                parent=lines[n // 2 - 1]["url"], relevant=n % 3 == 0,
                anchor=TEXTS[n % len(TEXTS)],
            )
        )  # fmt: skip
    lines += [page(n, url=url, relevant=True) for n, url in enumerate(NO_LINKS, 61)]
    folder = run_folder(tmp_path_factory.mktemp("crawl") / "run", lines, strategy=BREAKOUT)
    write_page(folder / "report.html", crawl_page(read_run(folder), library()))
    return folder / "report.html"


def test_the_curves_are_drawn_and_nothing_runs_or_is_fetched(browser, report):
    with opened(browser, report) as page:
        assert drawn(page, "found") == ["relevant"]
        assert set(drawn(page, "harvest")) == {"whole crawl", "last 100 pages"}
        assert set(drawn(page, "time")) == {"fetched", "relevant"}
        assert page.title() == "Crawl: clocks, run"
        assert page.evaluate("document.images.length") == 0
        schemes = page.eval_on_selector_all("a[href]", "all => all.map((a) => a.protocol)")
        assert set(schemes) == {"http:"}


def test_the_tree_opens_and_closes(browser, report):
    with opened(browser, report) as page:
        closed = page.locator("#tree details:not([open])")
        at_first = closed.count()
        assert at_first > 0
        closed.first.locator("> summary").click(position={"x": 3, "y": 8})
        assert closed.count() < at_first
        page.get_by_role("button", name="open all").click()
        assert closed.count() == 0
        assert page.locator("#tree li").last.is_visible()
        page.get_by_role("button", name="close all").click()
        assert page.locator("#tree details[open]").count() == 0


def test_a_click_on_a_head_sorts(browser, report):
    with opened(browser, report) as page:
        hosts = page.locator("table.sortable").first

        def column(number):
            return hosts.locator(f"tbody td:nth-child({number})").all_inner_texts()

        fetched = hosts.get_by_role("button", name="fetched")
        fetched.click()
        values = [int(text) for text in column(2)]
        assert values == sorted(values, reverse=True)
        fetched.click()
        values = [int(text) for text in column(2)]
        assert values == sorted(values)
        hosts.get_by_role("button", name="host").click()
        assert column(1)[-1] == "h3.example"
        assert hosts.locator("th[aria-sort]").count() == 1
