"""What workers learn from each other: parts of a crawl joined are the whole, however often."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.checkpoint import pack_memory
from focusspider.keytable import url_key
from focusspider.models.archive import pack_arrays, unpack_arrays
from focusspider.relevance.base import Judgement
from focusspider.strategies import STRATEGIES, build_strategy
from focusspider.strategies.apprentice import Apprentice
from focusspider.strategies.shark_search_okapi import SharkSearchOkapi
from tests.pages import page, profile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from focusspider.page import Page
    from focusspider.strategies.base import LinkScores, Strategy

SHARED = [name for name, strategy in STRATEGIES.items() if hasattr(strategy, "join")]
EVERY_ONE = pytest.mark.parametrize("name", SHARED)
ONE, OTHER = "http://one.example", "http://other.example"


def started(name: str, **params: Any) -> Any:
    strategy = build_strategy(name, params)
    strategy.start(profile("tide"), np.random.default_rng(0))
    return strategy


def contribution(strategy: Any) -> Mapping[str, NDArray[Any]]:
    """Return what a strategy gives, as it comes out of Redis."""
    given = strategy.contribution()
    given = given() if callable(given) else given
    return unpack_arrays(pack_arrays(given))


def crawl(n: int = 40) -> list[tuple[Page, Judgement]]:
    """Return pages of two hosts, first the index pages and then those that they link to.

    Links after "harbour" lead to relevant pages, also to those of the other host.
    """
    indexes, leaves = [], []
    for host, foreign in ((ONE, OTHER), (OTHER, ONE)):
        for i in range(n):
            links = [
                f"<p>harbour number {i} <a href={host}/good/{i}>read</a></p>",
                f"<p>forum thread {i % 7} <a href={host}/bad/{i}>read</a></p>",
                f"<p>harbour <a href={foreign}/good/{i}>abroad</a></p>",
                f"<p>forum <a href={foreign}/bad/{i}>abroad</a></p>",
            ]
            indexes.append((page("".join(links), f"{host}/index/{i}"), False))
            leaves.append((page(f"<p>tide {i}</p>", f"{host}/good/{i}"), True))
            leaves.append((page(f"<p>talk {i}</p>", f"{host}/bad/{i}"), False))
    return [(at, Judgement(float(is_good), is_good, "test")) for at, is_good in indexes + leaves]


def halves(name: str) -> tuple[Any, Any, Any]:
    """Return a strategy that has seen all pages, and two that have those of one host each."""
    whole, one, other = (started(name) for _ in range(3))
    for at, judgement in crawl():
        whole.observe(at, judgement)
        (one if at.url.startswith(ONE) else other).observe(at, judgement)
    return whole, one, other


def exchange(one: Any, other: Any, *, times: int = 1) -> None:
    for _ in range(times):
        given = contribution(one), contribution(other)
        one.join("2", given[1])
        other.join("1", given[0])


def scores(strategy: Strategy) -> LinkScores:
    html = (
        "<title>tide</title><p>harbour wall <a href=/x>read</a></p><p>tide <a href=/z>tide</a></p>"
        "<p>forum talk <a href=/y>abroad</a></p>"
    )
    return strategy.score(page(html, "http://new.example/"), None)


def test_the_strategies_that_share() -> None:
    assert SHARED == ["shark-search-okapi", "apprentice", "auto"]


@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("name", ["apprentice", "shark-search-okapi"])
def test_two_halves_joined_are_the_whole(name: str, times: int) -> None:
    """The first time tells what came of links to the other's pages, the second what it taught."""
    whole, one, other = halves(name)
    apart = scores(one).priorities.tolist()
    exchange(one, other, times=times)
    for half in (one, other):
        np.testing.assert_array_equal(scores(half).priorities, scores(whole).priorities)
    assert apart != scores(whole).priorities.tolist()


def test_counts_of_halves_sum_to_those_of_the_whole() -> None:
    whole, one, other = halves("apprentice")
    exchange(one, other)
    sums: dict[str, NDArray[np.float64]] = {}
    for half in (one, other):
        for key, values in half.memory().items():
            if key in {"counts", "examples"}:
                sums[key] = sums.get(key, np.zeros_like(values)) + values
    assert whole.memory()["examples"].sum() == 320  # each link is one example
    for key, values in sums.items():
        np.testing.assert_array_equal(values, whole.memory()[key])


@EVERY_ONE
def test_nothing_is_counted_twice(name: str) -> None:
    _, one, other = halves(name)
    exchange(one, other, times=2)
    before = scores(one), pack_arrays(contribution(one))
    given = contribution(other)
    for _ in range(3):
        one.join("2", given)
    assert pack_arrays(contribution(one)) == before[1]
    np.testing.assert_array_equal(scores(one).priorities, before[0].priorities)


@EVERY_ONE
def test_what_was_joined_is_neither_given_nor_remembered(name: str) -> None:
    _, _, other = halves(name)
    fresh = started(name)
    memory = pack_memory(fresh.memory())
    fresh.join("1", contribution(other))
    assert pack_memory(fresh.memory()) == memory
    given = fresh.contribution()
    given = given() if callable(given) else given or {}
    assert all(not values.any() for values in given.values())


@EVERY_ONE
def test_who_goes_on_knows_what_the_one_before_had_learnt(name: str) -> None:
    """A worker that begins anew has another number, and remembers nothing of its own."""
    _, one, _ = halves(name)
    again = started(name)
    again.join("1", contribution(one))
    if name != "auto":  # which learns when it reranks
        np.testing.assert_array_equal(scores(again).priorities, scores(one).priorities)
    third = started(name)
    third.join("1", contribution(one))
    given = again.contribution()
    given = given() if callable(given) else given
    if given is not None:
        third.join("2", unpack_arrays(pack_arrays(given)))
    np.testing.assert_array_equal(scores(third).priorities, scores(again).priorities)


def _without(arrays: dict[str, Any]) -> None:
    del arrays[min(arrays)]


def _of_another_type(arrays: dict[str, Any]) -> None:
    name = max(arrays)
    arrays[name] = arrays[name].astype(np.float32 if arrays[name].dtype != "f4" else np.int32)


def _too_long(arrays: dict[str, Any]) -> None:
    for name in ("page_keys", "frequencies"):
        if name in arrays:
            arrays[name] = np.concatenate([arrays[name], arrays[name]])


def _negative(arrays: dict[str, Any]) -> None:
    for name in ("counts", "frequencies", "trials"):
        if name in arrays:
            arrays[name] = arrays[name] - 1_000_000


def _boundless(arrays: dict[str, Any]) -> None:
    for name in ("trials", "totals"):
        if name in arrays:
            arrays[name] = arrays[name] + arrays[name].dtype.type(1e10)
    if "trials" not in arrays:
        arrays.clear()


def _nothing(arrays: dict[str, Any]) -> None:
    arrays.clear()


def _more(arrays: dict[str, Any]) -> None:
    arrays["unknown"] = np.zeros(3)


@EVERY_ONE
@pytest.mark.parametrize(
    "spoil", [_without, _of_another_type, _too_long, _negative, _boundless, _nothing, _more]
)
def test_what_is_no_contribution_changes_nothing(
    name: str, spoil: Callable[[dict[str, Any]], None]
) -> None:
    _, one, other = halves(name)
    exchange(one, other)
    before = scores(one)
    spoilt = dict(contribution(other))
    spoil(spoilt)
    for worker in ("2", "3"):
        with pytest.raises(ValueError, match=" "):
            one.join(worker, spoilt)
    assert scores(one).priorities.tolist() == before.priorities.tolist()


def test_apprentice_orders_what_waits_by_other_workers_links_too() -> None:
    _, one, other = halves("apprentice")
    at = page(f"<p>harbour <a href={OTHER}/x>a</a></p><p>forum <a href={OTHER}/y>b</a></p>", ONE)
    one.observe(at, Judgement(0.0, False, "test"))
    waiting = SimpleNamespace(
        ids=np.arange(3),
        keys=np.array([url_key(f"{OTHER}{path}") for path in ("/y", "/x", "/z")], dtype=np.uint64),
    )
    assert len(other.rerank(waiting)().ids) == 0
    other.join("1", contribution(one))
    assert len(other.rerank(waiting)().ids) == 0, "nobody knows yet where they wait"
    one.rerank(SimpleNamespace(ids=np.zeros(0), keys=np.zeros(0, dtype=np.uint64)))
    other.join("1", contribution(one))
    reranking = other.rerank(waiting)()
    assert reranking.ids.tolist() == [0, 1]
    assert reranking.priorities[1] > reranking.priorities[0]
    one.rerank(waiting)  # they wait with it now
    one.join("2", contribution(other))  # and all the others were fetched
    assert len(contribution(one)["offer_keys"]) == 0


def test_features_that_are_no_hashes() -> None:
    strategy = started("apprentice")
    assert isinstance(strategy, Apprentice)
    good = dict(contribution(strategy))
    for features in ([2**18], [-1], [5, 5], [6, 5]):
        counts = np.ones((2, len(features)), dtype=np.int32)
        wrong = {**good, "features": np.array(features, dtype=np.int32), "counts": counts}
        with pytest.raises(ValueError, match="features are"):
            strategy.join("1", wrong)


def test_a_corpus_is_the_same_for_all() -> None:
    strategy = build_strategy("shark-search-okapi", {"corpus": "topics/examples"})
    assert isinstance(strategy, SharkSearchOkapi)
    strategy.start(profile("tide"), np.random.default_rng(0))
    strategy.observe(page("<p>tide</p>"), Judgement(1.0, True, "test"))
    assert strategy.contribution() is None


def test_of_very_many_terms_the_frequent_ones_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusspider.strategies.shark_search_okapi._MOST_TERMS", 2)
    strategy = started("shark-search-okapi")
    for text in ("tide coast", "tide harbour coast", "tide rope"):
        strategy.observe(page(f"<p>{text}</p>"), Judgement(1.0, True, "test"))
    given = contribution(strategy)
    assert given["size"].tolist() == [3, 7]
    assert given["frequencies"].tolist() == [3, 2]
    assert given["terms"].tobytes() == b"tide\ncoast"
