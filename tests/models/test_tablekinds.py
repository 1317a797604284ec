"""Kinds of tables against likenesses worked by hand, and samples whose kinds are known."""

from __future__ import annotations

from typing import Any

import pytest

from focusspider.models.tablekinds import TableKind, TableSigns, learn_kinds
from tests.pages import page

#: A data sheet of robots, what every page of the site has beside it, and a list of one page alone.
SHEET = ("reach", "axes", "load", "weight")
HOUSE = ("address", "phone", "fax")


def signs(*names: str, own: str = "", around: str = "", **changed: Any) -> TableSigns:
    found = TableSigns(
        "english", frozenset(names), frozenset(own.split()), frozenset(around.split()), "rows"
    )
    return found._replace(**changed)


def kind(*tables: TableSigns) -> TableKind:
    made = TableKind()
    for number, table in enumerate(tables):
        made.add(table, 1, {number})
    return made


def test_signs_of_a_table() -> None:
    (table,) = page(
        "<html lang=fr><div class=page><div class='box wide'><table class='data striped'>"
        "<tr><th>Portée :<td>2 m<tr><th>Axes<td>6</table>"
    ).tables
    assert TableSigns.of(table, "french") == TableSigns(
        "french",
        frozenset({"portée", "axes"}),
        frozenset({"data", "striped"}),
        frozenset({"page", "box", "wide"}),
        "rows",
    )


def test_likeness_by_hand() -> None:
    # Of 2 tables both have reach, one axes, one load: weights 1, 1/2, 1/2.
    sheets = kind(signs("reach", "axes", own="data"), signs("reach", "load", own="data"))
    assert sheets.attributes() == {"reach": 1.0, "axes": 0.5, "load": 0.5}
    # It has reach and one more: R = 1 / 2, P = 1 / 2, nothing of the markup.
    assert sheets.likeness(signs("reach", "price")) == pytest.approx(0.5, abs=1e-12)
    # The classes are the same, those around are neither: t = 0.6.
    assert sheets.likeness(signs("reach", "price", own="data")) == pytest.approx(
        0.5**0.7, abs=1e-12
    )
    # R = 3 / 4, P = 1; half of it where the names head columns.
    like = sheets.likeness(signs("reach", "axes"))
    assert like == pytest.approx(2 * 0.75 / 1.75, abs=1e-12)
    turned = signs("reach", "axes", orientation="columns")
    assert sheets.likeness(turned) == pytest.approx(0.4 * like, abs=1e-12)
    assert sheets.likeness(signs("reach", "axes", "load")) == 1.0
    assert sheets.likeness(signs("price", own="data")) == 0.0


def test_in_another_language_the_markup_decides_where_it_is_the_kinds_alone() -> None:
    sheets = kind(signs(*SHEET, own="data", around="box"))
    french = signs("portée", "essieux", "charge", own="data", around="box", language="french")
    assert sheets.likeness(french) == 1.0
    # 0.6 for its classes, and nothing for those around.
    assert sheets.likeness(french._replace(around=frozenset())) == pytest.approx(0.6, abs=1e-12)
    for other in (
        french._replace(own=frozenset({"plain"})),
        french._replace(own=frozenset()),
        french._replace(language=None),
        french._replace(names=frozenset()),
    ):
        assert sheets.likeness(other) == 0.0
    sheets.distinct = False
    assert sheets.likeness(french) == 0.0
    # A language that the kind has is judged by its own names.
    sheets.distinct = True
    sheets.add(french, 1, {1})
    assert sheets.attributes("french").keys() == {"portée", "essieux", "charge"}
    assert sheets.likeness(french._replace(names=frozenset({"prix"}))) == 0.0


def test_every_kind_that_all_samples_have_is_wanted() -> None:
    samples = [
        [signs(*SHEET[: 3 + n % 2], own="data"), signs(*HOUSE), signs(f"own{n}", f"other{n}")]
        for n in range(6)
    ]
    found = learn_kinds(samples)
    assert [set(made.attributes()) for made in found.wanted] == [set(HOUSE), set(SHEET)]
    assert [len(made.pages) for made in found.kinds] == [6, 6]  # names of one page alone are none
    sheet, house = signs(*SHEET, own="data"), signs(*HOUSE)
    assert [match and match.table for match in found.matches([sheet, house])] == [1, 0]
    assert found.matches([house])[1] is None
    assert found.matches([]) == [None, None]


def test_attributes_that_are_named_choose_the_kind() -> None:
    samples = [[signs(*SHEET), signs(*HOUSE)] for _ in range(3)]
    found = learn_kinds(samples, attributes=["load"])
    assert [set(made.attributes()) for made in found.wanted] == [set(SHEET)]
    assert learn_kinds(samples, attributes=["price"]).wanted == []


@pytest.mark.parametrize(
    ("n_with", "outliers", "wanted"),
    [
        (20, 0.05, ["address", "axes"]),
        (19, 0.05, ["address", "axes"]),  # one of 20 may lack it
        (18, 0.05, ["address"]),
        (18, 0.1, ["address", "axes"]),
        (10, 0.05, ["address"]),
    ],
)
def test_how_many_may_lack_a_kind(n_with: int, outliers: float, wanted: list[str]) -> None:
    samples = [[signs(*HOUSE), *([signs(*SHEET)] if n < n_with else [])] for n in range(20)]
    found = learn_kinds(samples, outliers=outliers).wanted
    assert sorted(min(made.attributes()) for made in found) == wanted


@pytest.mark.parametrize(("n_with", "n_wanted"), [(5, 1), (4, 0)])
def test_where_no_kind_is_in_all_the_one_of_half_of_them_is_wanted(
    n_with: int, n_wanted: int
) -> None:
    samples = [[signs(*SHEET)] if n < n_with else [] for n in range(10)]
    assert len(learn_kinds(samples).wanted) == n_wanted


def test_a_kind_in_two_languages_is_one() -> None:
    german = signs("reichweite", "achsen", own="data", language="german")
    samples = [[signs(*SHEET, own="data")]] * 3 + [[german]] * 2
    (wanted,) = learn_kinds(samples).wanted
    assert len(wanted.pages) == 5
    assert wanted.likeness(german) == 1.0


def test_kinds_do_not_depend_on_the_order_of_equals() -> None:
    tables = [signs(*SHEET[:n], own="data") for n in (2, 3, 4)] + [signs(*HOUSE)]
    one = learn_kinds([tables, tables])
    other = learn_kinds([tables[::-1], tables])
    assert [made.attributes() for made in one.kinds] == [made.attributes() for made in other.kinds]


@pytest.mark.parametrize("params", [{"outliers": 2}, {"merge": -1}])
def test_wrong_values_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"{next(iter(params))} must be a number"):
        learn_kinds([], **params)
