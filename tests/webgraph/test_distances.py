"""Hop distances, on graphs whose distances can be seen."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from focusspider.webgraph import WebGraph
from focusspider.webgraph.distances import hop_distances

if TYPE_CHECKING:
    from pathlib import Path

#: memm-crf figure 5, as far as the paper's text gives its edges; node 6 has none there.
FIGURE_5 = [
    (1, 0), (2, 0), (3, 1), (3, 4), (4, 1), (4, 2), (4, 7), (5, 2), (0, 5), (7, 3), (7, 4),
    (8, 4), (8, 1), (8, 5), (9, 7), (9, 8),
]  # fmt: skip
TARGETS = [0, 5, 7]


def distances(edges, targets, n_nodes: int, n_states: int) -> list[int]:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    flags = np.isin(np.arange(n_nodes), targets)
    return hop_distances(ends[:, 0], ends[:, 1], flags, n_states=n_states).tolist()


def test_figure_5_of_the_paper() -> None:
    found = dict(enumerate(distances(FIGURE_5, TARGETS, 10, 5)))
    del found[6]
    assert found == {0: 0, 1: 1, 2: 1, 3: 2, 4: 1, 5: 0, 7: 0, 8: 1, 9: 1}


def test_figure_5_before_the_extra_targets() -> None:
    found = distances(FIGURE_5, [0], 10, 5)
    # 9 → 7 → 4 → 1 → 0 and 9 → 8 → 1 → 0: the shorter counts
    assert [found[node] for node in (0, 1, 2, 3, 4, 5, 7, 8, 9)] == [0, 1, 1, 2, 2, 2, 3, 2, 3]


@pytest.mark.parametrize(
    ("edges", "targets", "n_states", "expected"),
    [
        ([], [], 5, [4, 4, 4, 4]),  # without targets all are far away
        ([], [0, 1, 2, 3], 2, [0, 0, 0, 0]),
        ([(0, 1), (1, 2), (2, 3)], [3], 5, [3, 2, 1, 0]),
        ([(0, 1), (1, 2), (2, 3)], [3], 3, [2, 2, 1, 0]),  # 2 is "2 or more"
        ([(0, 1), (1, 2), (2, 3)], [3], 2, [1, 1, 1, 0]),
        ([(0, 1), (1, 2), (2, 3)], [0], 5, [0, 4, 4, 4]),  # links lead one way
        ([(0, 1), (1, 2), (2, 0), (2, 3)], [3], 5, [3, 2, 1, 0]),  # a cycle
        ([(0, 1), (1, 0), (2, 2)], [3], 4, [3, 3, 3, 0]),
        ([(0, 3), (0, 1), (1, 2), (2, 3)], [3], 5, [1, 2, 1, 0]),  # the shortest path counts
        ([(0, 3), (0, 3)], [3], 5, [1, 4, 4, 0]),
    ],
)
def test_small_graphs(edges, targets, n_states: int, expected: list[int]) -> None:
    assert distances(edges, targets, 4, n_states) == expected


def test_against_the_powers_of_the_matrix() -> None:
    generator = np.random.default_rng(3)
    for _ in range(50):
        n = int(generator.integers(1, 30))
        matrix = generator.random((n, n)) < 0.08
        targets = generator.random(n) < 0.1
        n_states = int(generator.integers(2, 7))
        sources, destinations = np.nonzero(matrix)
        expected = np.full(n, n_states - 1)
        for hops in range(n_states - 2, -1, -1):  # a walk of so many links ends at a target
            walks = np.linalg.matrix_power(matrix.astype(float), hops) @ targets
            expected[walks > 0] = hops
        found = hop_distances(sources, destinations, targets, n_states=n_states)
        assert found.tolist() == expected.tolist()


def test_of_a_stored_graph(tmp_path: Path) -> None:
    urls = [f"http://{node}.example/" for node in range(10)]
    with WebGraph.create(tmp_path / "graph", topic="figure 5", source="session") as graph:
        for node, url in enumerate(urls):
            graph.add_page(url, "", target=node == 0)
        for source, destination in FIGURE_5:
            graph.add_edge(urls[source], urls[destination])
        graph.mark_target(urls[5], extra=True)
        graph.mark_target(urls[7], extra=True)
        assert graph.distances(5).tolist() == [0, 1, 1, 2, 1, 0, 4, 0, 1, 1]
        # a path of the paper, and its states: 9 → 7 → 3 → 4 → 2 → 0
        path = [9, 7, 3, 4, 2, 0]
        assert set(pairwise(path)) <= set(FIGURE_5)
        assert graph.distances(5)[path].tolist() == [1, 0, 2, 1, 1, 0]


@pytest.mark.parametrize("n_states", [1, 0, -1])
def test_too_few_states(n_states: int) -> None:
    with pytest.raises(ValueError, match=f"n_states is {n_states}"):
        distances([], [], 1, n_states)
