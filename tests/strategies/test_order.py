"""The order in which each strategy visits small sites where the right order is known."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.strategies import build_strategy
from tests.pages import page, profile

if TYPE_CHECKING:
    from focusspider.profile import TopicProfile

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
    age = {url: n for n, url in enumerate(seeds)}
    waiting = dict.fromkeys(seeds, (2**50, None))
    heap = [(-(2**50), age[url], url) for url in seeds]
    order = []
    while heap:
        priority, _, url = heapq.heappop(heap)
        if url not in waiting or waiting[url][0] != -priority:
            continue
        _, state = waiting.pop(url)
        order.append(url)
        if url not in site:
            continue
        at = page(site[url], url)
        found = strategy.score(at, state)
        for link, score in zip(at.links, found.priorities.tolist(), strict=True):
            if link.url in order or score <= waiting.get(link.url, (-1,))[0]:
                continue
            age.setdefault(link.url, len(age))
            waiting[link.url] = (score, found.state)
            heapq.heappush(heap, (-score, age[link.url], link.url))
    return order


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
