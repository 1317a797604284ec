from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from focusspider.errors import MissingExtraError
from focusspider.evaluation.bound import Bound
from focusspider.evaluation.curves import (
    POINTS,
    harvest_at,
    precision_at_recall,
    recall_at,
    write_curves,
)
from focusspider.evaluation.rows import Curve, flags_of, row_of
from focusspider.evaluation.tables import areas, cost, crawls, markdown, summary, write_tables

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.evaluation.tables import Row


def curve(crawl: str, strategy: str, *found_at: int, fetched: int = 10, seed: int = 0) -> Curve:
    """A crawl of a web of 10 pages with 2 targets."""
    return Curve(
        crawl=crawl, strategy=strategy, seed=seed, reachable=10, targets=2, fetched=fetched,
        found_at=found_at,
    )  # fmt: skip


def rows(*curves: Curve) -> list[Row]:
    found = []
    for one in curves:
        own = {c.strategy: c.area for c in curves if c.crawl == one.crawl}
        row = row_of(one, [own["breadth-first"]], own["omniscient"])
        found.append(row | {"cpu_ms_per_page": 2.0, "wall_s": 3.0, "peak_mb": 4.0, "startup_s": 1})
    return found


def test_the_curve_of_a_log() -> None:
    bound = Bound(4, frozenset({"http://a.example/t", "http://a.example/~u"}), (1, 2), 4)
    urls = [
        "http://a.example/",
        "http://A.example/t",
        "http://a.example/t",
        "http://a.example/%7Eu",
    ]
    one = Curve.of_log("c", "s", 0, bound, urls)
    assert (one.fetched, one.found_at) == (4, (2, 4))
    assert flags_of(one).tolist() == [False, True, False, True]
    assert Curve.of_bound("c", bound).found_at == (1, 2)


def test_a_row_by_hand() -> None:
    row = row_of(curve("c", "dom", 2, 5), [0.3], 0.9)
    assert row["auc"] == pytest.approx((9 + 6) / 20)  # Σ (10 + 1 − p) / (2 · 10)
    assert row["headroom"] == pytest.approx((0.75 - 0.3) / 0.6)
    assert (row["harvest_10"], row["harvest_25"]) == (0.0, pytest.approx(1 / 3))
    assert (row["precision_50"], row["pages_50"]) == (0.5, 2)
    assert (row["precision_100"], row["pages_100"]) == (pytest.approx(2 / 5), 5)
    assert row["f1_100"] == pytest.approx(2 * 0.4 / 1.4)


def test_a_crawl_that_found_one_of_two() -> None:
    row = row_of(curve("c", "dom", 4, fetched=4), [0.35], 0.35)
    assert (row["found"], row["precision_100"], row["pages_100"]) == (1, 0.0, None)
    assert row["headroom"] is None  # there is none over breadth-first


def test_the_summary_pools_the_headroom_and_tests_against_the_baseline() -> None:
    table = {line["strategy"]: line for line in summary(rows(
        curve("a", "omniscient", 1, 2), curve("a", "breadth-first", 8, 9), curve("a", "dom", 2, 3),
        curve("b", "omniscient", 1, 2), curve("b", "breadth-first", 2, 3), curve("b", "dom", 2, 4),
    ))}  # fmt: skip
    # areas: bound 0.95 and 0.95, breadth-first 0.25 and 0.85, dom 0.85 and 0.80
    assert table["dom"]["auc"] == pytest.approx(0.825)
    assert table["dom"]["headroom"] == pytest.approx((0.825 - 0.55) / (0.95 - 0.55))
    assert table["omniscient"]["headroom"] == 1.0
    assert table["breadth-first"]["headroom"] == 0.0
    # differences 0.60 and −0.05: mean 0.275, sd 0.4596, t = 0.275 / 0.325, p = ½ − atan(t)/π
    dom = table["dom"]
    assert dom["difference"] == pytest.approx(0.275)
    assert dom["t"] == pytest.approx(0.275 / 0.325)
    assert dom["p"] == pytest.approx(0.5 - np.arctan(0.275 / 0.325) / np.pi)
    # 12.7062 is Student's quantile for one degree of freedom, 0.025 the standard error
    assert dom["auc_high"] - dom["auc"] == pytest.approx(12.7062 * 0.025, rel=1e-5)
    assert table["omniscient"]["p"] is table["breadth-first"]["p"] is None
    assert dom["found"] == 1.0


def test_the_seeds_of_a_crawl_count_as_one() -> None:
    lines = summary(rows(
        curve("a", "omniscient", 1, 2), curve("a", "breadth-first", 8, 9),
        curve("a", "dom", 2, 3, seed=0), curve("a", "dom", 4, 5, seed=1),
        curve("b", "omniscient", 1, 2), curve("b", "breadth-first", 8, 9), curve("b", "dom", 2, 3),
    ))  # fmt: skip
    dom = lines[-1]
    assert dom["crawls"] == 2
    assert dom["auc"] == pytest.approx(((0.85 + 0.65) / 2 + 0.85) / 2)


def test_what_failed_is_missing_and_not_zero() -> None:
    some = rows(
        curve("a", "omniscient", 1, 2), curve("a", "breadth-first", 8, 9), curve("a", "dom", 2, 3),
        curve("b", "omniscient", 1, 2), curve("b", "breadth-first", 2, 3),
    )  # fmt: skip
    dom = summary(some, baseline="breadth-first")[-1]
    assert dom["crawls"] == 1
    assert dom["headroom"] == pytest.approx((0.85 - 0.25) / (0.95 - 0.25))
    assert dom["difference"] == pytest.approx(0.60)
    assert areas(some)[1] == {
        "crawl": "b", "reachable": 10, "targets": 2, "omniscient": pytest.approx(0.95),
        "breadth-first": pytest.approx(0.85), "dom": None,
    }  # fmt: skip


def test_costs_are_in_a_table_of_their_own(tmp_path: Path) -> None:
    some = rows(curve("a", "omniscient", 1, 2), curve("a", "breadth-first", 8, 9))
    some[0]["wall_s"] = None  # the bound is computed
    assert [line["strategy"] for line in cost(some)] == ["breadth-first"]
    assert cost(some)[0]["cpu_ms_per_page"] == 2.0
    assert not any("wall_s" in row or "cpu_ms_per_page" in row for row in crawls(some))
    write_tables(tmp_path, {"crawls": crawls(some)})
    with (tmp_path / "crawls.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["auc"] for line in lines] == ["0.95", "0.25"]
    assert json.loads((tmp_path / "crawls.json").read_text(encoding="utf-8")) == crawls(some)


def test_markdown() -> None:
    table = markdown([{"strategy": "dom", "auc": 0.12345, "p": None, "crawls": 2}])
    assert table == (
        "| strategy | auc | p | crawls |\n| --- | ---: | ---: | ---: |\n| dom | 0.123 | – | 2 |\n"
    )


def test_curves_at_shares_of_the_crawl() -> None:
    one = curve("c", "dom", 2, 5, fetched=8)
    at = {round(100 * share): number for number, share in enumerate(POINTS)}
    assert recall_at(one)[[at[10], at[20], at[50], at[100]]].tolist() == [0.0, 0.5, 1.0, 1.0]
    # a crawl that ended keeps the rate that it ended with
    assert harvest_at(one)[[at[20], at[80], at[100]]].tolist() == [0.5, 0.25, 0.25]
    assert precision_at_recall(one)[[at[50], at[51], at[100]]].tolist() == [0.5, 0.4, 0.4]
    assert precision_at_recall(curve("c", "dom", 2))[[at[50], at[51]]].tolist() == [0.5, 0.0]


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"focusspider\[report\]"):
        write_curves(tmp_path, [curve("c", "dom", 2)], "title")
