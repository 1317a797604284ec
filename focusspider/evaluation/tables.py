"""The tables of an evaluation, as Markdown, CSV and JSON.

``summary`` has a row a strategy over all crawls, ``crawls`` a row a crawl and strategy,
``areas`` the areas under the recall curve, crawls down and strategies across. These are the
same to the byte when the same crawls are run again. What they cost is in ``cost`` alone,
and differs each time.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.evaluation.benchmark import BASELINE
from focusspider.evaluation.metrics import RECALL_LEVELS, pooled_headroom
from focusspider.evaluation.rows import OMNISCIENT, SHARES
from focusspider.evaluation.significance import mean_interval, paired_t_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "COSTS",
    "Row",
    "areas",
    "cost",
    "crawls",
    "markdown",
    "plain",
    "summary",
    "write_tables",
]

Row = dict[str, Any]

#: The columns that differ from run to run.
COSTS = ("cpu_ms_per_page", "wall_s", "peak_mb", "startup_s")
_HARVEST = tuple(f"harvest_{round(100 * share)}" for share in SHARES)
_LEVELS = tuple(
    f"{name}_{round(100 * level)}" for name in ("precision", "f1") for level in RECALL_LEVELS
)


def crawls(rows: Iterable[Row]) -> list[Row]:
    """Return the rows without what they cost."""
    return [{key: value for key, value in row.items() if key not in COSTS} for row in rows]


def summary(rows: Sequence[Row], baseline: str = BASELINE) -> list[Row]:
    """Return a row a strategy: means over crawls, pooled headroom, and the test of its area.

    The seeds of a random strategy are averaged within each crawl first. ``auc_low`` and
    ``auc_high`` are the ends of the 95 % interval of the mean area over the crawls.
    ``difference``, ``t`` and ``p`` are those of a one-tailed paired t-test whether the area
    is larger than that of the baseline, over the crawls that both have.
    """
    tables = {strategy: _by_crawl(own) for strategy, own in _by_strategy(rows).items()}
    compared, bounds = tables.get(baseline, {}), tables.get(OMNISCIENT, {})
    start = tables.get(BASELINE, {})
    lines: list[Row] = []
    for strategy, own in tables.items():
        line: Row = {"strategy": strategy, "crawls": len(own)}
        area = mean_interval([row["auc"] for row in own.values()])
        line |= {"auc": area.mean, "auc_low": area.low, "auc_high": area.high}
        pooled = [crawl for crawl in own if crawl in start and crawl in bounds]
        line["headroom"] = pooled_headroom(
            *([table[crawl]["auc"] for crawl in pooled] for table in (own, start, bounds))
        ) if pooled else math.nan  # fmt: skip
        line["found"] = np.mean([row["found"] / row["targets"] for row in own.values()])
        for name in (*_HARVEST, *_LEVELS):
            line[name] = np.mean([row[name] for row in own.values()])
        both = [crawl for crawl in own if crawl in compared]
        if strategy not in (baseline, OMNISCIENT):
            test = paired_t_test(
                [own[crawl]["auc"] for crawl in both], [compared[crawl]["auc"] for crawl in both]
            )
            line |= {"difference": test.difference, "t": test.t, "p": test.p}
        else:
            line |= {"difference": None, "t": None, "p": None}
        lines.append({key: plain(value) for key, value in line.items()})
    return lines


def areas(rows: Sequence[Row]) -> list[Row]:
    """Return the area under the recall curve of each crawl, a column a strategy."""
    tables = {strategy: _by_crawl(own) for strategy, own in _by_strategy(rows).items()}
    lines: list[Row] = []
    for crawl in dict.fromkeys(row["crawl"] for row in rows):
        one = next(row for row in rows if row["crawl"] == crawl)
        line = {"crawl": crawl, "reachable": one["reachable"], "targets": one["targets"]}
        for strategy, own in tables.items():
            line[strategy] = own[crawl]["auc"] if crawl in own else None
        lines.append(line)
    return lines


def cost(rows: Sequence[Row]) -> list[Row]:
    """Return a row a strategy: CPU a page over all its pages, and time and memory."""
    lines: list[Row] = []
    for strategy, own in _by_strategy(rows).items():
        own = [row for row in own if row["wall_s"] is not None]
        if not own:
            continue
        pages = sum(row["fetched"] for row in own)
        cpu_ms = sum(row["cpu_ms_per_page"] * row["fetched"] for row in own)
        lines.append(
            {
                "strategy": strategy,
                "pages": pages,
                "cpu_ms_per_page": cpu_ms / pages,
                "wall_s": sum(row["wall_s"] for row in own),
                "peak_mb": max(row["peak_mb"] for row in own),
                "startup_s": float(np.mean([row["startup_s"] for row in own])),
            }
        )
    return lines


def write_tables(folder: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    """Write each table as ``NAME.md``, ``NAME.csv`` and ``NAME.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    writers: dict[str, Callable[[Sequence[Row]], str]] = {
        "md": markdown, "csv": _csv, "json": _json,
    }  # fmt: skip
    for name, rows in tables.items():
        for ending, write in writers.items():
            (folder / f"{name}.{ending}").write_text(write(rows), encoding="utf-8")


def markdown(rows: Sequence[Row]) -> str:
    """Return a table in Markdown, numbers to three decimals."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = [names, ["---" if _is_text(rows, name) else "---:" for name in names]]
    lines += [[_shown(row.get(name)) for name in names] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _is_text(rows: Sequence[Row], name: str) -> bool:
    return any(isinstance(row.get(name), str) for row in rows)


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _json(rows: Sequence[Row]) -> str:
    return json.dumps(list(rows), indent=1) + "\n"


def _by_strategy(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["strategy"]].append(row)
    return found


def _by_crawl(rows: Iterable[Row]) -> dict[str, Row]:
    """Return a row a crawl, the mean of its seeds."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["crawl"]].append(row)
    names = ("auc", "found", *_HARVEST, *_LEVELS)
    return {
        crawl: {**own[0], **{name: float(np.mean([row[name] for row in own])) for name in names}}
        for crawl, own in found.items()
    }


def plain(value: Any) -> Any:
    """Return a number that JSON has: NaN and infinity are None."""
    if isinstance(value, np.ndarray | np.floating | float):
        number = float(value)
        return number if math.isfinite(number) else None
    return value
