"""``scrapy focus-train``: from a web graph to models that a crawl finds, on the sample web."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from focusspider.models.modelfile import read_model
from tests.crawls import ROOT, crawl
from tests.site import Site

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("context-graph", "hmm", "memm", "crf")


def scrapy(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "scrapy", name, *arguments],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def train(models: Path, *arguments: str, topic: str = "sample") -> subprocess.CompletedProcess[str]:
    return scrapy("focus-train", topic, "-s", f"FOCUS_MODELS_DIR={models}", *arguments)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the graph of the sample web, and all models of it."""
    folder = tmp_path_factory.mktemp("models")
    common = ("-s", "FOCUS_REPLAY=sample", "-s", f"FOCUS_MODELS_DIR={folder}", "-L", "ERROR")
    done = scrapy("focus-collect", "sample", "--relevant", *common)
    assert done.returncode == 0, done.stderr
    done = train(folder, "--date", "2026-01-31")
    assert done.returncode == 0, done.stderr
    (folder / "told").write_text(done.stdout + done.stderr, encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_says_what_it_was_made_of(models: Path, kind: str) -> None:
    model = read_model(models / "sample" / f"{kind}.npz", kind=kind)
    assert (model.topic, model.date) == ("sample", "2026-01-31")
    assert len(model.training_data) == 64
    assert model.metrics["held_out_accuracy"] > model.metrics["guessed_accuracy"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_printed(models: Path, kind: str) -> None:
    told = (models / "told").read_text(encoding="utf-8")
    assert f"{kind}: {models / 'sample' / kind}.npz" in told
    assert "held out accuracy: 0." in told
    assert "Warning: no page is 4" in told
    assert "Next: scrapy focus-inspect" in told


def test_what_the_docs_show_is_what_is_printed(models: Path) -> None:
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"\$ scrapy focus-train sample\n(.*?)```", text, re.DOTALL)
    shown = [line for line in block.splitlines() if line not in {"", "  …"}]
    told = (models / "told").read_text(encoding="utf-8").replace(f"{models}/", "models/")
    assert len(shown) > 10
    assert set(shown) <= set(told.splitlines())


def test_the_same_graph_seed_and_date_give_the_same_file(models: Path, tmp_path: Path) -> None:
    out = ("--strategy", "hmm", "--date", "2026-01-31", "--out")
    for arguments in (("a",), ("b", "--seed", "1")):
        done = train(models, *out, str(tmp_path / arguments[0]), *arguments[1:])
        assert done.returncode == 0, done.stderr
        model = tmp_path / arguments[0] / "hmm.npz"
        # what comes next names the file, which a crawl would not find by itself
        told = shlex.split(done.stdout.splitlines()[-1].removeprefix("Next: "))
        assert told[:3] == ["scrapy", "focus-inspect", f"{model},"]
        strategy = told[-1].removeprefix("strategy=")
        assert json.loads(strategy) == {"name": "hmm", "model": str(model)}
    first, same, other = (
        (folder / "hmm.npz").read_bytes()
        for folder in (models / "sample", tmp_path / "a", tmp_path / "b")
    )
    assert first == same
    assert first != other


@pytest.mark.parametrize("kind", KINDS)
def test_a_crawl_finds_its_model(models: Path, tmp_path: Path, kind: str) -> None:
    done = crawl(
        tmp_path,
        "topic=topics/sample.toml",
        f"strategy={kind}",
        FOCUS_REPLAY="sample",
        FOCUS_MODELS_DIR=models,
    )
    assert done.code == 0, done.log
    assert "ERROR" not in done.log, done.log
    assert done.run["relevant"] > 20  # what breadth-first finds, see the README


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategy", "hm"], "'hm' is not a known strategy to train (did you mean 'hmm'?)"),
        (["--param", "n_states=3"], "--param is for one strategy; name it with --strategy"),
        (["--strategy", "hmm", "--param", "n_states"], "'n_states' is not NAME=VALUE"),
        (["--strategy", "hmm", "--param", "n_stat=3"], "did you mean 'n_states'?"),
        (["--strategy", "hmm", "--param", "n_states=1"], "n_states must be 2 or more"),
        (["--strategy", "context-graph", "--param", "n_layers=1000000"], "must be at most 100"),
        (["--relevance", "--strategy", "hmm"], "--strategy hmm and --relevance: give one of them"),
        (["--relevance", "--param", "cc=3"], "the trainer of relevance has no parameter 'cc'"),
        (["--relevance", "--graph", "nowhere"], "there is nothing to learn from at nowhere"),
        (["--date", "tomorrow"], "--date 'tomorrow' is not a day, such as 2026-01-31"),
        (["--seed", "-1"], "--seed is a whole number of 0 or more, got -1"),
        (["--graph", "nowhere"], "there is nothing to learn from at nowhere: collect it with"),
        (["--graph", "README.md"], "README.md is no web graph; name one that focus-collect made"),
    ],
)
def test_wrong_input_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = train(tmp_path, *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_where_nothing_can_be_written_nothing_is_trained(models: Path) -> None:
    done = train(models, "--out", "README.md/x")
    assert done.returncode == 1
    assert done.stderr == "--out README.md/x cannot be a folder: Not a directory; name another\n"


def test_a_model_that_cannot_be_had_does_not_stop_the_others(models: Path, tmp_path: Path) -> None:
    """A graph of one page has too little for any; each says so."""
    from focusspider.webgraph import WebGraph

    path = tmp_path / "small.sqlite"
    with WebGraph.create(path, topic="sample", source="test") as graph:
        graph.add_page("http://a.example/", b"<title>clocks</title>old clocks", target=True)
    done = train(models, "--graph", str(path), "--out", str(tmp_path))
    assert done.returncode == 1
    for kind in KINDS:
        assert f"{kind}: {path} has too little to learn from" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.npz"))


def test_the_judge_is_trained_from_the_graph_and_found_by_a_crawl(
    models: Path, tmp_path: Path
) -> None:
    done = train(models, "--relevance", "--date", "2026-01-31")
    assert done.returncode == 0, done.stderr
    assert "logistic-regression, from 64 wanted and 422 other pages" in done.stdout
    path = models / "sample" / "relevance.npz"
    model = read_model(path, kind="relevance")
    assert (model.topic, model.date, len(model.training_data)) == ("sample", "2026-01-31", 64)
    assert model.metrics["held_out_recall"] > 0.9
    assert model.metrics["held_out_precision"] > 0.9
    crawled = crawl(
        tmp_path,
        "topic=sample",
        "relevance=classifier",
        FOCUS_REPLAY="sample",
        FOCUS_MODELS_DIR=models,
    )
    path.unlink()
    assert crawled.code == 0, crawled.log
    assert f"Relevance is judged by {path} of 2026-01-31" in crawled.log
    assert crawled.run["relevant"] > 20
    assert crawled.items[0]["why"].startswith("logistic-regression 0.")


def test_without_a_graph_the_judge_is_trained_from_the_topics_own_pages(tmp_path: Path) -> None:
    for name, text in (("tea", "tea in a cup"), ("cake", "cake with tea")):
        (tmp_path / f"{name}.html").write_text(f"<title>{name}</title><p>{text}", encoding="utf-8")
    (tmp_path / "robot.html").write_text("<h1>Robot</h1><p>A robot arm.", encoding="utf-8")
    pages = {f"/{n}": f"<h1>Robot</h1><p>A robot arm that can {n}." for n in ("grip", "lift")}
    with Site(pages, hosts=("127.0.0.1",)) as site:
        urls = [site.url(path) for path in (*pages, "/gone")]
        (tmp_path / "robots.toml").write_text(
            f'''
            targets = ["robot.html", "{urls[0]}", "{urls[1]}", "{urls[2]}"]
            [relevance]
            kind = "classifier"
            algorithm = "naive-bayes"
            negatives = ["tea.html", "cake.html"]
            ''',
            encoding="utf-8",
        )
        done = train(tmp_path / "m", "--relevance", topic=str(tmp_path / "robots.toml"))
    assert done.returncode == 0, done.stderr
    assert "naive-bayes, from 3 wanted and 2 other pages" in done.stdout
    assert read_model(tmp_path / "m" / "robots" / "relevance.npz").topic == "robots"
