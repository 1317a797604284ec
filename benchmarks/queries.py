"""Measure the generation of queries: what an engine brings that is asked by sample documents.

The engine is the local one over a corpus, whose sites together are one web. The sample
documents of a topic are 20 of its target pages, drawn with a fixed seed; results that are
sample documents do not count. The judge is the table of labels.

``middle`` is the paper's order, from the middle of the list of tokens outwards; ``top`` begins
with the greatest harmonic mean. ``share`` is ``middle`` with an engine that tells no totals, as
the command treats it: the share of the sample documents stands for the search weight.
``tf-idf`` is the same with TF-IDF alone. ``keywords`` makes its queries of the benchmark's
keywords, which are given, and not of sample documents.

Run it as ``python benchmarks/queries.py``; the indexes take a minute or two, the rest as much.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.page import PageParser
from focusspider.relevance.labels import LabelRelevance
from focusspider.replay import open_archive
from focusspider.replay.reading import PageReader
from focusspider.search.authorities import AuthoritySearch, SearchPlan, Verdict
from focusspider.search.local import LocalEngine
from focusspider.search.queries import Token, outwards, tokens_of
from focusspider.text import Analyzer
from focusspider.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from focusspider.page import Page
    from focusspider.search.authorities import Findings
    from focusspider.search.base import Answer

ROOT = Path(__file__).resolve().parents[1]
CORPORA = ROOT.parent / "shared" / "corpora"
BENCHMARKS = ("wikispeedia", "manuals")
ARMS = ("middle", "top", "share", "tf-idf", "keywords")
ANALYZER = Analyzer()


class Task(NamedTuple):
    """A topic on a web: its target pages, a sample of them, and its keywords."""

    topic: str
    targets: frozenset[str]
    sample: Sequence[Page]
    keywords: Sequence[str]


def tasks(name: str) -> Iterator[tuple[LocalEngine, list[Task]]]:
    """Yield the topics of a benchmark, each once a seed, with the engine over its archive."""
    benchmark = load_benchmark(ROOT / "benchmarks" / f"{name}.toml", CORPORA)
    archive = open_archive(list(benchmark.archive))
    reader = PageReader(PageParser(analyzer=ANALYZER))
    engine = LocalEngine(replay=list(benchmark.archive), models_dir=Path(arguments.indexes))
    done: set[str] = set()
    for crawl in benchmark.crawls:
        relevance: Mapping[str, str] = dict(crawl.arguments["relevance"])
        topic = str(relevance["label"])
        if topic in done:  # of another site
            continue
        done.add(topic)
        judge = LabelRelevance(**{k: v for k, v in relevance.items() if k != "kind"})
        targets = sorted(url for url in archive.urls() if judge.judge_url(url).relevant)
        keywords = list(dict.fromkeys(crawl.arguments["keywords"]))
        seeds = []
        for seed in range(arguments.seeds):
            rng = np.random.default_rng(seed)
            chosen = rng.choice(len(targets), arguments.samples, replace=False)
            stored = (archive.get(targets[number]) for number in sorted(chosen))
            pages = [reader.read(one) for one in stored if one is not None]
            sample = [page for page in pages if page is not None]
            seeds.append(Task(topic, frozenset(targets), sample, keywords))
        yield engine, seeds


def search(engine: LocalEngine, task: Task, plan: SearchPlan, *, arm: str) -> Findings:
    """Ask the engine as one arm does."""
    known = {page.url for page in task.sample}

    async def ask(query: str, n: int) -> Answer:
        answer = engine.search(query, n)
        return answer._replace(total=None) if arm in {"share", "tf-idf"} else answer

    async def validate(urls: Sequence[str]) -> list[Verdict]:
        return [Verdict(url, url in task.targets) for url in urls]

    tokens = tokens_of(task.sample, ANALYZER, plan.tokens)
    if arm == "tf-idf":
        tokens = [token._replace(share=1.0) for token in tokens]
    elif arm == "keywords":
        tokens = [Token(keyword, 1.0) for keyword in task.keywords]
    order = list if arm == "top" else outwards
    asked = AuthoritySearch(plan, ask=ask, validate=validate, skip=known.__contains__, order=order)
    return asyncio.run(asked.run(tokens))


def measures(task: Task, found: Findings) -> tuple[float, ...]:
    """Return what the table shows of one search."""
    rest = len(task.targets) - len(task.sample)
    first = found.asked[0] if found.asked else None
    return (
        rest,
        found.n_queries,
        found.validated,
        len(found.authorities),
        len({host_of(url) for url in found.authorities}),
        len(found.authorities) / rest,
        first.accepted / first.results if first and first.results else 0.0,
        found.precision,
    )


NAMES = (
    "targets", "queries", "validated", "authorities", "hosts", "recall",
    "precision of the first query", "precision of the first n",
)  # fmt: skip


def row(first: Sequence[str], values: Sequence[tuple[float, ...]]) -> str:
    """Return a line of a table: means over searches."""
    means = [statistics.mean(column) for column in zip(*values, strict=True)]
    shown = [f"{mean:,.0f}" for mean in means[:5]] + [f"{mean:.2f}" for mean in means[5:]]
    return "| " + " | ".join([*first, *shown]) + " |"


def head(*first: str) -> str:
    """Return the first two lines of a table."""
    names = [*first, *NAMES]
    rule = ["---"] * len(first) + ["---:"] * len(NAMES)
    return "| " + " | ".join(names) + " |\n| " + " | ".join(rule) + " |"


def main() -> None:
    """Search for every topic, and print two tables in Markdown."""
    plan = SearchPlan(
        tokens=arguments.tokens,
        length=arguments.length,
        first=arguments.first,
        max_iterations=arguments.max_iterations,
        max_queries=arguments.queries,
    )
    by_arm: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    print(head("web", "topic"))
    for name in arguments.benchmarks:
        for engine, seeds in tasks(name):
            for task in seeds:
                for arm in arguments.arms:
                    measured = measures(task, search(engine, task, plan, arm=arm))
                    by_arm.setdefault((name, arm), []).append(measured)
            last = by_arm[name, arguments.arms[0]][-len(seeds) :]
            print(row([name, seeds[0].topic], last), flush=True)
    print("\n" + head("web", "order"))
    for (name, arm), values in by_arm.items():
        print(row([name, arm], values))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmarks", nargs="+", default=BENCHMARKS)
    parser.add_argument("--arms", nargs="+", default=ARMS, help="the first is shown by topic")
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--length", type=int, default=3)
    parser.add_argument("--first", type=int, default=10)
    parser.add_argument("--max-iterations", type=int, default=50)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--indexes", default=tempfile.gettempdir(), help="where they are kept")
    arguments = parser.parse_args()
    main()
