"""The judge of tables on pages whose answer is plain to see, and what it says of them."""

from __future__ import annotations

import csv
import random
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import TopicError
from focusspider.page import PageParser
from focusspider.relevance import build_relevance
from focusspider.relevance.table import TableRelevance
from focusspider.replay import open_archive
from focusspider.replay.reading import PageReader
from tests.pages import ANALYZER, page, profile

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.page import Page
    from focusspider.relevance.base import Judgement

ROWS = {"Resolution": "12 MP", "Sensor": "CCD", "Weight": "300 g", "Zoom": "6x"}
#: What each page of the site has beside its data sheet, for the layout and as data.
MENU = "<table><tr><td><a href=/>Home</a><td><a href=/n>News</a><tr><td><a href=/m>Map</a></table>"
FRAME = "<table><tr><td>{}<td>{}</table>"
SHOP = "<table><tr><th>Opened<td>9 to 5<tr><th>Phone<td>555</table>"

HEADS = "".join(f"<th>{name}" for name in ROWS)


def sheet(rows: dict[str, str], *, own: str = "") -> str:
    body = "".join(f"<tr><th>{name}:<td>{value}" for name, value in rows.items())
    return f"<table class='{own}'>{body}</table>"


def listed(rows: dict[str, str]) -> str:
    return f"<dl>{''.join(f'<dt>{name}<dd>{value}' for name, value in rows.items())}</dl>"


def some(n: int) -> dict[str, str]:
    """Return a data sheet that lacks one attribute, another for each camera."""
    return {name: f"{value}{n}" for m, (name, value) in enumerate(ROWS.items()) if m != n % 4}


SAMPLES = [page(MENU + sheet(some(n), own="spec"), f"http://t.example/{n}") for n in range(5)]


def judge(at: Page, *, samples: list[Page] = SAMPLES, **params: Any) -> Judgement:
    made = TableRelevance(**params)
    made.start(profile("camera", targets=samples))
    return made.judge(at)


@pytest.mark.parametrize(
    ("html", "relevant"),
    [
        (MENU + sheet(ROWS, own="spec"), True),
        (sheet(ROWS), True),  # another site's markup
        (listed(ROWS), True),
        (FRAME.format(MENU, "<h2>Camera</h2>" + sheet(ROWS)), True),
        (sheet({name.upper(): value for name, value in ROWS.items()}), True),
        (sheet(ROWS | {"Price": "99", "Colour": "red"}), True),
        (MENU, False),
        (SHOP, False),
        (sheet({"Resolution": "12 MP", "Author": "Hill", "Pages": "9", "Year": "1950"}), False),
        # The words are there, and no table of them.
        (f"<p>{' '.join(ROWS)} 12 MP CCD 300 g 6x", False),
        (f"<table role=presentation>{''.join(f'<tr><td>{name}<td>x' for name in ROWS)}</table>",
         False),
        # A list of many cameras, whose names stand over columns.
        (f"<table><tr>{HEADS}{('<tr>' + '<td>1' * 4) * 9}</table>", False),
        # Another language, and other markup.
        ("<html lang=de>" + sheet({"Aufl\u00f6sung": "12 MP", "Gewicht": "300 g"}), False),
        ("", False),
    ],
)  # fmt: skip
def test_pages_with_and_without_a_data_sheet(html: str, relevant: bool) -> None:
    assert judge(page(html)).relevant is relevant


def test_why_names_the_table_and_what_decided() -> None:
    found = judge(page(MENU + SHOP + sheet(ROWS, own="spec")))
    assert found.relevance == pytest.approx(1.0)
    assert found.why == "table 2 1.000 ≥ threshold 0.5, with sensor, weight, zoom, resolution"
    # Of the shares 4/5, 4/5, 4/5 and 3/5 it has 4/5: R = 4/15, P = 1/2, F = 8/23.
    near = judge(page(sheet({"Weight": "1 g", "Price": "99"})))
    assert near.relevance == pytest.approx(8 / 23, abs=1e-12)
    assert near.why == (
        "table 0 0.348 < threshold 0.5, with weight; it lacks sensor, zoom, resolution"
    )
    assert judge(page(SHOP)).why == "no table has sensor, weight, zoom, resolution"
    assert judge(page(MENU)).why == "no table that holds data"


def test_a_page_in_another_language_is_known_by_its_markup() -> None:
    samples = [
        page(f"<html lang=en>{sheet(some(n), own='spec')}", f"http://t.example/{n}")
        for n in range(3)
    ]
    found = judge(page(f"<html lang=de>{sheet({'Gewicht': '1', 'Zoom x': '2'}, own='spec')}"),
                  samples=samples)  # fmt: skip
    assert found.relevant
    assert found.why.endswith(", by its markup")


def test_each_kind_that_all_targets_have_is_needed_unless_attributes_choose() -> None:
    samples = [page(SHOP + sheet(some(n)), f"http://t.example/{n}") for n in range(4)]
    both, alone = page(SHOP + sheet(ROWS)), page(sheet(ROWS))
    assert judge(both, samples=samples).relevant
    missing = judge(alone, samples=samples)
    assert not missing.relevant
    assert missing.why == "no table has opened, phone"
    assert judge(alone, samples=samples, attributes=["Weight", "Zoom:"]).relevant
    assert not judge(page(SHOP), samples=samples, attributes=["Weight"]).relevant


def test_threshold() -> None:
    at = page(sheet(some(0)))
    relevance = judge(at).relevance
    assert judge(at, threshold=relevance).relevant
    assert not judge(at, threshold=relevance + 1e-9).relevant


def test_facts_are_the_tables_of_the_wanted_kind() -> None:
    made = TableRelevance()
    made.start(profile("camera", targets=SAMPLES))
    at = page(MENU + SHOP + sheet(ROWS) + listed(ROWS))
    assert [table.index for table in made.facts(at)] == [2, 3]


@pytest.mark.parametrize(
    ("targets", "params", "says"),
    [
        ([], {}, "0 of 0 have one; give 2 targets or more"),
        (SAMPLES[:1], {}, "1 of 1 have one; give 2 targets or more"),
        ([page(MENU), page(f"<p>{ROWS}")] * 3, {}, "0 of 6 have one; give 2 targets or more"),
        (
            [*SAMPLES[:2], *[page("<p>x")] * 3],
            {},
            "the most common one (weight, zoom) is in 2 of 5; give targets",
        ),
        (
            [page(sheet({f"A{n}": "1", f"B{n}": "2"})) for n in range(4)],
            {},
            "no attribute is in two of them; give targets that are alike",
        ),
        (SAMPLES, {"attributes": ["Price"]}, "has one of Price; mend attributes, or leave it out"),
    ],
)
def test_targets_that_nothing_can_be_learnt_from_are_refused(
    targets: list[Page], params: dict[str, Any], says: str
) -> None:
    made = TableRelevance(**params)
    with pytest.raises(TopicError) as caught:
        made.start(profile("camera", targets=targets))
    assert str(caught.value).startswith("test.toml: relevance 'table' ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"attributes": "Weight"}, "attributes must be a list of texts, got 'Weight'"),
        ({"outliers": 2}, "outliers must be a number from 0 to 1, got 2"),
    ],
)
def test_wrong_values_are_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(TopicError, match=f"relevance 'table': {says}"):
        build_relevance("table", None, params)


def test_specifications_of_a_manual_are_told_from_its_other_tables(corpora: Path) -> None:
    reader = PageReader(PageParser(analyzer=ANALYZER))
    archive = open_archive(corpora / "manuals" / "manuals.warc.gz")
    with (corpora / "manuals" / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = {
            row["url"]: row["label"] == "reference"
            for row in csv.DictReader(file)
            if row["group"] == "httpd"
        }
    english = [url for url, wanted in labels.items() if wanted and "/en/" in url]
    drawn = random.Random(0).sample(sorted(english), 20)

    def at(url: str) -> Page:
        stored = archive.get(url)
        assert stored is not None
        read = reader.read(stored)
        assert read is not None
        return read

    made = TableRelevance()
    made.start(profile("reference", targets=[at(url) for url in drawn]))
    tested = sorted(labels.keys() - set(drawn))[::4]
    found = {url for url in tested if made.judge(at(url)).relevant}
    wanted = {url for url in tested if labels[url]}
    assert len(wanted) > 50
    assert len(found & wanted) >= 0.9 * len(wanted)
    assert len(found & wanted) >= 0.9 * len(found)
