"""Data tables of a page: their cells as a grid, and what they say as attributes and values.

A table is for data unless it is there for the layout: it says so itself
(``role="presentation"``), holds another table, a form or a page's headings, has a single row or
column, or is a menu, which is nothing but links. Wang and Hu (2002) tell the two apart by such
signs, Gatterbauer et al. (2007) by where boxes stand on the screen. A definition list (``<dl>``)
is a table of two columns.

Pages are hostile: a cell that spans 60,000 columns takes no more room than the limits below give.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from focusspider.links import folded, remove, select, tag_path
from focusspider.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborNode

__all__ = ["DataTable", "Pair", "attribute_key", "has_tables", "read_tables"]

#: Tables and lists of a page that are looked at, rows and columns of one, places of all grids of
#: a page together, and characters of a cell.
MAX_TABLES = 500
MAX_ROWS = 1_000
MAX_COLUMNS = 50
MAX_PLACES = 50_000
MAX_CELL = 1_000
#: Elements of a page that are looked at for tables that are there for the layout.
MAX_FOREIGN = 5_000
#: Characters of an attribute's name; a longer text is a sentence.
MAX_NAME = 80

_ELEMENTS = "table, dl"
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_UNREAD = "script, style, template"
_HIDDEN = "[hidden]"
_FOREIGN = "form, input, select, textarea, iframe, h1, h2"
_SECTIONS = frozenset(["thead", "tbody", "tfoot"])
_LAYOUT_ROLES = frozenset(["presentation", "none", "navigation", "menu", "menubar"])
#: Share of a table's text that is links, from which on it is a menu.
_MENU = 0.9
#: What a column of names looks like where no cell is marked as a heading.
_LONGEST_LABEL, _DISTINCT, _FILLED = 40, 0.9, 0.8

_HAS_TABLES = re.compile(r"<(?:table|dl)[\s>]", re.IGNORECASE)


class Pair(NamedTuple):
    """What a table says of something: an attribute as it is written, and its value."""

    attribute: str
    value: str


@dataclass(frozen=True, kw_only=True)
class DataTable:
    """A table, or a list of definitions, that holds data.

    Parameters
    ----------
    index : int
        Its number among the page's tables and lists, from 0, layout ones counted:
        ``document.querySelectorAll("table, dl")[index]`` finds it in a browser.
    element : {"table", "dl"}
    heading : str
        Its caption, or the heading before it.
    tag_path : str
        Names of the tags that lead to it, and its own, with classes, as those of links are.
    orientation : {"rows", "columns", ""}
        Whether an attribute is what begins a row or heads a column; empty where it has neither.
    rows : tuple of tuple of str
        The cells, folded, each row as long as the others; a cell that spans places is in each.
    pairs : tuple of Pair
    """

    index: int
    element: str
    heading: str = ""
    tag_path: str = ""
    orientation: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    pairs: tuple[Pair, ...] = ()

    @property
    def n_columns(self) -> int:
        """How many columns it has."""
        return len(self.rows[0]) if self.rows else 0

    @property
    def attributes(self) -> tuple[str, ...]:
        """The keys of its attributes, each once, in their order; see :func:`attribute_key`."""
        keys = dict.fromkeys(attribute_key(pair.attribute) for pair in self.pairs)
        keys.pop("", None)
        return tuple(keys)


class _Cell(NamedTuple):
    text: str
    header: bool


_EMPTY = _Cell("", header=False)
#: Cells that reach into rows below: by column, into how many and what.
_Spanning = dict[int, tuple[int, _Cell]]


def attribute_key(name: str) -> str:
    """Return what the spellings of an attribute's name have in common.

    >>> attribute_key("Sensor size:"), attribute_key("sensor-size")
    ('sensor size', 'sensor size')
    """
    return plain(name[:MAX_NAME])


def has_tables(markup: str) -> bool:
    """Return whether there may be a table or list of definitions in markup."""
    return _HAS_TABLES.search(markup) is not None


def read_tables(markup: str) -> tuple[DataTable, ...]:
    """Return the data tables of a page's markup, in their order.

    The markup is that of :func:`focusspider.markup.prepared`.
    """
    root = LexborHTMLParser(markup.encode("utf-8", "replace")).root
    assert root is not None  # a parser of HTML makes one of anything
    remove(root, _UNREAD)
    number = {node.mem_id: index for index, node in enumerate(select(root, _ELEMENTS))}
    remove(root, _HIDDEN)  # which a browser finds, and nobody sees
    layout = _holding(root)
    found: list[DataTable] = []
    heading: LexborNode | None = None
    places = MAX_PLACES
    for node in select(root, f"h1, h2, h3, h4, h5, h6, {_ELEMENTS}"):
        if node.tag in _HEADINGS:
            heading = node
            continue
        index = number[node.mem_id]
        if index >= MAX_TABLES or places <= 0:
            break
        if node.mem_id in layout or _is_layout(node):
            continue
        grid = _grid(node, places)
        places -= sum(map(len, grid))
        table = _data_table(node, grid, index, heading)
        if table is not None:
            found.append(table)
    return tuple(found)


def _holding(root: LexborNode) -> set[int]:
    """Return which tables hold what no table of data does: another table, a form, headings."""
    found: set[int] = set()
    tables = select(root, _ELEMENTS)[:MAX_TABLES]
    for node in [*tables, *select(root, _FOREIGN)[:MAX_FOREIGN]]:
        above = node.parent
        while above is not None and above.tag not in {"table", "dl"}:
            above = above.parent
        if above is not None:
            found.add(above.mem_id)
    return found


def _is_layout(node: LexborNode) -> bool:
    if (node.attributes.get("role") or "").strip().lower() in _LAYOUT_ROLES:
        return True
    text = _size(node)
    return not text or sum(map(_size, select(node, "a[href]"))) >= _MENU * text


def _size(node: LexborNode) -> int:
    """Return how many characters the text under a node has, spaces aside."""
    return len("".join(node.text().split()))


def _grid(node: LexborNode, places: int) -> list[list[_Cell]]:
    """Return the cells of a table, each in every place that it spans; rows are equally long."""
    rows = _list_rows(node) if node.tag == "dl" else _table_rows(node, places)
    width = max(map(len, rows), default=0)
    return [[*row, *[_EMPTY] * (width - len(row))] for row in rows]


def _list_rows(node: LexborNode) -> list[list[_Cell]]:
    """Return the terms of a list, each with its descriptions."""
    rows: list[list[_Cell]] = []
    names: list[str] = []
    texts: list[str] = []

    def end() -> None:
        value = _Cell(folded(" ".join(texts), MAX_CELL), header=False)
        rows.extend([_Cell(name, header=True), value] for name in names if texts)
        names.clear()
        texts.clear()

    for item in _items(node):
        if item.tag == "dt":
            if texts:
                end()
            names.append(folded(item.text(), MAX_CELL))
        elif item.tag == "dd":
            texts.append(folded(item.text(), MAX_CELL))
        if len(rows) >= MAX_ROWS:
            break
    end()
    return rows[:MAX_ROWS]


def _items(node: LexborNode) -> Iterator[LexborNode]:
    for child in node.iter():
        if child.tag == "div":  # which may group terms and their descriptions
            yield from child.iter()
        else:
            yield child


def _table_rows(node: LexborNode, places: int) -> list[list[_Cell]]:
    rows: list[list[_Cell]] = []
    spanning: _Spanning = {}
    for row in _rows(node):
        if len(rows) >= MAX_ROWS or places <= 0:
            break
        cells: list[_Cell] = []
        below: _Spanning = {}

        for at in row.iter():
            if at.tag not in {"td", "th"}:
                continue
            _fill(cells, spanning, below)
            if len(cells) >= MAX_COLUMNS:
                break
            attributes = at.attributes
            cell = _Cell(folded(at.text(), MAX_CELL), at.tag == "th")
            down = _span(attributes.get("rowspan"), MAX_ROWS)
            for _ in range(_span(attributes.get("colspan"), MAX_COLUMNS - len(cells))):
                if down > 1:
                    below[len(cells)] = down - 1, cell
                cells.append(cell)
        _fill(cells, spanning, below)
        spanning = below
        places -= len(cells)
        if any(cell.text for cell in cells):
            rows.append(cells)
    return rows


def _fill(cells: list[_Cell], spanning: _Spanning, below: _Spanning) -> None:
    """Add the cells of rows above that reach into the next places of a row."""
    while len(cells) in spanning and len(cells) < MAX_COLUMNS:
        left, cell = spanning[len(cells)]
        if left > 1:
            below[len(cells)] = left - 1, cell
        cells.append(cell)


def _rows(node: LexborNode) -> Iterator[LexborNode]:
    for child in node.iter():
        if child.tag in _SECTIONS:
            yield from (row for row in child.iter() if row.tag == "tr")
        elif child.tag == "tr":
            yield child


def _span(value: str | None, most: int) -> int:
    """Return how many places a cell takes; what is no number, or 0, is 1."""
    digits = (value or "").strip()
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 6:
        return most if digits.isascii() and digits.isdigit() else 1
    return max(1, min(int(digits), most))


def _data_table(
    node: LexborNode, grid: list[list[_Cell]], index: int, heading: LexborNode | None
) -> DataTable | None:
    """Return what a grid says, or None where it is too small to hold data."""
    body = [row for row in grid if not _is_title(row)]
    if len(body) < 2 or len(body[0]) < 2:
        return None
    orientation = _orientation(body)
    title = next(iter(select(node, "caption")), heading)
    return DataTable(
        index=index,
        element=node.tag or "",
        heading="" if title is None else folded(title.text(), MAX_CELL),
        tag_path=tag_path(node),
        orientation=orientation,
        rows=tuple(tuple(cell.text for cell in row) for row in grid),
        pairs=tuple(_pairs(body, orientation)),
    )


def _is_title(row: Sequence[_Cell]) -> bool:
    """Return whether one cell takes the whole row, as a heading within a table does."""
    return len(row) > 1 and all(cell is row[0] for cell in row)


def _orientation(body: Sequence[Sequence[_Cell]]) -> str:
    heads = all(cell.header or not cell.text for cell in body[0])
    under = body[1:] if heads else body
    begun = [row for row in under if row[0].header and not all(cell.header for cell in row)]
    if under and 2 * len(begun) >= len(under):
        return "rows"
    if heads:
        # Two columns under headings such as "Property" and "Value" are still a list of names.
        return "rows" if len(body[0]) == 2 and len(under) > 1 and _are_labels(under) else "columns"
    return "rows" if len(body[0]) == 2 and _are_labels(body) else ""


def _are_labels(rows: Sequence[Sequence[_Cell]]) -> bool:
    """Return whether the first column looks like names of what the second has."""
    names = [row[0].text for row in rows if row[0].text]
    if len(names) < max(2, _FILLED * len(rows)):
        return False
    wordy = sum(any(char.isalpha() for char in name) for name in names)
    return (
        median(map(len, names)) <= _LONGEST_LABEL
        and len(set(names)) >= _DISTINCT * len(names)
        and wordy >= _DISTINCT * len(names)
    )


def _pairs(body: Sequence[Sequence[_Cell]], orientation: str) -> Iterator[Pair]:
    heads = all(cell.header or not cell.text for cell in body[0])
    if orientation == "rows":
        for row in body[1:] if heads else body:
            name = row[0].text
            values = dict.fromkeys(cell.text for cell in row[1:] if cell.text)
            if name and len(name) <= MAX_NAME:
                yield from (Pair(name, value) for value in values)
    elif orientation == "columns":
        names = [cell.text for cell in body[0]]
        for row in body[1:]:
            for name, cell in zip(names, row, strict=True):
                if name and cell.text and len(name) <= MAX_NAME:
                    yield Pair(name, cell.text)
