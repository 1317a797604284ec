"""What benchmarks of strategies that learn are trained on: never what they are to find."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.sweep import crawled
from benchmarks.targetsplit import (
    SESSION_PAGES,
    TargetSplit,
    browsed,
    collected,
    levels_of,
    write_labels,
)
from benchmarks.train import VARIANTS, Web
from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.evaluation.graph import StoredGraph, stored_graph
from focusspider.page import PageParser
from focusspider.replay import Stored
from focusspider.strategies.breadth_first import BreadthFirst
from focusspider.text import Analyzer
from focusspider.topic import Topic
from focusspider.training import TRAINERS, build_trainer
from tests.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from focusspider.evaluation.benchmark import Benchmark

LEARNED = ("manuals-learned", "webkb-claims", "webkb-learned", "wikispeedia-learned")
TOPIC = Topic.from_arguments(name="t", keywords="word", seeds="http://a.example/0")
PARSER = PageParser(analyzer=Analyzer())


def graph_of(links: Mapping[int, Sequence[int]], n: int) -> tuple[Shelf, StoredGraph]:
    """Return pages 0 to n - 1 at ``http://a.example/N``."""
    stored = []
    for page in range(n):
        anchors = "".join(f'<a href="/{child}">to</a> ' for child in links.get(page, ()))
        html = f"<body><p>page word{chr(97 + page % 26)} {anchors}</p></body>".encode()
        answer = (("Content-Type", "text/html"),)
        stored.append(Stored(f"http://a.example/{page}", 200, answer, html))
    shelf = Shelf(*stored)
    return shelf, stored_graph(shelf, PARSER)


def pages_of(shelf: Shelf, graph: StoredGraph) -> Sequence[object]:
    return [PARSER.parse_html(shelf.get(url).body, url) for url in graph.urls]


def mask(graph: StoredGraph, *numbers: int) -> np.ndarray:
    return graph.mask(f"http://a.example/{number}" for number in numbers)


def numbers(graph: StoredGraph, flags: np.ndarray) -> set[int]:
    return {int(graph.urls[n].rpartition("/")[2]) for n in np.flatnonzero(flags).tolist()}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_target_is_both_learnt_from_and_to_be_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    targets, seeds = rng.random(101) < 0.5, rng.random(101) < 0.1
    split = TargetSplit.of(targets, seeds, rng)
    assert not (split.training & split.test).any()
    assert ((split.training | split.test) == targets).all()
    assert not (split.training & seeds).any()
    assert split.training.sum() == (targets & ~seeds).sum() // 2
    assert (split.unseen == (split.test | seeds)).all()


def test_a_graph_to_learn_from_has_the_layers_of_its_targets_and_nothing_to_be_found() -> None:
    # 6 → 5 → 4 → 3 → 2 → 1, the training target; 0, the seed, and 8, to be found, lead there, too
    links = {6: [5], 5: [4], 4: [3], 3: [2], 2: [1], 0: [1, 2], 8: [1], 7: [8]}
    shelf, graph = graph_of(links, 9)
    split = TargetSplit(mask(graph, 1), mask(graph, 8), mask(graph, 0))
    pages = pages_of(shelf, graph)
    chosen = collected(graph, pages, split, TOPIC, PARSER.analyzer, threshold=0)
    assert numbers(graph, chosen.pages) == {1, 2, 3, 4, 5}  # 6 is five links away
    assert numbers(graph, chosen.given) == numbers(graph, chosen.targets) == {1}
    like = collected(graph, pages, split, TOPIC, PARSER.analyzer, threshold=1e-6)
    assert numbers(graph, like.given) == {1}
    assert {1} < numbers(graph, like.targets) <= {1, 2, 3, 4, 5}  # "page" and "to" are in all


def test_a_session_goes_from_general_pages_to_a_training_target() -> None:
    # 0 to 2 are general, 3 and 4 nearer, 5 and 6 to learn from, 7 to be found, 8 a seed
    links = {0: [3, 8], 1: [4, 7], 2: [0, 3], 3: [5, 0, 7], 4: [6, 1], 5: [6], 6: [5]}
    _, graph = graph_of(links, 9)
    levels = np.zeros(9, dtype=np.int64)
    for number, level in enumerate([1, 1, 1, 2, 2, 3, 3, 3, 1]):
        levels[mask(graph, number)] = level
    split = TargetSplit(mask(graph, 5, 6), mask(graph, 7), mask(graph, 8))
    chosen = browsed(graph, split, levels, np.random.default_rng(0))
    assert numbers(graph, chosen.pages) == {0, 1, 2, 3, 4, 5, 6}
    assert numbers(graph, chosen.targets) == {5, 6}
    assert chosen.pages.sum() <= SESSION_PAGES


def test_levels_are_how_far_categories_agree() -> None:
    labels = {"a": ["Science.Biology.Birds"], "b": ["Science.Physics", "Music"], "c": ["Sci"]}
    assert levels_of("abcd", labels, "Science.Biology.Birds").tolist() == [3, 1, 0, 0]


def test_the_truth_is_without_what_was_learnt_from(tmp_path: Path) -> None:
    table, made = tmp_path / "labels.csv", tmp_path / "models/labels.csv"
    table.write_text("url,label\na,X.Y\na,Z\nb,X.Y.W\nc,X\n")
    write_labels(table, [("X.Y", frozenset({"a"})), ("Z", frozenset({"b"}))], made)
    with made.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["url", "label"], ["a", "Z"], ["b", "X.Y.W"], ["c", "X"]]


def test_a_sweep_fetches_each_page_once_in_the_order_of_a_crawl() -> None:
    shelf, graph = graph_of({0: [2, 1], 2: [4, 0], 1: [3, 4]}, 6)
    pages = pages_of(shelf, graph)
    nodes = {link.url: graph.node(link.url) for page in pages for link in page.links}
    web = Web(shelf, PARSER, graph, pages, nodes)
    fetched = crawled(web, SimpleNamespace(topic=TOPIC), BreadthFirst())
    assert [url.rpartition("/")[2] for url in fetched] == ["0", "2", "1", "4", "3"]


def learned(name: str) -> Benchmark:
    return load_benchmark(Path(__file__).resolve().parents[1] / f"benchmarks/{name}.toml")


@pytest.mark.parametrize("name", LEARNED)
def test_each_strategy_that_learns_has_a_model_that_is_trained_as_its_label_says(name: str) -> None:
    benchmark = learned(name)
    crawl = benchmark.crawls[0]
    models: dict[str, str] = {}
    for strategy in benchmark.strategies:
        if strategy.name not in TRAINERS:
            continue
        model = Path(strategy.of(crawl, benchmark.corpora)["model"])
        variant = model.stem.removeprefix(f"{crawl.site}-").removeprefix(f"{crawl.topic}-")
        known = {strategy.name, f"{strategy.name}-session"}
        assert variant in known | set(VARIANTS)
        if variant in VARIANTS:
            assert strategy.label.removesuffix("-viterbi") == variant
        models[strategy.label] = model.name
    assert {"context-graph", "hmm", "memm", "crf"} <= models.keys()


def test_the_variants_are_parameters_of_trainers() -> None:
    for label, params in VARIANTS.items():
        kind = next(kind for kind in TRAINERS if label.startswith(f"{kind}-"))
        build_trainer(kind, params)
