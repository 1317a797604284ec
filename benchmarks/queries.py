"""Measure the generation of queries: what an engine brings that is asked by sample documents.

The engine is the local one over a corpus, whose sites together are one web. The sample
documents of a topic are 20 of its target pages, drawn with a fixed seed; results that are
sample documents do not count. The judge is the table of labels.

``middle`` is the paper's order, from the middle of the list of tokens outwards; ``top`` begins
with the greatest harmonic mean. ``no counts`` is ``middle`` with an engine that tells no
totals. ``keywords`` is one query, the keywords of the benchmark's topic of which all are not
needed: a page has to hold one of them, and as many are looked at as ``middle`` validated.

Run it as ``python benchmarks/queries.py``; it takes a minute or two, of which most is to make
the indexes.
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
from focusspider.search.base import Answer
from focusspider.search.local import LocalEngine
from focusspider.search.queries import outwards, tokens_of
from focusspider.text import Analyzer
from focusspider.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from focusspider.page import Page
    from focusspider.search.authorities import Findings

ROOT = Path(__file__).resolve().parents[1]
CORPORA = ROOT.parent / "shared" / "corpora"
BENCHMARKS = ("wikispeedia", "manuals")
ANALYZER = Analyzer()


class Task(NamedTuple):
    """A topic on a web: its target pages, and the sample of them."""

    benchmark: str
    topic: str
    targets: frozenset[str]
    sample: Sequence[Page]


def tasks(name: str, samples: int, seed: int) -> Iterator[tuple[LocalEngine, Task]]:
    """Yield the topics of a benchmark, each with the engine over its archive."""
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
        chosen = np.random.default_rng(seed).choice(len(targets), samples, replace=False)
        pages = [reader.read(archive.get(targets[number])) for number in sorted(chosen)]
        sample = [page for page in pages if page is not None]
        yield engine, Task(name, topic, frozenset(targets), sample)


def search(engine: LocalEngine, task: Task, plan: SearchPlan, *, arm: str) -> Findings:
    """Ask the engine as one arm does."""
    known = {page.url for page in task.sample}

    async def ask(query: str, n: int) -> Answer:
        answer = engine.search(query, n)
        return answer if arm in ("middle", "top") else answer._replace(total=None)

    async def validate(urls: Sequence[str]) -> list[Verdict]:
        return [Verdict(url, url in task.targets) for url in urls]

    tokens = tokens_of(task.sample, ANALYZER, plan.tokens)
    if arm == "tf-idf":
        tokens = [token._replace(share=1.0) for token in tokens]
    order = list if arm == "top" else outwards
    asked = AuthoritySearch(plan, ask=ask, validate=validate, skip=known.__contains__, order=order)
    return asyncio.run(asked.run(tokens))


def row(task: Task, arm: str, found: Findings) -> list[str]:
    """Return one line of the table."""
    rest = task.targets - {page.url for page in task.sample}
    first = found.asked[0]
    return [
        task.benchmark,
        task.topic,
        arm,
        f"{len(rest):,}",
        f"{found.n_queries:,}",
        f"{found.validated:,}",
        f"{len(found.authorities):,}",
        f"{len({host_of(url) for url in found.authorities})}",
        f"{len(found.authorities) / len(rest):.2f}",
        f"{first.query}: {first.accepted} of {first.results}",
        f"{found.precision:.2f}",
        f"{len(found.authorities) / max(found.validated, 1):.2f}",
    ]


def main() -> None:
    """Search for every topic, and print a table in Markdown."""
    plan = SearchPlan(
        tokens=arguments.tokens,
        length=arguments.length,
        first=arguments.first,
        max_iterations=arguments.max_iterations,
        max_queries=arguments.queries,
    )
    print(
        "| web | topic | order | targets | queries | validated | authorities | hosts | recall "
        "| first query | precision of the first n | authorities a validated page |"
    )
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    means: dict[tuple[str, str], list[tuple[float, float, int]]] = {}
    for name in arguments.benchmarks:
        for engine, task in tasks(name, arguments.samples, arguments.seed):
            for arm in arguments.arms:
                found = search(engine, task, plan, arm=arm)
                print("| " + " | ".join(row(task, arm, found)) + " |", flush=True)
                recall = len(found.authorities) / (len(task.targets) - len(task.sample))
                means.setdefault((name, arm), []).append((found.precision, recall, found.n_queries))
    print("\n| web | order | precision of the first n | recall | queries |")
    print("| --- | --- | ---: | ---: | ---: |")
    for (name, arm), values in means.items():
        precision, recall, queries = map(statistics.mean, zip(*values, strict=True))
        print(f"| {name} | {arm} | {precision:.2f} | {recall:.2f} | {queries:.0f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmarks", nargs="+", default=BENCHMARKS)
    parser.add_argument("--arms", nargs="+", default=["middle", "top", "no counts"])
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--length", type=int, default=3)
    parser.add_argument("--first", type=int, default=10)
    parser.add_argument("--max-iterations", type=int, default=50)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--indexes", default=tempfile.gettempdir(), help="where they are kept")
    arguments = parser.parse_args()
    main()
