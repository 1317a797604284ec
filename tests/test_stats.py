from __future__ import annotations

import re

import pytest
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from focusspider import stats
from focusspider.stats import STATS, SUMS, count_reason, is_known, unequal_sums


def test_every_constant_is_in_the_table_and_every_key_has_a_constant():
    constants = {
        value
        for name, value in vars(stats).items()
        if name.isupper() and isinstance(value, str) and not name.startswith("_")
    }
    assert constants == {stat.key for stat in STATS}
    assert len(STATS) == len(constants)


@pytest.mark.parametrize("stat", STATS, ids=lambda stat: stat.key)
def test_keys_and_texts(stat):
    assert re.fullmatch(r"focus/[a-z]+/[a-z_]+", stat.key)
    assert stat.meaning.endswith((".", "…"))
    assert stat.advice == "" or stat.advice.endswith(".")
    for reason, meaning in stat.reasons.items():
        assert re.fullmatch(r"[a-z][a-z_0-9]*", reason)
        assert meaning.endswith((".", "…"))


def test_sums_name_keys():
    for whole, parts in SUMS:
        assert all(is_known(key) for key in (whole, *parts))


def test_reasons_sum_to_the_whole():
    collector = StatsCollector(get_crawler())
    count_reason(collector, stats.LINK_REFUSED, "depth")
    count_reason(collector, stats.LINK_REFUSED, "offsite", 4)
    assert collector.get_stats() == {
        "focus/link/refused": 5,
        "focus/link/refused/depth": 1,
        "focus/link/refused/offsite": 4,
    }


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ({}, []),
        (
            {
                "focus/link/found": 6,
                "focus/link/pushed": 1,
                "focus/link/known": 2,
                "focus/link/refused": 3,
                "focus/link/refused/depth": 3,
            },
            [],
        ),
        (
            {"focus/link/found": 6, "focus/link/pushed": 5},
            ["focus/link/found = 6, its parts sum to 5"],
        ),
        (
            {"focus/page/failed": 1},
            ["focus/page/failed = 1, its parts sum to 0"],
        ),
    ],
)
def test_unequal_sums(values, lines):
    assert unequal_sums(values) == lines


def test_an_unknown_reason_is_not_known():
    assert is_known("focus/page/failed/dns")
    assert not is_known("focus/page/failed/mood")
    assert not is_known("focus/mood")
