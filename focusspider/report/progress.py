"""The curves of one crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.report.charts import Chart, Line, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focusspider.report.runlog import LoggedPage

__all__ = ["WINDOW", "harvest_rates", "progress"]

#: Pages, at least, of the harvest rate that shows how it went then.
WINDOW = 100
_UNITS = ((2 * 86400, "days", 86400), (2 * 3600, "hours", 3600), (120, "minutes", 60))


def harvest_rates(
    relevant: Sequence[bool], window: int = WINDOW
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the harvest rate after each page: of all pages, and of the last ``window``.

    >>> harvest_rates([True, False, False, True], 2)[1].tolist()
    [1.0, 0.5, 0.0, 0.5]
    """
    found = np.concatenate([[0], np.cumsum(relevant)])  # (n + 1,)
    after = np.arange(1, len(found))
    before = np.maximum(after - window, 0)
    return found[1:] / after, (found[after] - found[before]) / (after - before)


def progress(pages: Sequence[LoggedPage], most: int) -> list[Chart]:
    """Return the charts of a crawl, of at most so many points a line."""
    if not pages:
        return []
    relevant = [page.relevant for page in pages]
    found = np.cumsum(relevant)
    window = max(WINDOW, len(pages) // 10_000 * 100)  # of a long crawl, a hundredth
    whole, recent = harvest_rates(relevant, window)
    at = places(len(pages), most)
    n = [place + 1 for place in at]
    charts = [
        Chart(
            "found", "Relevant pages found", "pages fetched", "relevant pages", n,
            {"": {"relevant": Line(found[at].tolist())}},
        ),
        Chart(
            "harvest", "Harvest rate", "pages fetched", "relevant by fetched", n,
            {"": {f"last {window:,} pages": Line(recent[at].tolist()),
                  "whole crawl": Line(whole[at].tolist())}},
        ),
    ]  # fmt: skip
    times = [page.time for page in pages if page.time is not None]
    if len(times) == len(pages) and max(times) > times[0]:
        since = np.maximum.accumulate(times) - times[0]  # a clock may have been set back
        unit, seconds = next(
            ((unit, size) for least, unit, size in _UNITS if since.max() >= least), ("seconds", 1)
        )
        charts.append(
            Chart(
                "time", "Pages over time", f"{unit} since the first page", "pages",
                (since[at] / seconds).tolist(),
                {"": {"fetched": Line(n), "relevant": Line(found[at].tolist())}},
            )
        )  # fmt: skip
    return charts
