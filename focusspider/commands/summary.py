"""``scrapy focus-summary``: what a crawl found, beside others of the same topic."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrapy.exceptions import UsageError

from focusspider.commands.focuscommand import ToldCommand
from focusspider.errors import RunFolderError
from focusspider.wholerun import read_items, read_pages, read_report, run_parts

if TYPE_CHECKING:
    import argparse

__all__ = ["Command", "RunFolderError", "summary"]


class Command(ToldCommand):
    """Print the summary of one or several run folders."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "RUN [RUN ...]"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Sum up a focused crawl's run folder, beside others"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Sum up a focused crawl from its run folder, exports/TOPIC/RUN: pages fetched, "
            "relevant pages found, harvest rate (relevant pages by pages fetched), why it "
            "stopped, where the files are, and the first finds. Further runs are compared "
            "with it, a line each. It reads files only, and works in any folder and while "
            "the crawl goes on."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002
        """Print the summary."""
        if not args:
            raise UsageError("name at least one run folder, such as exports/sample/RUN")
        self.attempt(lambda: print(summary([Path(arg) for arg in args])))


def summary(folders: list[Path]) -> str:
    """Return the summary of run folders as text, the first in full.

    Raises :class:`RunFolderError` for a folder that is not that of a run.
    """
    runs = [_Run.read(folder) for folder in folders]
    rows = [("strategy", "pages fetched", "relevant", "harvest rate", "stopped by")]
    rows += [run.row() for run in runs]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [f"Topic: {runs[0].topic}", ""]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines += ["", "Files:"]
    for part in dict.fromkeys((folders[0], *run_parts(folders[0]))):
        lines += [f"  {path}" for path in sorted(part.iterdir()) if path.is_file()]
    finds = _first_finds(folders[0])
    if finds:
        lines += ["", "First finds:", *finds]
    return "\n".join(lines)


class _Run(NamedTuple):
    """What ``run.json`` says."""

    topic: str
    strategy: str
    fetched: int
    relevant: int
    harvest_rate: float | None
    stop_reason: str | None

    @classmethod
    def read(cls, folder: Path) -> _Run:
        path = run_parts(folder)[0] / "run.json"
        try:
            run = read_report(folder)
            return cls(run["topic"]["name"], *(run[name] for name in cls._fields[1:]))
        except OSError as error:
            raise RunFolderError(
                f"{path}: {error.strerror}; name the folder of a run, exports/TOPIC/RUN"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise RunFolderError(f"{path}: not what a run leaves: {error!r}") from error

    def row(self) -> tuple[str, str, str, str, str]:
        return (
            self.strategy,
            str(self.fetched),
            str(self.relevant),
            "-" if self.harvest_rate is None else f"{self.harvest_rate:.3f}",
            self.stop_reason or "still running, or killed",
        )


def _first_finds(folder: Path, count: int = 5) -> list[str]:
    """Return a few of the relevant pages, in the order in which they were found.

    The items of a spider that is not ours may have any form: their titles are taken where
    they have some.
    """
    with suppress(OSError):
        titles = {
            item["url"]: item["title"]
            for item in islice(read_items(folder), 10 * count)
            if isinstance(item.get("url"), str) and isinstance(item.get("title"), str)
        }
        relevant = (page["url"] for page in read_pages(folder) if page.get("relevant"))
        return [f"  {titles.get(url) or '(no title)'}  {url}" for url in islice(relevant, count)]
    return []
