"""Auto: what it learns on a small site, what it remembers, what it forgets."""

from __future__ import annotations

import logging
from math import exp
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from focusspider.checkpoint import pack_memory, unpack_memory
from focusspider.errors import SettingError
from focusspider.keytable import url_key
from focusspider.relevance.base import Judgement
from focusspider.strategies import build_strategy
from focusspider.strategies.auto import Auto
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.text import Terms
from tests.pages import page, profile

SITE = "http://a.example"


def started(**params: Any) -> Auto:
    strategy = build_strategy("auto", params)
    assert isinstance(strategy, Auto)
    strategy.start(profile("robot"), np.random.default_rng(0))
    return strategy


def crawl(strategy: Auto, n: int = 40, *, relevant: bool = True) -> None:
    """Fetch an index, then by turns a good page of /x and a bad one of /y: words say nothing."""
    links = "".join(f"<p><a href='/{'xy'[i % 2]}/{i}'>item</a></p>" for i in range(2 * n))
    strategy.observe(page(links, f"{SITE}/"), Judgement(0.0, False, "test"))
    for i in range(n):
        at = page("<p>item</p>", f"{SITE}/{'xy'[i % 2]}/{i}")
        good = relevant and i % 2 == 0
        strategy.observe(at, Judgement(float(good), good, "test"))


def waiting(n: int = 40) -> Any:
    urls = [f"{SITE}/{'xy'[i % 2]}/{i}" for i in range(n, 2 * n)]
    keys = np.array([url_key(url) for url in urls], dtype=np.uint64)
    return SimpleNamespace(ids=np.arange(n), keys=keys, priorities=np.zeros(n, dtype=np.int64))


def order(strategy: Auto, n: int = 40) -> np.ndarray:
    work = strategy.rerank(waiting(n))
    assert work is not None
    return work().priorities


def test_it_learns_which_directory_pays() -> None:
    strategy = started()
    crawl(strategy)
    priorities = order(strategy)
    assert priorities[::2].min() > priorities[1::2].max()
    at = page("<a href='/y/900'>item</a> <a href='/x/901'>item</a>", f"{SITE}/z")
    strategy.observe(at, Judgement(0.0, False, "test"))
    scores = strategy.score(at, None)
    assert scores.priorities[1] > scores.priorities[0]
    assert scores.parts["urls"][1] > scores.parts["urls"][0]


def test_it_begins_as_hub_seeking() -> None:
    seeds = [f"http://{name}.example/" for name in "abc"]
    topic = profile("robot", seeds=seeds)
    strategies = [build_strategy(name, {}) for name in ("auto", "hub-seeking")]
    for strategy in strategies:
        strategy.start(topic, np.random.default_rng(0))
    for i in range(4):
        links = "".join(f"<p><a href='{seed}'>tea</a> robot</p>" for seed in seeds[: i % 4])
        at = page(f"{links}<p>robots <a href='/{i}'>robot arms</a></p>", f"http://d.example/{i}")
        for strategy in strategies:
            strategy.observe(at, Judgement(float(i % 2), i % 2 == 1, "test"))
        one, other = (strategy.score(at, None) for strategy in strategies)
        assert np.array_equal(one.priorities, other.priorities)
        assert strategies[0].rerank(waiting()) is None


def hubs(strategy: Auto) -> tuple[np.ndarray, np.ndarray]:
    """Crawl pages of /hub, each the first to link to a good page, and of /end, which lead to
    a bad one; and return the priorities of those that wait."""
    n = 40
    links = "".join(f"<p><a href='/{('hub', 'end')[i % 2]}/{i}'>a</a></p>" for i in range(2 * n))
    strategy.observe(page(links, f"{SITE}/"), Judgement(0.0, False, "test"))
    for i in range(n):
        kind, leaf = (("hub", "good"), ("end", "bad"))[i % 2]
        at = page(f"<p><a href='/{leaf}/{i}'>b</a></p>", f"{SITE}/{kind}/{i}")
        strategy.observe(at, Judgement(0.0, False, "test"))
        if i % 8 < 2:  # targets are rare, as credit is for
            good = leaf == "good"
            strategy.observe(page("", f"{SITE}/{leaf}/{i}"), Judgement(float(good), good, "test"))
    priorities = reranked(strategy, [f"/{('hub', 'end')[i % 2]}/{i}" for i in range(n, 2 * n)])
    return priorities[::2], priorities[1::2]


def reranked(strategy: Auto, paths: list[str]) -> np.ndarray:
    urls = [path if "://" in path else f"{SITE}{path}" for path in paths]
    keys = np.array([url_key(url) for url in urls], dtype=np.uint64)
    work = strategy.rerank(SimpleNamespace(ids=np.arange(len(paths)), keys=keys))
    assert work is not None
    return work().priorities


def test_pages_that_open_good_ones_earn() -> None:
    of_hubs, of_ends = hubs(started(explore=0.0))  # probes come before what has earned
    assert of_hubs.min() > of_ends.max()
    without_credit, _ = hubs(started(explore=0.0, credit=0.0))
    assert of_hubs.min() > without_credit.max()


def twice(strategy: Auto) -> list[int]:
    """Crawl :func:`hubs`, fetch a part of what waits, and return the priorities of the rest."""
    hubs(strategy)
    leaves = [f"/{('good', 'bad')[i % 2]}/{i}" for i in range(40) if i % 8 >= 2]
    reranked(strategy, leaves)
    for i in range(40, 60):
        kind, leaf = (("hub", "good"), ("end", "bad"))[i % 2]
        at = page(f"<p><a href='/{leaf}/{i}'>b</a></p>", f"{SITE}/{kind}/{i}")
        strategy.observe(at, Judgement(0.0, False, "test"))
    return reranked(strategy, leaves).tolist()


@pytest.mark.parametrize(
    "params",
    [
        {"credit": 0.5},
        {"hope": 0.0},
        {"doubt": 50.0},
        {"l2": 20.0},
        {"votes": 9.0},
        {"prior": 9.0},
        {"without": ["urls"]},
        {"refit_growth": 5.0},
        {"chance": 3.0},
    ],
    ids=str,
)
def test_each_parameter_tells(params: dict[str, Any]) -> None:
    assert twice(started(**params)) != twice(started())


def test_the_same_crawl_is_learnt_the_same() -> None:
    one, other = started(), started()
    for strategy in (one, other):
        crawl(strategy)
    assert np.array_equal(order(one), order(other))
    a, b = one.memory(), other.memory()
    assert a.keys() == b.keys()
    for name, array in a.items():
        assert np.array_equal(array, b[name]), name


def test_what_it_learnt_after_a_rerank_survives() -> None:
    strategy, again = started(), started()
    crawl(strategy)
    order(strategy)
    more = page("<a href='/x/901'>a</a> <a href='/y/902'>b</a>", f"{SITE}/z")
    strategy.observe(more, Judgement(0.0, False, "test"))
    again.recall(unpack_memory(pack_memory(strategy.memory())))
    assert np.array_equal(strategy.score(more, None).priorities, again.score(more, None).priorities)
    assert np.array_equal(order(strategy), order(again))


def test_it_says_once_in_a_while_that_nothing_was_found(caplog: Any) -> None:
    strategy = started()
    with caplog.at_level(logging.INFO, logger="focusspider"):
        crawl(strategy, 120, relevant=False)
        strategy.rerank(waiting())
        strategy.rerank(waiting())
    assert [record.message.partition(".")[0] for record in caplog.records] == [
        "No page of the first 121 is relevant"
    ]


def test_it_leaves_what_leads_nowhere_before_it_has_found_anything() -> None:
    # probes come before all others
    strategy, again = started(explore=0.0), started(explore=0.0)
    links = "".join(f"<p><a href='/{'xy'[i % 2]}/{i}'>item</a></p>" for i in range(20))
    strategy.observe(page(links, f"{SITE}/"), Judgement(0.0, False, "test"))
    for i in range(0, 10, 2):
        at = page("<p><a href='/z/1'>item</a></p>", f"{SITE}/x/{i}")
        strategy.observe(at, Judgement(0.0, False, "test"))
    dull, fresh = reranked(strategy, ["/x/10", "/y/11"])
    assert fresh > dull
    parts = strategy.score(at, None).parts
    assert parts.keys() == {"record", "prior", "trust"}
    assert parts["record"] < 0
    assert not parts["trust"].any()
    assert strategy.lessons() is None
    again.recall(unpack_memory(pack_memory(strategy.memory())))
    assert np.array_equal(strategy.score(at, None).priorities, again.score(at, None).priorities)
    # And the first that is found is learnt from at once.
    for each in (strategy, again):
        each.observe(page("", f"{SITE}/y/1"), Judgement(1.0, True, "test"))
        dull, fresh = reranked(each, ["/x/10", "/y/11"])
        assert fresh > dull
        assert each.lessons() is not None


def test_the_pages_fetched_first_are_forgotten() -> None:
    evidence = LinkEvidence(Terms(), max_links=1000)
    for i in range(30):
        links = "".join(f"<a href='/{i}/{j}'>{i} {j}</a>" for j in range(100))
        at = page(links, f"{SITE}/{i - 1}/0" if i else SITE)
        evidence.add_page(at, relevance=0.0, relevant=False, hub=0.0)
        assert len(evidence) <= 1000
    seen = evidence.snapshot()
    assert evidence.forgotten + seen.n_rows == 30
    assert evidence.row_of(url_key(f"{SITE}/28/0")) == seen.n_rows - 1
    assert evidence.row_of(url_key(SITE)) == -1
    assert set(seen.node_row[seen.row_node]) == set(range(seen.n_rows))
    assert seen.row_parent.tolist() == [-1, *range(seen.n_rows - 1)]
    assert seen.row_end[-1] == len(evidence)
    assert len(seen.text_words) == seen.text_end[-1]
    assert len(seen.node_words) == seen.node_end[-1]


def test_pages_without_links_are_forgotten_too() -> None:
    evidence = LinkEvidence(Terms(), max_links=1000)
    for i in range(2500):
        leaf = page("", f"{SITE}/{i}")
        evidence.add_page(leaf, relevance=0.0, relevant=False, hub=0.0)
        assert evidence.n_rows <= 1000
    seen = evidence.snapshot()
    assert evidence.forgotten + seen.n_rows == 2500
    assert seen.n_nodes == seen.n_rows
    assert evidence.row_of(url_key(f"{SITE}/2499")) == seen.n_rows - 1


def test_a_page_of_more_links_than_are_kept() -> None:
    strategy = started(max_links=1000)
    crawl(strategy)
    order(strategy)
    at = page("".join(f"<a href='/{i}'>robot</a>" for i in range(3000)), f"{SITE}/many")
    strategy.observe(at, Judgement(0.0, False, "test"))
    assert len(strategy.score(at, None).priorities) == 3000
    crawl(strategy)
    order(strategy)


def test_a_forgetful_crawl_goes_on() -> None:
    strategy = started(max_links=1000)
    for turn in range(3):
        links = "".join(f"<p><a href='/x/{turn}/{i}'>i</a></p>" for i in range(600))
        strategy.observe(page(links, f"{SITE}/{turn}"), Judgement(0.0, False, "test"))
        crawl(strategy)
        assert len(order(strategy)) == 40
    memory = strategy.memory()
    assert memory["seen/forgotten"] > 0
    assert len(memory["seen/link_node"]) <= 1000


def test_what_was_learnt_of_forgotten_pages_is_not_used() -> None:
    # The work of a rerank ends only after pages were forgotten: its numbers are of other pages.
    late, never = (started(max_links=1000, explore=0.0) for _ in range(2))
    more = [
        page("".join(f"<a href='/{t}/{i}'>i</a>" for i in range(300)), f"{SITE}/more/{t}")
        for t in range(4)
    ]
    for strategy in (late, never):
        crawl(strategy)
        work = strategy.rerank(waiting())
        assert work is not None
        for at in more:
            strategy.observe(at, Judgement(0.0, False, "test"))
        if strategy is late:
            work()
    scores = [strategy.score(more[-1], None) for strategy in (late, never)]
    assert scores[0].parts.keys() == scores[1].parts.keys()
    # Both say the same; late on the scale of the reranking, by which the other links wait now.
    assert set(scores[1].priorities.tolist()) == {0}
    mean = float(late.memory()["mean"])
    prior = mean / (1 - mean) * exp(12 * (0 - 0.1))
    assert scores[0].priorities / 2**50 == pytest.approx(prior / (1 + prior), rel=1e-9)
    resumed = started(max_links=1000)
    resumed.recall(unpack_memory(pack_memory(late.memory())))
    assert np.array_equal(resumed.score(more[-1], None).priorities, scores[0].priorities)
    assert late.memory().keys() == never.memory().keys()
    for strategy in (late, never):
        crawl(strategy)
    assert np.array_equal(order(late), order(never))


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"without": ["word"]}, "without must be one of groups, urls, words"),
        ({"without": "words"}, "without must be a list of texts"),
        ({"credit": 2}, "credit must be a number from 0 to 1, got 2"),
        ({"steady": -1}, "steady must be a number from 0 to 1, got -1"),
        ({"models": ["crfs"]}, "models must be one of context-graph, hmm, memm, crf, got 'crfs'"),
        ({"models": 7}, "models must be a list of texts, got 7"),
        ({"models": ["crf"]}, "models names 'crf', and there is no crf.npz; train it with"),
        ({"doubt": 0}, "doubt must be a number from 0.01 to 1e.06, got 0"),
        ({"votes": 1e300}, "votes must be a number from 0 to 100, got 1e.300"),
        ({"max_links": 10}, "max_links must be a whole number of at least 1000, got 10"),
        (
            {"without": ["groups", "urls", "words", "text", "pages", "in-links", "position"]},
            "without names every family",
        ),
    ],
)
def test_a_wrong_parameter_is_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        build_strategy("auto", params)
