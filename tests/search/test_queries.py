"""Queries from sample documents, against the paper's table 1 and counts by hand."""

from __future__ import annotations

import itertools
import math

import pytest

from focusspider.page import PageParser
from focusspider.search.queries import (
    Token,
    WeighedToken,
    harmonic_mean,
    outwards,
    queries,
    tokens_of,
    weigh,
)
from focusspider.text import Analyzer

ANALYZER = Analyzer()

#: xCrawl, table 1: token, hits in thousands, search weight, TF-IDF, harmonic mean.
TABLE_1 = [
    ("resolution", 275_000, 0.288, 0.894, 0.435),
    ("review", 956_000, 1.000, 0.090, 0.165),
    ("sensor", 85_500, 0.089, 0.694, 0.158),
    ("specifications", 142_000, 0.149, 0.090, 0.112),
    ("zoom", 20_100, 0.021, 0.745, 0.041),
    ("lens", 84_600, 0.088, 0.014, 0.024),
    ("hot shoe", 992, 0.001, 0.456, 0.002),
]


def weighed() -> list[WeighedToken]:
    rows = sorted(TABLE_1, key=lambda row: row[0])  # in no order that helps
    return weigh([Token(row[0], row[3]) for row in rows], [row[1] for row in rows])


def test_table_1() -> None:
    rows = weighed()
    assert [row.word for row in rows] == [row[0] for row in TABLE_1]
    assert [row.hits for row in rows] == [row[1] for row in TABLE_1]
    for row, (_, _, search, _, mean) in zip(rows, TABLE_1, strict=True):
        assert row.search == pytest.approx(search, abs=0.0005)
        assert row.mean == pytest.approx(mean, abs=0.0006)  # the paper's own are rounded twice


def test_the_first_query_of_the_paper() -> None:
    words = [row.word for row in outwards(weighed())]
    assert words == [
        "specifications", "sensor", "zoom", "review", "lens", "hot shoe", "resolution",
    ]  # fmt: skip
    assert next(queries(words, 3)) == ("specifications", "sensor", "zoom")


def means(*values: float) -> list[WeighedToken]:
    return [WeighedToken(str(n), 1.0, 1, 1.0, mean) for n, mean in enumerate(values)]


@pytest.mark.parametrize(
    ("tokens", "order"),
    [
        ([], ""),
        ([0.5], "0"),
        ([0.5, 0.4], "01"),
        ([0.9, 0.5, 0.4], "120"),
        ([0.6, 0.5, 0.1], "102"),
        ([0.6, 0.5, 0.4], "102"),  # as near: the heavier one
        ([0.9, 0.8, 0.5, 0.4], "1023"),  # the upper of two
    ],
)
def test_from_the_middle(tokens: list[float], order: str) -> None:
    assert "".join(token.word for token in outwards(means(*tokens))) == order


@pytest.mark.parametrize("length", [1, 2, 3, 4, 9])
def test_every_combination_once(length: int) -> None:
    found = list(queries("abcdef", length))
    every = {
        frozenset(combination)
        for size in range(1, length + 1)
        for combination in itertools.combinations("abcdef", size)
    }
    assert len(found) == len({frozenset(query) for query in found}) == len(every)
    assert {frozenset(query) for query in found} == every
    # nothing with a word further out comes before all that is possible without it
    furthest = [max(query) for query in found]
    assert furthest[:1] == [max("abcdef"[:length])]
    assert furthest[2**length - 1 :] == sorted(furthest[2**length - 1 :])


def test_no_words_no_queries() -> None:
    assert list(queries([], 3)) == []


@pytest.mark.parametrize(
    ("a", "b", "mean"), [(0.5, 0.5, 0.5), (1, 0, 0), (0, 0, 0), (1, 0.5, 2 / 3)]
)
def test_harmonic_mean(a: float, b: float, mean: float) -> None:
    assert harmonic_mean(a, b) == pytest.approx(mean, rel=1e-12)


def test_a_word_without_a_hit_is_left_out() -> None:
    rows = weigh([Token("a", 0.5), Token("b", 1.0), Token("c", 0.2)], [10, 0, 5])
    assert [(row.word, row.search) for row in rows] == [("a", 1.0), ("c", 0.5)]
    assert weigh([Token("a", 0.5)], [0]) == []
    assert weigh([], []) == []


def test_without_counts_the_sample_stands_for_the_web() -> None:
    rows = weigh([Token("rare", 1.0, 0.1), Token("common", 0.6, 1.0)], None)
    assert [(row.word, row.hits, row.search) for row in rows] == [
        ("common", None, 1.0),
        ("rare", None, 0.1),
    ]
    assert rows[1].mean == pytest.approx(2 / 11, rel=1e-12)


def test_tokens_of_documents() -> None:
    parser = PageParser(analyzer=ANALYZER)
    pages = [
        parser.parse_html(
            "<p>The mills of the mill. The mills grind: 1999.</p>", "http://a.example/"
        ),
        parser.parse_html("<title>Grinding</title><p>Corn, corn</p>", "http://b.example/"),
        parser.parse_html("<p></p>", "http://c.example/"),
    ]
    found = {token.word: token for token in tokens_of(pages, ANALYZER, 10)}
    # the most frequent form stands for its stem; stop words and numbers are no tokens
    assert set(found) == {"mills", "grind", "corn"}
    assert (found["mills"].share, found["grind"].share) == (1 / 3, 2 / 3)
    # by hand: idf of 1 and of 2 documents among 3
    once, twice = math.log(4 / 2) + 1, math.log(4 / 3) + 1
    first, second = math.hypot(3 * once, twice), math.hypot(2 * once, twice)
    weights = {
        "mills": 3 * once / first,
        "grind": twice / first + twice / second,
        "corn": 2 * once / second,
    }
    most = max(weights.values())
    for word, weight in weights.items():
        assert found[word].tfidf == pytest.approx(weight / most, rel=1e-12)
    assert [token.word for token in tokens_of(pages, ANALYZER, 2)] == ["mills", "corn"]
    assert tokens_of(pages[2:], ANALYZER, 5) == []
    assert tokens_of([], ANALYZER, 5) == []
