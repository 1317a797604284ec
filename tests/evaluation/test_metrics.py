from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusspider.evaluation.metrics import (
    RECALL_LEVELS,
    Effectiveness,
    at_pages,
    at_recall,
    average_precision_relative,
    f1,
    harvest_curve,
    harvest_rate,
    headroom,
    pages_for_share,
    pooled_headroom,
    recall,
    recall_area,
    recall_curve,
    relevant_flags,
    running_mean,
    value_at,
)

EXACT = {"rtol": 1e-12, "atol": 1e-15}

# Ten pages, of which the 2nd, 3rd, 6th and 9th are targets; a fifth target is never found.
CRAWL = [False, True, True, False, False, True, False, False, True, False]
TARGETS = 5

crawls = st.lists(st.booleans(), max_size=40)


def test_a_target_is_flagged_at_its_first_fetch() -> None:
    flags = relevant_flags(["a", "b", "a", "c", "b"], {"b", "c", "z"})
    assert flags.tolist() == [False, True, False, True, False]


def test_no_page_no_flags() -> None:
    assert relevant_flags([], {"b"}).shape == (0,)


def test_harvest_curve_by_hand() -> None:
    expected = [0, 1 / 2, 2 / 3, 2 / 4, 2 / 5, 3 / 6, 3 / 7, 3 / 8, 4 / 9, 4 / 10]
    np.testing.assert_allclose(harvest_curve(CRAWL), expected, **EXACT)


def test_recall_curve_by_hand() -> None:
    expected = [0, 0.2, 0.4, 0.4, 0.4, 0.6, 0.6, 0.6, 0.8, 0.8]
    np.testing.assert_allclose(recall_curve(CRAWL, TARGETS), expected, **EXACT)


@pytest.mark.parametrize(
    ("n", "harvest", "found"),
    [(1, 0, 0), (3, 2 / 3, 0.4), (10, 0.4, 0.8), (11, 0.4, 0.8), (10_000, 0.4, 0.8)],
    ids=["first", "inside", "last", "one after the end", "long after the end"],
)
def test_values_at_n(n: int, harvest: float, found: float) -> None:
    assert harvest_rate(CRAWL, n) == pytest.approx(harvest)
    assert recall(CRAWL, TARGETS, n) == pytest.approx(found)


def test_target_recall_of_hub_seeking_equation_4() -> None:
    targets = {"t1", "t2", "t3", "t4"}
    crawl = ["s", "t3", "x", "t1", "t3"]
    flags = relevant_flags(crawl, targets)
    for n in range(1, 6):
        assert recall(flags, len(targets), n) == len(targets & set(crawl[:n])) / 4


@pytest.mark.parametrize("curve", [harvest_curve([]), recall_curve([], 3)])
def test_a_crawl_that_fetched_nothing_has_zero(curve: np.ndarray) -> None:
    assert value_at(curve, 5) == 0.0


def test_a_curve_has_no_value_before_its_first_page() -> None:
    with pytest.raises(ValueError, match="got 0"):
        value_at(harvest_curve(CRAWL), 0)


def test_running_mean_counts_along_the_first_axis() -> None:
    np.testing.assert_allclose(running_mean([[1, 0], [0, 4]]), [[1, 0], [0.5, 2]], **EXACT)


@pytest.mark.parametrize(
    ("precision", "found", "expected"),
    [
        # HCLA table 3, where recall is the level: precision and F1 of BRFS and HCLA.
        (0.58, 0.1, 0.17),
        (0.32, 0.5, 0.39),
        (0.15, 1.0, 0.26),
        (0.37, 0.5, 0.43),
        (0.21, 1.0, 0.35),
    ],
)
def test_f1_of_table_3(precision: float, found: float, expected: float) -> None:
    assert f1(precision, found) == pytest.approx(expected, abs=0.005)


def test_f1_of_nothing_is_nothing() -> None:
    assert f1(0.0, 0.0) == 0.0


def test_at_pages_by_hand() -> None:
    result = at_pages(CRAWL, TARGETS, 6)
    assert result.pages == 6
    assert result.precision == pytest.approx(1 / 2)
    assert result.recall == pytest.approx(3 / 5)
    assert result.f1 == pytest.approx(6 / 11)  # 2 · 3 found / (6 fetched + 5 targets)


def test_at_pages_says_how_many_there_were() -> None:
    assert at_pages(CRAWL, TARGETS, 500).pages == 10


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (0.1, (2, 1 / 2, 0.2, 2 / 7)),  # half a target is asked for: the first one is had
        (0.4, (3, 2 / 3, 0.4, 4 / 8)),
        (0.5, (6, 3 / 6, 0.6, 6 / 11)),  # two and a half: the third
        (0.8, (9, 4 / 9, 0.8, 8 / 14)),
    ],
)
def test_at_recall_by_hand(level: float, expected: tuple[float, ...]) -> None:
    assert at_recall(CRAWL, TARGETS, level) == pytest.approx(expected)


@pytest.mark.parametrize("level", [0.9, 1.0])
def test_a_level_that_is_not_reached_counts_zero(level: float) -> None:
    assert at_recall(CRAWL, TARGETS, level) == Effectiveness(None, 0.0, 0.8, 0.0)


@pytest.mark.parametrize("targets", range(1, 101))
def test_a_level_asks_for_no_page_more_through_rounding(targets: int) -> None:
    flags = [True] * targets
    for tenth in range(1, 11):
        assert at_recall(flags, targets, tenth / 10).pages == -(-tenth * targets // 10)


@pytest.mark.parametrize("level", [0.0, -0.1, 1.1])
def test_levels_that_are_none(level: float) -> None:
    with pytest.raises(ValueError, match=str(level)):
        at_recall(CRAWL, TARGETS, level)


def test_levels_are_those_that_are_reported() -> None:
    assert RECALL_LEVELS == (0.1, 0.5, 0.9, 1.0)


@pytest.mark.parametrize(
    ("relevant", "targets", "message"),
    [([True, True], 1, "2 relevant pages .* 1 targets"), ([False], 0, "at least 1 target")],
)
def test_targets_that_do_not_fit(relevant: list[bool], targets: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recall_curve(relevant, targets)
    with pytest.raises(ValueError, match=message):
        recall_area(relevant, targets, 10)
    with pytest.raises(ValueError, match=message):
        at_recall(relevant, targets, 1.0)


@pytest.mark.parametrize(
    ("relevant", "targets", "reachable", "expected"),
    [
        ([True, False, True], 2, 4, (0.5 + 0.5 + 1 + 1) / 4),
        ([True], 2, 4, 0.5),  # it stopped, and recall stays
        ([], 2, 4, 0.0),
        ([False, False, True], 1, 2, 0.0),  # found beyond the pages that count
        ([True, True, False], 2, 3, (0.5 + 1 + 1) / 3),
    ],
)
def test_recall_area_by_hand(
    relevant: list[bool], targets: int, reachable: int, expected: float
) -> None:
    assert recall_area(relevant, targets, reachable) == pytest.approx(expected)


@given(crawls, st.integers(0, 5), st.integers(0, 30))
def test_recall_area_is_the_mean_of_the_curve(
    relevant: list[bool], unfound: int, beyond: int
) -> None:
    targets = sum(relevant) + unfound
    if not targets:
        return
    reachable = targets + beyond
    curve = recall_curve(relevant, targets)
    values = [value_at(curve, n) for n in range(1, reachable + 1)]
    np.testing.assert_allclose(
        recall_area(relevant, targets, reachable), np.mean(values), rtol=1e-12, atol=1e-12
    )


def test_a_finite_web_holds_its_targets() -> None:
    with pytest.raises(ValueError, match="5 targets cannot be among 4"):
        recall_area(CRAWL, 5, 4)


@pytest.mark.parametrize(
    ("share", "reachable", "pages"),
    [(0.1, 30, 3), (0.1, 1115, 112), (0.25, 4, 1), (1.0, 7, 7), (0.01, 5, 1), (0.7, 10, 7)],
)
def test_pages_for_share(share: float, reachable: int, pages: int) -> None:
    assert pages_for_share(share, reachable) == pages


@pytest.mark.parametrize("share", [0, 1.5])
def test_shares_that_are_none(share: float) -> None:
    with pytest.raises(ValueError, match=str(share)):
        pages_for_share(share, 10)


@pytest.mark.parametrize(
    ("area", "expected"), [(0.72, 0.0), (0.96, 1.0), (0.84, 0.5), (0.60, -0.5)]
)
def test_headroom_by_hand(area: float, expected: float) -> None:
    assert headroom(area, 0.72, 0.96) == pytest.approx(expected, abs=1e-12)


def test_without_room_there_is_no_share_of_it() -> None:
    assert np.isnan(headroom(0.9, 0.9, 0.9))


def test_the_pool_is_a_ratio_of_means() -> None:
    # Alone, the second crawl captures -8 of its room, and the mean of the ratios is -3.625.
    areas, baselines, bounds = [0.8, 0.90], [0.5, 0.98], [0.9, 0.99]
    expected = (0.85 - 0.74) / (0.945 - 0.74)
    assert pooled_headroom(areas, baselines, bounds) == pytest.approx(expected)
    assert headroom(0.90, 0.98, 0.99) == pytest.approx(-8)


@pytest.mark.parametrize("columns", [([0.5], [0.4], [0.6, 0.7]), ([], [], [])])
def test_a_pool_needs_three_values_a_crawl(columns: tuple[list[float], ...]) -> None:
    with pytest.raises(ValueError, match="of each crawl"):
        pooled_headroom(*columns)


def test_apr_is_the_mean_of_ratios() -> None:
    # Thresholds 0.5 to 0.8: 2, 1.5, 1 and 3 times as good.
    apr = average_precision_relative([0.4, 0.3, 0.1, 0.03], [0.2, 0.2, 0.1, 0.01])
    assert float(apr) == pytest.approx((2 + 1.5 + 1 + 3) / 4)


def test_apr_of_curves_leaves_out_where_the_baseline_found_nothing() -> None:
    ours = [[0.0, 0.5, 0.5], [1.0, 0.5, 1 / 3]]
    theirs = [[0.0, 0.0, 0.25], [0.0, 0.5, 1 / 3]]
    np.testing.assert_allclose(average_precision_relative(ours, theirs), [np.nan, 1, 1.5], **EXACT)


def test_apr_needs_precisions_of_the_same_crawl() -> None:
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        average_precision_relative([1, 1], [1, 1, 1])


@given(crawls)
def test_what_is_given_stays_as_it_is(relevant: list[bool]) -> None:
    flags = np.array(relevant, dtype=np.bool_)
    before = flags.copy()
    targets = max(1, int(flags.sum()))
    at_recall(flags, targets, 0.5)
    at_pages(flags, targets, 3)
    recall_area(flags, targets, len(flags) + targets)
    np.testing.assert_array_equal(flags, before)
