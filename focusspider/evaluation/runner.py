"""Runs a benchmark: plans its crawls, keeps what is finished, and writes what came of them.

Output folder contents
----------------------
``results.json``
    the rows (see :mod:`~focusspider.evaluation.rows`)
``curves.json``
    for each row, what its curves are drawn from (:class:`~.rows.Curve`)
``evaluation.json``
    the benchmark, its corpus, the settings and the versions
``tables/``
    see :mod:`~focusspider.evaluation.tables`
``curves/``
    pictures
``report.html``
    see :mod:`~focusspider.evaluation.page`
``texts/``
    what strategies with a corpus learn from (see :mod:`~focusspider.evaluation.texts`)
``crawls/CRAWL/STRATEGY/``
    the run folder of each crawl, its log, and what it measured of itself; it is used again
    where nothing of the crawl has changed. With another budget than the benchmark's it is in
    ``crawls-N-pages/``
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import scrapy

import focusspider
from focusspider.errors import BenchmarkError
from focusspider.evaluation.benchmark import BASELINE, StrategySpec
from focusspider.evaluation.bound import read_bound
from focusspider.evaluation.curves import pictures, write_curves
from focusspider.evaluation.digests import FileDigests, digest
from focusspider.evaluation.pool import run_jobs, tail
from focusspider.evaluation.rows import Curve, row_of
from focusspider.evaluation.tables import COSTS, areas, cost, crawls, summary, write_tables
from focusspider.evaluation.testbed import fetched_urls
from focusspider.evaluation.texts import place_texts
from focusspider.evaluation.worker import MEASURED
from focusspider.replay.spec import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from focusspider.evaluation.benchmark import Benchmark, CrawlSpec
    from focusspider.evaluation.bound import Bound
    from focusspider.evaluation.curves import Picture
    from focusspider.evaluation.pool import Answer

__all__ = ["Evaluation", "Failure", "Options", "Run", "write_json"]

#: Of every crawl of an evaluation: one request at a time (a replay's default), nothing that
#: depends on the clock, and every page that is stored may be asked for.
_SETTINGS: Mapping[str, Any] = {
    "ADDONS": {"focusspider.FocusAddon": 500},
    "ROBOTSTXT_OBEY": False,
    "METAREFRESH_ENABLED": False,  # it would swallow pages that links lead to, and the truth has
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "LOG_LEVEL": "INFO",
    "FOCUS_REPLAY_MISSING": "refuse",
    "FOCUS_CRAWL_LOG_TIMES": False,
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """How an evaluation is run; what is run is the benchmark's."""

    out: Path
    workers: int = 1
    seeds: tuple[int, ...] = (0,)
    fresh: bool = False
    #: pages of a crawl, where that is not the benchmark's own budget
    budget: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One crawl by one strategy, with one seed; ``key`` tells it from what ran before."""

    crawl: CrawlSpec
    strategy: StrategySpec
    seed: int
    folder: Path
    key: str

    @property
    def name(self) -> str:
        """What it is called where people read."""
        return f"{self.crawl.id} by {self.folder.name}"


@dataclass(frozen=True)
class Failure:
    """A run that failed, why, and the end of its log."""

    run: str
    problem: str
    log: Path

    def __str__(self) -> str:
        return f"{self.run}: {self.problem}; {self.log} ends with\n{tail(self.log)}"


class Evaluation:
    """A benchmark and where its results go.

    Raises
    ------
    BenchmarkError
        While it runs: what is wrong with the benchmark shows in its corpus only.
    """

    def __init__(self, benchmark: Benchmark, options: Options) -> None:
        self.benchmark = benchmark
        self.options = options
        self.failures: list[Failure] = []
        corpus = [Path(entry) for entry in benchmark.archive if entry != SAMPLE]
        corpus += [benchmark.labels] if benchmark.labels else []
        self._digests = {
            os.path.relpath(path, benchmark.corpora): digest(path)
            for path in corpus
            if path.exists()
        }
        self._files = FileDigests(benchmark, options.out)
        apart = "" if options.budget is None else f"-{options.budget}-pages"
        self._crawls = options.out / f"crawls{apart}"
        self._places, self._texts = place_texts(
            benchmark, options.out / "texts", self.key, fresh=options.fresh
        )
        self.runs = tuple(self._planned())
        self.reused = tuple(run for run in self.runs if self.is_finished(run) and not options.fresh)
        self._bounds: dict[str, Bound] = {}

    # -- what is to be done ----------------------------------------------------------

    def _planned(self) -> Iterator[Run]:
        strategies = self.benchmark.strategies
        if BASELINE not in {one.label for one in strategies}:  # headroom is measured from it
            strategies = (StrategySpec(label=BASELINE, name=BASELINE), *strategies)
        for crawl in self.benchmark.crawls:
            for strategy in strategies:
                for seed in self.options.seeds if strategy.random else (0,):
                    label = f"{strategy.label}-seed-{seed}" if seed else strategy.label
                    yield Run(
                        crawl=crawl,
                        strategy=strategy,
                        seed=seed,
                        folder=self._crawls / crawl.id / label,
                        key=self._run_key(crawl, strategy, seed),
                    )

    def _run_key(self, crawl: CrawlSpec, strategy: StrategySpec, seed: int) -> str:
        arguments = self._arguments(crawl, strategy)
        files = self._files.of(arguments) | self._files.of_models(strategy.name, crawl)
        return self.key(arguments, self.settings, {"seed": seed}, *([files] if files else ()))

    def _arguments(self, crawl: CrawlSpec, strategy: StrategySpec) -> dict[str, Any]:
        places = self._places.get(crawl.id)
        filled = strategy.of(crawl, self.benchmark.corpora, places)
        judge = {"relevance": dict(crawl.judge)} if crawl.judge is not None else {}
        return {**crawl.arguments, **judge, "strategy": filled}

    @property
    def settings(self) -> dict[str, Any]:
        """The Scrapy settings of every crawl."""
        return {**_SETTINGS, **self.benchmark.settings}

    def key(self, *parts: Mapping[str, Any]) -> str:
        """Return what tells whether a result on disk is that of this run."""
        text = json.dumps(
            [focusspider.__version__, self._digests, list(self.benchmark.archive), *parts],
            sort_keys=True,
        )
        text = text.replace(str(self.benchmark.corpora), "{corpora}")
        text = text.replace(str(self.options.out), "{out}")
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    def is_finished(self, run: Run) -> bool:
        """Return whether a run's results are there."""
        return _measured(run) is not None

    # -- doing it --------------------------------------------------------------------

    def run(self, on_answer: Callable[[str, str | None], None]) -> None:
        """Run what is not done, and tell ``on_answer`` of each: its name, and its problem.

        Raises BenchmarkError where the benchmark does not fit its corpus.
        """
        self._write_texts()
        jobs = self.bound_jobs()
        names = {id(job): "what can be reached" for job in jobs}
        done = set(self.reused)
        runs: dict[int, Run] = {}
        for run in self.runs:
            if run not in done:
                job = self._job(run)
                jobs.append(job)
                runs[id(job)], names[id(job)] = run, run.name
        for answer in run_jobs(jobs, self.options.workers):
            key = id(answer.job)
            self._take(answer, runs.get(key))
            on_answer(names[key], answer.problem)
        for crawl in self.benchmark.crawls:
            bound = read_bound(self._crawls / crawl.id, self._bound_key(crawl))
            if bound is not None:
                self._bounds[crawl.id] = bound

    def _write_texts(self) -> None:
        """Write what strategies learn from, before the first of them begins."""
        if not self._texts:
            return
        job = {
            "kind": "texts",
            "archive": list(self.benchmark.archive),
            "settings": self.settings,
            "texts": self._texts,
            "log": str(self._crawls / "texts.log"),
        }
        for answer in run_jobs([job], 1):
            self._take(answer, None)

    @property
    def to_do(self) -> int:
        """How many jobs are not done."""
        return len(self.runs) - len(self.reused) + len(self.bound_jobs())

    def _take(self, answer: Answer, run: Run | None) -> None:
        if answer.problem is None:
            return
        if run is None or answer.wrong_input:
            log = "" if answer.wrong_input else f"\n{tail(Path(answer.job['log']))}"
            raise BenchmarkError(f"{self.benchmark.source}: {answer.problem}{log}")
        self.failures.append(Failure(run.name, answer.problem, Path(answer.job["log"])))

    def _bound_key(self, crawl: CrawlSpec) -> str:
        files = self._files.of(crawl.arguments)
        return self.key(crawl.arguments, self.settings, *([files] if files else ()))

    def bound_jobs(self) -> list[dict[str, Any]]:
        """Return the jobs that find out what can be reached, where that is not known."""
        wanted = [
            {
                "arguments": dict(crawl.arguments),
                "folder": str(self._crawls / crawl.id),
                "key": self._bound_key(crawl),
            }
            for crawl in self.benchmark.crawls
            if self.options.fresh
            or read_bound(self._crawls / crawl.id, self._bound_key(crawl)) is None
        ]
        if not wanted:
            return []
        return [
            {
                "kind": "bounds",
                "archive": list(self.benchmark.archive),
                "settings": self.settings,
                "crawls": wanted,
                "log": str(self._crawls / "bounds.log"),
            }
        ]

    def _job(self, run: Run) -> dict[str, Any]:
        shutil.rmtree(run.folder, ignore_errors=True)
        settings = {
            **self.settings,
            "FOCUS_REPLAY": list(self.benchmark.archive),
            "FOCUS_EXPORTS_DIR": str(self._crawls),
            "FOCUS_RUN": run.folder.name,
            "FOCUS_SEED": run.seed,
        }
        return {
            "kind": "crawl",
            "archive": list(self.benchmark.archive),
            "settings": settings,
            "arguments": self._arguments(run.crawl, run.strategy),
            "folder": str(run.folder),
            "key": run.key,
            # beside the folder, which the crawl itself makes
            "log": str(run.folder.with_name(f"{run.folder.name}.log")),
        }

    # -- what came of it -------------------------------------------------------------

    def curves(self) -> list[Curve]:
        """Return the curves of what is done, the bound's of each crawl first."""
        found: list[Curve] = []
        for crawl in self.benchmark.crawls:
            bound = self._bounds[crawl.id]
            found.append(Curve.of_bound(crawl.id, bound))
            for run in self.runs:
                if run.crawl is crawl and _measured(run) is not None:
                    urls = fetched_urls(run.folder)
                    found.append(Curve.of_log(crawl.id, run.strategy.label, run.seed, bound, urls))
        return found

    def rows(self, curves: Sequence[Curve]) -> list[dict[str, Any]]:
        """Return the row of each curve."""
        rows = []
        for crawl in self.benchmark.crawls:
            own = [curve for curve in curves if curve.crawl == crawl.id]
            baseline = [curve.area for curve in own if curve.strategy == BASELINE]
            rows += [
                row_of(curve, baseline, own[0].area) | self.cost_of(asdict(curve)) for curve in own
            ]
        return rows

    def cost_of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the crawl of a row measured of itself; None for each of the bound."""
        name = tuple(row[key] for key in ("crawl", "strategy", "seed"))
        own = [run for run in self.runs if (run.crawl.id, run.strategy.label, run.seed) == name]
        cost = _measured(own[0]) if own else None
        if cost is None:
            return dict.fromkeys(COSTS)
        pages = row["fetched"]
        return {
            **{key: cost[key] for key in COSTS if key in cost},
            "cpu_ms_per_page": 1000 * cost["cpu_s"] / pages if pages else None,
        }

    def write(self) -> list[dict[str, Any]]:
        """Write rows, curves, tables and the record of the run; return the summary."""
        out = self.options.out
        curves = self.curves()
        rows = self.rows(curves)
        write_json(out / "results.json", rows)
        write_json(out / "curves.json", [curve.to_dict() for curve in curves])
        write_json(out / "evaluation.json", self.record())
        pooled = summary(rows, self.benchmark.baseline)
        write_tables(
            out / "tables",
            {"summary": pooled, "crawls": crawls(rows), "areas": areas(rows), "cost": cost(rows)},
        )
        return pooled

    def draw(self) -> None:
        """Draw the curves; raises MissingExtraError without matplotlib."""
        write_curves(self.options.out / "curves", self.curves(), self.benchmark.name)

    def pictures(self) -> list[Picture]:
        """Return the curves of all crawls, for the page."""
        return pictures(self.curves(), self.benchmark.name)

    def record(self) -> dict[str, Any]:
        """Return what was run, and with what."""
        return {
            "benchmark": self.benchmark.name,
            "description": self.benchmark.description,
            "source": Path(self.benchmark.source).name,
            "corpus": self._digests or list(self.benchmark.archive),
            "baseline": self.benchmark.baseline,
            "pages": self.benchmark.pages,
            "crawls": [crawl.id for crawl in self.benchmark.crawls],
            "strategies": [asdict(strategy) for strategy in self.benchmark.strategies],
            "seeds": list(self.options.seeds),
            "workers": self.options.workers,
            "failures": [failure.run for failure in self.failures],
            "reused": len(self.reused),
            "settings": self.settings,
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {
                "focusspider": focusspider.__version__,
                "scrapy": scrapy.__version__,
                "numpy": np.__version__,
                "scipy": scipy.__version__,
                "python": platform.python_version(),
            },
        }


def _measured(run: Run) -> dict[str, float] | None:
    """Return what a finished run measured; None where there is none of this key."""
    try:
        table = json.loads((run.folder / MEASURED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return table if table.get("key") == run.key else None


def write_json(path: Path, table: object) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.part")
    draft.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)
