"""``scrapy focus-summary``: what a crawl found, beside others of the same topic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    import argparse

__all__ = ["Command", "summary"]


class Command(ScrapyCommand):
    """Print the summary of one or several run folders."""

    requires_project = False
    requires_crawler_process = False
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
            "relevant pages found, harvest rate, why it stopped, and where the files are. "
            "Further runs are shown beside it."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002
        """Print the summary."""
        if not args:
            raise UsageError("name at least one run folder, such as exports/sample/RUN")
        print(summary([Path(arg) for arg in args]))


def summary(folders: list[Path]) -> str:
    """Return the summary of run folders as text, the first in full."""
    runs = [(folder, _read(folder)) for folder in folders]
    rows = [("strategy", "pages fetched", "relevant", "harvest rate", "stopped by")]
    for _, run in runs:
        rate = run["harvest_rate"]
        rows.append(
            (
                str(run["strategy"]),
                str(run["fetched"]),
                str(run["relevant"]),
                "-" if rate is None else f"{rate:.3f}",
                str(run["stop_reason"] or "still running, or killed"),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [f"Topic: {runs[0][1]['topic']['name']}", ""]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines += ["", "Files:"]
    lines += [f"  {folder / name}" for folder, _ in runs[:1] for name in _files(folder)]
    lines += _first_finds(runs[0][0])
    return "\n".join(lines)


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def _first_finds(folder: Path, count: int = 5) -> list[str]:
    """Return a few of the relevant pages, in the order in which they were found."""
    try:
        with (folder / "items.jsonl").open(encoding="utf-8") as file:
            items = [json.loads(line) for line, _ in zip(file, range(count), strict=False)]
    except OSError:
        return []
    found = [f"  {item.get('title') or '(no title)'}  {item['url']}" for item in items]
    return ["", "First finds:", *found] if found else []


def _read(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    try:
        run: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; name the folder of a run, exports/TOPIC/RUN"
        ) from error
    except ValueError as error:
        raise UsageError(f"{path}: not the JSON of a run: {error}") from error
    return run
