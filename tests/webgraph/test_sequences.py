"""Sequences: each rule of the paper, on its figure 5 and on random graphs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from focusspider.webgraph.distances import hop_distances
from focusspider.webgraph.sequences import Sequences, hop_states, sample_paths, sample_sequences

#: Figure 5 of Liu and Milios (2010), as far as their text gives its edges.
EDGES = [
    (1, 0), (2, 0), (3, 1), (3, 4), (4, 1), (4, 2), (4, 7), (5, 2), (0, 5), (7, 3), (7, 4),
    (8, 4), (8, 1), (8, 5), (9, 7), (9, 8),
]  # fmt: skip
SRC, DST = np.array(EDGES).T
#: In figure 5(d), before 5 and 7 are marked; 8 was found as a page that links to 4 or 5.
LAYERS = [0, 1, 1, 2, 2, 2, 3, 3, 3, 4]
TARGETS = np.isin(np.arange(10), [0, 5, 7])
STATES = hop_distances(SRC, DST, TARGETS, n_states=5)


def sample(n: int = 1_000, seed: int = 0, **given: Any) -> Sequences:
    given = {"n_pages": 10, "src": SRC, "dst": DST, "layers": LAYERS, **given}
    return sample_sequences(n, random_state=np.random.default_rng(seed), **given)


def paths(sequences: Sequences) -> list[tuple[int, ...]]:
    return [tuple(pages.tolist()) for pages in sequences]


def enumerated(
    edges: set[tuple[int, int]], n_pages: int, least: int, most: int
) -> set[tuple[int, ...]]:
    return {
        path
        for length in range(least, most + 1)
        for path in itertools.permutations(range(n_pages), length)
        if all(edge in edges for edge in itertools.pairwise(path))
    }


def random_graph(seed: int, n_pages: int, n_links: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "n_pages": n_pages,
        "src": rng.integers(n_pages, size=n_links),
        "dst": rng.integers(n_pages, size=n_links),
        "layers": rng.integers(-1, 4, size=n_pages),
    }


def test_states_of_figure_5_are_those_of_the_text() -> None:
    assert_array_equal(STATES[[0, 1, 2, 3, 4, 5, 7, 8, 9]], [0, 1, 1, 2, 1, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ((9, 7, 3, 4, 1, 0), True),
        ((9, 8, 4, 7, 3, 1, 0), False),  # 4→7 goes up
        ((9, 7, 4, 1, 0), True),
        ((9, 7, 4, 7, 4, 1), False),  # a loop
        ((9, 7, 3, 4, 2, 0), True),
        ((9, 8), True),
        ((1, 0), True),
        ((9, 8, 4, 1), True),
        ((9, 8, 4, 2), True),
        ((0, 5), False),  # goes up
    ],
)
def test_paths_of_figure_5(path: tuple[int, ...], allowed: bool) -> None:
    assert (path in paths(sample())) == allowed


def test_the_states_of_a_sequence_are_those_after_extra_targets() -> None:
    found = sample()
    states = np.split(found.states(STATES, 5), np.cumsum(found.lengths)[:-1])
    of = {path: tuple(s.tolist()) for path, s in zip(paths(found), states, strict=True)}
    assert of[9, 7, 4, 1, 0] == (1, 0, 1, 1, 0)
    assert of[9, 7, 3, 4, 2, 0] == (1, 0, 2, 1, 1, 0)


def test_all_sequences_of_figure_5_are_found_and_counted() -> None:
    down = {(a, b) for a, b in EDGES if LAYERS[a] >= LAYERS[b]}
    expected = enumerated(down, 10, 2, 7)  # the longest has 6 pages
    found = sample()
    assert set(paths(found)) == expected
    assert (found.possible, found.exact, len(found)) == (len(expected), True, len(expected))


@pytest.mark.parametrize("only_down", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_rules_on_random_graphs(seed: int, only_down: bool) -> None:
    graph = random_graph(seed, 7, 22)
    layers = np.where(graph["layers"] < 0, 99, graph["layers"])
    edges = set(zip(graph["src"].tolist(), graph["dst"].tolist(), strict=True))
    edges = {(a, b) for a, b in edges if a != b and (not only_down or layers[a] >= layers[b])}
    expected = enumerated(edges, 7, 2, 5)
    every = sample(10**6, seed, **graph, only_down=only_down, max_length=5)
    assert set(paths(every)) == expected
    assert every.possible == len(every) == len(expected)
    some = sample(5, seed, **graph, only_down=only_down, max_length=5)
    assert len(some) == min(5, len(expected))
    assert set(paths(some)) <= expected


def big() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        "n_pages": 400,
        "src": rng.integers(400, size=8_000),
        "dst": rng.integers(400, size=8_000),
        "layers": np.zeros(400, dtype=int),
    }


def test_lengths_are_drawn_evenly_from_2_to_10() -> None:
    found = sample(9_000, **big())
    assert len(found) == 9_000
    assert not found.exact
    counts = np.bincount(found.lengths, minlength=11)
    assert counts[:2].tolist() == [0, 0]
    assert (np.abs(counts[2:] - 1_000) < 5 * np.sqrt(1_000)).all()


def test_starts_and_children_are_drawn_evenly() -> None:
    star = {
        "n_pages": 40_003,
        "src": [0, 0, 0, *range(3, 40_003)],
        "dst": [1, 2, 3, *([0] * 40_000)],
        "layers": [1, 1, 1, *([2] * 40_000)],
    }
    found = sample(3_000, **{**star, "layers": [1, 1, 1, *([1] * 40_000)]}, min_length=3,
                   max_length=3)  # fmt: skip
    last = np.array([path[-1] for path in paths(found)])
    counts = np.bincount(last, minlength=4)[1:4]
    assert (np.abs(counts - 1_000) < 5 * np.sqrt(1_000)).all()


def test_no_sequence_twice_and_no_page_twice() -> None:
    found = paths(sample(9_000, **big()))
    assert len(set(found)) == len(found)
    assert all(len(set(path)) == len(path) for path in found)


def test_the_same_seed_gives_the_same_sequences() -> None:
    assert paths(sample(500, 7, **big())) == paths(sample(500, 7, **big()))
    assert paths(sample(500, 7, **big())) != paths(sample(500, 8, **big()))


def test_a_dead_end_ends_a_sequence() -> None:
    chain = {"n_pages": 3, "src": [2, 1], "dst": [1, 0], "layers": [0, 1, 2]}
    assert sorted(paths(sample(9, **chain))) == [(1, 0), (2, 1), (2, 1, 0)]


def test_a_page_that_leads_to_no_target_is_above_all_layers() -> None:
    graph = {"n_pages": 4, "src": [0, 1, 2], "dst": [1, 2, 3], "layers": [-1, -1, 7, -1]}
    assert sorted(paths(sample(9, **graph))) == [(0, 1), (0, 1, 2), (1, 2)]


def test_nothing_to_sample() -> None:
    empty = sample(5, n_pages=0, src=[], dst=[], layers=[])
    assert (len(empty), empty.possible, empty.exact, list(empty)) == (0, 0, True, [])
    assert empty.states([], 5).shape == (0,)
    assert len(sample(5, n_pages=2, src=[0], dst=[0], layers=[0, 1])) == 0


def session(n: int = 1_000, **given: Any) -> Sequences:
    return sample_paths(
        n,
        n_pages=10,
        src=SRC,
        dst=DST,
        distances=STATES,
        random_state=np.random.default_rng(0),
        **given,
    )


def test_paths_of_a_session_end_at_their_first_target() -> None:
    edges = {(a, b) for a, b in EDGES if STATES[a] >= STATES[b] and STATES[a] > 0}
    expected = {p for p in enumerated(edges, 10, 2, 6) if STATES[p[-1]] == 0}
    found = session()
    assert set(paths(found)) == expected
    assert found.possible == len(expected)
    assert (3, 4, 2, 0) in expected
    assert set(paths(session(3))) < expected
    assert {len(path) for path in paths(session(max_length=3))} == {2, 3}


def test_a_session_of_many_paths_is_sampled() -> None:
    graph = big()
    distances = np.minimum(np.arange(400), 1)
    found = sample_paths(
        200,
        n_pages=400,
        src=graph["src"],
        dst=graph["dst"],
        distances=distances,
        random_state=np.random.default_rng(0),
        max_length=10,
    )
    assert not found.exact
    assert 0 < len(found) <= 200
    assert {path[-1] for path in paths(found)} == {0}
    assert all(0 not in path[:-1] for path in paths(found))


def test_hop_states_are_bounded() -> None:
    assert_array_equal(hop_states([0, 3, 4, 5, -1], 4), [0, 3, 3, 3, 3])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"layers": [0]}, "each of the 10 pages needs one layer"),
        ({"src": [1]}, "src and dst must be of one length"),
        ({"src": [10], "dst": [0]}, "links must be among the pages 0 to 9"),
        ({"src": [-1], "dst": [0]}, "links must be among the pages 0 to 9"),
        ({"min_length": 1}, "min_length must be a whole number of at least 2, got 1"),
        ({"max_length": 1}, "max_length must be a whole number of at least 2, got 1"),
        ({"n": 0}, "n must be a whole number of at least 1, got 0"),
    ],
)
def test_what_cannot_be_sampled(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample(**given)
