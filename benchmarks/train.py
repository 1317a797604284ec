"""Train the models of a benchmark's crawls: on stored pages that they do not find targets in.

    python benchmarks/train.py benchmarks/webkb-learned.toml --corpora FOLDER
    scrapy focus-evaluate benchmarks/webkb-learned.toml

A crawl of one university or one manual learns from the others that the benchmark crawls, as a
user would who has crawled elsewhere before: from all of their pages and links, the pages that are
relevant by the crawl's own truth being targets. Where a crawl's scope is the whole web there is
nothing else to learn from, and its targets are split: see ``benchmarks/targetsplit.py``. The
truth of such a crawl is a table of labels that is written here, too.

The models go where the benchmark file looks for them. A strategy's label names its parameters
in ``VARIANTS``; one that is not there has the defaults of ``focus-train``. Models that are there
already are kept, unless ``--fresh`` is given.
"""

from __future__ import annotations

import argparse
import csv
import logging
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scrapy.settings import Settings

from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.evaluation.bound import StoredTruth
from focusspider.evaluation.graph import PageReader, stored_graph
from focusspider.models.modelfile import write_model
from focusspider.page import Page
from focusspider.parsing import parser_of
from focusspider.replay import open_archive
from focusspider.topic import Topic
from focusspider.training import TRAINERS, build_trainer
from focusspider.training.base import TrainingData
from focusspider.webgraph.features import FAMILIES, TABLE_1

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from focusspider.evaluation.benchmark import Benchmark, CrawlSpec
    from focusspider.evaluation.graph import StoredGraph
    from focusspider.page import PageParser
    from focusspider.replay import Archive

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.targetsplit import (
    Chosen,
    TargetSplit,
    browsed,
    collected,
    levels_of,
    write_labels,
)

#: What the papers compare of MEMM and CRF, and more sequences.
_CHAINS: dict[str, dict[str, Any]] = {
    "table1": {"families": list(TABLE_1)},
    "words": {"families": ["words"]},
    "rest": {"families": [name for name in TABLE_1 if name != "words"]},
    "no-words": {"families": [name for name in FAMILIES if name not in {"words", "body"}]},
    "literal": {"lookahead": False},
    "paper": {"families": list(TABLE_1), "lookahead": False, "only_down": True},
    "12000": {"n_sequences": 12_000},
}
#: How a strategy is trained whose label, without "-viterbi", is not its name.
VARIANTS: dict[str, dict[str, Any]] = {
    f"{kind}-{name}": params for kind in ("memm", "crf") for name, params in _CHAINS.items()
} | {"hmm-letter": {"observed": "clusters"}, "context-graph-300": {"max_pages": 300}}


class Web(NamedTuple):
    """A stored web, read once for all crawls of it.

    ``nodes`` has the page of each URL that a link names, if there is one.
    """

    archive: Archive
    parser: PageParser
    graph: StoredGraph
    pages: Sequence[Page]
    nodes: Mapping[str, int | None]

    def node(self, url: str) -> int | None:
        """Return the page that a link to a URL leads to."""
        return self.nodes[url]

    @classmethod
    def of(cls, benchmark: Benchmark, settings: Settings) -> Web:
        """Read the archive of a benchmark."""
        archive = open_archive(benchmark.archive)
        parser = parser_of("english", settings)
        reader, pages = PageReader(parser), []
        graph = stored_graph(archive, parser)
        for url in graph.urls:
            stored = archive.get(url)
            page = reader.read(stored) if stored is not None else None
            pages.append(page or Page(url, analyzer=parser.analyzer))
        nodes = {url: graph.node(url) for page in pages for url in [one.url for one in page.links]}
        # A link leads to the page that a request for it ends at, however it is spelt.
        for page in pages:
            found = [nodes[link.url] for link in page.links]
            page.__dict__["link_keys"] = np.array(
                [pages[node].key if node is not None else 0 for node in found], dtype=np.uint64
            )
        return cls(archive, parser, graph, pages, nodes)

    def elsewhere(self, crawl: CrawlSpec, benchmark: Benchmark, settings: Settings) -> TrainingData:
        """Return the pages and links that the other crawls come to and this one does not."""
        truth = StoredTruth(crawl.arguments, self.archive, settings)
        urls = self.graph.urls
        own = truth.topic.sites
        others = [Topic.from_arguments(**one.arguments).sites for one in benchmark.crawls]
        outside = np.array(
            [not own.allows(url) and any(one.allows(url) for one in others) for url in urls]
        )
        learnt = [url for url, out in zip(urls, outside, strict=True) if out]
        relevant = self.graph.mask(truth.relevant(learnt)) & outside
        return self.data(Chosen(outside, relevant, relevant), crawl, truth.topic)

    def data(self, chosen: Chosen, crawl: CrawlSpec, topic: Topic) -> TrainingData:
        """Return some of the pages, and the links among them, to learn from."""
        indptr, indices = self.graph.indptr, self.graph.indices
        sources = np.repeat(np.arange(len(self.graph)), np.diff(indptr))
        kept = chosen.pages[sources] & chosen.pages[indices]
        number = np.cumsum(chosen.pages) - 1
        return TrainingData(
            pages=[self.pages[n] for n in np.flatnonzero(chosen.pages).tolist()],
            sources=number[sources[kept]],
            destinations=number[indices[kept]],
            targets=chosen.targets[chosen.pages],
            given=chosen.given[chosen.pages],
            topic=topic,
            parser=self.parser,
            source=f"what is to learn from for {crawl.id}",
        )


class Halves:
    """Splits the targets of the crawls of a whole web, and makes their graphs to learn from."""

    def __init__(self, web: Web, benchmark: Benchmark, seed: int) -> None:
        assert benchmark.labels is not None
        self._web = web
        self._table = benchmark.labels
        self._seed = seed
        self._labels: dict[str, list[str]] = defaultdict(list)
        with self._table.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                self._labels[row["url"]].append(row["label"])
        self.truths: dict[str, tuple[str, TargetSplit]] = {}
        for crawl in benchmark.crawls:
            wanted = str(crawl.arguments["relevance"]["label"])
            targets = [
                url
                for url, labels in self._labels.items()
                if any(label.startswith(wanted) for label in labels)
            ]
            split = TargetSplit.of(
                web.graph.mask(targets),
                web.graph.mask(crawl.arguments["seeds"]),
                np.random.default_rng([seed, len(self.truths)]),
            )
            self.truths[crawl.id] = wanted, split

    def write(self, path: Path) -> None:
        """Write the truth of the crawls."""
        urls = self._web.graph.urls
        learnt = [
            (wanted, frozenset(urls[n] for n in np.flatnonzero(split.training).tolist()))
            for wanted, split in self.truths.values()
        ]
        write_labels(self._table, learnt, path)

    def data(self, crawl: CrawlSpec, variant: str) -> TrainingData:
        """Return what a variant learns from: a session, or back-link layers."""
        web, (wanted, split) = self._web, self.truths[crawl.id]
        topic = Topic.from_arguments(**crawl.arguments)
        if variant.endswith("-session"):
            levels = levels_of(web.graph.urls, self._labels, wanted)
            chosen = browsed(web.graph, split, levels, np.random.default_rng(self._seed))
        else:
            chosen = collected(web.graph, web.pages, split, topic, web.parser.analyzer)
        print(
            f"{crawl.id}: {int(chosen.pages.sum()):,} pages, {int(chosen.targets.sum())} targets, "
            f"{int((chosen.targets & ~chosen.given).sum())} of them by likeness",
            flush=True,
        )
        return web.data(chosen, crawl, topic)


def main() -> None:
    """Train what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("benchmark")
    add("--corpora", help="the folder of the archives")
    add("--strategies", nargs="+", help="labels of strategies; all that learn by default")
    add("--crawls", nargs="+", help="ids of crawls; all by default")
    add("--seed", type=int, default=0)
    add("--unmeasured", action="store_true", help="hold nothing out to measure: half the time")
    add("--fresh", action="store_true", help="train again what is there")
    options = parser.parse_args()
    logging.getLogger("gensim").setLevel(logging.WARNING)
    benchmark, settings = load_benchmark(options.benchmark, options.corpora), Settings()
    web = Web.of(benchmark, settings)
    halves = None
    if not any(crawl.arguments.get("allow") for crawl in benchmark.crawls):
        halves = Halves(web, benchmark, options.seed)
        halves.write(Path(benchmark.crawls[0].arguments["relevance"]["file"]))
    for crawl in benchmark.crawls:
        if options.crawls and crawl.id not in options.crawls:
            continue
        known: dict[str, TrainingData] = {}
        done: set[Path] = set()
        for strategy in benchmark.strategies:
            label, kind = strategy.label, strategy.name
            if kind not in TRAINERS or (options.strategies and label not in options.strategies):
                continue
            path = Path(strategy.of(crawl, benchmark.corpora)["model"])
            if path in done or (path.exists() and not options.fresh):
                continue
            done.add(path)
            # What is learnt from is made once; only a session is something else.
            what = label if halves and label.endswith("-session") else ""
            if what not in known:
                known[what] = (
                    halves.data(crawl, label)
                    if halves
                    else web.elsewhere(crawl, benchmark, settings)
                )
            params = {"held_out": 0.0} if options.unmeasured else {}
            params |= VARIANTS.get(label.removesuffix("-viterbi"), {})
            train(kind, params, known[what], path, crawl.id, options.seed)


def train(
    kind: str, params: Mapping[str, Any], data: TrainingData, path: Path, topic: str, seed: int
) -> None:
    """Train one model, write it, and say what came of it."""
    began = time.process_time()
    trained = build_trainer(kind, params).train(
        data, random_state=np.random.default_rng(seed), told=lambda *_: None
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_model(path, replace(trained.model, topic=topic))
    measured = {
        name: round(value, 3)
        for name, value in trained.model.metrics.items()
        if name.startswith(("held_out_acc", "guessed_acc", "held_out_order"))
    }
    print(f"{path}: {time.process_time() - began:.1f} s of CPU, {measured}", flush=True)
    for warning in trained.warnings:
        print(f"  {warning}", file=sys.stderr)


if __name__ == "__main__":
    main()
