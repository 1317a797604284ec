"""Train the models of a benchmark's crawls: on the stored pages that each of them can't come to.

    python benchmarks/train.py benchmarks/webkb-learned.toml --corpora FOLDER
    scrapy focus-evaluate benchmarks/webkb-learned.toml

A crawl of one university or one manual learns from the others that the benchmark crawls, as a
user would who has crawled elsewhere before: from all of their pages and links, the pages that are
relevant by the crawl's own truth being targets. The models go where the benchmark file looks for
them, ``exports/evaluations/models/NAME/SITE-TOPIC-STRATEGY.npz``. Those that are there already are
kept, unless ``--fresh`` is given.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scrapy.settings import Settings

from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.evaluation.bound import StoredTruth, parser_of
from focusspider.evaluation.graph import PageReader, stored_graph
from focusspider.models.modelfile import write_model
from focusspider.page import Page
from focusspider.replay import open_archive
from focusspider.topic import Topic
from focusspider.training import TRAINERS, build_trainer
from focusspider.training.base import TrainingData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focusspider.evaluation.benchmark import Benchmark, CrawlSpec
    from focusspider.evaluation.graph import StoredGraph
    from focusspider.page import PageParser
    from focusspider.replay import Archive


class Web(NamedTuple):
    """A stored web, read once for all crawls of it."""

    archive: Archive
    parser: PageParser
    graph: StoredGraph
    pages: Sequence[Page]

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
        # A link leads to the page that a request for it ends at, however it is spelt.
        for page in pages:
            nodes = [graph.node(link.url) for link in page.links]
            page.__dict__["link_keys"] = np.array(
                [pages[node].key if node is not None else 0 for node in nodes], dtype=np.uint64
            )
        return cls(archive, parser, graph, pages)

    def elsewhere(self, crawl: CrawlSpec, benchmark: Benchmark, settings: Settings) -> TrainingData:
        """Return the pages and links that the other crawls come to and this one does not."""
        truth = StoredTruth(crawl.arguments, self.archive, settings)
        urls = self.graph.urls
        own = truth.topic.sites
        others = [Topic.from_arguments(**one.arguments).sites for one in benchmark.crawls]
        outside = np.array(
            [not own.allows(url) and any(one.allows(url) for one in others) for url in urls]
        )
        if not outside.any():
            raise SystemExit(
                f"{crawl.id}: its scope is the whole web, so nothing is left to learn from; give "
                f"the site an allow = [...]"
            )
        indptr, indices = self.graph.indptr, self.graph.indices
        sources = np.repeat(np.arange(len(urls)), np.diff(indptr))
        kept = outside[sources] & outside[indices]
        number = np.cumsum(outside) - 1
        learnt = [url for url, out in zip(urls, outside, strict=True) if out]
        relevant = self.graph.mask(truth.relevant(learnt))
        return TrainingData(
            pages=[page for page, out in zip(self.pages, outside, strict=True) if out],
            sources=number[sources[kept]],
            destinations=number[indices[kept]],
            targets=relevant[outside],
            topic=truth.topic,
            parser=self.parser,
            source=f"what is not {crawl.id}",
        )


def main() -> None:
    """Train what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("benchmark")
    add("--corpora", help="the folder of the archives")
    add("--strategies", nargs="+", choices=list(TRAINERS), default=list(TRAINERS))
    add("--crawls", nargs="+", help="ids of crawls; all by default")
    add("--seed", type=int, default=0)
    add("--fresh", action="store_true", help="train again what is there")
    options = parser.parse_args()
    logging.getLogger("gensim").setLevel(logging.WARNING)
    benchmark, settings = load_benchmark(options.benchmark, options.corpora), Settings()
    folder = Path("exports/evaluations/models", benchmark.name)
    web = None
    for crawl in benchmark.crawls:
        if options.crawls and crawl.id not in options.crawls:
            continue
        data = None
        for kind in options.strategies:
            path = folder / f"{crawl.site}-{crawl.topic}-{kind}.npz"
            if path.exists() and not options.fresh:
                continue
            web = web or Web.of(benchmark, settings)
            data = data or web.elsewhere(crawl, benchmark, settings)
            began = time.process_time()
            trained = build_trainer(kind, {}).train(
                data, random_state=np.random.default_rng(options.seed), told=lambda *_: None
            )
            write_model(path, replace(trained.model, topic=crawl.id))
            measured = {
                name: round(value, 3)
                for name, value in trained.model.metrics.items()
                if name.startswith(("held_out_acc", "guessed_acc", "held_out_order"))
            }
            seconds = time.process_time() - began
            print(f"{path}: {seconds:.1f} s of CPU, {measured}", flush=True)
            for warning in trained.warnings:
                print(f"  {warning}", file=sys.stderr)


if __name__ == "__main__":
    main()
