"""A model as a page that needs no server and no network."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from focusspider.inspection.sections import Table
from focusspider.report.document import cut, document, element, joined
from focusspider.report.table import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from focusspider.inspection.sections import Inspection, Lists, Section
    from focusspider.report.document import Html

__all__ = ["as_page", "sections_as_html"]

#: Groups whose lists stand side by side.
_SIDE_BY_SIDE = 6


def as_page(inspection: Inspection) -> str:
    """Return the page; everything in it is escaped."""
    pairs = [
        part
        for name, value in inspection.about
        for part in (element("dt", cut(name)), element("dd", element("bdi", cut(value, 300))))
    ]
    body = [element("dl", *pairs), *sections_as_html(inspection.sections)]
    return document(inspection.title, body)


def sections_as_html(sections: Iterable[Section]) -> Iterator[Html]:
    """Yield sections as a part of a page; everything in them is escaped."""
    for section in sections:
        yield element("h2", section.title)
        yield element("p", section.note, class_="note")
        shown = section.body
        if isinstance(shown, Table):
            yield _table(shown)
        else:
            yield from _lists(shown)


def _table(shown: Table) -> Html:
    return table([dict(zip(shown.columns, row, strict=True)) for row in shown.rows])


def _lists(lists: Lists) -> Iterator[Html]:
    """Yield tables with a column for each group, and a row for each rank."""
    for start in range(0, len(lists.groups), _SIDE_BY_SIDE):
        groups = lists.groups[start : start + _SIDE_BY_SIDE]
        rows: list[dict[str, Any]] = []
        for rank, entries in enumerate(zip_longest(*(entries for _, entries in groups)), 1):
            row: dict[str, Any] = {"": rank}
            for (name, _), entry in zip(groups, entries, strict=True):
                row[name] = _entry(*entry) if entry is not None else element("span")
            rows.append(row)
        if not rows:
            yield element("p", f"None of {', '.join(name for name, _ in groups)}.", class_="none")
            continue
        yield table(rows)


def _entry(name: str, weight: float) -> Html:
    shown = f"{weight:.4f}" if weight < 100 else f"{weight:.0f}"
    return joined([element("bdi", cut(name, 60)), element("span", f" {shown}", class_="small")])
