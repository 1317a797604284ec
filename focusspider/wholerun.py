"""A run folder read as one, whether one process wrote it or several workers did.

Workers that crawl together (``FOCUS_FRONTIER``) each write a folder ``worker-N`` with the files
that :mod:`focusspider.runfolder` names. Read together, pages and items are in the order of
their times, and each counts once: where a worker was lost, and another fetched again what it had
not committed, what was written first stays.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider import stats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = [
    "Merged",
    "is_run",
    "merged_report",
    "read_items",
    "read_pages",
    "read_report",
    "run_parts",
]

_SECONDS = len("2026-11-28T09:15:00")
_WORKER = re.compile(r"worker-([0-9]{1,9})")
#: Counts of the whole crawl, which each worker has as they were at its last word.
_OF_ALL = {
    stats.FRONTIER_WAITING,
    stats.FRONTIER_LEASED,
    stats.FRONTIER_DONE,
    stats.FRONTIER_DROPPED,
    stats.FRONTIER_EVICTED,
}


def run_parts(folder: Path) -> list[Path]:
    """Return the folders that hold the files of a run: its own, or those of its workers."""
    workers = []
    if not (folder / "crawl.jsonl").exists():
        with suppress(OSError):
            for path in folder.iterdir():
                match = _WORKER.fullmatch(path.name)
                if match and path.is_dir():
                    workers.append((int(match[1]), path.name, path))
    return [path for *_, path in sorted(workers)] or [folder]


def is_run(folder: Path) -> bool:
    """Return whether a path is the folder of a run that has fetched something."""
    return any((part / "crawl.jsonl").is_file() for part in run_parts(folder))


def read_pages(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of ``crawl.jsonl``, of all workers, each page once.

    Lines that are damaged are passed over. Raises ``OSError`` where a file can't be read.
    """
    return iter(Merged([_objects(part / "crawl.jsonl") for part in run_parts(folder)]))


def read_items(folder: Path, name: str = "items.jsonl") -> Iterator[dict[str, Any]]:
    """Yield the items of ``items.jsonl``, or the facts of ``facts.jsonl``, none twice.

    Of several workers, one is left out where its ``url`` is that of a page that counts for
    another worker, and where another worker has just the same. Lines that are damaged are
    passed over. Raises ``OSError`` where a file can't be read.
    """
    parts = run_parts(folder)
    pages = Merged([_objects(part / "crawl.jsonl") for part in parts])
    if len(parts) > 1:
        pages.exhaust()
    return pages.items([_objects(part / name) for part in parts])


class Merged:
    """The pages of several journals in the order of their times, each page once.

    A URL that one journal has is left out of the others; within one it may come again, as
    after a form. Of one journal every line stays.

    Parameters
    ----------
    journals
        the lines of each ``crawl.jsonl``

    Attributes
    ----------
    twice, twice_relevant
        pages that were left out so far, and those that were judged relevant
    latest
        the time of the last page so far; empty without times
    """

    def __init__(self, journals: Sequence[Iterable[dict[str, Any]]]) -> None:
        self._journals = journals
        self._first: dict[str, int] = {}  # URL -> the journal for which it counts
        self.twice = 0
        self.twice_relevant = 0
        self.latest = ""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for number, line in _by_time(self._journals):
            url, time = line.get("url"), line.get("time")
            if isinstance(time, str):
                self.latest = max(self.latest, time)
            if isinstance(url, str) and self._first.setdefault(url, number) != number:
                self.twice += 1
                self.twice_relevant += line.get("relevant") is True
            else:
                yield line

    def exhaust(self) -> None:
        """Read all pages, to know which are left out."""
        for _ in self:
            pass

    def items(self, journals: Sequence[Iterable[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """Yield the items of the same workers, when the pages have been read."""
        if len(journals) == 1:
            yield from journals[0]
            return
        seen: dict[bytes, int] = {}
        for number, item in _by_time(journals):
            url = item.get("url")
            if isinstance(url, str) and self._first.get(url, number) != number:
                continue
            content = json.dumps(item, sort_keys=True).encode()
            digest = hashlib.blake2b(content, digest_size=16).digest()
            if seen.setdefault(digest, number) == number:
                yield item


class _Placed(NamedTuple):
    time: str
    n: int
    journal: int
    line: dict[str, Any]


def _by_time(journals: Sequence[Iterable[dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield lines with the number of their journal; without times, in turn from each."""

    def placed(number: int, journal: Iterable[dict[str, Any]]) -> Iterator[_Placed]:
        latest = ""
        for n, line in enumerate(journal):
            time = line.get("time")
            if isinstance(time, str):  # all in UTC and alike
                latest = max(latest, time)
            yield _Placed(latest, n, number, line)

    streams = [placed(number, journal) for number, journal in enumerate(journals)]
    for found in heapq.merge(*streams, key=lambda place: place[:3]):
        yield found.journal, found.line


def read_report(folder: Path) -> dict[str, Any]:
    """Return what ``run.json`` says, of several workers with the pages counted, each once.

    Raises ``OSError`` or ``ValueError`` where it, or that of each worker, can't be read.
    """
    parts = run_parts(folder)
    if len(parts) == 1:
        return _report(parts[0])
    reports, problem = [], None
    for part in parts:
        try:
            reports.append(_report(part))
        except (OSError, ValueError) as error:
            problem = error
    if problem is not None and not reports:
        raise problem
    pages = Merged([_objects(part / "crawl.jsonl") for part in parts])
    relevance = [line.get("relevant") is True for line in pages]
    fetched, relevant = len(relevance), sum(relevance)
    return merged_report(reports, pages.latest) | {
        "fetched": fetched,
        "relevant": relevant,
        "harvest_rate": round(relevant / fetched, 6) if fetched else None,
    }


def _report(part: Path) -> dict[str, Any]:
    report = json.loads((part / "run.json").read_text(encoding="utf-8"))
    if not isinstance(report, dict):
        raise ValueError(f"it holds {type(report).__name__}, not a table")
    return report


def merged_report(reports: Sequence[dict[str, Any]], latest: str) -> dict[str, Any]:
    """Return the ``run.json`` of several workers as one; those that are missing are empty.

    The crawl is over, for the reason of the worker that was the last to end, unless a page came
    later, or no worker has closed.

    Parameters
    ----------
    latest
        the time of the last page
    """
    reports = [report for report in reports if report]
    if not reports:
        return {}
    ended = [report for report in reports if isinstance(report.get("ended"), str)]
    last = max(ended, key=lambda report: str(report["ended"]), default=reports[-1])
    is_over = bool(ended) and latest[:_SECONDS] <= last["ended"][:_SECONDS]
    fetched, relevant = (
        sum(value for report in reports if isinstance(value := report.get(name), int))
        for name in ("fetched", "relevant")
    )
    return {
        **reports[0],
        "workers": len(reports),
        "fetched": fetched,
        "relevant": relevant,
        "harvest_rate": round(relevant / fetched, 6) if fetched else None,
        "stop_reason": last.get("stop_reason") if is_over else None,
        "started": min(
            (start for report in reports if isinstance(start := report.get("started"), str)),
            default=None,
        ),
        "ended": last.get("ended") if is_over else None,
        "stats": _merged_stats(reports, last),
    }


def _merged_stats(reports: Sequence[dict[str, Any]], last: dict[str, Any]) -> dict[str, Any]:
    """Return our counts, of which each worker has its own, or those of all."""
    found: dict[str, Any] = {}
    for report in reports:
        counts = report.get("stats")
        for key, value in counts.items() if isinstance(counts, dict) else ():
            if not key.startswith("focus/") or not isinstance(value, int):
                continue
            if key == stats.FLEET_WORKERS:
                found[key] = max(value, found.get(key, 0))
            elif key not in _OF_ALL:
                found[key] = found.get(key, 0) + value
    counts = last.get("stats")
    if isinstance(counts, dict):
        found |= {key: counts[key] for key in _OF_ALL if key in counts}
    return found


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """Read the objects of a journal, of which the last may be half written."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for text in lines:
            with suppress(ValueError, RecursionError):
                line = json.loads(text)
                if isinstance(line, dict):
                    yield line
