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

from focusspider.models.crf import CRF
from focusspider.models.memm import MEMM
from focusspider.models.modelfile import read_model, write_model
from focusspider.models.user_model import UserModel
from focusspider.page import PageParser
from focusspider.profile import TopicProfile
from focusspider.replay import open_archive
from focusspider.replay.reading import stored_page
from focusspider.text import Analyzer
from focusspider.topic import Topic
from focusspider.training import build_trainer
from focusspider.training.base import TrainingData
from focusspider.webgraph import WebGraph
from focusspider.webgraph.features import PageFeatures
from focusspider.webgraph.vocabulary import Vocabulary
from tests.crawls import ROOT, Crawl, crawl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from focusspider.page import Page

PAGES = 80
ARCHIVE = open_archive("sample")
#: What trains, with its parameters; a third of the sequences does for so small a web.
LEARNT: dict[str, dict[str, Any]] = {
    "hmm": {},
    "context-graph": {},
    "memm": {"n_sequences": 2_000},
    "crf": {"n_sequences": 2_000},
}


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
    for name, parameters in LEARNT.items():
        learnt = build_trainer(name, parameters).train(
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


def paths(log: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Give each page that a link led to, and those on the way there from the first one on."""
    lines = {line["url"]: line for line in log}
    for line in log:
        path: list[dict[str, Any]] = []
        parent = line["parent"]
        while parent is not None:
            path.insert(0, lines[parent])
            parent = lines[parent]["parent"]
        if path:
            yield line, path


def stored(url: str) -> Page:
    found = stored_page(ARCHIVE, url)
    return PageParser(analyzer=Analyzer("english")).parse_html(found.body, found.url)


def hmm_beliefs(models: Path, log: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return what is believed of each page when its link is found, from the path that led there.

    For each page anew, over its parents, from the first one on, with nothing that travels.
    """
    model = UserModel.from_file(read_model(models / "sample/hmm.npz"))
    expected = {}
    for line, path in paths(log):
        clusters = np.array([model.observe(stored(one["url"]).terms) for one in path])
        expected[line["url"]] = model.hmm_.ahead(model.hmm_.filter(clusters)[-1]).tolist()
    return expected


def chain_beliefs(models: Path, log: list[dict[str, Any]], kind: str) -> dict[str, list[float]]:
    """Return the same of a MEMM or CRF: of the whole sequence at once, for each page anew."""
    file = read_model(models / f"sample/{kind}.npz")
    model = {"memm": MEMM, "crf": CRF}[kind].from_file(file)
    topic, about = Topic.load("sample", ROOT / "topics"), file.parameters
    features = PageFeatures(
        TopicProfile(topic, Analyzer(topic.language)),
        families=about["families"],
        lookahead=about["lookahead"],
        important=about["important"],
    )
    vocabulary, expected = Vocabulary(model.names_), {}
    for line, path in paths(log):
        pages = [stored(one["url"]) for one in path]
        rows = [
            features.of_page(page) | features.of_anchor(page.url, one["anchor"] or "")
            for page, one in zip(pages, path, strict=True)
        ]
        links = [
            link
            for link in pages[-1].links
            if link.url == line["url"] and link.anchor == line["anchor"]
        ]
        if len(links) == 1:  # several differ by their place in the page
            matrix = vocabulary.matrix([*rows, features.of_link(pages[-1], links[0])])
            expected[line["url"]] = model.beliefs(matrix, [len(rows) + 1])[-1].tolist()
    return expected


@pytest.mark.parametrize("kind", ["hmm", "memm", "crf"])
def test_beliefs_travel_with_requests_through_a_kill(
    tmp_path: Path, models: Path, kind: str
) -> None:
    words = [sys.executable, "-m", "scrapy", "crawl", "focus", "-a", "topic=topics/sample.toml",
             "-a", f"strategy={kind}", "-a", f"pages={PAGES}"]  # fmt: skip
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
    expected = hmm_beliefs(models, after) if kind == "hmm" else chain_beliefs(models, after, kind)
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
