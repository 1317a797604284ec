"""A run folder, read back, whatever has become of it.

A crawl that is going on has a ``run.json`` without counts, and a journal whose last line may
be half written; a killed one is left like that. A disk may have damaged any of it. What can be
read is taken, and what can't is said in :attr:`RunLog.problems`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from focusspider.errors import RunFolderError
from focusspider.urls import host_of
from focusspider.wholerun import Merged, merged_report, run_parts

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["LoggedPage", "RunLog", "read_run", "read_titles"]

T = TypeVar("T")


class LoggedPage(NamedTuple):
    """A line of ``crawl.jsonl``; what was missing or of another type in it is None.

    ``parent`` is the place, from 0, of the page whose link led here, and -1 where that is a
    seed's none, or no page before this one.
    """

    url: str
    host: str
    parent: int
    anchor: str | None
    depth: int | None
    relevance: float | None
    relevant: bool
    status: int | None
    time: float | None  # seconds since 1970


@dataclass
class RunLog:
    """What a run folder holds.

    Attributes
    ----------
    run
        ``run.json``, empty where it can't be read
    pages
        in the order in which they were fetched
    strays
        how many pages have a parent that the log does not have before them
    problems
        what was wrong with the folder, a sentence each
    parts
        the folders of its files: itself, or those of its workers
    """

    folder: Path
    parts: list[Path]
    run: dict[str, Any] = field(default_factory=dict)
    pages: list[LoggedPage] = field(default_factory=list)
    strays: int = 0
    problems: list[str] = field(default_factory=list)

    def name(self, path: Path) -> str:
        """Return what messages call a file of the run."""
        return path.relative_to(self.folder).as_posix()

    @property
    def relevant(self) -> list[bool]:
        """Which pages are relevant."""
        return [page.relevant for page in self.pages]

    @property
    def parents(self) -> list[int]:
        """The parent of each page."""
        return [page.parent for page in self.pages]

    def table(self, *names: str) -> dict[str, Any]:
        """Return a table of ``run.json``, empty where there is none."""
        value: Any = self.run
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else {}

    def stats(self) -> dict[str, int | float | str]:
        """Return the statistics of the crawl; none before it has closed."""
        return {
            key: value
            for key, value in self.table("stats").items()
            if isinstance(value, int | float | str) and not isinstance(value, bool)
        }

    def count(self, key: str) -> int:
        """Return a statistic that counts, 0 where it did not happen."""
        value = self.stats().get(key)
        return value if isinstance(value, int) else 0


def read_run(folder: Path) -> RunLog:
    """Read a run folder, of one process or of several workers.

    Raises :class:`RunFolderError` where it has neither a readable ``run.json`` nor a
    ``crawl.jsonl``.
    """
    log = RunLog(folder, parts=run_parts(folder))
    reports = [_report(log, part / "run.json") for part in log.parts]
    journals: list[Iterable[dict[str, Any]]] = []
    for path in (part / "crawl.jsonl" for part in log.parts):
        try:
            with path.open("rb"):
                journals.append(_Journal(log, path))
        except OSError as error:
            if not any(reports):
                raise RunFolderError(
                    f"{folder}: there is no run here ({path.name}: {error.strerror}, and "
                    f"{log.problems[0].rstrip('.')}); name the folder of a run, exports/TOPIC/RUN"
                ) from error
            log.problems.append(
                f"{log.name(path)} can't be read ({error.strerror}): no page is known."
            )
            journals.append(())
    merged = _read_pages(log, journals)
    log.run = reports[0] if len(reports) == 1 else merged_report(reports, merged.latest)
    if any(journals):
        _compare(log, reports, merged)
    return log


def _report(log: RunLog, path: Path) -> dict[str, Any]:
    """Read a ``run.json``; empty where it can't be read."""
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(run, dict):
            raise ValueError(f"it holds {type(run).__name__}, not a table")
        return run
    except OSError as error:
        log.problems.append(f"{log.name(path)} can't be read ({error.strerror}).")
    except (ValueError, RecursionError) as error:
        log.problems.append(f"{log.name(path)} is damaged: {str(error)[:200]}.")
    return {}


def read_titles(log: RunLog, urls: Container[str]) -> dict[str, str]:
    """Return the titles that ``items.jsonl`` has of these pages; items may have any form."""
    titles: dict[str, str] = {}
    for path in (part / "items.jsonl" for part in log.parts):
        try:
            for item in _Journal(log, path):
                url, title = item.get("url"), item.get("title")
                if (
                    isinstance(url, str)
                    and isinstance(title, str)
                    and title.strip()
                    and url in urls
                ):
                    titles.setdefault(url, title[:1000])
        except OSError as error:
            log.problems.append(
                f"{log.name(path)} can't be read ({error.strerror}): pages have no titles."
            )
    return titles


class _Journal:
    """The objects of a journal; lines that are none are counted and told at its end."""

    def __init__(self, log: RunLog, path: Path) -> None:
        self._log, self._path = log, path

    def __iter__(self) -> Iterator[dict[str, Any]]:
        bad, is_cut = 0, False
        with self._path.open("rb") as lines:
            for line in lines:
                found = None
                with suppress(ValueError, RecursionError):
                    found = json.loads(line)
                if isinstance(found, dict):
                    yield found
                elif line.endswith(b"\n"):
                    bad += 1
                else:
                    is_cut = True
        name = self._log.name(self._path)
        if bad:
            self._log.problems.append(f"Damaged lines of {name}, left out: {bad:,}.")
        if is_cut:
            self._log.problems.append(
                f"The last line of {name} is cut: the crawl is writing it, or was killed."
            )


def _read_pages(log: RunLog, journals: Sequence[Iterable[dict[str, Any]]]) -> Merged:
    places: dict[str, int] = {}
    other = 0
    merged = Merged(journals)
    for line in merged:
        url, parent = line.get("url"), line.get("parent")
        if not isinstance(url, str) or not url:
            other += 1
            continue
        place = -1
        if isinstance(parent, str):
            place = places.get(parent, -1)
            log.strays += place < 0
        places.setdefault(url, len(log.pages))
        log.pages.append(
            LoggedPage(
                url=url,
                host=host_of(url),
                parent=place,
                anchor=_typed(line.get("anchor"), str),
                depth=_typed(line.get("depth"), int),
                relevance=_share(line.get("relevance")),
                relevant=line.get("relevant") is True,
                status=_typed(line.get("status"), int),
                time=_seconds(line.get("time")),
            )
        )
    if other:
        log.problems.append(f"Lines of crawl.jsonl that name no URL, left out: {other:,}.")
    if log.strays:
        log.problems.append(
            f"Pages whose parent crawl.jsonl does not have before them: {log.strays:,}; they "
            "stand as if they were seeds."
        )
    if merged.twice:
        log.problems.append(
            f"Pages that a second worker fetched too, counted once: {merged.twice:,}."
        )
    return merged


def _compare(log: RunLog, reports: Sequence[dict[str, Any]], merged: Merged) -> None:
    """Say where ``run.json`` and the log do not tell the same."""
    if not log.run:
        return
    unclosed = [
        part.name
        for part, report in zip(log.parts, reports, strict=True)
        if report.get("stop_reason") is None
    ]
    if unclosed:
        if len(log.parts) == 1:
            state = "The crawl has not closed: it is going on, or was killed."
        else:
            state = f"Not closed, and so going on or killed: {', '.join(unclosed)}."
        log.problems.append(
            f"{state} Why links were refused and pages failed is written when it closes."
        )
        return
    for name, found in (
        ("fetched", len(log.pages) + merged.twice),
        ("relevant", sum(log.relevant) + merged.twice_relevant),
    ):
        said = log.run.get(name)
        if said != found:
            log.problems.append(
                f"run.json says {str(said)[:20]} pages {name}, crawl.jsonl has {found:,}; the "
                "figures here are those of crawl.jsonl."
            )


def _typed(value: Any, kind: type[T]) -> T | None:
    return value if isinstance(value, kind) and not isinstance(value, bool) else None


def _share(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _seconds(value: Any) -> float | None:
    if isinstance(value, str):
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromisoformat(value).timestamp()
    return None
