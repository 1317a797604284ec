"""What a search for authorities asks, counts and keeps, with an engine that is a table."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import ServiceError
from focusspider.search.authorities import AuthoritySearch, SearchPlan, Verdict
from focusspider.search.base import Answer, Hit
from focusspider.search.queries import Token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focusspider.search.authorities import Findings

TOKENS = [Token(word, 1 - n / 10, 1.0) for n, word in enumerate("abcd")]


class Web:
    """Pages named by the words that they hold; those with an ``x`` are authorities."""

    def __init__(self, pages: str, *, counts: bool = True, moved: dict[str, str] | None = None):
        self.pages = pages.split()
        self.counts = counts
        self.moved = moved or {}
        self.asked: list[str] = []
        self.validated: list[str] = []
        self.fails_after: int | None = None

    async def ask(self, query: str, n: int) -> Answer:
        if self.fails_after is not None and len(self.asked) >= self.fails_after:
            raise ServiceError("the engine is down")
        self.asked.append(query)
        found = [page for page in self.pages if set(query.split()) <= set(page)]
        hits = tuple(Hit(f"http://{page}.example/", page) for page in found[:n])
        return Answer(hits, len(found) if self.counts else None)

    async def validate(self, urls: Sequence[str]) -> list[Verdict]:
        self.validated += urls
        return [Verdict(self.moved.get(url, url), "x" in url.partition(".")[0]) for url in urls]

    def search(self, tokens: Sequence[Token] = TOKENS, **options: Any) -> Findings:
        extra = {name: options.pop(name) for name in ("skip", "told") if name in options}
        search = AuthoritySearch(
            SearchPlan(**{"tokens": 4, "length": 2, **options}),
            ask=self.ask,
            validate=self.validate,
            **extra,
        )
        self.found = search.found
        return asyncio.run(search.run(tokens))


def test_all_that_can_be_asked() -> None:
    web = Web("abx ab abc bcx dx d")
    found = web.search()
    assert found.stopped == "every combination was asked"
    # a word that was asked for its weight is not asked again for its results
    assert len(web.asked) == len(set(web.asked)) == found.n_queries == 4 + 6
    # by hand: harmonic means a 0.857, b 0.947, c 0.615, d 0.583, so that a is the middle
    assert [one.query for one in found.asked][:4] == ["a b", "a", "b", "a c"]
    assert len(found.asked) == 10
    assert set(found.authorities) == {f"http://{page}.example/" for page in ("abx", "bcx", "dx")}
    assert sorted(web.validated) == sorted(f"http://{page}.example/" for page in web.pages)
    assert found.validated == 6
    assert sum(one.new for one in found.asked) == 3
    # by hand: accepted and returned of each query
    by_query = {frozenset(one.query.split()): (one.accepted, one.results) for one in found.asked}
    assert by_query == {
        frozenset("a"): (1, 3), frozenset("b"): (2, 4), frozenset("c"): (1, 2),
        frozenset("d"): (1, 2), frozenset("ab"): (1, 3), frozenset("ac"): (0, 1),
        frozenset("bc"): (1, 2), frozenset("ad"): (0, 0), frozenset("bd"): (0, 0),
        frozenset("cd"): (0, 0),
    }  # fmt: skip
    assert found.precision == pytest.approx(7 / 17, rel=1e-12)


def test_it_ends_where_nothing_new_is_found() -> None:
    web = Web("abx ab ac ad a b c d")
    found = web.search(max_iterations=2)
    assert found.stopped == "2 queries in a row found no new authority"
    # by hand: 1.0, 0.72, 0.533, 0.509, so that b is the middle, and c nearer than a
    assert [(one.query, one.new) for one in found.asked] == [
        ("b c", 0), ("b", 1), ("c", 0), ("b a", 0),
    ]  # fmt: skip


def test_the_budget() -> None:
    web = Web("abx ab ac ad a b c d")
    found = web.search(max_queries=5)
    assert len(web.asked) == found.n_queries == 5
    assert found.stopped == "the budget of 5 queries is used up"
    assert list(found.authorities) == ["http://abx.example/"]


def test_only_the_first_results_count() -> None:
    found = Web("a ab abx abx2 b").search(first=2)
    assert max(one.results for one in found.asked) == 2
    assert all(one.accepted == 0 for one in found.asked if one.query == "b a")


def test_an_engine_without_counts_is_asked_for_no_weights() -> None:
    web = Web("abx a b", counts=False)
    found = web.search()
    assert [row.hits for row in found.tokens] == [None] * 4
    assert [row.word for row in found.tokens] == list("abcd")  # the samples have all of them
    assert web.asked[:2] == ["a", "b a"]
    assert found.n_queries == 10


def test_what_is_passed_over() -> None:
    web = Web("abx aby bx")
    found = web.search(skip="http://abx.example/".__eq__)
    assert list(found.authorities) == ["http://bx.example/"]
    assert "http://abx.example/" not in web.validated
    assert max(one.results for one in found.asked) == 2


def test_pages_are_known_by_where_they_are() -> None:
    moved = {"http://abx.example/": "http://bx.example/"}
    found = Web("abx bx", moved=moved).search()
    assert list(found.authorities) == ["http://bx.example/"]
    assert sum(one.new for one in found.asked) == 1


@pytest.mark.parametrize("tokens", [[], [Token("z", 1.0)]])
def test_nothing_to_ask(tokens: list[Token]) -> None:
    found = Web("abx").search(tokens)
    assert (found.stopped, found.asked, found.precision) == ("no token has a hit", [], 0.0)


def test_what_was_found_stays_where_the_engine_fails() -> None:
    web = Web("abx a b c d")
    web.fails_after = 5
    told = []
    with pytest.raises(ServiceError, match="the engine is down"):
        web.search(told=told.append)
    assert list(web.found.authorities) == ["http://abx.example/"]
    assert web.found.stopped == ""
    assert told == web.found.asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "length must be a whole number of at least 1, got 0"),
        ({"first": 1.5}, "first must be a whole number of at least 1, got 1.5"),
        ({"max_queries": 20}, "to weigh 20 tokens takes one query each"),
    ],
)
def test_wrong_plans(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SearchPlan(**options)
