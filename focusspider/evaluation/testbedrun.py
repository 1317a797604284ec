"""Runs a benchmark as hub-seeking's test bed: see :mod:`~focusspider.evaluation.testbed`.

The output folder is that of an evaluation (:mod:`~focusspider.evaluation.runner`), with
``splits.json``, what was drawn, and other tables: ``testbed``, a row a strategy for each
kind of seeds, and ``augmented``, what hubs among the seeds bring.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.errors import BenchmarkError
from focusspider.evaluation.benchmark import CrawlSpec
from focusspider.evaluation.curves import Picture, draw_means
from focusspider.evaluation.pool import run_jobs, tail
from focusspider.evaluation.runner import Evaluation, write_json
from focusspider.evaluation.significance import mean_interval, paired_t_test
from focusspider.evaluation.tables import COSTS, cost, plain, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from focusspider.evaluation.benchmark import Benchmark
    from focusspider.evaluation.runner import Options, Run

__all__ = ["TestbedRun", "comparison", "pairs"]

Row = dict[str, Any]
_METRICS = ("target_recall", "precision")


class TestbedRun(Evaluation):
    """The crawls of all splits, and how they compare.

    Raises
    ------
    BenchmarkError
        There is no budget, or a topic has too few pages.
    """

    __test__ = False  # for pytest, which takes it for a test by its name

    def __init__(self, benchmark: Benchmark, options: Options) -> None:
        if benchmark.pages is None:
            raise BenchmarkError(f"{benchmark.source}: a test bed needs a budget; give pages =")
        self._pages = benchmark.pages
        super().__init__(benchmark, options)  # of the topics, for the key
        self.drawn = self._draw()
        crawls = tuple(
            CrawlSpec(id=one["id"], topic=one["group"], arguments=one["arguments"])
            for one in self.drawn
        )
        super().__init__(replace(benchmark, crawls=crawls), options)
        self._groups: dict[str, list[dict[str, Any]]] = {}
        for one in self.drawn:
            self._groups.setdefault(one["group"], []).append(one)

    def _draw(self) -> list[dict[str, Any]]:
        spec = self.benchmark.testbed
        assert spec is not None
        arguments = [dict(crawl.arguments) for crawl in self.benchmark.crawls]
        key = self.key(asdict(spec), self.settings, *arguments)
        path = self.options.out / "splits.json"
        kept: list[dict[str, Any]] | None = _read(path, key)
        if kept is not None:
            return kept
        log = self.options.out / "crawls" / "splits.log"
        job = {
            "kind": "splits",
            "archive": list(self.benchmark.archive),
            "settings": self.settings,
            "testbed": asdict(spec),
            "crawls": [
                {"id": crawl.id, "arguments": dict(crawl.arguments)}
                for crawl in self.benchmark.crawls
            ],
            "file": str(path),
            "key": key,
            "log": str(log),
        }
        for answer in run_jobs([job], 1):
            if answer.problem is not None:
                end = "" if answer.wrong_input else f"\n{tail(log)}"
                raise BenchmarkError(f"{self.benchmark.source}: {answer.problem}{end}")
        drawn: list[dict[str, Any]] = _read(path, key) or []
        return drawn

    def bound_jobs(self) -> list[dict[str, Any]]:
        """Return none: the targets are drawn, and recall is of all of them."""
        return []

    def run(self, on_answer: Callable[[str, str | None], None]) -> None:
        """Run the crawls, then compare what those of each split fetched."""
        super().run(on_answer)
        jobs: list[dict[str, Any]] = []
        for group, drawn in self._groups.items():
            own = {one["id"]: self._folders(one["id"]) for one in drawn}
            keys = [{run.name: run.key} for folders in own.values() for run in folders]
            key = self.key({"pages": self._pages}, *keys)
            job = {
                "kind": "similarities",
                "archive": list(self.benchmark.archive),
                "settings": self.settings,
                "group": group,
                "pages": self._pages,
                "crawls": [
                    {
                        **one,
                        "folders": [
                            [run.strategy.label, run.seed, str(run.folder)]
                            for run in own[one["id"]]
                        ],
                    }
                    for one in drawn
                ],
                "file": str(self._file(group)),
                "key": key,
                "log": str(self.options.out / "crawls" / f"{group}.log"),
            }
            if any(own.values()) and _read(self._file(group), key) is None:
                jobs.append(job)
        for answer in run_jobs(jobs, self.options.workers):
            if answer.problem is not None:
                log = Path(answer.job["log"])
                raise BenchmarkError(f"{log.stem}: {answer.problem}\n{tail(log)}")

    def _file(self, group: str) -> Path:
        return self.options.out / "crawls" / f"{group}.json"

    def _folders(self, crawl: str) -> list[Run]:
        return [run for run in self.runs if run.crawl.id == crawl and self.is_finished(run)]

    def _rows(self) -> list[Row]:
        """Return a row a crawl and strategy, with its curves."""
        rows: list[Row] = []
        for group in self._groups:
            rows += _read(self._file(group)) or []
        return [row | self.cost_of(row) for row in rows]

    def write(self) -> list[Row]:
        """Write rows, curves, tables and the record of the run; return the comparison."""
        out, rows = self.options.out, self._rows()
        curves = ("pages", *_METRICS)
        flat = [
            {key: value for key, value in row.items() if key not in curves}
            | {name: row[name][-1] for name in _METRICS}
            for row in rows
        ]
        write_json(out / "results.json", flat)
        write_json(
            out / "curves.json",
            [{key: value for key, value in row.items() if key not in COSTS} for row in rows],
        )
        write_json(out / "evaluation.json", self.record())
        table = comparison(flat, self.benchmark.baseline)
        write_tables(
            out / "tables",
            {"testbed": table, "augmented": pairs(flat), "cost": cost(flat)},
        )
        return table

    def pictures(self) -> list[Picture]:
        """Return the four pictures of the paper's figure 4."""
        found: list[Picture] = []
        rows = self._rows()
        for augmented in (False, True):
            own = [row for row in rows if row["augmented"] == augmented]
            for metric in _METRICS if own else ():
                seeds = "augmented seeds" if augmented else "seeds"
                name = f"{metric.replace('_', '-')}{'-augmented' if augmented else ''}"
                picture = Picture(
                    name,
                    f"{self.benchmark.name}: {metric.replace('_', ' ')} from {seeds}",
                    ("pages fetched", metric.replace("_", " ")),
                    own[0]["pages"],
                    [(row["strategy"], row["crawl"], np.array(row[metric])) for row in own],
                )
                found.append(picture)
        return found

    def draw(self) -> None:
        """Draw the pictures; raises MissingExtraError without matplotlib."""
        for picture in self.pictures():
            draw_means(self.options.out / "curves", picture)


def comparison(rows: Sequence[Row], baseline: str) -> list[Row]:
    """Return a row for each kind of seeds and strategy, of the values after the last page.

    Each value has the ends of its 95 % interval over the splits, and the p of a one-tailed
    paired t-test whether the strategy is better than the baseline.
    """
    lines: list[Row] = []
    for augmented in (False, True):
        own = [row for row in rows if row["augmented"] == augmented]
        for strategy in dict.fromkeys(row["strategy"] for row in own):
            line: Row = {
                "seeds": "augmented" if augmented else "as drawn",
                "strategy": strategy,
                "splits": len(_values(own, strategy, "precision")),
            }
            for metric in _METRICS:
                ours, theirs = (_values(own, name, metric) for name in (strategy, baseline))
                both = [crawl for crawl in ours if crawl in theirs]
                band = mean_interval(list(ours.values()))
                test = paired_t_test([ours[one] for one in both], [theirs[one] for one in both])
                line |= {
                    metric: band.mean,
                    f"{metric}_low": band.low,
                    f"{metric}_high": band.high,
                    f"{metric}_p": test.p if strategy != baseline else None,
                }
            lines.append({key: plain(value) for key, value in line.items()})
    return lines


def pairs(rows: Sequence[Row]) -> list[Row]:
    """Return what augmented seeds bring to each strategy, on the splits that have hubs."""
    lines: list[Row] = []
    for strategy in dict.fromkeys(row["strategy"] for row in rows):
        line: Row = {"strategy": strategy}
        for metric in _METRICS:
            drawn, augmented = (
                _values(
                    [row for row in rows if row["augmented"] == kind], strategy, metric, "group"
                )
                for kind in (False, True)
            )
            both = [group for group in augmented if group in drawn]
            test = paired_t_test([augmented[one] for one in both], [drawn[one] for one in both])
            line |= {"splits": len(both), f"{metric}_difference": test.difference,
                     f"{metric}_p": test.p}  # fmt: skip
        lines.append({key: plain(value) for key, value in line.items()})
    return [line for line in lines if line["splits"]]


def _values(rows: Sequence[Row], strategy: str, metric: str, by: str = "crawl") -> dict[str, float]:
    """Return the value of each crawl, the mean of its seeds."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["strategy"] == strategy:
            found.setdefault(row[by], []).append(row[metric])
    return {crawl: float(np.mean(values)) for crawl, values in found.items()}


def _read(path: Path, key: str | None = None) -> Any:
    """Return what a file of this key holds; None where there is none."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return table["rows"] if key is None or table["key"] == key else None
