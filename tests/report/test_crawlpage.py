"""The page about a crawl: what it says, of crawls of every kind."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

from focusspider.report.crawlpage import Bounds, crawl_page
from focusspider.report.progress import harvest_rates, progress
from focusspider.report.runlog import read_run
from tests.report.hostile import NO_LINKS, TEXTS, page, run_folder
from tests.report.htmlcheck import Parsed

DOCS = Path(__file__).resolve().parents[2] / "docs"


def parsed_page(folder, library="", bounds=None):
    parsed = Parsed(crawl_page(read_run(folder), library, bounds))
    parsed.check()
    return parsed


def small():
    return [
        page(1),
        page(2, parent="http://h1.example/1", anchor="the clocks", relevant=True),
        page(3, parent="http://h2.example/2", relevant=True),
        page(4, parent="http://h1.example/1"),
    ]


def test_it_says_what_the_folder_says(tmp_path):
    text = parsed_page(run_folder(tmp_path / "r", small())).text
    for words in (
        "Crawl: clocks, r", "4pages fetched", "2of them relevant", "0.500harvest rate", "3hosts",
        "dom, alpha 0.25", "cosine, threshold 0.2", "page_limit: the budget of pages is spent",
        "“the clocks” page 2 · relevance 0.25 · 1 relevant further on",
        "focus/link/refusedoffsite90.750Outside [sites]",
        "Of 30 links of the pages, 10 were new", "8 were known, and 12 were refused.",
        "focus/page/faileddns21.000The host's name was not found.",
        "retry/count4",
    ):  # fmt: skip
        assert words in text, words
    assert "left out" not in text.replace("are left out of", "")


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_hostile_pages(tmp_path, text):
    lines = [page(1, url=url, relevant=True, anchor=text) for url in NO_LINKS]
    lines += [page(2, url=text, parent=NO_LINKS[0], relevant=True, anchor=text)]
    folder = run_folder(
        tmp_path / "r", lines, strategy=text, stop_reason=text, started=text, seed=[text],
        strategy_params={text: text}, versions={text: text},
        topic={"name": text, "keywords": [text] * 500, "description": text,
               "seeds": [*NO_LINKS] * 50, "relevance": {"kind": text, text: text},
               "limits": {text: text}},
        stats={f"focus/link/refused/{text}": 5, "focus/link/refused": 5, f"retry/{text}": text},
    )  # fmt: skip
    page_ = parsed_page(folder)
    assert page_.hrefs == []
    assert "… and 640 more" in page_.text


def test_the_page_of_a_crawl_without_pages_or_anything(tmp_path):
    folder = run_folder(tmp_path / "r", [], fetched=0, stop_reason="no_page", stats={})
    text = parsed_page(folder).text
    assert "no_page: not one page could be fetched" in text
    assert "Not known: the crawl writes it when it closes." in text
    assert "No page was relevant." in parsed_page(run_folder(tmp_path / "s", [page(1)])).text


@pytest.mark.parametrize("name", ["first-crawl.md", "reference/limits.md"])
def test_each_reason_of_ours_is_explained(tmp_path, name):
    _, rows = (DOCS / name).read_text(encoding="utf-8").split("\n| reason | ")
    documented = set(re.findall(r"`(\w+)`", rows.split("\n\n")[0]))
    ours = {reason for reason in documented if not reason.startswith("closespider")}
    assert {"page_limit", "no_target", "disk_error", "frontier_error"} < ours
    for reason in sorted(ours):
        folder = run_folder(tmp_path / reason, small(), stop_reason=reason)
        assert f"Stopped by{reason}: " in parsed_page(folder).text


def test_problems_are_on_the_page(tmp_path):
    folder = run_folder(tmp_path / "r", small(), stop_reason=None, ended=None)
    with (folder / "crawl.jsonl").open("a") as file:
        file.write('{"url"')
    (folder / "items.jsonl").unlink()
    text = parsed_page(folder).text
    for words in ("The crawl has not closed", "crawl.jsonl is cut", "items.jsonl can't be read",
                  "nothing yet: it is going on, or was killed"):  # fmt: skip
        assert words in text


def test_without_a_library_the_page_names_the_extra(tmp_path):
    parsed = parsed_page(run_folder(tmp_path / "r", small()), library=None)
    assert "pip install 'focusspider[report]'" in parsed.text
    assert not [attrs for _, attrs in parsed.elements if attrs.get("class") == "chart"]


def test_a_large_crawl_makes_a_small_page(tmp_path):
    chance = random.Random(0)
    lines = []
    for n in range(1, 100_001):
        parent = chance.randint(max(1, n - 500), n - 1) if n > 5 else None
        lines.append(
            page(
                n, url=f"http://h{n % 5000}.example/{n}", anchor="word " * 20,
                parent=parent and f"http://h{parent % 5000}.example/{parent}",
                relevant=chance.random() < 0.3,
            )
        )  # fmt: skip
    folder = run_folder(tmp_path / "r", lines)
    text = crawl_page(read_run(folder), "")
    assert len(text) < 2_000_000
    parsed = Parsed(text)
    parsed.check()
    assert "The curves are drawn at 1,000 of 100,000 pages." in parsed.text
    assert "4,800 more hosts are left out: " in parsed.text
    assert re.search(r"… [\d,]+ more, on whose paths are [\d,]+ relevant pages, are left", text)


def test_the_bounds_hold(tmp_path):
    lines = [page(1, relevant=True)]
    lines += [page(n, parent="http://h1.example/1", relevant=True) for n in range(2, 40)]
    folder = run_folder(tmp_path / "r", lines)
    few = Bounds(points=10, hosts=1, hubs=1, tree=5, levels=2, waits=3)
    parsed = parsed_page(folder, bounds=few)
    assert "2 more hosts are left out: 26 pages, 26 of them relevant." in parsed.text
    assert "… 34 more, on whose paths are 34 relevant pages, are left out" in parsed.text
    assert sum(tag == "li" for tag, _ in parsed.elements) == 6


def test_harvest_rates_against_the_definition():
    chance = np.random.default_rng(1)
    relevant = (chance.random(300) < 0.4).tolist()
    whole, recent = harvest_rates(relevant, 25)
    for n in range(1, 301):
        assert whole[n - 1] == pytest.approx(np.mean(relevant[:n]), rel=1e-12)
        assert recent[n - 1] == pytest.approx(np.mean(relevant[max(0, n - 25) : n]), rel=1e-12)


def test_the_charts_of_a_crawl(tmp_path):
    log = read_run(run_folder(tmp_path / "r", small()))
    found, harvest, over_time = progress(log.pages, 100)
    assert found.views[""]["relevant"].y == [0, 1, 2, 2]
    assert harvest.views[""]["whole crawl"].y == pytest.approx([0, 1 / 2, 2 / 3, 1 / 2])
    assert over_time.x == [0, 1, 2, 3]
    assert over_time.x_title == "seconds since the first page"
    back = [log.pages[0], log.pages[1]._replace(time=0.0), *log.pages[2:]]
    assert progress(back, 100)[2].x == [0, 0, 2, 3]
    assert "last 200 pages" in progress(log.pages * 5_000, 9)[1].views[""]
    few = progress(log.pages, 2)
    assert [chart.x for chart in few] == [[1, 4], [1, 4], [0, 3]]
    # without times, or all at once, there is no chart of them
    assert len(progress([one._replace(time=None) for one in log.pages], 9)) == 2
    assert progress([], 9) == []
