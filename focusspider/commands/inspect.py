"""``scrapy focus-inspect``: what a model has learnt, for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focusspider.commands.focuscommand import FocusCommand
from focusspider.errors import ModelFileError

if TYPE_CHECKING:
    import argparse

    from focusspider.inspection.sections import Inspection

__all__ = ["Command"]


class Command(FocusCommand):
    """Show what a model has learnt."""

    argument = "model file, such as models/TOPIC/hmm.npz, or the folder of a run"
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] MODEL|RUN"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Show what a trained model, or auto in a crawl, has learnt"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Show what a model file has learnt, such as models/TOPIC/hmm.npz: of hmm the "
            "transitions, emissions, priors and the words of each cluster; of memm and crf the "
            "strongest features of each state and transition; of context-graph the words of "
            "each layer; of relevance the strongest words for and against a page; and of each its "
            "topic, date, training data, measures and parameters. Of the folder of a "
            "run, exports/TOPIC/RUN, what auto has learnt in it: which words, hosts, directories "
            "and tag paths paid, what weighs how much, and how its trust grew. As text, or with "
            "--html as a page that needs no server and no network."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take where the page goes, and how much is listed."""
        super().add_options(parser)
        add = parser.add_argument
        add("--html", metavar="FILE", help="write a page instead of text")
        add("--words", metavar="N", type=int, default=30,
            help="how many words or features of each list (30)")  # fmt: skip

    def work(self, given: str, opts: argparse.Namespace) -> None:
        """Show the model."""
        if not 1 <= opts.words <= 1000:
            raise UsageError(f"--words is a number from 1 to 1000, got {opts.words}")
        found = _inspected(Path(given), opts.words)
        if opts.html:
            _write(found, Path(opts.html))
        else:
            from focusspider.inspection.text import as_text

            print(as_text(found))


def _inspected(path: Path, n: int) -> Inspection:
    # here, since every call of scrapy loads every command
    from focusspider.inspection import inspect_model
    from focusspider.runfolder import LESSONS
    from focusspider.wholerun import is_run, run_parts

    if path.is_dir():
        if (learnt := path / LESSONS).exists():
            return inspect_model(learnt, n)
        workers = [str(part) for part in run_parts(path) if (part / LESSONS).exists()]
        if workers:
            raise ModelFileError(
                f"{path} is of several workers, and each has learnt on its own; name one of "
                f"{', '.join(workers)}"
            )
        if is_run(path):
            raise ModelFileError(
                f"{path} is the folder of a run that has no {LESSONS}: only auto learns during a "
                "crawl, and writes what it has learnt when the crawl ends, if it has found any "
                "relevant page"
            )
        held = ", ".join(sorted(str(file) for file in path.glob("*.npz"))[:10])
        holds = f"it holds {held}; name one of these" if held else "name a file"
        raise ModelFileError(f"{path} is a folder, and a model is a file: {holds}")
    return inspect_model(path, n)


def _write(found: Inspection, path: Path) -> None:
    from focusspider.inspection.page import as_page
    from focusspider.report.document import write_page

    write_page(path, as_page(found))
    print(path)
