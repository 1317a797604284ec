"""The page of an evaluation in a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from focusspider.evaluation.curves import pictures
from focusspider.evaluation.page import MEAN, write_evaluation_page
from tests.evaluation.test_page import BASELINES, random_curves, written
from tests.report.hostile import BREAKOUT
from tests.report.watched import drawn, opened

if TYPE_CHECKING:
    from pathlib import Path

CHARTS = ("recall", "harvest", "precision-recall")
NAMES = [*BASELINES, *(f"strategy-{n}" for n in range(13))]
BANDS = "id => document.getElementById(id).data.filter((t) => t.fill === 'tonexty').length"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 16 crawls by 14 strategies."""
    curves = random_curves(16, 14)
    folder = written(tmp_path_factory.mktemp("evaluation") / "e", curves, description=BREAKOUT)
    write_evaluation_page(folder, pictures(curves, "harbours"))
    return folder / "report.html"


def test_the_curves_are_drawn_and_nothing_runs_or_is_fetched(browser, report):
    with opened(browser, report) as page:
        for chart in CHARTS:
            assert drawn(page, chart) == NAMES
            assert page.evaluate(BANDS, f"chart-{chart}") == len(NAMES) - 1
            low, high = page.evaluate(
                "id => document.getElementById(id)._fullLayout.yaxis.range", f"chart-{chart}"
            )
            assert 0 <= low < high <= 1.1
        offered = page.locator("#chart-recall .modebar-btn")
        titles = {offered.nth(n).get_attribute("data-title") for n in range(offered.count())}
        assert titles == {
            "Download plot as a PNG",
            "Zoom",
            "Pan",
            "Zoom in",
            "Zoom out",
            "Autoscale",
            "Reset axes",
        }  # fmt: skip - and not to share it with a server
        assert page.title() == "Evaluation: harbours"
        assert page.locator("#view").input_value() == MEAN


def test_a_strategy_that_is_switched_off_is_gone_from_curves_and_tables(browser, report):
    with opened(browser, report) as page:
        rows = page.locator("tr[data-series='strategy-3']:visible")
        heads = page.locator("th[data-series='strategy-3']:visible")
        before = rows.count()
        assert before >= 4  # results, tests, precision, cost
        assert heads.count() == 1
        page.locator("label.switch", has_text="strategy-3").click()
        for chart in CHARTS:
            assert drawn(page, chart) == [name for name in NAMES if name != "strategy-3"]
        assert (rows.count(), heads.count()) == (0, 0)
        assert page.locator("td[data-series='strategy-3']:visible").count() == 0
        assert page.locator("tr[data-series='strategy-4']:visible").count() == before
        page.get_by_role("button", name="none").click()
        assert page.evaluate("document.getElementById('chart-recall').data.length") == 0
        page.get_by_role("button", name="all", exact=True).click()
        assert drawn(page, "recall") == NAMES
        assert rows.count() == before


def test_one_crawl_instead_of_the_mean(browser, report):
    with opened(browser, report) as page:
        y = "document.getElementById('chart-recall').data.find((t) => t.name === 'strategy-0').y"
        mean = page.evaluate(y)
        page.locator("#view").select_option("crawl-2")
        assert page.evaluate(y) != mean
        assert page.evaluate(BANDS, "chart-recall") == 0  # one crawl has no spread
        assert drawn(page, "harvest") == NAMES
        page.locator("#view").select_option(MEAN)
        assert page.evaluate(y) == mean


def test_intervals_are_switched_off(browser, report):
    with opened(browser, report) as page:
        page.get_by_label("95 % intervals").uncheck()
        assert page.evaluate(BANDS, "chart-recall") == 0
        assert drawn(page, "recall") == NAMES


def test_the_results_are_sorted_by_a_click(browser, report):
    with opened(browser, report) as page:
        results = page.locator("table.sortable").first
        results.get_by_role("button", name="auc", exact=True).click()
        values = results.locator("tbody td:nth-child(3)").all_inner_texts()
        assert values == sorted(values, reverse=True)
        assert results.locator("tbody td").first.inner_text() == "omniscient"
