from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusspider.linkgraph import LinkGraph

# Few keys, so that pages meet; the largest and the smallest that there are among them.
keys = st.sampled_from([0, 1, 2, 3, 5, 8, 2**63, 2**64 - 2, 2**64 - 1])
crawls = st.lists(st.tuples(keys, st.lists(keys, max_size=12)), max_size=12)


class Reference:
    """The same as a dict of sets: the links of each fetched page."""

    def __init__(self) -> None:
        self.links: dict[int, set[int]] = {}
        self.nodes: dict[int, None] = {}

    def add_page(self, key: int, link_keys: list[int]) -> bool:
        if key in self.links:
            return False
        self.links[key] = set(link_keys) - {key}
        self.nodes |= dict.fromkeys([key, *link_keys])
        return True

    def in_degree(self, key: int) -> int:
        return sum(key in links for links in self.links.values())


def dense(graph: LinkGraph) -> np.ndarray:
    """Return the matrix of all nodes, from the rows of the fetched ones."""
    matrix = np.zeros((len(graph), len(graph)))
    matrix[graph.fetched] = graph.csr().toarray()
    return matrix


def check(graph: LinkGraph, reference: Reference) -> None:
    nodes = list(reference.nodes)
    assert graph.keys.tolist() == nodes
    assert len(graph) == len(nodes)
    assert graph.n_fetched == len(reference.links)
    assert graph.n_links == sum(map(len, reference.links.values()))
    assert [nodes[node] for node in graph.fetched] == list(reference.links)
    rows = {key: row for row, key in enumerate(reference.links)}
    assert graph.rows.tolist() == [rows.get(key, -1) for key in nodes]
    degrees = [reference.in_degree(key) for key in nodes]
    assert graph.in_degree.tolist() == degrees
    assert graph.in_degrees(np.array(nodes, dtype=np.uint64)).tolist() == degrees
    expected = [[float(b in reference.links.get(a, ())) for b in nodes] for a in nodes]
    np.testing.assert_array_equal(dense(graph), np.reshape(expected, (len(nodes), len(nodes))))


@given(crawls)
def test_it_is_a_dict_of_sets(crawl: list[tuple[int, list[int]]]) -> None:
    graph, reference = LinkGraph(), Reference()
    for key, link_keys in crawl:
        assert graph.add_page(key, link_keys) is reference.add_page(key, link_keys)
        graph.csr()  # at any time
    check(graph, reference)


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_it_is_a_dict_of_sets_when_arrays_have_grown(random: object) -> None:
    graph, reference = LinkGraph(), Reference()
    for _ in range(60):
        key = random.randrange(500)
        link_keys = [random.randrange(500) for _ in range(random.randrange(20))]
        graph.add_page(key, link_keys)
        reference.add_page(key, link_keys)
    check(graph, reference)


def test_links_may_come_as_an_array() -> None:
    graph = LinkGraph()
    graph.add_page(2**64 - 1, np.array([3, 2**63, 3], dtype=np.uint64))
    assert graph.keys.tolist() == [2**64 - 1, 3, 2**63]
    assert graph.n_links == 2


def test_a_page_that_comes_again_keeps_its_first_links() -> None:
    graph = LinkGraph()
    assert graph.add_page(1, [2])
    assert not graph.add_page(1, [3])
    assert graph.keys.tolist() == [1, 2]
    assert graph.in_degrees([2, 3]).tolist() == [1, 0]


def test_a_page_without_links_is_fetched() -> None:
    graph = LinkGraph()
    graph.add_page(1, [])
    graph.add_page(2, [1])
    assert graph.fetched.tolist() == [0, 1]
    np.testing.assert_array_equal(graph.csr().toarray(), [[0, 0], [1, 0]])


def test_the_nodes_of_keys() -> None:
    graph = LinkGraph()
    graph.add_page(10, [30, 20])
    assert graph.nodes([20, 99, 10]).tolist() == [2, -1, 0]
    assert graph.nodes([]).tolist() == []
    assert graph.in_degrees([]).tolist() == []


def test_an_empty_graph() -> None:
    graph = LinkGraph()
    assert (len(graph), graph.n_fetched, graph.n_links) == (0, 0, 0)
    assert graph.csr().shape == (0, 0)


def test_the_matrix_is_as_scipy_wants_it() -> None:
    graph = LinkGraph()
    graph.add_page(1, [5, 4, 3, 2, 5])
    graph.add_page(3, [9, 1])
    matrix = graph.csr()
    matrix.check_format(full_check=True)
    assert matrix.dtype == np.float32
    rebuilt = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert rebuilt.has_canonical_format  # looked at here, promised there
    assert matrix.has_canonical_format


def test_the_matrix_is_made_once_and_copies_no_links() -> None:
    graph = LinkGraph()
    for page in range(100):
        graph.add_page(page, range(page + 1, page + 20))
    first = graph.csr()
    assert graph.csr() is first
    graph.add_page(1000, [1001])
    second = graph.csr()
    assert second is not first
    assert np.shares_memory(first.indices, second.indices)
    assert np.shares_memory(first.data, second.data)


def test_a_matrix_stays_what_it_was_while_the_graph_grows() -> None:
    graph = LinkGraph()
    graph.add_page(0, [1, 2])
    matrix, before = graph.csr(), graph.csr().toarray()
    for page in range(3, 500):
        graph.add_page(page, range(page - 3, page))
    np.testing.assert_array_equal(matrix.toarray(), before)


@pytest.mark.parametrize("name", ["keys", "in_degree", "fetched", "rows"])
def test_views_cannot_be_written(name: str) -> None:
    graph = LinkGraph()
    graph.add_page(1, [2])
    with pytest.raises(ValueError, match="read-only"):
        getattr(graph, name)[0] = 1


def test_memory_is_within_the_budget() -> None:
    # 200 MB for a million nodes and ten million links, here for a fiftieth of both; what
    # the matrix adds is included, and so are the moments in which an array grows.
    pages, links, nodes = 10_000, 20, 20_000
    rng = np.random.default_rng(0)
    web = rng.integers(0, nodes, (pages, links)).astype(np.uint64)
    graph = LinkGraph()
    graph.add_page(nodes, [])
    graph.csr()  # imports scipy before the count begins
    tracemalloc.start()
    try:
        for page in range(pages):
            graph.add_page(page, web[page])
        graph.csr()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert graph.n_links > 0.99 * pages * links
    assert peak <= 200e6 / 50


def among(
    reference: Reference, waiting: list[int], moved: dict[int, int], first: int = 0
) -> list[list[float]]:
    """Return the links between fetched pages, and to what waits, redirects followed."""
    pages = list(reference.links)[first:]
    rows = []
    for page in pages:
        links = {moved.get(key, key) for key in reference.links[page]} - {page}
        rows.append([float(column in links) for column in [*pages, *waiting]])
    return rows


@given(crawls, st.lists(keys, unique=True), st.lists(keys, max_size=3), st.integers(0, 3))
def test_links_among_pages_and_what_waits(
    crawl: list[tuple[int, list[int]]], waiting: list[int], moving: list[int], first: int
) -> None:
    graph, reference = LinkGraph(), Reference()
    for key, link_keys in crawl:
        graph.add_page(key, link_keys)
        reference.add_page(key, link_keys)
    waiting = [key for key in waiting if key not in reference.links]
    moved: dict[int, int] = {}
    if reference.links:
        page = next(reversed(reference.links))
        for key in moving:
            graph.add_redirect(key, page)
            if key not in waiting and key not in reference.links:
                moved[key] = page
    snapshot = graph.snapshot()
    graph.add_page(77, [1, 2, 3, 78])  # which is not in the snapshot
    first = min(first, len(reference.links))
    found = snapshot.links_among(np.array(waiting, dtype=np.uint64), first=first)
    expected = among(reference, waiting, moved, first)
    shape = (len(reference.links) - first, len(reference.links) - first + len(waiting))
    assert found.matrix.shape == shape
    found.matrix.check_format(full_check=True)
    np.testing.assert_array_equal(found.matrix.toarray(), np.reshape(expected, shape))
    nodes = list(dict.fromkeys([*reference.nodes, *(moving if reference.links else [])]))
    columns = [*list(reference.links)[first:], *waiting]
    assert found.nodes.tolist() == [nodes.index(k) if k in nodes else -1 for k in columns]


def test_links_to_a_url_that_redirects_are_links_to_where_it_leads() -> None:
    graph = LinkGraph()
    graph.add_page(1, [10, 2])  # 10 will redirect to 3
    graph.add_page(3, [1, 10])
    graph.add_redirect(10, 3)
    graph.add_page(2, [10, 3])  # both are one page now
    matrix, nodes = graph.snapshot().links_among(np.array([], dtype=np.uint64))
    assert matrix.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 0]]
    assert graph.keys[nodes].tolist() == [1, 3, 2]


def test_a_redirect_leads_to_a_fetched_page() -> None:
    graph = LinkGraph()
    graph.add_page(1, [2])
    with pytest.raises(ValueError, match="the page 2 that 9 redirects to is not fetched"):
        graph.add_redirect(9, 2)


@given(crawls)
def test_in_degrees_of_a_snapshot(crawl: list[tuple[int, list[int]]]) -> None:
    graph, reference = LinkGraph(), Reference()
    for key, link_keys in crawl:
        graph.add_page(key, link_keys)
        reference.add_page(key, link_keys)
    snapshot = graph.snapshot()
    asked = [*range(10), 2**64 - 1]
    expected = [reference.in_degree(key) for key in asked]
    graph.add_page(77, asked)
    found = snapshot.in_degrees(np.array(asked, dtype=np.uint64))
    assert found.tolist() == expected


@given(crawls, crawls)
def test_it_goes_on_from_its_arrays(
    crawl: list[tuple[int, list[int]]], later: list[tuple[int, list[int]]]
) -> None:
    graph, reference = LinkGraph(), Reference()
    for key, link_keys in crawl:
        graph.add_page(key, link_keys)
        reference.add_page(key, link_keys)
    if crawl:
        graph.add_redirect(55, crawl[0][0])
        reference.nodes[55] = None
    again = LinkGraph.of({name: array.copy() for name, array in graph.arrays().items()})
    for key, link_keys in later:
        assert again.add_page(key, link_keys) is reference.add_page(key, link_keys)
    check(again, reference)
    assert len(again.snapshot().moved_from) == len(graph.snapshot().moved_from)
