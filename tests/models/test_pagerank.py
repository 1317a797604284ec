"""PageRank against closed forms, and against a dense solve of its equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from focusspider.models.pagerank import pagerank

D = 0.8


def ranks(links: np.ndarray, **parameters: object) -> np.ndarray:
    given = {"d": D, "max_iter": 500, "tol": 1e-15, **parameters}
    return pagerank(csr_array(links.astype(np.float32)), **given).scores


def solved(links: np.ndarray, d: float = D) -> np.ndarray:
    """Solve x = (1 - d) / n + d Pᵀx, where a row of P is uniform if the page has no links."""
    n_pages, n = links.shape
    square = np.zeros((n, n))
    square[:n_pages] = links
    degrees = square.sum(axis=1, keepdims=True)
    steps = np.where(degrees > 0, square / np.maximum(degrees, 1), 1 / n)
    return np.linalg.solve(np.eye(n) - d * steps.T, np.full(n, (1 - d) / n))


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_a_cycle_is_uniform(n: int) -> None:
    assert_allclose(ranks(np.roll(np.eye(n), 1, axis=1)), np.full(n, 1 / n), rtol=1e-12)


def test_nothing_known_is_uniform() -> None:
    assert_allclose(ranks(np.zeros((0, 4))), np.full(4, 1 / 4), rtol=1e-12)


@pytest.mark.parametrize("leaves", [1, 3, 8])
def test_a_star_whose_leaves_link_to_the_centre_and_back(leaves: int) -> None:
    # With c and l the ranks of the centre and of a leaf, c + m l = 1 and
    # c = (1 - d)/n + d m l; so c = ((1 - d)/n + d) / (1 + d).
    n = leaves + 1
    star = np.zeros((n, n))
    star[0, 1:] = star[1:, 0] = 1
    centre = ((1 - D) / n + D) / (1 + D)
    assert_allclose(ranks(star), [centre] + [(1 - centre) / leaves] * leaves, rtol=1e-12)


def test_links_to_what_waits_by_hand() -> None:
    # Page 0 links to the waiting nodes 1 and 2, page 1 (of no links) is not fetched either.
    # x0 = b, x1 = x2 = b + d x0 / 2, b = (1 - d + d (x1 + x2)) / 3, so x0 = 1 / (3 + d).
    found = ranks(np.array([[0, 1, 1]]))
    assert_allclose(found, [1 / (3 + D), (1 + D / 2) / (3 + D), (1 + D / 2) / (3 + D)], rtol=1e-12)


matrices = st.integers(1, 7).flatmap(
    lambda n: st.integers(0, n).flatmap(
        lambda pages: st.lists(
            st.lists(st.booleans(), min_size=n, max_size=n), min_size=pages, max_size=pages
        ).map(lambda rows: np.array(rows, dtype=float).reshape(pages, n))
    )
)


@given(matrices, st.sampled_from([0.0, 0.5, 0.8, 0.95]))
def test_it_solves_its_equations(links: np.ndarray, d: float) -> None:
    found = ranks(links, d=d, max_iter=2000)
    assert_allclose(found, solved(links, d), rtol=0, atol=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-12)


@given(matrices)
def test_the_change_bounds_the_error(links: np.ndarray) -> None:
    for iterations in (1, 3, 10):
        found = pagerank(csr_array(links), d=D, max_iter=iterations, tol=0.0)
        error = np.abs(found.scores - solved(links)).sum()
        assert error <= D / (1 - D) * found.change + 1e-12


def test_a_warm_start_is_nearer_after_one_iteration() -> None:
    rng = np.random.default_rng(0)
    links = (rng.random((40, 60)) < 0.1).astype(float)
    links[np.arange(40), np.arange(40)] = 0
    exact = solved(links)
    grown = links.copy()
    grown[0, 59] = 1
    cold = pagerank(csr_array(grown), max_iter=1)
    warm = pagerank(csr_array(grown), max_iter=1, start=7 * exact)
    truth = solved(grown)
    assert np.abs(warm.scores - truth).sum() < np.abs(cold.scores - truth).sum() / 20


def test_it_stops_when_it_changes_little() -> None:
    cycle = csr_array(np.roll(np.eye(3), 1, axis=1))
    assert pagerank(cycle, max_iter=1).change == pytest.approx(0, abs=1e-15)
    uneven = csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    assert pagerank(uneven, max_iter=1000, tol=1e-3).change < 1e-3
    assert pagerank(uneven, max_iter=2, tol=1e-3).change > 1e-3


def test_no_nodes() -> None:
    assert pagerank(csr_array((0, 0))).scores.shape == (0,)


def test_inputs_are_left_as_they_were() -> None:
    links, start = csr_array(np.array([[0, 1.0], [1, 0]])), np.array([3.0, 1])
    pagerank(links, start=start)
    assert start.tolist() == [3, 1]
    assert links.toarray().tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("seed", range(4))
def test_a_preference_is_where_the_surfer_jumps_to(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_pages = 9, 5
    pages = rng.permutation(n)[:n_pages]
    links = (rng.random((n_pages, n)) < 0.3).astype(float)
    wanted = rng.random(n)
    preferred = wanted / wanted.sum()
    # x = (1 - d) p + d Sᵀx, where a row of S is p if the page has no links
    steps = np.tile(preferred, (n, 1))
    for page, row in zip(pages, links, strict=True):
        if row.any():
            steps[page] = row / row.sum()
    expected = np.linalg.solve(np.eye(n) - D * steps.T, (1 - D) * preferred)
    assert_allclose(ranks(links, pages=pages, preference=wanted), expected, rtol=1e-10)
    even = ranks(links, pages=pages, preference=np.full(n, 7.0))
    assert_allclose(even, ranks(links, pages=pages), rtol=1e-10)
