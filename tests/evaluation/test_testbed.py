from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from focusspider.errors import BenchmarkError
from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.evaluation.page import write_evaluation_page
from focusspider.evaluation.runner import Options
from focusspider.evaluation.testbed import checkpoints, find_hubs, split
from focusspider.evaluation.testbedrun import TestbedRun, comparison, pairs
from focusspider.replay.sample import relevant_urls
from tests.evaluation.smallweb import BENCHMARK, write
from tests.report.htmlcheck import parse_file

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.evaluation.tables import Row

SAMPLE = """
strategies = ["breadth-first", "hub-seeking"]
pages = 40

[corpus]
archive = "sample"

[[crawls]]
name = "clocks"
topic = "TOPIC"
relevance = { kind = "callable", function = "focusspider.replay.sample:is_relevant" }

[testbed]
splits = 2
seeds = 8
"""


def test_a_split_is_a_partition_and_the_same_for_the_same_seed() -> None:
    pages = [f"p{number}" for number in range(20)]
    seeds, targets = split(pages, 6, np.random.default_rng(3))
    assert (len(seeds), len(targets)) == (6, 14)
    assert sorted(seeds + targets) == sorted(pages)
    assert split(pages, 6, np.random.default_rng(3)) == (seeds, targets)
    assert split(pages, 6, np.random.default_rng(4)) != (seeds, targets)


def test_every_page_is_as_likely_a_seed() -> None:
    random_state = np.random.default_rng(0)
    counts = np.zeros(5)
    for _ in range(4000):
        seeds, _ = split(list("01234"), 2, random_state)
        counts[list(map(int, seeds))] += 1
    # 4000 · 2/5 draws each; four standard errors are 4 · √(4000 · 0.4 · 0.6)
    np.testing.assert_allclose(counts, 1600, rtol=0, atol=124)


def test_hubs_point_to_two_hosts_of_seeds_at_least() -> None:
    seeds = ["http://a.example/1", "http://a.example/2", "http://b.example/", "http://c.example/"]
    hosts = {
        "http://x.example/three": frozenset({"a.example", "b.example", "c.example"}),
        "http://x.example/one": frozenset({"a.example", "d.example"}),
        "http://x.example/two": frozenset({"a.example", "b.example"}),
        "http://a.example/own": frozenset({"a.example", "b.example"}),
        "http://x.example/two-more": frozenset({"c.example", "b.example"}),
    }
    names = ["three", "two", "two-more"]
    assert find_hubs(hosts, seeds, 10) == [f"http://x.example/{name}" for name in names]
    assert len(find_hubs(hosts, seeds, 2)) == 2


def test_checkpoints() -> None:
    assert checkpoints(100)[:3] == [5, 10, 15]
    assert checkpoints(100)[-1] == 100
    assert checkpoints(3) == [1, 2, 3]


def row(group: str, strategy: str, recall: float, *, augmented: bool = False) -> Row:
    crawl = f"{group}-augmented" if augmented else group
    return {
        "crawl": crawl, "group": group, "augmented": augmented, "strategy": strategy, "seed": 0,
        "target_recall": recall, "precision": 0.5,
    }  # fmt: skip


def test_the_comparison_by_hand() -> None:
    rows = [
        row("a-1", "best-first", 0.2), row("a-2", "best-first", 0.4),
        row("a-1", "dom", 0.3), row("a-2", "dom", 0.7),
        row("a-1", "dom", 0.5, augmented=True), row("a-1", "best-first", 0.2, augmented=True),
    ]  # fmt: skip
    table = {(line["seeds"], line["strategy"]): line for line in comparison(rows, "best-first")}
    dom = table["as drawn", "dom"]
    assert dom["target_recall"] == pytest.approx(0.5)
    # differences 0.1 and 0.3: t = 0.2 / 0.1 with one degree of freedom
    assert dom["target_recall_p"] == pytest.approx(0.5 - np.arctan(2) / np.pi)
    assert dom["precision_p"] == 0.5
    assert table["as drawn", "best-first"]["target_recall_p"] is None
    assert table["augmented", "dom"]["target_recall_p"] is None  # one split proves nothing
    brought = {line["strategy"]: line for line in pairs(rows)}
    assert brought["dom"]["splits"] == 1
    assert brought["dom"]["target_recall_difference"] == pytest.approx(0.2)
    assert brought["best-first"]["target_recall_difference"] == pytest.approx(0.0)


def test_the_sample_web(tmp_path: Path) -> None:
    from tests.crawls import ROOT

    path = tmp_path / "bed.toml"
    path.write_text(SAMPLE.replace("TOPIC", str(ROOT / "topics/sample.toml")), encoding="utf-8")
    benchmark = load_benchmark(path)
    out = tmp_path / "out"
    run = TestbedRun(benchmark, Options(out=out, workers=2))
    relevant = relevant_urls()
    for one in run.drawn:
        if one["id"] == one["group"]:
            drawn = {*one["arguments"]["seeds"], *one["targets"]}
            assert drawn == relevant
            assert len(one["arguments"]["seeds"]) == 8
    ran: list[str] = []
    run.run(lambda name, problem: ran.append(name))
    assert run.failures == []
    assert len(ran) == 2 * len(run.drawn)
    run.write()
    run.draw()
    rows = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {row["strategy"] for row in rows} == {"breadth-first", "hub-seeking"}
    assert all(0 <= row["target_recall"] <= 1 and row["fetched"] == 40 for row in rows)
    assert all(0 < row["precision"] < 1 for row in rows)
    curves = json.loads((out / "curves.json").read_text(encoding="utf-8"))
    assert curves[0]["pages"] == checkpoints(40)
    assert (out / "curves/target-recall.png").stat().st_size > 1000
    write_evaluation_page(out, run.pictures())
    page = parse_file(out / "report.html")
    page.check()
    charts = json.loads(page.scripts[0])["charts"]
    assert [chart["title"] for chart in charts][:2] == [
        "Target recall from seeds", "Precision from seeds",
    ]  # fmt: skip
    assert charts[0]["x"] == checkpoints(40)
    assert f"Each curve is drawn at {len(checkpoints(40))} places." in page.text

    again = TestbedRun(benchmark, Options(out=out))
    assert len(again.reused) == len(again.runs)
    before = (out / "tables/testbed.json").read_bytes()
    again.run(lambda name, problem: ran.append(name))
    again.write()
    assert (out / "tables/testbed.json").read_bytes() == before
    assert len(ran) == 2 * len(run.drawn)


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ("[testbed]\nseeds = 1", "a test bed needs a budget; give pages ="),
        ("[testbed]\nseeds = 2", "2 pages of the corpus are relevant, and 2 of them"),
    ],
)
def test_what_cannot_be_split(tmp_path: Path, addition: str, message: str) -> None:
    pages = "" if "budget" in message else "pages = 3\n"
    benchmark = load_benchmark(write(tmp_path, f"{pages}{BENCHMARK}\n{addition}\n"))
    with pytest.raises(BenchmarkError, match=message):
        TestbedRun(benchmark, Options(out=tmp_path / "out"))
