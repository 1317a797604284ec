"""A model as text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.inspection.sections import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focusspider.inspection.sections import Inspection, Lists

__all__ = ["as_text", "printable"]

#: Characters of a line, and of a word or feature in it.
_WIDTH, _WORD = 100, 40


def printable(text: str) -> str:
    r"""Return text without what moves the cursor or turns the direction of writing.

    >>> printable("tea\x1b[2J \u202e")
    'tea�[2J �'
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def as_text(inspection: Inspection) -> str:
    """Return all lines, each of about a hundred characters at most."""
    lines = [printable(inspection.title), ""]
    widest = max(len(name) for name, _ in inspection.about)
    lines += [
        f"{printable(name).ljust(widest)}  {printable(value)}" for name, value in inspection.about
    ]
    for section in inspection.sections:
        lines += ["", "", section.title, "=" * len(section.title), *_wrapped(section.note), ""]
        body = section.body
        lines += _table(body) if isinstance(body, Table) else _lists(body)
    return "\n".join(lines)


def _wrapped(text: str) -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(text, _WIDTH)


def _table(table: Table) -> Iterator[str]:
    rows = [tuple(table.columns), *(tuple(map(_cell, row)) for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.columns))]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        yield "  ".join(cells).rstrip()


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return printable(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _lists(lists: Lists) -> Iterator[str]:
    """Yield each group, its entries in columns, as the paper's appendix has them."""
    for number, (name, entries) in enumerate(lists.groups):
        if number:
            yield ""
        yield printable(name)
        if not entries:
            yield "  none"
        yield from _columns([_entry(*entry) for entry in entries])


def _entry(name: str, weight: float) -> str:
    shown = printable(name)
    shown = shown if len(shown) <= _WORD else f"{shown[: _WORD - 1]}…"
    return f"{weight:.5f} {shown}" if weight < 100 else f"{weight:.0f} {shown}"


def _columns(cells: Sequence[str]) -> Iterator[str]:
    if not cells:
        return
    width = max(map(len, cells)) + 2
    per_line = max(1, (_WIDTH - 2) // width)
    for start in range(0, len(cells), per_line):
        line = "".join(cell.ljust(width) for cell in cells[start : start + per_line])
        yield f"  {line}".rstrip()
