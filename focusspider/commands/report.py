"""``scrapy focus-report``: one crawl as a page that opens in any browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from focusspider.commands.focuscommand import FocusCommand
from focusspider.errors import MissingExtraError, ModelFileError

if TYPE_CHECKING:
    import argparse

    from focusspider.report.document import Html
    from focusspider.report.runlog import RunLog

__all__ = ["Command"]

#: Rows of each table of what was learnt.
_MOST_LEARNT = 20


class Command(FocusCommand):
    """Write the page about a run folder."""

    argument = "run folder, such as exports/sample/RUN"
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] RUN"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Write a focused crawl's run folder as one HTML page"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Write one HTML page about a focused crawl from its run folder, exports/TOPIC/RUN: "
            "what it found and when, its hosts, the paths that led to relevant pages, the best "
            "hubs, what was refused and what failed. The page needs no server and no network. "
            "It reads files only, and works in any folder and while the crawl goes on. Its "
            "curves need: pip install 'focusspider[report]'."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take where the page goes."""
        super().add_options(parser)
        parser.add_argument("--out", metavar="FILE", help="the page (RUN/report.html)")

    def work(self, given: str, opts: argparse.Namespace) -> None:
        """Write the page, and print where it is."""
        print(_written(Path(given), opts.out))


def _written(folder: Path, out: str | None) -> Path:
    # here, since every call of scrapy loads every command
    from focusspider.report.charts import library
    from focusspider.report.crawlpage import crawl_page
    from focusspider.report.document import write_page
    from focusspider.report.runlog import read_run

    log = read_run(folder)
    script: str | None = None
    try:
        script = library()
    except MissingExtraError as error:
        print(f"There are no curves: {error}", file=sys.stderr)
    path = Path(out) if out else folder / "report.html"
    write_page(path, crawl_page(log, script, learnt=_learnt(log)))
    for problem in log.problems:
        print(problem, file=sys.stderr)
    return path


def _learnt(log: RunLog) -> list[Html]:
    """Return what auto has learnt, for the page; what cannot be read is told as a problem."""
    from focusspider.inspection import inspect_model
    from focusspider.inspection.page import sections_as_html
    from focusspider.report.document import element
    from focusspider.runfolder import LESSONS

    found = [part / LESSONS for part in log.parts if (part / LESSONS).exists()]
    if len(found) > 1:
        names = ", ".join(log.name(path.parent) for path in found)
        note = f"Each worker has learnt on its own: see scrapy focus-inspect with {names}."
        return [element("h2", "What was learnt"), element("p", note, class_="note")]
    try:
        sections = inspect_model(found[0], _MOST_LEARNT).sections if found else []
    except ModelFileError as error:
        log.problems.append(str(error))
        return []
    return list(sections_as_html(sections))
