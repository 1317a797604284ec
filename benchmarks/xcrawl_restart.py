"""Measure xcrawl's harvest rate against the restart probability and the number of iterations.

    python benchmarks/xcrawl_restart.py benchmarks/xcrawl-labels.toml --corpora FOLDER

Figure 10 of Shchekotykhin, Jannach and Friedrich, and what they say of the iterations. Crawls are
in memory, one page at a time, without Scrapy around them; the judge is the truth. Printed are means
over the crawls of the benchmark: the harvest rate where xcrawl stops, the recall there, and the
share of the site that was fetched.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scrapy.settings import Settings

from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.evaluation.bound import StoredTruth, bound_of
from focusspider.frontier import Entry, Outcome
from focusspider.frontier.memory import MemoryFrontier
from focusspider.priority import FIRST, HELD, among_scores
from focusspider.profile import TopicProfile
from focusspider.relevance.base import Judgement
from focusspider.strategies.xcrawl import XCrawl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.train import Web

RESTARTS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
ITERATIONS = (10, 20, 50, 100)
HOST = "site"


class Open:
    """A host that may always be asked."""

    def ready(self, host: str) -> bool:  # noqa: ARG002
        """Say yes."""
        return True

    def woken(self) -> tuple[str, ...]:
        """Return nobody: nobody was refused."""
        return ()


class Result(NamedTuple):
    """What a crawl had when it stopped."""

    harvest: float
    recall: float
    share: float


def crawled(
    web: Web, truth: StoredTruth, targets: set[str], strategy: XCrawl, reachable: int
) -> Result:
    """Crawl a site until the strategy stops."""
    number = {page.key: node for node, page in enumerate(web.pages)}
    frontier = MemoryFrontier()

    def push(nodes: list[int], priority: int) -> None:
        frontier.push([
            Entry(web.pages[n].key.to_bytes(8, "big") + bytes(12), HOST, priority, b"")
            for n in nodes
        ])  # fmt: skip

    push([int(node) for node in web.graph.nodes(truth.topic.seeds)], FIRST)
    fetched = found = 0
    while True:
        entries = frontier.lease(1, Open())
        if not entries:
            reranking = strategy.rerank(frontier.view)
            if reranking is not None:
                priorities = among_scores(reranking.priorities)
                frontier.reprioritise(reranking.ids, priorities)
            entries = frontier.lease(1, Open())
            if not entries:
                break
        page = web.pages[number[int.from_bytes(entries[0].fingerprint[:8], "big")]]
        relevant = page.url in targets
        fetched, found = fetched + 1, found + relevant
        strategy.observe(page, Judgement(float(relevant), relevant, "truth"))
        nodes = {web.node(link.url) for link in page.links} - {None}
        allows = truth.topic.sites.allows
        push(sorted(n for n in nodes if n is not None and allows(web.graph.urls[n])), HELD)
        frontier.settle(entries[0].fingerprint, Outcome.DONE)
    return Result(found / max(fetched, 1), found / len(targets), fetched / reachable)


def main() -> None:
    """Crawl with each setting, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("benchmark")
    parser.add_argument("--corpora", help="the folder of the archives")
    parser.add_argument("--seeds", type=int, default=3, help="crawls with each setting (3)")
    options = parser.parse_args()
    benchmark, settings = load_benchmark(options.benchmark, options.corpora), Settings()
    web = Web.of(benchmark, settings)
    truths = [StoredTruth(crawl.arguments, web.archive, settings) for crawl in benchmark.crawls]
    bounds = [bound_of(web.graph, truth) for truth in truths]
    arms: list[dict[str, Any]] = [{"restart": value} for value in RESTARTS]
    arms += [{"max_iterations": value} for value in ITERATIONS]
    print("| setting | harvest rate | recall | share of the site |\n| --- | ---: | ---: | ---: |")
    for arm in arms:
        results = []
        for truth, bound in zip(truths, bounds, strict=True):
            for seed in range(options.seeds):
                strategy = XCrawl(**arm)
                profile = TopicProfile(truth.topic, truth.analyzer)
                strategy.start(profile, np.random.default_rng(seed))
                results.append(crawled(web, truth, set(bound.targets), strategy, bound.reachable))
        harvest, recall, share = np.mean(results, axis=0)
        ((name, value),) = arm.items()
        print(f"| {name} {value} | {harvest:.3f} | {recall:.3f} | {share:.3f} |", flush=True)


if __name__ == "__main__":
    main()
