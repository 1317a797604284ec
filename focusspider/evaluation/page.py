"""The page of an evaluation: its curves and tables in one file that needs no server.

It is made of what the evaluation has written, ``evaluation.json`` and ``tables/``, and of the
pictures that are drawn as PNG too. A reader chooses a crawl, or the mean of all with its 95 %
intervals, and switches strategies on and off in all charts and tables at once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.evaluation.curves import by_strategy
from focusspider.evaluation.rows import OMNISCIENT
from focusspider.evaluation.significance import mean_interval
from focusspider.report.charts import (
    Chart,
    Line,
    Series,
    chart_data,
    library,
    places,
    styled,
    switches,
)
from focusspider.report.document import cut, document, element, write_page
from focusspider.report.table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from focusspider.evaluation.curves import Picture
    from focusspider.report.document import Html

__all__ = ["MEAN", "evaluation_page", "write_evaluation_page"]

#: The view of all crawls together; no crawl has this name, which has blanks.
MEAN = "the mean of all crawls"
#: Most places at which a curve is drawn; a curve over shares of the crawl has as many.
_POINTS = 100

#: Heads of the tables, which are in the order of this list, and whether they begin folded.
_TABLES: Mapping[str, tuple[str, bool]] = {
    "testbed": ("Target recall and precision", False),
    "augmented": ("What augmented seeds bring", False),
    "areas": ("Area under the recall curve of each crawl", False),
    "cost": ("What it costs", False),
    "crawls": ("All figures of each crawl", True),
}
#: Columns of the summary, in tables of their own.
_RESULTS = ("strategy", "crawls", "auc", "auc_low", "auc_high", "headroom", "found")
_TESTS = ("strategy", "difference", "t", "p")
_MEANINGS = {
    "auc": "mean recall over the crawl: the area under the recall curve",
    "auc_low": "lower end of the 95 % interval of its mean over the crawls",
    "auc_high": "upper end of the 95 % interval of its mean over the crawls",
    "headroom": "share of the possible gain over breadth-first: (auc − breadth-first) / "
    "(omniscient − breadth-first), of means over crawls in the summary",
    "found": "targets found by the end: their share in the summary, else their number",
    "reachable": "pages that links lead to from the seeds, within the scope",
    "targets": "of them, those that the truth calls relevant",
    "difference": "mean difference of the auc from that of the baseline, on the same crawls",
    "t": "Student's statistic of the differences",
    "p": "probability of such a difference, or a larger one, if both are equally good",
    "cpu_ms_per_page": "CPU of the crawl by pages fetched, in milliseconds",
    "wall_s": "seconds from the opening to the close of the crawls",
    "peak_mb": "peak memory of the crawl's process",
    "startup_s": "CPU before the crawl opened, in seconds",
    **{f"harvest_{n}": f"harvest rate after {n} % of the reachable pages" for n in (10, 25)},
    **{f"precision_{n}": f"precision where {n} % of the targets are found"
       for n in (10, 50, 90, 100)},
    **{f"f1_{n}": f"F1 where {n} % of the targets are found" for n in (10, 50, 90, 100)},
    **{f"pages_{n}": f"pages fetched when {n} % of the targets were found"
       for n in (10, 50, 90, 100)},
}  # fmt: skip

_Rows = list[dict[str, Any]]


def write_evaluation_page(out: Path, pictures: Sequence[Picture]) -> None:
    """Write ``report.html`` into the folder of an evaluation, of what is there.

    Raises MissingExtraError without plotly.
    """
    script = library()
    record = json.loads((out / "evaluation.json").read_text(encoding="utf-8"))
    tables = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((out / "tables").glob("*.json"))
    }
    write_page(out / "report.html", evaluation_page(record, tables, pictures, script))


def evaluation_page(
    record: Mapping[str, Any],
    tables: Mapping[str, _Rows],
    pictures: Sequence[Picture],
    script: str,
) -> str:
    """Return the page.

    Parameters
    ----------
    record
        ``evaluation.json``
    tables
        the rows of each of ``tables/``, by its name
    script
        :func:`~focusspider.report.charts.library`
    """
    series = _series(pictures)
    names = {one.name for one in series}
    charts = [_chart(picture, record["benchmark"]) for picture in pictures]
    most = max((len(chart.x) for chart in charts), default=0)
    views = list(dict.fromkeys(view for chart in charts for view in chart.views))
    body = [
        *_head(record, names),
        element("h2", "Curves"),
        switches(series, views),
        element("div", *(chart.div() for chart in charts), class_="charts"),
        element("p", f"Each curve is drawn at {most:,} places.", class_="note"),
        *_tables(record, tables, names),
        *_foot(record),
    ]
    return document(
        f"Evaluation: {record['benchmark']}",
        body,
        data=chart_data(charts, series),
        libraries=[script],
    )


def _series(pictures: Sequence[Picture]) -> list[Series]:
    names = list(dict.fromkeys(line[0] for picture in pictures for line in picture.lines))
    found = {one.name: one for one in styled(name for name in names if name != OMNISCIENT)}
    return [found.get(name, Series(name, "#000000", "dot")) for name in names]


def _chart(picture: Picture, benchmark: str) -> Chart:
    where = np.atleast_1d(np.asarray(picture.places, dtype=np.float64))
    at = places(len(where), _POINTS)
    views: dict[str, dict[str, Line]] = {MEAN: {}}
    for strategy, crawls in by_strategy(picture).items():
        band = mean_interval([values[at] for values in crawls.values()])
        is_one = strategy == OMNISCIENT or bool(np.isnan(band.low).any())
        ends = (None, None) if is_one else (_list(band.low), _list(band.high))
        views[MEAN][strategy] = Line(_list(band.mean), *ends)
        for crawl, values in crawls.items():
            views.setdefault(crawl, {})[strategy] = Line(_list(values[at]))
    if len(views) == 2:  # one crawl is its own mean
        views = {crawl: lines for crawl, lines in views.items() if crawl != MEAN}
    title = picture.title.removeprefix(f"{benchmark}: ")
    title = title[:1].upper() + title[1:]
    return Chart(picture.name, title, *picture.labels, _list(where[at]), views)


def _list(values: NDArray[np.float64]) -> list[float]:
    numbers: list[float] = values.tolist()
    return numbers


def _head(record: Mapping[str, Any], series: set[str]) -> Iterator[Html]:
    if record.get("description"):
        yield element("p", cut(record["description"], 2000))
    failures = record.get("failures") or ()
    if failures:
        yield element(
            "p",
            "Crawls that failed and are in no figure: " + cut(", ".join(map(str, failures)), 2000),
            class_="problem",
        )
    crawls = len(record["crawls"])
    budget = f"{record['pages']:,} pages each" if record.get("pages") else "to the end"
    facts = [
        ("Crawls", f"{crawls:,}, {budget}"),
        ("Strategies", f"{len(series - {OMNISCIENT}):,}"),
        ("Baseline of the tests", cut(str(record["baseline"]))),
        ("Ended", cut(str(record["ended"]))),
    ]
    yield element("dl", *(element(tag, text) for fact in facts
                          for tag, text in zip(("dt", "dd"), fact, strict=True)))  # fmt: skip


def _tables(
    record: Mapping[str, Any], tables: Mapping[str, _Rows], series: set[str]
) -> Iterator[Html]:
    if "summary" in tables:
        yield from _summary(str(record["baseline"]), tables["summary"], series)
    for name, (head, is_folded) in _TABLES.items():
        rows = tables.get(name)
        if not rows:
            continue
        shown = table(rows, meanings=_MEANINGS, series=series)
        if is_folded:
            yield element("details", element("summary", head), shown, class_="fold")
        else:
            yield element("h2", head)
            yield shown


def _summary(baseline: str, rows: _Rows, series: set[str]) -> Iterator[Html]:
    harvest = [name for name in rows[0] if name.startswith("harvest_")] if rows else []
    levels = [name for name in rows[0] if name.startswith(("precision_", "f1_"))] if rows else []
    yield element("h2", "Results")
    yield table(_only(rows, *_RESULTS, *harvest), meanings=_MEANINGS, series=series)
    tested = [row for row in rows if row.get("p") is not None or row.get("difference") is not None]
    if tested:
        yield element("h2", f"Is it better than {cut(baseline)}?")
        yield element(
            "p",
            "One-tailed paired t-tests of the area under the recall curve, over the crawls that "
            "both have. A p is missing where there are fewer than two.",
            class_="note",
        )
        yield table(_only(tested, *_TESTS), meanings=_MEANINGS, series=series)
    yield element("h2", "Precision and F1 where a share of the targets is found")
    yield table(_only(rows, "strategy", *levels), meanings=_MEANINGS, series=series)


def _only(rows: _Rows, *names: str) -> _Rows:
    return [{name: row.get(name) for name in names} for row in rows]


def _foot(record: Mapping[str, Any]) -> Iterator[Html]:
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    corpus = record.get("corpus") or []
    names = ", ".join(map(str, corpus))
    yield element("footer", f"Corpus: {cut(names, 500)}. {cut(versions, 500)}.")
