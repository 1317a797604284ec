"""The order in which each strategy visits small sites where the right order is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.keytable import url_key
from focusspider.relevance.base import Judgement
from focusspider.strategies import build_strategy
from tests.pages import page, profile

if TYPE_CHECKING:
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import Strategy

#: The seed links to a page about tea, then to one about robots; each links to two more.
SITE = {
    "/": "<p>Welcome. <a href='/tea'>Tea</a></p><p>For robot fans: <a href='/arms'>here</a></p>",
    "/tea": "<ul><li><a href='/green'>Green</a></li><li><a href='/black'>Black</a></li></ul>",
    "/arms": "<p>Robot arms.</p><p><a href='/grip'>Robot grips</a> <a href='/lift'>Lifts</a></p>",
    "/green": "<p>Leaves.</p>",
    "/black": "<p>More leaves.</p>",
    "/grip": "<p>Grippers of robots.</p>",
    "/lift": "<p>Lifting.</p>",
}


def visits(
    name: str, site: dict[str, str], topic: TopicProfile, seeds: list[str], **params: Any
) -> list[str]:
    """Crawl a site one page at a time: by priority, then by age. A better link raises."""
    strategy = build_strategy(name, params)
    strategy.start(topic, np.random.default_rng(0))
    every = getattr(strategy, "rerank_every", 0)
    age = {url: n for n, url in enumerate(seeds)}
    waiting: dict[str, tuple[int, Any]] = dict.fromkeys(seeds, (2**50, None))
    order: list[str] = []
    fetched = 0
    while waiting:
        url = min(waiting, key=lambda url: (-waiting[url][0], age[url]))
        _, state = waiting.pop(url)
        order.append(url)
        if url not in site:
            continue
        at = page(site[url], url)
        strategy.observe(at, Judgement(0.5, True, "test"))
        found = strategy.score(at, state)
        for link, score in zip(at.links, found.priorities.tolist(), strict=True):
            if link.url not in order and score > waiting.get(link.url, (-1,))[0]:
                age.setdefault(link.url, len(age))
                waiting[link.url] = (score, found.state)
        fetched += 1
        if every and not fetched % every:
            reranked(strategy, waiting, age)
    return order


def reranked(strategy: Strategy, waiting: dict[str, tuple[int, Any]], age: dict[str, int]) -> None:
    """Give what waits its new priorities."""
    urls = {age[url]: url for url in waiting}
    view = SimpleNamespace(
        ids=np.array(list(urls), dtype=np.int64),
        keys=np.array([url_key(url) for url in urls.values()], dtype=np.uint64),
        priorities=np.array([priority for priority, _ in waiting.values()], dtype=np.int64),
    )
    reranking: Any = strategy.rerank(view)
    if callable(reranking):
        reranking = reranking()
    if reranking is not None:
        for number, priority in zip(*map(np.ndarray.tolist, reranking), strict=True):
            waiting[urls[number]] = (priority, waiting[urls[number]][1])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("breadth-first", "/ /tea /arms /green /black /grip /lift"),
        # Both links of the seed are worth the seed: the older first. Tea is worth nothing.
        ("best-first", "/ /tea /arms /grip /lift /green /black"),
        # The text beside the link to /arms is on topic, that beside the link to /tea is not.
        ("dom", "/ /arms /grip /lift /tea /green /black"),
        ("hub-seeking", "/ /arms /grip /lift /tea /green /black"),
        # /tea has inherited from the seed, and what it passes on is half of that.
        ("shark-search", "/ /arms /grip /lift /tea /green /black"),
        # Before the first rerank, at 50 pages, these take links in their order.
        ("backlink", "/ /tea /arms /green /black /grip /lift"),
        ("pagerank", "/ /tea /arms /green /black /grip /lift"),
        ("hcla", "/ /tea /arms /green /black /grip /lift"),
        ("plsi-phits", "/ /tea /arms /green /black /grip /lift"),
    ],
)
def test_order_on_a_site(name: str, expected: str) -> None:
    host = "http://a.example"
    site = {host + path: html for path, html in SITE.items()}
    order = visits(name, site, profile("robot"), [f"{host}/"])
    assert [url.removeprefix(host) for url in order] == expected.split()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("dom", "a b list shop d"), ("hub-seeking", "a b list d shop")],
)
def test_hub_seeking_follows_a_hub_that_says_nothing_of_the_topic(name: str, expected: str) -> None:
    # dom gives /shop 1/4 · 2/√14 + 3/4 · 1/√10 = 0.37 and the links of the list 0. The list
    # points to both seed hosts, so hub-seeking gives its third link 0.4.
    seeds = ["http://a/", "http://b/"]
    site = {
        "http://a/": "<p>Robot <a href='http://list/'>list</a></p><p>Robot <a href='http://shop/'>"
        "shop</a> selling tables, chairs, lamps, rugs, beds, desks, sofas</p>",
        "http://list/": "<a href='http://a/'>A</a> <a href='http://b/'>B</a> "
        "<a href='http://d/'>D</a>",
    }
    order = visits(name, site, profile("robot", seeds=seeds), seeds)
    assert [url[7:-1] for url in order] == expected.split()


def links(*names: str) -> str:
    return "".join(f"<a href='/{name}'>{name}</a> " for name in names)


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("breadth-first", {}, " a b c d e"),
        # After / and a, two pages link to c, one to b and one to d.
        ("backlink", {"rerank_every": 1}, " a c b d e"),
        # After / and a, c is linked to by one of each. Nothing changes before three pages.
        ("backlink", {"rerank_every": 3}, " a b c d e"),
    ],
)
def test_what_more_pages_link_to_comes_first(
    name: str, params: dict[str, Any], expected: str
) -> None:
    host = "http://a.example/"
    site = {"": links("a", "b", "c"), "a": links("c", "d"), "b": links("e", "d"), "c": ""}
    site = {host + path: html for path, html in site.items()}
    order = visits(name, site, profile("robot"), [host], **params)
    assert [url.removeprefix(host) for url in order] == expected.split(" ")


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("breadth-first", {}, " a b c"),
        # b has half of what / passes on, c all that a does: with x the rank of what nobody
        # links to, x + 0.8 x / 2 = 1.4 x against x + 0.8 · 1.4 x = 2.12 x.
        ("pagerank", {"rerank_every": 1}, " a c b"),
        # With d = 0.4, 1.2 x against 1.48 x; with d = 0 all are equal, and b is older.
        ("pagerank", {"rerank_every": 1, "d": 0.4}, " a c b"),
        ("pagerank", {"rerank_every": 1, "d": 0.0}, " a b c"),
        # Both have one backlink.
        ("backlink", {"rerank_every": 1}, " a b c"),
    ],
)
def test_what_is_linked_to_alone_comes_first(
    name: str, params: dict[str, Any], expected: str
) -> None:
    host = "http://a.example/"
    site = {host: links("a", "b"), f"{host}a": links("c")}
    order = visits(name, site, profile("robot"), [host], **params)
    assert [url.removeprefix(host) for url in order] == expected.split(" ")


@pytest.mark.parametrize("name", ["hcla", "plsi-phits"])
def test_what_is_listed_with_good_pages_comes_first(name: str) -> None:
    # Two lists, of which neither says what it is of. The seed links to the first three of
    # each too, so after nine pages it is known what those say, and that is enough.
    host = "http://a.example/"
    teas, robots = [f"one{n}" for n in range(6)], [f"two{n}" for n in range(6)]
    site = {"": links("one", "two", *teas[:3], *robots[:3])}
    site |= {"one": links(*teas), "two": links(*robots)}
    site |= dict.fromkeys(teas, "Leaves of tea are brewed in a pot.")
    site |= dict.fromkeys(robots, "Robot arms weld, grip and lift.")
    site = {host + path: f"<p>{html}</p>" for path, html in site.items()}
    order = visits(name, site, profile("robot arms"), [host], rerank_every=9, k=3)
    names = [url.removeprefix(host) for url in order]
    assert names == ["", "one", "two", *teas[:3], *robots[:3], *robots[3:], *teas[3:]]
    assert visits("breadth-first", site, profile("robot"), [host])[9:12] == [
        host + name for name in teas[3:]
    ]
