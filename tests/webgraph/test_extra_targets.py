"""Extra targets, by cosines that are known beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from focusspider.errors import WebGraphError
from focusspider.page import PageParser
from focusspider.text import Analyzer, Terms
from focusspider.webgraph import WebGraph
from focusspider.webgraph.extra_targets import mark_extra_targets

if TYPE_CHECKING:
    from pathlib import Path

ANALYZER = Analyzer()
PARSER = PageParser(analyzer=ANALYZER)

#: Page → text. With "mill mill mill oak oak oak oak" = (3, 4): cosines 1, 0.96, 0.8, 0.6, 0.
TEXTS = {
    "target": "mill mill mill oak oak oak oak",
    "same": "oak oak oak oak mill mill mill",
    "near": "mill mill mill mill oak oak oak",  # 24 / 25
    "at": "oak",  # exactly 4 / 5
    "below": "mill",  # 3 / 5
    "other": "harbour tide",
    "empty": "",
}


@pytest.fixture
def graph(tmp_path: Path):
    with WebGraph.create(tmp_path / "graph", topic="t", source="session") as made:
        for name, text in TEXTS.items():
            made.add_page(f"http://{name}.example/", f"<p>{text}</p>", target=name == "target")
        yield made


def names(urls) -> list[str]:
    return [url.split("/")[2].removesuffix(".example") for url in urls]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (0.8, ["same", "near", "at"]),
        (0.81, ["same", "near"]),
        (0.97, ["same"]),
        (1.0, ["same"]),
        (0.6, ["same", "near", "at", "below"]),
        (0.01, ["same", "near", "at", "below"]),
    ],
)
def test_the_threshold(graph: WebGraph, threshold: float, expected: list[str]) -> None:
    assert names(mark_extra_targets(graph, PARSER, threshold=threshold)) == expected
    assert names(graph.targets()) == ["target", *expected]
    assert [page.extra for page in graph.pages() if page.target] == [False] + [True] * len(expected)


def test_the_default_is_the_papers(graph: WebGraph) -> None:
    assert names(mark_extra_targets(graph, PARSER)) == ["same", "near", "at"]


def test_extra_targets_find_no_further_ones(graph: WebGraph) -> None:
    """A chain: "below" is like "near" (4 / 5), and "near" like the target; one step counts."""
    mark_extra_targets(graph, PARSER, threshold=0.9)
    assert names(graph.targets()) == ["target", "same", "near"]
    mark_extra_targets(graph, PARSER, threshold=0.79)
    assert "below" not in names(graph.targets())


def test_distances_change_with_them(graph: WebGraph) -> None:
    graph.add_edge("http://other.example/", "http://at.example/")
    graph.add_edge("http://at.example/", "http://target.example/")
    order = list(TEXTS).index
    assert graph.distances(5)[[order("other"), order("at")]].tolist() == [2, 1]
    mark_extra_targets(graph, PARSER)
    assert graph.distances(5)[[order("other"), order("at")]].tolist() == [1, 0]


def test_targets_that_are_no_pages(graph: WebGraph) -> None:
    found = mark_extra_targets(graph, PARSER, examples=[ANALYZER.terms("tide harbour"), Terms()])
    assert names(found) == ["same", "near", "at", "other"]


def test_without_targets(tmp_path: Path) -> None:
    with WebGraph.create(tmp_path / "none", topic="t", source="session") as graph:
        assert mark_extra_targets(graph, PARSER) == []
        graph.add_page("http://a.example/", "<p>mill")
        assert mark_extra_targets(graph, PARSER) == []


def test_many_pages(tmp_path: Path) -> None:
    with WebGraph.create(tmp_path / "many", topic="t", source="session") as graph:
        with graph.transaction():
            for n in range(1_203):
                text = "mill oak" if n % 100 == 2 else f"w{n} harbour"
                graph.add_page(f"http://a.example/{n}", f"<p>{text}", target=n == 2)
        found = mark_extra_targets(graph, PARSER)
        assert found == [f"http://a.example/{n}" for n in range(102, 1_203, 100)]


@pytest.mark.parametrize("threshold", [0.0, -0.1, 1.01, float("nan")])
def test_a_threshold_that_can_be_none(graph: WebGraph, threshold: float) -> None:
    with pytest.raises(WebGraphError, match="a cosine above 0"):
        mark_extra_targets(graph, PARSER, threshold=threshold)
