"""Tables of data, tables of layout, and markup that wants to be expensive."""

from __future__ import annotations

import pytest

from focusspider.markup import prepared
from focusspider.tables import (
    MAX_CELL,
    MAX_COLUMNS,
    MAX_PLACES,
    MAX_ROWS,
    MAX_TABLES,
    DataTable,
    Pair,
    attribute_key,
    read_tables,
)
from tests.pages import page

SHEET = "<table><tr><th>Reach:<td>2 m<tr><th>Axes<td>6</table>"
PAIRS = (Pair("Reach:", "2 m"), Pair("Axes", "6"))


def tables(html: str) -> tuple[DataTable, ...]:
    return read_tables(prepared(html).page)


def one(html: str) -> DataTable:
    (found,) = tables(html)
    return found


def test_names_in_rows() -> None:
    found = one(f"<h1>Arm</h1><div class='a b'>{SHEET}</div>")
    assert found == DataTable(
        index=0,
        element="table",
        heading="Arm",
        tag_path="html/body/div.a.b/table",
        orientation="rows",
        rows=(("Reach:", "2 m"), ("Axes", "6")),
        pairs=PAIRS,
    )
    assert (found.attributes, found.n_columns) == (("reach", "axes"), 2)


@pytest.mark.parametrize(
    ("html", "orientation", "pairs"),
    [
        # No cell is a heading, but the first column looks like names.
        ("<tr><td>Reach:<td>2 m<tr><td>Axes<td>6", "rows", PAIRS),
        # A heading over both columns, and one within.
        (
            "<tr><th colspan=2>Data<tr><th>Reach:<td>2 m<tr><td colspan=2>More<tr><th>Axes<td>6",
            "rows",
            PAIRS,
        ),
        ("<tr><th>Property<th>Value<tr><td>Reach:<td>2 m<tr><td>Axes<td>6", "rows", PAIRS),
        ("<thead><tr><th>Property<th>Value<tbody><tr><th>Reach:<td>2 m<tr><th>Axes<td>6",
         "rows", PAIRS),
        ("<tr><th>Reach:<th>Axes<th>Load<tr><td>2 m<td>6<td>", "columns", PAIRS),
        # One name for two values, and the other way round.
        (
            "<tr><th rowspan=2>Reach:<td>2 m<tr><td>3 m<tr><th>Axes<td>6",
            "rows",
            (PAIRS[0], Pair("Reach:", "3 m"), PAIRS[1]),
        ),
        ("<tr><th>Reach:<td>2 m<td>2 m<tr><th>Axes<td>6<td>7", "rows", (*PAIRS, Pair("Axes", "7"))),
        # Numbers, and cells that are all the same, are no names.
        ("<tr><td>1<td>2<tr><td>3<td>4", "", ()),
        ("<tr><td>yes<td>2<tr><td>yes<td>4", "", ()),
        ("<tr><td>a<td>b<td>c<tr><td>d<td>e<td>f", "", ()),
        # A sentence is no name, and nothing has no value.
        (f"<tr><th>{'so on ' * 20}<td>1<tr><th>Axes<td>6<tr><th>Load<td>", "rows", PAIRS[1:]),
    ],
)  # fmt: skip
def test_where_names_are(html: str, orientation: str, pairs: tuple[Pair, ...]) -> None:
    found = one(f"<table>{html}</table>")
    assert (found.orientation, found.pairs) == (orientation, pairs)
    assert len(set(map(len, found.rows))) == 1


def test_a_list_of_definitions_is_a_table() -> None:
    found = one("<dl><dt>Reach:<dd>2 m<div><dt>Axes<dt>Joints<dd>6</div><dt>Load</dl>")
    assert found.element == "dl"
    assert found.pairs == (*PAIRS, Pair("Joints", "6"))
    several = one("<dl><dt>Reach:<dd>2 m<dd>or 3 m<dt>Axes<dd>6</dl>")
    assert several.pairs[0] == Pair("Reach:", "2 m or 3 m")


@pytest.mark.parametrize(
    "html",
    [
        "<table role=presentation><tr><th>Reach<td>2 m<tr><th>Axes<td>6</table>",
        "<table role='Navigation '><tr><th>Reach<td>2 m<tr><th>Axes<td>6</table>",
        "<table><tr><th>Reach<td>2 m</table>",  # one row
        "<table><tr><td>Reach<tr><td>Axes</table>",  # one column
        "<table><tr><td>All of the page</table>",
        "<table><tr><td colspan=2>Reach<tr><td colspan=2>Axes</table>",
        "<table></table><table><tr><td> <td> <tr><td> <td> </table><dl></dl>",
        "<table><tr><td><a href=/a>Home</a><td><a href=/b>News</a><tr><td><a href=/c>M</a></table>",
        "<table><tr><td>Name<td><input name=n><tr><td>Mail<td><input name=m></table>",
        "<table><tr><td>Menu<td><h1>Arm</h1><tr><td>Foot<td>2026</table>",
        "<dl><dt>Reach<dd>2 m</dl>",
        "<table hidden><tr><th>Reach<td>2 m<tr><th>Axes<td>6</table>",
        f"<template>{SHEET}</template><script>'{SHEET}'</script><noscript>{SHEET}</noscript>",
        "<p>no table",
        "",
    ],
)
def test_layout_is_no_data(html: str) -> None:
    assert tables(html) == ()


def test_a_table_of_data_in_one_of_layout() -> None:
    found = one(f"<table><tr><td>Menu<td><h2>Arm</h2>{SHEET}<tr><td>Foot<td>x</table>")
    assert (found.index, found.heading, found.pairs) == (1, "Arm", PAIRS)


def test_its_number_counts_layout_too_and_its_caption_comes_first() -> None:
    layout = "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>"
    named = SHEET.replace("<table>", "<table><caption>Data\nsheet</caption>")
    found = tables(f"<h2>Arm</h2>{layout}{SHEET}<dl><dt>a<dd>b</dl>{named}<h3>Leg</h3>{SHEET}")
    assert [(table.index, table.heading) for table in found] == [
        (1, "Arm"), (3, "Data sheet"), (4, "Leg"),
    ]  # fmt: skip


def test_its_number_is_that_of_a_browser() -> None:
    hidden = SHEET.replace("<table>", "<table hidden>")
    (found,) = tables(f"<template>{SHEET}</template><div hidden>{SHEET}</div>{hidden}{SHEET}")
    assert found.index == 2


def test_spellings_of_a_name() -> None:
    keys = {attribute_key(name) for name in ("Sensor size:", "SENSOR-SIZE", " sensor_size ")}
    assert keys == {"sensor size"}
    assert attribute_key("説明:") == "説明"
    assert attribute_key(":") == ""


def test_a_page_reads_them_once_and_when_asked() -> None:
    at = page(SHEET)
    assert at._table_markup
    assert at.tables[0].pairs == PAIRS
    assert at.tables is at.tables
    assert not at._table_markup
    assert page("<p>none").tables == ()


HOSTILE = {
    "a cell over everything": "<table><tr><th colspan=60000 rowspan=65534>a<td>b<tr><td>c</table>",
    "spans that are no numbers": "<table><tr><th colspan=-1>a<td rowspan=99999999999>b"
    "<tr><th colspan=x rowspan=0>c<td colspan='²'>d</table>",
    "rows without end": f"<table>{'<tr><th>a<td>b' * 20_000}</table>",
    "columns without end": f"<table>{('<tr>' + '<td>a' * 5_000) * 3}</table>",
    "wide cells in many rows": f"<table>{'<tr><td colspan=1000>a<td>b' * 5_000}</table>",
    "a table in a table": "<table><tr><td>" * 400 + SHEET,
    "lists in lists": "<dl><dt>a<dd>" * 400 + "b",
    "tables without end": SHEET * 3_000,
    "a long cell": f"<table><tr><th>a<td>{'b ' * 500_000}<tr><th>c<td>d</table>",
    "headings in headings": "<h1>a" * 5_000 + SHEET,
    "inputs without end": f"<table><tr><td>{'<input>' * 50_000}</table>",
    "tables in tables after many inputs": "<input>" * 6_000
    + "<table><tr><td>" * 400
    + "text " * 200_000,
    "nothing but tags": "<tr><td><th><dd><dt></table></dl><caption>",
}


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE)
def test_hostile_markup_takes_no_more_than_the_limits(html: str) -> None:
    found = tables(html)
    assert len(found) <= MAX_TABLES
    places = 0
    for table in found:
        assert len(table.rows) <= MAX_ROWS
        assert table.n_columns <= MAX_COLUMNS
        assert all(len(cell) <= MAX_CELL for row in table.rows for cell in row)
        places += len(table.rows) * table.n_columns
    assert places <= MAX_PLACES + MAX_COLUMNS * MAX_ROWS
