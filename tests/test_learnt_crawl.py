"""Strategies that learnt before a crawl, in real crawls of the sample web."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from focusspider.evaluation.bound import stored_page
from focusspider.models.modelfile import read_model, write_model
from focusspider.models.user_model import UserModel
from focusspider.page import PageParser
from focusspider.replay import open_archive
from focusspider.text import Analyzer
from focusspider.topic import Topic
from focusspider.training import build_trainer
from focusspider.training.base import TrainingData
from focusspider.webgraph import WebGraph
from tests.crawls import ROOT, Crawl, crawl

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 80
LEARNT = ("hmm", "context-graph", "memm", "crf")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Collect training data from the sample web, as a user would, and learn from them."""
    folder = tmp_path_factory.mktemp("models")
    graph_path = folder / "graph.sqlite"
    subprocess.run(
        [sys.executable, "-m", "scrapy", "focus-collect", "topics/sample.toml", "--relevant",
         "--out", str(graph_path), "-s", "FOCUS_REPLAY=sample"],
        cwd=ROOT, check=True, timeout=60, capture_output=True,
    )  # fmt: skip
    topic = Topic.load("sample", ROOT / "topics", needs_seeds=False)
    parser = PageParser(analyzer=Analyzer(topic.language))
    with WebGraph.open(graph_path) as graph:
        data = TrainingData.of_graph(graph, topic, parser, told=lambda *_: None)
    for name in LEARNT:
        learnt = build_trainer(name, {}).train(
            data, random_state=np.random.default_rng(0), told=lambda *_: None
        )
        write_model(folder / "sample" / f"{name}.npz", learnt.model)
        if name in {"memm", "crf"}:  # better than chance on pages that were held out
            assert learnt.model.metrics["held_out_order"] > 0.55
    return folder


def focused(folder: Path, models: Path, strategy: str, **settings: Any) -> Crawl:
    return crawl(
        folder,
        "topic=topics/sample.toml",
        f"strategy={strategy}",
        f"pages={PAGES}",
        FOCUS_REPLAY="sample",
        FOCUS_MODELS_DIR=models,
        FOCUS_EXPLAIN=True,
        **settings,
    )


def expected_beliefs(models: Path, log: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return what is believed of each page when its link is found, from the path that led there.

    For each page anew, over its parents, from the first one on, with nothing that travels.
    """
    model = UserModel.from_model_file(read_model(models / "sample/hmm.npz"))
    archive, parser = open_archive("sample"), PageParser(analyzer=Analyzer("english"))
    parents = {page["url"]: page["parent"] for page in log}
    expected = {}
    for url, parent in parents.items():
        path: list[str] = []
        while parent is not None:
            path.insert(0, parent)
            parent = parents[parent]
        if path:
            pages = [stored_page(archive, one) for one in path]
            terms = [parser.parse_html(page.body, page.url).terms for page in pages]
            clusters = np.array([model.observe(one) for one in terms])
            expected[url] = model.hmm_.ahead(model.hmm_.filter(clusters)[-1]).tolist()
    return expected


def test_beliefs_travel_with_requests_through_a_kill(tmp_path: Path, models: Path) -> None:
    words = [sys.executable, "-m", "scrapy", "crawl", "focus", "-a", "topic=topics/sample.toml",
             "-a", "strategy=hmm", "-a", f"pages={PAGES}"]  # fmt: skip
    settings = {
        "FOCUS_REPLAY": "sample", "FOCUS_MODELS_DIR": models, "FOCUS_EXPLAIN": True,
        "FOCUS_EXPORTS_DIR": tmp_path / "killed", "JOBDIR": tmp_path / "job",
        "CONCURRENT_REQUESTS": 8,
        "DOWNLOAD_DELAY": 0.02, "DOWNLOAD_DELAY_JITTER": 0, "LOG_LEVEL": "ERROR",
    }  # fmt: skip
    for name, value in settings.items():
        words += ["-s", f"{name}={value}"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(words, cwd=ROOT, env=environment)
    try:
        for _ in range(1200):
            time.sleep(0.02)
            logs = list(tmp_path.glob("killed/*/*/crawl.jsonl"))
            if logs and logs[0].read_bytes().count(b"\n") >= PAGES // 3:
                break
    finally:
        process.kill()  # SIGKILL
        process.wait()
    before = [json.loads(line) for line in logs[0].read_text().splitlines()]
    assert PAGES // 3 <= len(before) < PAGES
    subprocess.run(words, cwd=ROOT, env=environment, check=True, timeout=60)
    after = [json.loads(line) for line in logs[0].read_text().splitlines()]
    assert len(after) == PAGES
    expected = expected_beliefs(models, after)
    assert len(expected) > PAGES / 2
    for page in after:
        if page["url"] in expected:
            found = [page["explain"][f"T{state}"] for state in range(5)]
            assert_allclose(found, expected[page["url"]], rtol=0, atol=1e-6)  # 6 decimals
    assert max(page["depth"] for page in after[len(before) :] if page["url"] in expected) > 2


def test_a_crawl_is_the_same_each_time(tmp_path: Path, models: Path) -> None:
    for strategy in LEARNT:
        runs = [focused(tmp_path / f"{strategy}{n}", models, strategy) for n in range(2)]
        first, second = (
            [(page["url"], page["priority"], page["explain"]) for page in run.pages] for run in runs
        )
        assert first == second
        assert runs[0].run["relevant"] > 5


def test_a_missing_model_stops_before_the_first_request(tmp_path: Path) -> None:
    done = focused(tmp_path, tmp_path / "none", "hmm")
    assert done.code != 0
    assert "Traceback" not in done.log
    assert f"there is no {tmp_path}/none/sample/hmm.npz" in done.log
    assert "scrapy focus-train" in done.log
    assert done.folder is None


def test_what_the_docs_show_of_the_model_is_what_is_shown(models: Path) -> None:
    text = (ROOT / "docs/training.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"\$ scrapy focus-inspect (\S+) --words 6\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "focus-inspect", "sample/hmm.npz", "--words", "6"],
        cwd=models, check=True, timeout=60, capture_output=True, text=True,
    )  # fmt: skip
    assert block[0] == "models/sample/hmm.npz"
    shown = [line for line in block[1].splitlines() if line != "…"]
    assert len(shown) > 10
    assert set(shown) <= set(done.stdout.splitlines())
