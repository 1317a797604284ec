"""Crawl a benchmark in memory: the strategies themselves, without Scrapy around them.

    python benchmarks/train.py benchmarks/webkb-claims.toml --corpora FOLDER
    python benchmarks/sweep.py benchmarks/webkb-claims.toml --corpora FOLDER

For comparisons of many settings, which ``scrapy focus-evaluate`` would take hours for: pages are
parsed once for all crawls, and a crawl of 1,000 pages takes a second. Strategies, features,
models, priorities and the states that travel are those of a crawl; one page is fetched at a time,
the best first and of equals the older one, and a link that is seen again with a higher priority
is raised. What ends a page's parsing, redirects and the spelling of URLs are the archive's, so that
a page more or less may be another. In the 16 crawls of webkb the recall of ``breadth-first``,
``memm`` and ``crf`` is that of ``focus-evaluate``; that of ``best-first`` and ``hmm`` to 0.002, in
the mean to 0.0002. That of ``context-graph``, where many links share a priority, is the same to
0.001 in nine crawls and up to 0.05 away in the others, in the mean 0.741 against 0.746. Strategies
that rerank are not for this.

Tables are printed: recall, headroom and tests as ``focus-evaluate`` has them, and APR, the
precision relative to that of best-first (Liu and Milios 2010, eq. 40) after 10, 25 and 50 % of
the pages. What is crawled is kept in ``exports/evaluations/sweeps/NAME.json``.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scrapy.settings import Settings

from focusspider.evaluation.benchmark import BASELINE
from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.evaluation.bound import StoredTruth, bound_of
from focusspider.evaluation.metrics import (
    average_precision_relative,
    harvest_rate,
    pages_for_share,
)
from focusspider.evaluation.rows import OMNISCIENT, Curve, flags_of, row_of
from focusspider.evaluation.tables import areas, markdown, summary
from focusspider.profile import TopicProfile
from focusspider.strategies import build_strategy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focusspider.evaluation.benchmark import CrawlSpec
    from focusspider.strategies.base import Strategy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.train import Web

#: Shares of the reachable pages after which APR is given.
SHARES = (0.1, 0.25, 0.5)
#: Before all that a strategy gives.
_SEED = 1 << 60


def crawled(web: Web, truth: StoredTruth, strategy: Strategy) -> Iterator[str]:
    """Yield the URLs of the pages that a strategy fetches, in their order."""
    allows = truth.topic.sites.allows
    priorities: dict[int, int] = {}
    ages: dict[int, int] = {}
    carried: dict[int, tuple[Any, str | None]] = {}
    waiting: list[tuple[int, int, int]] = []

    def push(node: int, priority: int, state: Any, anchor: str | None) -> None:
        if node not in ages:
            ages[node] = len(ages)
        elif priority <= priorities[node]:
            return
        priorities[node], carried[node] = priority, (state, anchor)
        heapq.heappush(waiting, (-priority, ages[node], node))

    done: set[int] = set()
    for node in web.graph.nodes(truth.topic.seeds):
        push(node, _SEED, None, None)
    while waiting:
        negative, _, node = heapq.heappop(waiting)
        if node in done or -negative != priorities[node]:
            continue
        done.add(node)
        yield web.graph.urls[node]
        page = web.pages[node]
        state, page.pointing = carried[node]
        scores = strategy.score(page, state)
        for link in page.links:
            child = web.node(link.url)
            if child is not None and child not in done and allows(web.graph.urls[child]):
                push(child, int(scores.priorities[link.position]), scores.state, link.anchor)


def relative(curves: Sequence[Curve], baseline: str) -> list[dict[str, Any]]:
    """Return APR, a row a strategy: the mean over crawls of the ratio of precisions."""
    found: dict[str, dict[str, list[float]]] = {}
    for curve in curves:
        flags = flags_of(curve)
        found.setdefault(curve.strategy, {})[curve.crawl] = [
            harvest_rate(flags, pages_for_share(share, curve.reachable)) for share in SHARES
        ]
    rows = []
    for strategy, own in found.items():
        both = [crawl for crawl in own if crawl in found.get(baseline, {})]
        # Labels are one threshold: axis 0 has one entry.
        ratios = [
            average_precision_relative([own[crawl]], [found[baseline][crawl]]) for crawl in both
        ]
        known = np.ma.masked_invalid(np.array(ratios).reshape(len(both), len(SHARES)))
        means = known.mean(axis=0).filled(np.nan).tolist() if both else [None] * len(SHARES)
        names = [f"apr_{round(100 * share)}" for share in SHARES]
        rows.append({"strategy": strategy, **dict(zip(names, means, strict=True))})
    return rows


def main() -> None:
    """Crawl what was not crawled, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("benchmark")
    add("--corpora", help="the folder of the archives")
    add("--strategies", nargs="+", help="labels of strategies; all by default")
    add("--crawls", nargs="+", help="ids of crawls; all by default")
    add("--fresh", action="store_true", help="use no crawls that are there")
    options = parser.parse_args()
    benchmark, settings = load_benchmark(options.benchmark, options.corpora), Settings()
    path = Path("exports/evaluations/sweeps", f"{benchmark.name}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    known: dict[str, dict[str, Any]] = {}
    if path.exists() and not options.fresh:
        known = json.loads(path.read_text(encoding="utf-8"))
    web: Web | None = None

    def of(crawl: CrawlSpec) -> None:
        """Crawl with each strategy, and the bound."""
        nonlocal web
        labels = [one for one in benchmark.strategies
                  if not options.strategies or one.label in options.strategies]  # fmt: skip
        missing = [one for one in labels if f"{crawl.id}/{one.label}" not in known]
        if not missing:
            return
        web = web or Web.of(benchmark, settings)
        truth = StoredTruth(crawl.arguments, web.archive, settings)
        bound = bound_of(web.graph, truth)
        best = Curve.of_bound(crawl.id, bound)
        known[f"{crawl.id}/{OMNISCIENT}"] = best.to_dict()
        for one in missing:
            params = one.of(crawl, benchmark.corpora)
            strategy = build_strategy(params.pop("name"), params, where=crawl.id)
            profile = TopicProfile(truth.topic, truth.analyzer)
            strategy.start(profile, np.random.default_rng(0))
            curve = Curve.of_log(crawl.id, one.label, 0, bound, crawled(web, truth, strategy))
            known[f"{crawl.id}/{one.label}"] = curve.to_dict()
            print(f"{crawl.id} {one.label}: {curve.area:.3f}", file=sys.stderr, flush=True)
        path.write_text(json.dumps(known) + "\n", encoding="utf-8")

    for crawl in benchmark.crawls:
        if not options.crawls or crawl.id in options.crawls:
            of(crawl)
    curves = [Curve(**{**table, "found_at": tuple(table["found_at"])}) for table in known.values()]
    area = {(curve.crawl, curve.strategy): curve.area for curve in curves}
    rows = [
        row_of(
            curve,
            [area[curve.crawl, BASELINE]] if (curve.crawl, BASELINE) in area else [],
            area[curve.crawl, OMNISCIENT],
        )
        for curve in curves
    ]
    shown = ("strategy", "crawls", "auc", "auc_low", "auc_high", "headroom", "difference", "p")
    table = [{name: row[name] for name in shown} for row in summary(rows, benchmark.baseline)]
    print(markdown(table))
    print(markdown(relative(curves, benchmark.baseline)))
    print(markdown(areas(rows)))


if __name__ == "__main__":
    main()
