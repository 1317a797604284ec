"""Tables that a reader can sort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider.report.document import Html, element, joined

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

__all__ = ["table"]


def table(
    rows: Sequence[Mapping[str, Any]],
    *,
    meanings: Mapping[str, str] | None = None,
    series: Container[str] = (),
) -> Html:
    """Return a table with a column for each key of the first row.

    Parameters
    ----------
    rows
        numbers, texts, :class:`~.document.Html`, or None; floats are shown to three decimals
    meanings
        what columns mean, shown on their heads
    series
        names that can be switched off in the charts: with one goes the row that has it under
        ``strategy``, and the column that has its name
    """
    if not rows:
        return element("p", "None.", class_="none")
    names = list(rows[0])
    texts = {name for name in names if any(isinstance(row.get(name), str) for row in rows)}
    head = [
        element(
            "th",
            element("button", name.replace("_", " "), type="button"),
            class_=None if name in texts else "number",
            scope="col",
            title=(meanings or {}).get(name),
            data_series=name if name in series else None,
        )
        for name in names
    ]
    body = [
        element(
            "tr",
            *(
                _cell(row.get(name), name in texts, name if name in series else None)
                for name in names
            ),
            data_series=row["strategy"] if row.get("strategy") in series else None,
        )
        for row in rows
    ]
    inner = joined([element("thead", element("tr", *head)), element("tbody", *body)])
    return element("div", element("table", inner, class_="sortable"), class_="wide")


def _cell(value: Any, is_text: bool, series: str | None) -> Html:
    if is_text:
        text = value if isinstance(value, str) else "" if value is None else str(value)
        return element("td", text, data_series=series)
    if value is None:
        return element("td", "–", class_="number", data_series=series)
    shown = f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
    return element("td", shown, class_="number", data_value=repr(value), data_series=series)
