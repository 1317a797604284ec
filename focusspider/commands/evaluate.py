"""``scrapy focus-evaluate``: strategies side by side on a stored web."""

from __future__ import annotations

import logging
import os
import sys
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from focusspider.commands.focuscommand import FocusCommand, make_folder
from focusspider.config import FocusConfig
from focusspider.errors import BenchmarkError, MissingExtraError, UnknownNameError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from focusspider.evaluation.benchmark import Benchmark

__all__ = ["Command"]

T = TypeVar("T")


class Command(FocusCommand):
    """Run a benchmark file."""

    argument = "benchmark file, such as benchmarks/sample.toml"
    stopped = "the same command goes on from here"
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] BENCHMARK.toml"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Compare strategies on a stored web, and with a crawler that knows it"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Replay the web that a benchmark file names under several strategies, and write "
            "tables, curves and a page of what each found. What is finished is kept: called again, "
            "it goes on where it was stopped. See docs/evaluation.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take what narrows and places a run."""
        super().add_options(parser)
        add = parser.add_argument
        add("--crawls", metavar="IDS", help="only these crawls: ids or patterns, with commas")
        add("--strategies", metavar="NAMES", help="only these strategies, likewise")
        add("--budget", metavar="PAGES", type=int, help="end each crawl after so many pages")
        add("--seeds", metavar="NUMBERS", default="0", help="seeds of random strategies (0)")
        add("--workers", metavar="N", type=int, help="processes side by side (one a core)")
        add("--corpora", metavar="DIR", help="folder of the corpora (FOCUS_CORPORA_DIR)")
        add("--out", metavar="DIR", help="where the results go (exports/evaluations/NAME)")
        add("--fresh", action="store_true", help="run again what is finished already")

    def work(self, given: str, opts: argparse.Namespace) -> None:
        """Run the benchmark; the exit status is 1 where a crawl failed."""
        self.exitcode = self._evaluate(Path(given), opts)

    def _evaluate(self, path: Path, opts: argparse.Namespace) -> int:
        # here, since every call of scrapy loads every command
        from focusspider.commands.progress import ProgressBar
        from focusspider.evaluation.benchmarkfile import load_benchmark
        from focusspider.evaluation.digests import tables_of
        from focusspider.evaluation.page import write_evaluation_page
        from focusspider.evaluation.runner import Evaluation, Options
        from focusspider.evaluation.tables import markdown
        from focusspider.relevance.labels import passed_over

        assert self.settings is not None
        logging.getLogger("focusspider").setLevel(logging.ERROR)
        config = FocusConfig.from_settings(self.settings)
        corpora = opts.corpora or config.corpora_dir
        benchmark = _narrowed(load_benchmark(path, corpora), opts)
        if benchmark.missing:
            print(_missing(benchmark))
            return 0
        for table in tables_of(benchmark):
            if (problem := passed_over(table)) is not None:
                print(problem, file=sys.stderr)
        out = Path(opts.out or config.exports_dir / "evaluations" / benchmark.name).absolute()
        make_folder(out, "--out")
        options = Options(
            out=out,
            workers=_workers(opts.workers),
            seeds=_seeds(opts.seeds),
            fresh=opts.fresh,
            budget=opts.budget,
        )
        if benchmark.testbed is not None:
            from focusspider.evaluation.testbedrun import TestbedRun

            run: Evaluation | TestbedRun = TestbedRun(benchmark, options)
        else:
            run = Evaluation(benchmark, options)
        if run.reused:
            print(f"{len(run.reused)} of {len(run.runs)} crawls are finished, and used again "
                  "(--fresh runs them anew).", file=sys.stderr)  # fmt: skip
        with ProgressBar(benchmark.name) as bar:
            finished = count(1)
            to_do = run.to_do  # before it runs: what can be reached is not to do any more then

            def told(name: str, problem: str | None) -> None:
                done = next(finished)
                if problem is not None:
                    print(f"{done} of {to_do}: {name} failed: {problem}", file=sys.stderr)
                bar.show(done, to_do, f"{benchmark.name}: {name}")

            run.run(told)
        print(markdown(_brief(run.write())), end="")
        print(f"\n{options.out}")
        try:
            run.draw()
        except MissingExtraError as error:
            print(f"There are no pictures: {error}", file=sys.stderr)
        try:
            write_evaluation_page(options.out, run.pictures())
        except MissingExtraError as error:
            print(f"There is no report.html: {error}", file=sys.stderr)
        for failure in run.failures:
            print(f"\nFailed: {failure}", file=sys.stderr)
        return 1 if run.failures else 0


def _narrowed(benchmark: Benchmark, opts: argparse.Namespace) -> Benchmark:
    if opts.budget is not None and opts.budget < 1:
        raise BenchmarkError(f"--budget {opts.budget}: give 1 page or more")
    return benchmark.narrowed(
        crawls=_chosen("crawl", opts.crawls, benchmark.crawls, lambda one: one.id),
        strategies=_chosen(
            "strategy", opts.strategies, benchmark.strategies, lambda one: one.label
        ),
        pages=opts.budget,
    )


def _chosen(
    kind: str, wanted: str | None, known: Sequence[T], name: Callable[[T], str]
) -> list[T] | None:
    """Return those that names or patterns mean, in the order of the benchmark."""
    if wanted is None:
        return None
    patterns = [pattern.strip() for pattern in wanted.split(",") if pattern.strip()]
    if not patterns:
        raise BenchmarkError(f"options: {wanted!r} names no {kind}; give names, with commas")
    for pattern in patterns:
        if not any(fnmatchcase(name(one), pattern) for one in known):
            raise UnknownNameError(kind, pattern, map(name, known), where="options")
    return [one for one in known if any(fnmatchcase(name(one), pattern) for pattern in patterns)]


def _missing(benchmark: Benchmark) -> str:
    files = ", ".join(map(str, benchmark.missing))
    return (
        f"{benchmark.name} is skipped: its corpus is not there ({files}); "
        f"give its folder with --corpora, or set FOCUS_CORPORA_DIR"
    )


def _seeds(text: str) -> tuple[int, ...]:
    try:
        seeds = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        seeds = (-1,)
    if min(seeds) < 0:
        raise BenchmarkError(f"--seeds {text}: give whole numbers of 0 or more, with commas")
    return seeds


def _workers(number: int | None) -> int:
    if number is None:
        return os.cpu_count() or 1
    if number < 1:
        raise BenchmarkError(f"--workers {number}: give 1 or more")
    return number


def _brief(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what is in the files anyway, so that a line fits the screen."""
    return [
        {key: value for key, value in row.items() if not key.startswith(("f1", "precision_"))}
        for row in rows
    ]
