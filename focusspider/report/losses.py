"""What a crawl did not get: links refused, pages failed, and time spent waiting."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from focusspider import stats
from focusspider.report.document import Html, cut, element, link
from focusspider.report.table import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from focusspider.report.runlog import RunLog
    from focusspider.stats import Stat

__all__ = ["counts", "failed", "refused", "waits"]

_REFUSED = (stats.LINK_REFUSED, stats.REQUEST_REFUSED)
_FAILED = (stats.PAGE_FAILED, stats.TARGET_FAILED)
#: Of Scrapy's statistics, those that say what went wrong below.
_SCRAPY = (
    "downloader/response_status_count/", "downloader/exception_type_count/", "retry/",
    "robotstxt/forbidden", "spider_exceptions/", "httperror/", "log_count/",
)  # fmt: skip
_MOST = 300  # rows of a table of counts


def refused(log: RunLog) -> Iterator[Html]:
    """Yield the part about links that were not followed."""
    yield element("h2", "What was refused, and why")
    yield from _of_reasons(log, _REFUSED, "No link was refused.")
    found = log.count(stats.LINK_FOUND)
    if found:
        yield element(
            "p",
            f"Of {found:,} links of the pages, {log.count(stats.LINK_PUSHED):,} were new and "
            f"followed or kept waiting, {log.count(stats.LINK_KNOWN):,} were known, and "
            f"{log.count(stats.LINK_REFUSED):,} were refused.",
            class_="note",
        )


def failed(log: RunLog) -> Iterator[Html]:
    """Yield the part about requests that brought no page."""
    yield element("h2", "What failed")
    yield from _of_reasons(log, _FAILED, "Nothing failed.")
    rows = [
        {"count of Scrapy's": cut(key), "value": value}
        for key, value in sorted(log.stats().items())
        if key.startswith(_SCRAPY)
    ]
    if rows:
        yield element(
            "details",
            element("summary", "Answers, errors and retries as Scrapy counts them"),
            *_bounded(rows),
            class_="fold",
        )


def waits(log: RunLog, most: int) -> Iterator[Html]:
    """Yield the part about the longest times between two pages."""
    pages = log.pages
    gaps = [
        (after.time - before.time, place)
        for place, (before, after) in enumerate(pairwise(pages), 1)
        if before.time is not None and after.time is not None and after.time >= before.time
    ]
    if not gaps:
        return
    gaps.sort(key=lambda gap: (-gap[0], gap[1]))
    yield element("h2", "Longest waits between two pages")
    yield element(
        "p",
        "Seconds from one page to the next: a slow or polite host, or, in a crawl that was "
        "stopped, the time until it went on.",
        class_="note",
    )
    yield table(
        [
            {"seconds": gap, "until page": place + 1, "which is": link(pages[place].url)}
            for gap, place in gaps[:most]
        ]
    )


def counts(log: RunLog) -> Iterator[Html]:
    """Yield all that focusspider counted, folded."""
    known = {stat.key: stat for stat in stats.STATS}
    rows = [
        {
            "count": cut(key),
            "value": value,
            "meaning": known[key].meaning if key in known else "",
            "what to do": known[key].advice if key in known else "",
        }
        for key, value in log.stats().items()
        if key.startswith("focus/")
    ]
    if rows:
        yield element("details", element("summary", "All counts"), *_bounded(rows), class_="fold")


def _of_reasons(log: RunLog, keys: Iterable[str], nothing: str) -> Iterator[Html]:
    if not log.stats():
        yield element("p", "Not known: the crawl writes it when it closes.", class_="none")
        return
    known = {stat.key: stat for stat in stats.STATS}
    rows = [row for key in keys for row in _reasons(log, known[key])]
    yield table(rows) if rows else element("p", nothing, class_="none")


def _reasons(log: RunLog, stat: Stat) -> list[dict[str, Any]]:
    whole = log.count(stat.key)
    if not whole:
        return []
    found = {
        key.removeprefix(f"{stat.key}/"): log.count(key)
        for key in log.stats()
        if key.startswith(f"{stat.key}/")
    }
    rows = [
        {
            "count": stat.key,
            "reason": cut(reason),
            "number": number,
            "share": number / whole,
            "meaning": stat.reasons.get(reason, ""),
        }
        for reason, number in sorted(found.items(), key=lambda one: (-one[1], one[0]))
    ]
    return rows or [
        {"count": stat.key, "reason": "", "number": whole, "share": 1.0, "meaning": stat.meaning}
    ]


def _bounded(rows: list[dict[str, Any]]) -> Iterator[Html]:
    yield table(rows[:_MOST])
    if len(rows) > _MOST:
        yield element("p", f"{len(rows) - _MOST:,} more are left out.", class_="note")
