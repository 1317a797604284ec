from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import BenchmarkError
from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.evaluation.runner import Evaluation, Options
from focusspider.models.modelfile import write_model
from tests.crawls import ROOT
from tests.evaluation.smallweb import BENCHMARK, write
from tests.report.htmlcheck import parse_file
from tests.strategies.tinymodels import crf_file

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.evaluation.benchmark import Benchmark

IDENTICAL = [
    "curves.json", "tables/summary.md", "tables/summary.csv", "tables/summary.json",
    "tables/crawls.csv", "tables/areas.md", "crawls/clocks/dom/crawl.jsonl",
]  # fmt: skip


def evaluate(benchmark: Benchmark, out: Path, **options: Any) -> tuple[Evaluation, list[str]]:
    """Run a benchmark, and return what was run."""
    evaluation = Evaluation(benchmark, Options(out=out, **options))
    ran: list[str] = []
    evaluation.run(lambda name, problem: ran.append(name))
    evaluation.write()
    return evaluation, ran


def rows_of(out: Path) -> dict[str, dict[str, Any]]:
    rows = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return {row["strategy"]: row for row in rows}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def first(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("first")
    evaluate(load_benchmark(small), out)
    return out


def test_the_rows_are_those_worked_out_by_hand(first: Path) -> None:
    rows = rows_of(first)
    assert list(rows) == ["omniscient", "breadth-first", "dom"]
    curves = json.loads((first / "curves.json").read_text(encoding="utf-8"))
    # index, news, clocks, old, t1, t2; against index, clocks, t1, t2, news, old
    assert [curve["found_at"] for curve in curves] == [[3, 4], [5, 6], [3, 4]]
    for row in rows.values():
        assert (row["reachable"], row["targets"], row["fetched"], row["found"]) == (6, 2, 6, 2)
    assert rows["breadth-first"]["auc"] == pytest.approx((2 + 1) / 12)
    assert rows["dom"]["auc"] == rows["omniscient"]["auc"] == pytest.approx((4 + 3) / 12)
    assert [row["headroom"] for row in rows.values()] == [1.0, 0.0, 1.0]
    dom = rows["dom"]
    assert [dom["precision_50"], dom["precision_100"]] == [pytest.approx(1 / 3), 0.5]
    assert dom["f1_100"] == pytest.approx(2 * 0.5 / 1.5)
    assert [dom["harvest_10"], dom["harvest_25"]] == [0.0, 0.0]
    assert rows["breadth-first"]["precision_100"] == pytest.approx(1 / 3)


def test_a_crawl_may_judge_by_itself_and_is_measured_by_the_truth(tmp_path: Path) -> None:
    judge = 'label = "wanted"\njudge = { kind = "keywords", all = ["news"] }'
    path = write(tmp_path, BENCHMARK.replace('label = "wanted"', judge))
    evaluate(load_benchmark(path), tmp_path / "out")
    run = json.loads((tmp_path / "out/crawls/clocks/dom/run.json").read_text(encoding="utf-8"))
    assert run["topic"]["relevance"]["kind"] == "keywords"
    assert run["relevant"] == 2, "the index names news, and the address of one page does"
    assert rows_of(tmp_path / "out")["dom"]["found"] == 2, "and the targets are found"


def test_each_crawl_measures_itself(first: Path) -> None:
    rows = rows_of(first)
    assert rows["omniscient"]["wall_s"] is None
    for strategy in ("breadth-first", "dom"):
        row = rows[strategy]
        assert 0 < row["cpu_ms_per_page"] < 1000 * row["wall_s"]
        assert 20 < row["peak_mb"] < 1000
        assert row["startup_s"] > 0


def test_what_is_not_stored_is_not_asked_for(first: Path) -> None:
    run = json.loads((first / "crawls/clocks/dom/run.json").read_text(encoding="utf-8"))
    assert run["stats"]["focus/link/refused/not_stored"] == 2
    assert run["stats"]["downloader/request_count"] == 6
    assert run["topic"]["relevance"]["kind"] == "labels"


def test_twice_is_the_same(small: Path, first: Path, tmp_path: Path) -> None:
    evaluate(load_benchmark(small), tmp_path, workers=2)
    for name in IDENTICAL:
        assert (tmp_path / name).read_bytes() == (first / name).read_bytes(), name


def test_what_is_finished_is_used_again(small: Path, tmp_path: Path) -> None:
    benchmark = load_benchmark(small)
    _, ran = evaluate(benchmark, tmp_path)
    assert sorted(ran) == ["clocks by breadth-first", "clocks by dom", "what can be reached"]
    (tmp_path / "crawls/clocks/dom/measured.json").unlink()  # as a crawl that was killed
    again, ran = evaluate(benchmark, tmp_path)
    assert ran == ["clocks by dom"]
    assert len(again.reused) == 1
    assert rows_of(tmp_path)["dom"]["found"] == 2
    _, ran = evaluate(benchmark.narrowed(pages=4), tmp_path)
    assert len(ran) == 3
    assert rows_of(tmp_path)["breadth-first"]["found"] == 0
    assert rows_of(tmp_path)["omniscient"]["fetched"] == 4
    _, ran = evaluate(benchmark.narrowed(pages=4), tmp_path, fresh=True)
    assert len(ran) == 3


def test_crawls_with_another_budget_are_kept_apart(tmp_path: Path) -> None:
    benchmark = load_benchmark(write(tmp_path))
    evaluate(benchmark, tmp_path / "out")
    few = benchmark.narrowed(pages=3)
    for ran in (3, 0):
        assert len(evaluate(few, tmp_path / "out", budget=3)[1]) == ran
        assert rows_of(tmp_path / "out")["dom"]["fetched"] == 3
    assert evaluate(benchmark, tmp_path / "out")[1] == []
    assert rows_of(tmp_path / "out")["dom"]["found"] == 2


def test_other_files_that_a_crawl_names_are_crawled_again(tmp_path: Path) -> None:
    table = tmp_path / "truth.csv"
    truth = f'relevance = {{ kind = "labels", file = "{table}", label = "wanted" }}'
    apart = BENCHMARK.replace('label = "wanted"', truth).replace('labels = "labels.csv"\n', "")
    model = tmp_path / "models/clocks/crf.npz"
    settings = f'[settings]\nFOCUS_MODELS_DIR = "{tmp_path / "models"}"\n\n[corpus]'
    apart = apart.replace("[corpus]", settings)
    apart = apart.replace('"dom"', f'{{ name = "crf", model = "{model}" }}, "auto"')
    path = write(tmp_path, apart)
    table.write_text((tmp_path / "corpora/labels.csv").read_text())
    model.parent.mkdir(parents=True)
    write_model(model, crf_file())
    out = tmp_path / "out"
    assert len(evaluate(load_benchmark(path), out)[1]) == 4
    assert evaluate(load_benchmark(path), out)[1] == []
    write_model(model, replace(crf_file(), date="2026-11-29T00:00:00Z"))
    assert sorted(evaluate(load_benchmark(path), out)[1]) == ["clocks by auto", "clocks by crf"]
    table.write_text(table.read_text().replace("old.html,other", "old.html,wanted"))
    assert len(evaluate(load_benchmark(path), out)[1]) == 4
    assert rows_of(out)["breadth-first"]["targets"] == 3


def test_a_changed_corpus_is_crawled_again(tmp_path: Path) -> None:
    path = write(tmp_path)
    evaluate(load_benchmark(path), tmp_path / "out")
    labels = tmp_path / "corpora/labels.csv"
    labels.write_text(labels.read_text().replace("old.html,other", "old.html,wanted"))
    _, ran = evaluate(load_benchmark(path), tmp_path / "out")
    assert len(ran) == 3
    assert rows_of(tmp_path / "out")["dom"]["targets"] == 3
    (tmp_path / "corpora/web/a.example/old.html").write_text("<html>newer</html>")
    _, ran = evaluate(load_benchmark(path), tmp_path / "out")
    assert len(ran) == 3


def test_a_crawl_that_fails_is_told_and_the_rest_go_on(tmp_path: Path) -> None:
    strategies = """strategies = [
        { name = "tests.evaluation.smallweb.Broken", label = "broken" },
        { name = "tests.evaluation.smallweb.Dying", label = "dying" },
        "dom",
    ]"""
    text = BENCHMARK.replace('strategies = ["breadth-first", "dom"]', strategies)
    evaluation, _ = evaluate(load_benchmark(write(tmp_path, text)), tmp_path / "out")
    problems = {failure.run: str(failure) for failure in evaluation.failures}
    assert list(problems) == ["clocks by broken", "clocks by dying"]
    assert "the strategy is broken" in problems["clocks by broken"]
    assert "killed by signal 9" in problems["clocks by dying"]
    # breadth-first is run for the headroom, though nobody asked for it
    assert list(rows_of(tmp_path / "out")) == ["omniscient", "breadth-first", "dom"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('label = "wanted"', 'label = "want"', "label 'want' is not in"),
        ('a.example/"', 'a.example/home"', "none of its seeds is in the corpus"),
        ('a.example/"', 'a.example/old.html"', "none of the 1 pages that it can reach is relevant"),
    ],
)
def test_what_does_not_fit_the_corpus_stops_all(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    benchmark = load_benchmark(write(tmp_path, BENCHMARK.replace(old, new)))
    with pytest.raises(BenchmarkError, match=message):
        evaluate(benchmark, tmp_path / "out")


def test_the_seeds_of_a_random_strategy(tmp_path: Path) -> None:
    text = BENCHMARK.replace('"dom"]', '{ name = "dom", random = true }]')
    _, ran = evaluate(load_benchmark(write(tmp_path, text)), tmp_path / "out", seeds=(0, 3))
    assert "clocks by dom-seed-3" in ran
    rows = json.loads((tmp_path / "out/results.json").read_text(encoding="utf-8"))
    assert [(row["strategy"], row["seed"]) for row in rows][2:] == [("dom", 0), ("dom", 3)]
    pooled = json.loads((tmp_path / "out/tables/summary.json").read_text(encoding="utf-8"))
    assert [line["crawls"] for line in pooled] == [1, 1, 1]


def command(
    *arguments: object, cwd: Path = ROOT, start: tuple[str, ...] = ("-m", "scrapy")
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    line = [sys.executable, "-W", "error", *start, "focus-evaluate", *map(str, arguments)]
    return subprocess.run(
        line, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_command_on_the_sample_web(tmp_path: Path) -> None:
    done = command(
        "benchmarks/sample.toml", "--strategies", "breadth-first,dom", "--budget", 60,
        "--out", tmp_path, "--workers", 2,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "| dom | 1 |" in done.stdout
    rows = rows_of(tmp_path)
    assert rows["dom"]["auc"] > rows["breadth-first"]["auc"]
    assert rows["dom"]["fetched"] == 60
    pictures = {path.name for path in (tmp_path / "curves").glob("*.png")}
    assert pictures == {"recall.png", "harvest.png", "precision-recall.png"}
    page = parse_file(tmp_path / "report.html")
    page.check()
    assert f"{rows['dom']['auc']:.3f}" in page.text


WITHOUT_EXTRA = (
    "import sys; sys.modules |= dict.fromkeys(('plotly', 'plotly.offline', 'matplotlib', "
    "'matplotlib.figure')); sys.argv[0] = 'scrapy'; "
    "from scrapy.cmdline import execute; execute()"
)


def test_without_the_extra_all_but_pictures_and_page_is_written(tmp_path: Path) -> None:
    options = ("--strategies", "breadth-first", "--budget", 5, "--out", tmp_path, "--workers", 1)
    done = command("benchmarks/sample.toml", *options, start=("-c", WITHOUT_EXTRA))
    assert done.returncode == 0, done.stderr
    pictures, page = done.stderr.splitlines()[-2:]
    assert pictures.startswith("There are no pictures: drawing curves needs a library")
    assert page.startswith("There is no report.html: drawing curves in a page needs a library")
    assert pictures[-33:] == page[-33:] == "pip install 'focusspider[report]'"
    assert {path.name for path in tmp_path.iterdir()} == {
        "crawls-5-pages", "curves.json", "evaluation.json", "results.json", "tables",
    }  # fmt: skip


def test_the_command_fails_where_a_crawl_does(tmp_path: Path) -> None:
    text = BENCHMARK.replace(
        '"dom"]', '{ name = "tests.evaluation.smallweb.Broken", label = "b" }]'
    )
    options = ("--out", tmp_path / "out", "--workers", 1)
    done = command(write(tmp_path, text), *options, cwd=tmp_path)
    assert done.returncode == 1
    assert "3 of 3: clocks by b failed: " in done.stderr  # after what can be reached, and one more
    assert "Failed: clocks by b" in done.stderr
    assert "RuntimeError: the strategy is broken" in done.stderr
    assert "| breadth-first | 1 |" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["benchmarks/webkb.toml", "--corpora", "nowhere"], 0, "webkb is skipped: its corpus"),
        (["benchmarks/none.toml"], 1, "benchmarks/none.toml: there is no such file"),
        (["benchmarks/sample.toml", "--crawls", "clock"], 1, "did you mean 'clocks'"),
        (["benchmarks/sample.toml", "--crawls", ","], 1, "options: ',' names no crawl"),
        (["benchmarks/sample.toml", "--budget", "0"], 1, "--budget 0: give 1 page or more"),
        (["benchmarks/sample.toml", "--seeds", "a"], 1, "--seeds a: give whole numbers"),
        (["benchmarks/sample.toml", "--workers", "0"], 1, "--workers 0: give 1 or more"),
    ],
)
def test_what_the_command_says(arguments: list[str], code: int, message: str) -> None:
    done = command(*arguments)
    assert done.returncode == code
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupted_run_kills_its_crawls_and_goes_on_later(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "scrapy", "focus-evaluate", "benchmarks/sample.toml",
            "--out", str(tmp_path), "--workers", "1"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        line, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("crawls/clocks/*/measured.json")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()  # to the end: no worker holds it open
        assert process.wait(timeout=60) == 130
    assert "the same command goes on from here" in said
    assert "Traceback" not in said
    finished = [path.parent.name for path in tmp_path.glob("crawls/clocks/*/measured.json")]
    assert 0 < len(finished) < 5
    done = command("benchmarks/sample.toml", "--strategies", "breadth-first", "--out", tmp_path)
    assert "1 of 1 crawls are finished, and used again" in done.stderr
