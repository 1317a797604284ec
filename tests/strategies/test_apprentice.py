"""The apprentice: words at their distances from a link, and what verdicts teach of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.checkpoint import pack_memory, unpack_memory
from focusspider.errors import SettingError
from focusspider.keytable import url_key
from focusspider.relevance.base import Judgement
from focusspider.strategies import build_strategy
from focusspider.strategies.apprentice import Apprentice, _feature
from tests.pages import page, profile

if TYPE_CHECKING:
    from focusspider.page import Page

HOST = "http://a.example"


def started(**params: Any) -> Apprentice:
    strategy = build_strategy("apprentice", params)
    assert isinstance(strategy, Apprentice)
    strategy.start(profile("tide"), np.random.default_rng(0))
    return strategy


def see(strategy: Apprentice, html: str, path: str, *, relevant: bool = False) -> Page:
    at = page(html, HOST + path)
    strategy.observe(at, Judgement(float(relevant), relevant, "test"))
    return at


def best(strategy: Apprentice, html: str) -> str:
    at = page(html, f"{HOST}/other")
    return at.links[int(np.argmax(strategy.score(at, None).priorities))].url.removeprefix(HOST)


def taught(**params: Any) -> Apprentice:
    """Return one that has seen that links after "harbour" lead to relevant pages."""
    strategy = started(**params)
    for n in range(3):
        see(
            strategy,
            f"<p>harbour <a href=/good{n}>read</a></p><p>forum <a href=/bad{n}>read</a></p>",
            f"/index{n}",
        )
        see(strategy, "<p>water</p>", f"/good{n}", relevant=True)
        see(strategy, "<p>talk</p>", f"/bad{n}")
    return strategy


def test_words_before_a_link_are_learnt() -> None:
    html = "<p>forum <a href=/x>more</a></p><p>harbour <a href=/y>more</a></p>"
    assert best(taught(), html) == "/y"


def test_a_word_counts_at_its_distance() -> None:
    """After the link, and not before it, the word was never seen to promise anything."""
    html = "<p><a href=/x>more</a> harbour</p><p>forum</p><p>harbour <a href=/y>more</a></p>"
    assert best(taught(distance=1), html) == "/y"


def test_with_distance_0_only_the_words_of_the_link_count() -> None:
    strategy = taught(distance=0)
    at = page("<p>harbour <a href=/x>read</a></p><p>forum <a href=/y>read</a></p>")
    scores = strategy.score(at, None)
    assert scores.priorities[0] == scores.priorities[1]


@pytest.mark.parametrize(("distance", "equal"), [(5, False), (4, True)])
def test_the_distance_bounds_what_is_seen(distance: int, equal: bool) -> None:
    html = "<p>{0}</p><p>1</p><p>2</p><p>3</p><p>4</p><p><a href=/{0}>go</a></p>"
    strategy = started(distance=distance)
    for word in ("harbour", "forum"):
        see(strategy, html.format(word), f"/from-{word}")
        see(strategy, "", f"/{word}", relevant=word == "harbour")
    scores = [
        int(strategy.score(page(html.format(word)), None).priorities[0])
        for word in ("harbour", "forum")
    ]
    assert (scores[0] == scores[1]) is equal
    assert scores[0] >= scores[1]


def test_features_are_pairs() -> None:
    features = {_feature(word, n) for word in ("harbour", "tide") for n in range(-5, 6)}
    assert len(features) == 22
    assert all(0 <= feature < 2**18 for feature in features)


def test_before_anything_is_judged_all_links_are_equal() -> None:
    strategy = started()
    at = see(strategy, "<p>harbour <a href=/x>x</a></p><p><a href=/y>y</a></p>", "/")
    assert len(set(strategy.score(at, None).priorities.tolist())) == 1
    assert strategy.rerank(waiting("/x", "/y")) is None


def waiting(*paths: str) -> Any:
    return SimpleNamespace(
        ids=np.arange(len(paths)),
        keys=np.array([url_key(HOST + path) for path in paths], dtype=np.uint64),
        priorities=np.zeros(len(paths), dtype=np.int64),
        leased=np.zeros(0, dtype=np.uint64),
    )


def order(strategy: Apprentice, *paths: str) -> list[str]:
    """Return what waits in the order of a rerank; what it leaves alone is not there."""
    work = strategy.rerank(waiting(*paths))
    assert callable(work)
    reranking = work()
    best_first = np.argsort(-reranking.priorities, kind="stable")
    return [paths[n] for n in reranking.ids[best_first]]


def test_what_waits_is_scored_anew_by_the_best_of_its_links() -> None:
    strategy = started()
    for path in ("/a", "/b"):
        see(strategy, f"<p>harbour <a href={path}1>x</a></p>", f"/harbour{path}")
        see(strategy, f"<p>forum <a href={path}2>x</a></p>", f"/forum{path}")
    see(strategy, "<p>forum <a href=/c1>x</a></p>", "/more")
    see(strategy, "<p>harbour <a href=/c1>x</a></p>", "/still-more")
    see(strategy, "", "/a1", relevant=True)
    see(strategy, "", "/a2")
    assert order(strategy, "/b2", "/unknown", "/c1", "/b1") == ["/c1", "/b1", "/b2"]


def test_a_redirect_teaches_what_its_link_promised() -> None:
    strategy = started()
    see(strategy, "<p>harbour <a href=/old>x</a></p>", "/")
    moved = page("", f"{HOST}/new")
    moved.moved_from = (f"{HOST}/old",)
    strategy.observe(moved, Judgement(1.0, True, "test"))
    assert strategy.rerank(waiting("/old")) is not None


def test_the_oldest_links_are_forgotten() -> None:
    strategy = started(max_links=1000)
    for n in range(6):
        links = "".join(f"<a href=/{n}-{k}>word{k}</a>" for k in range(300))
        see(strategy, links, f"/page{n}")
        see(strategy, "", f"/{n}-0", relevant=True)
    assert len(strategy._keys) <= 1000
    assert order(strategy, "/0-7", "/5-7") == ["/5-7"]


def test_what_was_learnt_survives_in_its_order() -> None:
    strategy = taught()
    again = started()
    again.recall(unpack_memory(pack_memory(strategy.memory())))
    html = "<p>forum <a href=/x>more</a></p><p>harbour <a href=/y>more</a></p>"
    for one in (strategy, again):
        see(one, html, "/late")
    assert order(strategy, "/x", "/y") == order(again, "/x", "/y") == ["/y", "/x"]


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"distance": -1}, "distance must be a whole number of at least 0, got -1"),
        ({"distance": 2.5}, "distance must be a whole number of at least 0, got 2.5"),
        ({"max_links": 10}, "max_links must be a whole number of at least 1000, got 10"),
        ({"rerank_every": 0}, "rerank_every must be a whole number of at least 1, got 0"),
    ],
)
def test_wrong_values_are_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError) as caught:
        build_strategy("apprentice", params, where="topic.toml: strategy")
    assert says in str(caught.value)
