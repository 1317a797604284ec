"""xCrawl on the paper's example, and on small sites where it is known what must be fetched."""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.checkpoint import pack_memory, unpack_memory
from focusspider.errors import SettingError
from focusspider.frontier import Entry, Outcome
from focusspider.frontier.memory import MemoryFrontier
from focusspider.keytable import url_key
from focusspider.priority import FIRST, HELD, among_scores
from focusspider.relevance.base import Judgement
from focusspider.strategies import build_strategy
from focusspider.strategies.sitegraph import VARIANTS, SiteGraph
from focusspider.strategies.subtrees import beside
from focusspider.strategies.xcrawl import XCrawl
from focusspider.urls import host_of
from tests.frontier.model import always
from tests.pages import page, profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

HOST = "http://a.example"


def li(*paths: str) -> str:
    """Return a list of links."""
    return "<ul>" + "".join(f"<li><a href={path}>{path}</a>" for path in paths) + "</ul>"


class MemoryCrawl:
    """A crawl one page at a time, as the scheduler and the reranker do it."""

    def __init__(
        self,
        site: Mapping[str, str] | Callable[[str], str | None],
        seeds: Sequence[str],
        strategy: XCrawl,
        wanted: Callable[[str], bool],
    ) -> None:
        self.site = site if callable(site) else site.get
        self.strategy = strategy
        self.wanted = wanted
        self.frontier = MemoryFrontier()
        self.tried: list[str] = []
        self.push(seeds, FIRST)

    def push(self, urls: Sequence[str], priority: int) -> None:
        self.frontier.push(
            [
                Entry(sha1(url.encode()).digest(), host_of(url), priority, url.encode())
                for url in urls
            ]
        )

    def rerank(self) -> None:
        reranking = self.strategy.rerank(self.frontier.view)
        assert reranking is not None
        self.frontier.reprioritise(reranking.ids, among_scores(reranking.priorities))

    def raised(self) -> int:
        """How many requests that were held may be leased now."""
        priorities = self.frontier.view.priorities
        return int(((priorities != HELD) & (priorities < FIRST)).sum())

    def fetch(self) -> Iterator[str]:
        """Fetch a page after the other, and yield their paths."""
        while True:
            entries = self.frontier.lease(1, always())
            if not entries:
                self.rerank()  # as when nothing else is to be fetched
                entries = self.frontier.lease(1, always())
                if not entries:
                    return
            url = entries[0].payload.decode()
            self.tried.append(url)
            html = self.site(url.removeprefix(HOST))
            if html is not None:
                at = page(html, url)
                self.strategy.observe(at, Judgement(0.5, self.wanted(url), "test"))
                scores = self.strategy.score(at, None)
                assert (scores.priorities == HELD).all()
                self.push([link.url for link in at.links], HELD)
                self.rerank()
            outcome = Outcome.DROPPED if html is None else Outcome.DONE
            self.frontier.settle(entries[0].fingerprint, outcome)
            if html is not None:
                yield url.removeprefix(HOST)


def started(seed: int = 0, **params: Any) -> XCrawl:
    strategy = build_strategy("xcrawl", params)
    assert isinstance(strategy, XCrawl)
    strategy.start(profile("tide"), np.random.default_rng(seed))
    return strategy


def crawled(
    site: Mapping[str, str] | Callable[[str], str | None],
    *seeds: str,
    seed: int = 0,
    wanted: Callable[[str], bool] = lambda url: "/t" in url,
    **params: Any,
) -> list[str]:
    crawl = MemoryCrawl(site, [HOST + path for path in seeds], started(seed, **params), wanted)
    return list(crawl.fetch())


# -- the paper's example (figure 2) --------------------------------------------------------

K = 12
#: Nodes 1, 2 and 3 are authorities that a search has found; node 4 lists them and 7 to k.
FIGURE_2 = {
    1: [20, 4],
    2: [4, 21],
    3: [4],
    4: [1, 2, 3, *range(7, K + 1)],
    5: [22, 4, 23, 24],
}


def figure_2(variant: str, fetched: Sequence[int]) -> SiteGraph:
    graph = SiteGraph(variant=variant, c=0.85, min_authorities=2, hub_share=0.2, max_iter=50)
    for node in fetched:
        graph.add_page(node, FIGURE_2[node], accepted=node <= 3)
    return graph


@pytest.mark.parametrize("variant", VARIANTS)
class TestFigure2:
    def test_after_a_restart_node_4_is_the_hub(self, variant: str) -> None:
        graph = figure_2(variant, [1, 2, 3, 4])
        assert graph.find_hubs() == 1
        (hub,) = graph.hubs
        assert int(graph.links.keys[hub]) == 4
        assert graph.find_hubs() == 0, "nothing has changed"

    def test_at_node_5_the_link_to_node_4_is_the_best(self, variant: str) -> None:
        graph = figure_2(variant, [1, 2, 3, 4])
        graph.find_hubs()
        node = graph.add_page(5, FIGURE_2[5], accepted=False)
        onward = graph.onward(node)
        best = onward[np.argmax(graph.weights[onward])]
        assert int(graph.links.keys[best]) == 4
        others = graph.weights[onward[onward != best]]
        assert graph.weights[best] > 1.5 * others.max()

    def test_authorities_weigh_most_by_formula_1(self, variant: str) -> None:
        graph = figure_2(variant, [1, 2, 3])
        if variant == "hits":
            expected = [1.0 if key <= 3 else 1 / len(graph.links) for key in graph.links.keys]
            assert graph.weights.tolist() == pytest.approx(expected)
        rest = [n for n, key in enumerate(graph.links.keys) if key not in (1, 2, 3, 4)]
        assert graph.weights[rest].max() < graph.weights[list(graph.authorities)].min()


def test_before_a_hub_is_known_what_several_authorities_link_to_is_best() -> None:
    graph = figure_2("topic-sensitive", [1, 2, 3])
    unknown = [20, 4, 21]
    weights = dict(zip(unknown, graph.weights[graph.links.nodes(unknown)].tolist(), strict=True))
    assert max(weights, key=lambda key: weights[key]) == 4


def test_topic_sensitive_weights_are_those_of_a_dense_solve() -> None:
    graph = figure_2("topic-sensitive", [1, 2, 3])
    keys = graph.links.keys.tolist()
    n, c = len(keys), graph.c
    preferred = np.array([1.0 if key <= 3 else 1 / n for key in keys])
    preferred /= preferred.sum()
    steps = np.tile(preferred, (n, 1))
    for key in (1, 2, 3):
        row = np.isin(keys, FIGURE_2[key])
        steps[keys.index(key)] = row / row.sum()
    expected = np.linalg.solve(np.eye(n) - c * steps.T, (1 - c) * preferred)
    np.testing.assert_allclose(graph.weights, expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_walk_finds_what_the_hub_lists(seed: int) -> None:
    site = {
        f"/t{node}" if node != 4 and node < 5 else f"/{node}": li(
            *(f"/t{to}" if to != 4 and (to < 5 or 7 <= to <= K) else f"/{to}" for to in links)
        )
        for node, links in FIGURE_2.items()
    }
    site |= {f"/t{node}": "tide" for node in range(7, K + 1)}
    found = crawled(site, "/t1", "/t2", "/t3", "/5", seed=seed)
    assert {f"/t{node}" for node in range(7, K + 1)} <= set(found)


# -- sub-trees -----------------------------------------------------------------------------


def listed(html: str, *known: str) -> list[str]:
    """Return the paths of the links beside those to the known pages."""
    at = page(html)
    paths = [link.url.removeprefix(HOST) for link in at.links]
    nodes = np.array([paths.index(path) for path in paths], dtype=np.int32)
    nodes[[link.url.startswith("http://b.") for link in at.links]] = -1
    chosen = np.isin(paths, known) & (nodes >= 0)
    return [paths[link] for link in beside(at.outline, nodes, chosen)]


@pytest.mark.parametrize(
    ("html", "known", "expected"),
    [
        (li("/t1", "/t2") + "<p><a href=/x>x</a><a href=/y>y</a>", ["/t1"], ["/t1", "/t2"]),
        (li("/a", "/b") + "<nav><a href=/t1>t</a></nav>" + li("/c", "/d"), ["/a", "/d"],
         ["/a", "/b", "/c", "/d"]),
        ("<p><a href=/t1>1</a><a href=/t2>2</a></p><p><a href=/x>", ["/t1"], ["/t1", "/t2"]),
        ("<table><tr><td><a href=/t1>1</a><td>no<tr><td><a href=/t2>2</a></table><a href=/x>",
         ["/t2"], ["/t1", "/t2"]),
        ("<ul><li><a href=/t1>1</a> <a href=/t1>again</a><li><a href=/t2>2</a></ul>", ["/t1"],
         ["/t1", "/t1", "/t2"]),
        ("<ul><li><a href=/t1>1</a><a href=http://b.example/>b</a><li><a href=/t2>2</a></ul>",
         ["/t1"], ["/t1", "/t2"]),
        ("<div><a href=/t1>1</a></div>", ["/t1"], []),
        (li("/a", "/b"), [], []),
        ("", [], []),
    ],
    ids=["a list", "two lists", "a paragraph", "a table", "twice the same", "another site",
         "alone", "nothing known", "nothing at all"],
)  # fmt: skip
def test_what_stands_beside_an_authority(html: str, known: list[str], expected: list[str]) -> None:
    assert listed(html, *known) == expected


# -- whole sites ---------------------------------------------------------------------------

N = 30
#: Thirty targets in a list that their pages link back to, and a forum that never ends.
SITE = {
    "/": li("/list", "/forum0", "/about"),
    "/list": li("/", "/about") + li(*(f"/t{n}" for n in range(N))),
    "/about": li("/", "/list"),
    **{f"/t{n}": f"<p>tide <a href=/list>all</a></p>{li('/', '/about')}" for n in range(N)},
    **{f"/forum{n}": li("/", f"/forum{n + 1}", f"/forum{n + 2}") for n in range(400)},
}
TARGETS = {f"/t{n}" for n in range(N)}


@pytest.mark.parametrize("params", [{}, {"variant": "pagerank"}, {"variant": "hits"},
                                    {"early": True}, {"restart": 0.3}])  # fmt: skip
def test_every_target_is_found_and_the_rest_is_left(params: dict[str, Any]) -> None:
    found = crawled(SITE, "/t3", "/t5", **params)
    assert set(found) >= TARGETS
    assert len(found) == len(set(found)) < 200


def test_early_harvests_come_early() -> None:
    def last(found: list[str]) -> int:
        return max(map(found.index, TARGETS))

    assert last(crawled(SITE, "/t3", "/t5", early=True)) < 50
    assert last(crawled(SITE, "/t3", "/t5", early=True)) < last(crawled(SITE, "/t3", "/t5"))


def test_a_site_without_an_authority_is_walked_from_its_pages() -> None:
    assert set(crawled(SITE, "/")) >= TARGETS
    assert len(crawled(SITE, "/", wanted=lambda _: False)) < len(SITE)


@pytest.mark.parametrize("early", [False, True])
def test_without_a_stop_all_is_fetched(early: bool) -> None:
    assert set(crawled(SITE, "/t3", stop=False, early=early, max_iterations=5)) == set(SITE)


def test_the_same_seed_takes_the_same_way_and_another_does_not() -> None:
    assert crawled(SITE, "/t3", seed=1) == crawled(SITE, "/t3", seed=1)
    assert crawled(SITE, "/t3", seed=1) != crawled(SITE, "/t3", seed=2)


def test_a_trap_is_left() -> None:
    """A calendar whose pages link to the next ones for ever."""

    def site(path: str) -> str | None:
        if path.startswith("/day"):
            day = int(path[4:])
            return li(*(f"/day{day + n}" for n in range(1, 8)))
        return SITE.get(path, "").replace("/forum0", "/day0") or None

    found = crawled(site, "/t3", "/t5")
    assert set(found) >= TARGETS
    assert 0 < sum(path.startswith("/day") for path in found) < 150


def test_what_fails_is_passed_over() -> None:
    site = {path: html for path, html in SITE.items() if path not in {"/", "/about", "/t7"}}
    assert set(crawled(site, "/t3", "/t5")) >= TARGETS - {"/t7"}


def test_other_sites_are_left_alone_until_they_have_a_page() -> None:
    there = li("http://b.example/t1", "http://b.example/t2")
    site = {path: html + there for path, html in SITE.items()}
    crawl = MemoryCrawl(site, [f"{HOST}/t3"], started(), lambda url: "/t" in url)
    assert len(list(crawl.fetch())) > N
    assert {host_of(url) for url in crawl.tried} == {"a.example"}


def test_each_site_asks_for_one_page_at_a_time_while_it_walks() -> None:
    seeds = [f"{HOST}/t3", "http://b.example/t3"]

    def site(path: str) -> str | None:
        return SITE.get(path.removeprefix("http://b.example"))

    crawl = MemoryCrawl(site, seeds, started(), lambda url: "/t" in url)
    most, hosts = 0, []
    for number, path in enumerate(crawl.fetch()):
        hosts.append(path.startswith("http"))
        if number < 40:
            most = max(most, crawl.raised())
    assert 1 <= most <= 2
    assert hosts[:20].count(True) == 10, "they take turns"


def test_a_link_that_redirects_is_the_page_that_it_leads_to() -> None:
    strategy = started(max_iterations=1)
    seed = page(li("/old", "/x"), f"{HOST}/t1")
    strategy.observe(seed, Judgement(1.0, True, "test"))
    moved = page(li("/t1", "/t2"), f"{HOST}/new")
    moved.moved_from = (f"{HOST}/old",)
    strategy.observe(moved, Judgement(0.0, False, "test"))
    (site,) = strategy._sites.values()
    old, new = site.graph.links.nodes([url_key(f"{HOST}/{name}") for name in ("old", "new")])
    assert site.graph.onward(int(old)).tolist() == [new]


@pytest.mark.parametrize("pages", [1, 5, 20, 60])
def test_a_crawl_goes_on_as_it_was(pages: int) -> None:
    """What the strategy knows is written and read in the middle of a walk or a harvest."""
    params = {"max_iterations": 8, "early": True}
    whole = crawled(SITE, "/t3", "/t5", **params)
    crawl = MemoryCrawl(
        SITE, [f"{HOST}/t3", f"{HOST}/t5"], started(**params), lambda url: "/t" in url
    )
    found = []
    for path in crawl.fetch():
        found.append(path)
        if len(found) == pages:
            again = started(99, **params)
            again.recall(unpack_memory(pack_memory(crawl.strategy.memory())))
            crawl.strategy = again
    assert found == whole


def test_what_was_raised_and_lost_is_raised_again() -> None:
    """After a crash the priorities of a rerank may be lost, and what was leased waits again."""
    crawl = MemoryCrawl(SITE, [f"{HOST}/t3"], started(), lambda url: "/t" in url)
    fetching = crawl.fetch()
    for _ in range(5):
        next(fetching)
    view = crawl.frontier.view
    crawl.frontier.reprioritise(view.ids, np.full(len(view.ids), HELD))
    crawl.rerank()
    assert crawl.raised() == 1


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"restart": 0}, "restart must be above 0, or a walk never ends; got 0"),
        ({"restart": 1.5}, "restart must be a number from 0 to 1, got 1.5"),
        ({"c": 1}, "c must be below 1, or authorities make no difference; got 1"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1, got 0"),
        ({"variant": "HITS"}, "variant must be one of topic-sensitive, pagerank, hits, got 'HITS'"),
        ({"min_authorities": 0}, "min_authorities must be a whole number of at least 1, got 0"),
        ({"hub_share": -1}, "hub_share must be a number from 0 to 1, got -1"),
        ({"early": "yes"}, "early must be true or false, got 'yes'"),
        ({"stop": 1}, "stop must be true or false, got 1"),
    ],
)
def test_wrong_values_are_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError) as caught:
        build_strategy("xcrawl", params, where="topic.toml: strategy")
    assert says in str(caught.value)
