"""Back-link layers, grown from webs whose layers can be seen."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from focusspider.errors import WebGraphError
from focusspider.page import PageParser
from focusspider.text import Analyzer
from focusspider.webgraph import WebGraph
from focusspider.webgraph.backlinks import GraphBacklinks, copy_links
from focusspider.webgraph.layers import Failed, FetchedPage, add_links, grow
from tests.webgraph.test_distances import FIGURE_5

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


def url(node: object) -> str:
    return f"http://{node}.example/"


class Web:
    """Pages that link to each other, and what was asked of them."""

    def __init__(self, edges: Iterable[tuple[object, object]]) -> None:
        self.links: dict[str, list[str]] = {}
        self.sources: dict[str, list[str]] = {}
        for source, destination in edges:
            self.links.setdefault(url(source), []).append(url(destination))
            self.sources.setdefault(url(destination), []).append(url(source))
        self.failing: dict[str, str] = {}
        self.moved: dict[str, str] = {}
        self.asked: list[tuple[str, int]] = []
        self.fetched: list[list[str]] = []

    async def ask(self, page: str, n: int) -> Sequence[str]:
        self.asked.append((page, n))
        return self.sources.get(page, [])[:n]

    async def fetch(self, urls: Sequence[str]) -> Sequence[FetchedPage | Failed]:
        self.fetched.append(list(urls))
        return [self._page(page) for page in urls]

    def _page(self, page: str) -> FetchedPage | Failed:
        if page in self.failing:
            return Failed(self.failing[page])
        here = self.moved.get(page, page)
        links = "".join(f'<a href="{to}">to {to}</a>' for to in self.links.get(here, ()))
        return FetchedPage(here, f"<p>{links}".encode(), moved_from=(page,) if here != page else ())

    def grown(self, path: Path, *targets: object, **sizes: int):
        graph = WebGraph.create(path, topic="t", source="backlinks")
        reports = asyncio.run(
            grow(graph, [url(node) for node in targets], ask=self.ask, fetch=self.fetch, **sizes)
        )
        add_links(graph, PageParser(analyzer=Analyzer()))
        return graph, reports


def layers(graph: WebGraph) -> list[list[str]]:
    found: dict[int | None, list[str]] = {}
    for page in graph.pages():
        found.setdefault(page.layer, []).append(page.url.removeprefix("http://").split(".")[0])
    assert sorted(found) == list(range(len(found)))
    return [found[layer] for layer in sorted(found)]


def test_figure_5_of_the_paper(tmp_path: Path) -> None:
    """Layer by layer from node 0; node 7 comes as one that links to 3 and 4, and so on."""
    graph, reports = Web(FIGURE_5).grown(tmp_path / "graph", 0)
    # 0 ← 1, 2; 1 ← 3, 4, 8; 2 ← 4, 5; 3, 4 ← 7; 8 ← 9
    assert [sorted(layer) for layer in layers(graph)] == [
        ["0"],
        ["1", "2"],
        ["3", "4", "5", "8"],
        ["7", "9"],
    ]
    assert {(edge.source, edge.destination) for edge in graph.edges()} == {
        (url(source), url(destination)) for source, destination in FIGURE_5
    }
    # before 5 and 7 are marked: "the original layer number of node 7 is layer 3"
    distances = dict(zip(graph.arrays().urls, graph.distances(5), strict=True))
    assert distances[url(7)] == 3
    assert graph.targets() == (url(0),)
    assert [report.added for report in reports] == [1, 2, 4, 2, 0]
    assert not any(report.failed for report in reports)


@pytest.mark.parametrize(
    ("per_layer", "expected"),
    [
        (6, ["a0", "b0", "c0", "b1", "b2", "b3"]),  # a and c have one each; b has the rest
        (3, ["a0", "b0", "c0"]),
        (2, ["a0", "b0"]),
        (1, ["a0"]),
    ],
)
def test_a_layer_is_shared_out_evenly(tmp_path: Path, per_layer: int, expected: list[str]) -> None:
    edges = [("a0", "a"), *((f"b{n}", "b") for n in range(9)), ("c0", "c")]
    graph, (_, report) = Web(edges).grown(
        tmp_path / "graph", "a", "b", "c", layers=1, per_layer=per_layer
    )
    assert layers(graph)[1] == expected
    assert report.added == len(expected)


def test_each_page_is_asked_for_its_share(tmp_path: Path) -> None:
    web = Web([(f"{node}{n}", node) for node in "ab" for n in range(50)])
    graph, (_, report) = web.grown(tmp_path / "graph", "a", "b", layers=1, per_layer=20)
    assert web.asked == [(url("a"), 10), (url("b"), 10)]
    assert report.found == 20
    assert Counter(name[0] for name in layers(graph)[1]) == {"a": 10, "b": 10}


def test_who_may_have_more_is_asked_for_more_where_there_is_room(tmp_path: Path) -> None:
    web = Web([*((f"a{n}", "a") for n in range(50)), ("b0", "b"), ("a", "b"), ("c0", "c")])
    graph, _ = web.grown(tmp_path / "graph", "a", "b", "c", layers=1, per_layer=20)
    assert web.asked == [(url("a"), 6), (url("b"), 6), (url("c"), 6), (url("a"), 20)]
    assert Counter(name[0] for name in layers(graph)[1]) == {"a": 18, "b": 1, "c": 1}


def test_more_pages_than_there_is_room_for(tmp_path: Path) -> None:
    web = Web([(f"x{n}", f"t{n}") for n in range(3, 9)])
    targets = [f"t{n}" for n in range(9)]
    graph, _ = web.grown(tmp_path / "graph", *targets, layers=1, per_layer=2)
    assert layers(graph)[1] == ["x3", "x4"]
    assert web.asked == [(url(f"t{n}"), 1) for n in range(6)]  # two at a time


def test_links_among_the_known_bring_no_page_and_take_no_room(tmp_path: Path) -> None:
    web = Web([*((f"t{n}", "t0") for n in range(1, 5)), *((f"x{n}", "t0") for n in range(9))])
    targets = [f"t{n}" for n in range(5)]
    graph, _ = web.grown(tmp_path / "graph", *targets, layers=1, per_layer=8)
    # a share is 1, then 4, all of them targets; then 8, of which 4 are new
    assert [n for _, n in web.asked] == [1] * 5 + [4, 8]
    assert layers(graph)[1] == ["x0", "x1", "x2", "x3"]


def test_what_does_not_come_is_made_up_for(tmp_path: Path) -> None:
    web = Web([(f"{node}{n}", node) for node in "ab" for n in range(5)])
    web.failing = {url("a0"): "404", url("a1"): "404", url("b1"): "robots"}
    graph, (_, report) = web.grown(tmp_path / "graph", "a", "b", layers=1, per_layer=4)
    assert layers(graph)[1] == ["b0", "a2", "b2", "a3"]
    assert report.failed == Counter({"404": 2, "robots": 1})
    assert report.added == 4
    assert [len(batch) for batch in web.fetched] == [2, 4, 3]  # 2 of each, then all


def test_no_page_is_fetched_twice_or_asked_for_more_than_the_layer_needs(tmp_path: Path) -> None:
    web = Web(FIGURE_5)
    web.failing = {url(4): "404"}
    web.grown(tmp_path / "graph", 0)
    fetched = [page for batch in web.fetched for page in batch]
    assert len(fetched) == len(set(fetched))


def test_what_had_no_room_may_come_in_the_next_layer(tmp_path: Path) -> None:
    web = Web([("a", "t"), ("b", "t"), ("b", "a"), ("c", "a")])
    graph, _ = web.grown(tmp_path / "graph", "t", layers=2, per_layer=1)
    assert layers(graph) == [["t"], ["a"], ["b"]]


def test_redirects_are_one_page(tmp_path: Path) -> None:
    web = Web([("old", "t"), ("new", "t"), ("x", "new")])
    web.moved = {url("old"): url("new"), url("gone"): url("t")}
    graph, (_, report, *_) = web.grown(tmp_path / "graph", "t", "gone")
    assert layers(graph) == [["t"], ["new"], ["x"]]
    assert (report.found, report.added) == (2, 1)
    assert graph.resolved(url("old")) == (url("new"),)
    assert graph.resolved(url("gone")) == (url("t"),)


def test_a_page_that_links_to_nothing_known_stays_without_links(tmp_path: Path) -> None:
    web = Web([("a", "t")])
    web.sources[url("t")].append(url("stale"))
    graph, _ = web.grown(tmp_path / "graph", "t")
    assert layers(graph)[1] == ["a", "stale"]
    assert graph.n_edges == 1
    assert graph.distances(3).tolist() == [0, 1, 2]


def test_equal_webs_give_equal_graphs(tmp_path: Path) -> None:
    one, _ = Web(FIGURE_5).grown(tmp_path / "1", 0)
    other, _ = Web(FIGURE_5).grown(tmp_path / "2", 0)
    assert one.fingerprint() == other.fingerprint()
    assert list(one.pages()) == list(other.pages())
    assert list(one.edges()) == list(other.edges())


def test_no_target_comes(tmp_path: Path) -> None:
    web = Web([])
    web.failing = {url("a"): "dns", url("b"): "404", url("c"): "404"}
    with pytest.raises(WebGraphError, match=r"none of the 3 targets came \(2 × 404, 1 × dns\)"):
        web.grown(tmp_path / "graph", "a", "b", "c")


@pytest.mark.parametrize("sizes", [{"layers": 0}, {"per_layer": 0}])
def test_wrong_sizes(tmp_path: Path, sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="both are 1 or more"):
        Web([]).grown(tmp_path / "graph", "a", **sizes)


def test_from_a_graph_that_is_whole(tmp_path: Path) -> None:
    """The same layers and links come of a whole graph as of asking and fetching."""
    grown, _ = Web(FIGURE_5).grown(tmp_path / "grown", 0)
    with WebGraph.create(tmp_path / "whole", topic="t", source="archive") as whole:
        for node in sorted({node for edge in FIGURE_5 for node in edge}):
            page = Web(FIGURE_5)._page(url(node))
            assert isinstance(page, FetchedPage)
            whole.add_page(page.url, page.body, title=f"page {node}")
        add_links(whole, PageParser(analyzer=Analyzer()))
        whole.add_alias(f"{url(1)}old", url(1))
        source = GraphBacklinks(whole)
        assert source.backlinks(url(4), 9) == [url(3), url(7), url(8)]
        assert source.backlinks(url(4), 2) == [url(3), url(7)]
        assert source.backlinks(f"{url(1)}old", 9) == [url(3), url(4), url(8)]
        assert source.backlinks(url("unknown"), 9) == []
        assert source.pages([url("unknown")]) == [Failed("not stored")]

        async def ask(page: str, n: int) -> Sequence[str]:
            return source.backlinks(page, n)

        async def fetch(urls: Sequence[str]) -> Sequence[FetchedPage | Failed]:
            return source.pages(urls)

        with WebGraph.create(tmp_path / "graph", topic="t", source="archive") as graph:
            asyncio.run(grow(graph, [url(0)], ask=ask, fetch=fetch))
            copy_links(whole, graph)
            assert [sorted(layer) for layer in layers(graph)] == [
                sorted(layer) for layer in layers(grown)
            ]
            assert set(graph.edges()) == set(grown.edges())
            assert graph.page(url(4)).title == "page 4"
            assert list(graph.aliases()) == [(f"{url(1)}old", url(1))]
