"""Curves that a reader can zoom, and switch on and off."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider.errors import MissingExtraError
from focusspider.report.document import Html, element

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Chart", "Line", "Series", "chart_data", "library", "places", "styled", "switches"]

#: Told apart also by those who see few colours, after Okabe and Ito; then dashed.
_COLORS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b4fa3", "#a6761d",
    "#666666", "#b2182b",
)  # fmt: skip
_DASHES = ("solid", "dash", "dashdot")


class Series(NamedTuple):
    """How the lines of one name look in every chart."""

    name: str
    color: str
    dash: str = "solid"


class Line(NamedTuple):
    """Values at each of a chart's places; with the ends of their interval, where they have one."""

    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


class Chart(NamedTuple):
    """A picture: ``views`` has, for each view that a reader may take, a line a series."""

    id: str
    title: str
    x_title: str
    y_title: str
    x: Sequence[float]
    views: Mapping[str, Mapping[str, Line]]

    def div(self) -> Html:
        """Return the place that it is drawn in."""
        return element("div", class_="chart", id=f"chart-{self.id}")


def styled(names: Iterable[str]) -> list[Series]:
    """Give names their colours, in their order."""
    return [
        Series(
            name,
            _COLORS[number % len(_COLORS)],
            _DASHES[number // len(_COLORS) % len(_DASHES)],
        )
        for number, name in enumerate(names)
    ]


def places(length: int, most: int) -> list[int]:
    """Return up to that many places of a curve, evenly apart, its ends among them.

    >>> places(3, 10), places(101, 5)
    ([0, 1, 2], [0, 25, 50, 75, 100])
    """
    if length <= most:
        return list(range(length))
    return [round(step * (length - 1) / (most - 1)) for step in range(most)]


def chart_data(charts: Sequence[Chart], series: Sequence[Series]) -> dict[str, Any]:
    """Return what the page's script draws, JSON-safe, numbers to four decimals."""
    return {
        "series": [one._asdict() for one in series],
        "charts": [
            {
                "id": chart.id,
                "title": chart.title,
                "xTitle": chart.x_title,
                "yTitle": chart.y_title,
                "x": _plain(chart.x),
                "views": {
                    view: {name: _line(line) for name, line in lines.items()}
                    for view, lines in chart.views.items()
                },
            }
            for chart in charts
        ],
    }


def switches(series: Sequence[Series], views: Sequence[str]) -> Html:
    """Return what a reader changes all charts with: the view, and which lines are shown."""
    boxes = [
        element(
            "label",
            element("input", type="checkbox", checked=True, data_switch=one.name),
            element("i", class_=f"swatch {one.dash}", style=f"border-color:{one.color}"),
            element("bdi", one.name),
            class_="switch",
        )
        for one in series
    ]
    options = [element("option", view, value=view) for view in views]
    return element(
        "form",
        element("label", "Show ", element("select", *options, id="view")),
        element("label", element("input", type="checkbox", checked=True, id="intervals"),
                " 95 % intervals", class_="intervals"),
        element("span", element("button", "all", type="button", data_all="on"),
                element("button", "none", type="button", data_all="off")),
        element("div", *boxes, class_="boxes"),
        class_="switches", autocomplete="off",
    )  # fmt: skip


def library() -> str:
    """Return the script that draws.

    Raises MissingExtraError without plotly.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingExtraError("report", "drawing curves in a page") from error
    return str(get_plotlyjs())


def _line(line: Line) -> dict[str, list[float | None]]:
    return {name: _plain(values) for name, values in line._asdict().items() if values is not None}


def _plain(values: Iterable[float]) -> list[float | None]:
    rounded = (round(float(value), 4) for value in values)
    return [
        None if not math.isfinite(value) else int(value) if value.is_integer() else value
        for value in rounded
    ]
