"""The page of an evaluation: what is in it, and how large it is."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from focusspider.errors import MissingExtraError
from focusspider.evaluation.curves import POINTS, Picture, pictures, recall_at
from focusspider.evaluation.page import MEAN, evaluation_page, write_evaluation_page
from focusspider.evaluation.rows import Curve, row_of
from focusspider.evaluation.significance import mean_interval
from focusspider.evaluation.tables import areas, cost, crawls, summary, write_tables
from tests.report.hostile import BREAKOUT, TEXTS
from tests.report.htmlcheck import Parsed, parse_file

BASELINES = ("omniscient", "breadth-first")


def random_curves(number: int, strategies: int, reachable: int = 2000) -> list[Curve]:
    """Crawls that find their targets at random places, the first strategies sooner."""
    chance = np.random.default_rng(5)
    found = []
    names = [*BASELINES, *(f"strategy-{n}" for n in range(strategies - 1))]
    for crawl in range(number):
        targets = int(chance.integers(20, 200))
        for place, name in enumerate(names):
            fetched = targets + 1 if name == "omniscient" else reachable - 100 * (crawl % 3)
            at = chance.choice(
                int(min(fetched, targets + 1 + 200 * place)), min(targets, fetched), replace=False
            )
            found.append(
                Curve(
                    crawl=f"crawl-{crawl}", strategy=name, seed=0, reachable=reachable,
                    targets=targets, fetched=fetched,
                    found_at=tuple(sorted(int(n) + 1 for n in at)),
                )
            )  # fmt: skip
    return found


def tables_of(curves, baseline="breadth-first"):
    rows = []
    for curve in curves:
        own = {c.strategy: c.area for c in curves if c.crawl == curve.crawl}
        row = row_of(curve, [own["breadth-first"]], own["omniscient"])
        paid = curve.strategy != "omniscient"
        costs = {"cpu_ms_per_page": 2.0, "wall_s": 3.0, "peak_mb": 4.0, "startup_s": 1.0}
        rows.append(row | {key: value if paid else None for key, value in costs.items()})
    return {"summary": summary(rows, baseline), "crawls": crawls(rows), "areas": areas(rows),
            "cost": cost(rows)}  # fmt: skip


def record_of(curves, **changed):
    return {
        "benchmark": "harbours", "description": "Two harbours.", "baseline": "breadth-first",
        "pages": None, "crawls": list(dict.fromkeys(curve.crawl for curve in curves)),
        "strategies": [], "failures": [], "ended": "2026-11-28T04:00:00+00:00",
        "corpus": {"harbours.warc.gz": "0" * 64}, "versions": {"focusspider": "0.1.0"}, **changed,
    }  # fmt: skip


def page_of(curves, library="", **changed):
    record = record_of(curves, **changed)
    drawn = pictures(curves, record["benchmark"])
    return evaluation_page(record, tables_of(curves), drawn, library)


def test_the_curves_are_those_of_the_definitions():
    curves = random_curves(3, 2)
    data = json.loads(Parsed(page_of(curves)).scripts[0])
    assert [chart["title"] for chart in data["charts"]] == [
        "Recall", "Harvest rate", "Precision over recall",
    ]  # fmt: skip
    recall = data["charts"][0]
    assert recall["x"] == pytest.approx((100 * POINTS).tolist())
    assert list(recall["views"]) == [MEAN, "crawl-0", "crawl-1", "crawl-2"]
    own = [recall_at(curve) for curve in curves if curve.strategy == "strategy-0"]
    band = mean_interval(own)
    line = recall["views"][MEAN]["strategy-0"]
    for name, values in zip(("y", "low", "high"), band, strict=True):
        assert line[name] == pytest.approx(values, abs=5.1e-5)
    assert recall["views"]["crawl-1"]["strategy-0"] == {"y": pytest.approx(own[1], abs=5.1e-5)}
    assert set(recall["views"][MEAN]["omniscient"]) == {"y"}
    assert data["series"][0] == {"name": "omniscient", "color": "#000000", "dash": "dot"}


def test_the_tables_are_those_of_the_markdown():
    parsed = Parsed(page_of(random_curves(4, 3)))
    parsed.check()
    for words in (
        "Evaluation: harbours", "Two harbours.", "4, to the end", "Results",
        "Is it better than breadth-first?", "What it costs", "harbours.warc.gz",
        "Each curve is drawn at 100 places.", "All figures of each crawl",
    ):  # fmt: skip
        assert words in parsed.text, words
    cells = {attrs["data-value"] for tag, attrs in parsed.elements if attrs.get("data-value")}
    for rows in tables_of(random_curves(4, 3)).values():
        for row in rows:
            for value in row.values():
                assert not isinstance(value, float) or repr(value) in cells


def test_one_crawl_is_its_own_mean():
    data = json.loads(Parsed(page_of(random_curves(1, 2))).scripts[0])
    assert list(data["charts"][0]["views"]) == ["crawl-0"]


def test_all_of_webkb_makes_a_small_page():
    text = page_of(random_curves(16, 14))
    assert len(text) < 1_500_000
    assert len(json.loads(Parsed(text).scripts[0])["series"]) == 15


def test_a_curve_of_many_places_is_drawn_at_a_hundred():
    lines = [("dom", "a", np.arange(1000) / 1000), ("dom", "b", np.zeros(1000))]
    picture = Picture("recall", "harbours: recall", ("x", "y"), range(1, 1001), lines)
    parsed = Parsed(evaluation_page(record_of([]), {}, [picture], ""))
    (chart,) = json.loads(parsed.scripts[0])["charts"]
    assert len(chart["x"]) == len(chart["views"]["a"]["dom"]["y"]) == 100
    assert (chart["x"][0], chart["x"][-1]) == (1, 1000)
    assert "Each curve is drawn at 100 places." in parsed.text


def test_what_failed_is_told():
    text = Parsed(page_of(random_curves(2, 2), failures=["crawl-1 by dom"])).text
    assert "Crawls that failed and are in no figure: crawl-1 by dom" in text


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_hostile_names(text):
    curves = [
        Curve(**{**curve.to_dict(), "found_at": curve.found_at, "crawl": text,
                 "strategy": curve.strategy if curve.strategy in BASELINES else text})
        for curve in random_curves(1, 2)
    ]  # fmt: skip
    page = page_of(
        curves, benchmark=text, description=text, baseline=text, failures=[text], ended=text,
        corpus=[text], versions={text: text},
    )  # fmt: skip
    page.encode("utf-8")
    parsed = Parsed(page)
    parsed.check()
    assert parsed.hrefs == []
    assert text in json.loads(parsed.scripts[0])["charts"][0]["views"]


def written(folder, curves, **changed):
    folder.mkdir(parents=True)
    record = json.dumps(record_of(curves, **changed))
    (folder / "evaluation.json").write_text(record, encoding="utf-8")
    write_tables(folder / "tables", tables_of(curves))
    return folder


def test_it_is_written_beside_the_tables(tmp_path):
    curves = random_curves(2, 2)
    folder = written(tmp_path / "e", curves, description=BREAKOUT)
    write_evaluation_page(folder, pictures(curves, "harbours"))
    parsed = parse_file(folder / "report.html")
    parsed.check()
    assert len(parsed.scripts) == 3
    assert (folder / "report.html").stat().st_size < 6_000_000


def test_without_plotly_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(MissingExtraError, match=r"focusspider\[report\]"):
        write_evaluation_page(written(tmp_path / "e", random_curves(1, 2)), [])
