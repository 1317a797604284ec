"""HITS against closed forms and the singular vectors of a dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from focusspider.models.hits import hits


def test_the_hub_of_a_star_is_its_centre() -> None:
    links = csr_array(np.array([[0.0, 1, 1, 1, 1]]))
    found = hits(links, start=np.array([0, 1.0, 1, 1, 1]))
    np.testing.assert_allclose(found.hubs, [1, 0, 0, 0, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.authorities, [0, 0.5, 0.5, 0.5, 0.5], rtol=0, atol=1e-12)


def test_the_first_iteration_counts_the_authorities_that_a_page_links_to() -> None:
    matrix = np.array([[0, 1.0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 1]])
    start = np.array([0, 1.0, 1, 0])
    counts = matrix @ start  # 2, 0, 0
    found = hits(csr_array(matrix), start=start, max_iter=1)
    np.testing.assert_allclose(found.hubs[:3], counts / np.linalg.norm(counts), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_in_the_end_hubs_are_the_first_singular_vector(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = (rng.random((12, 20)) < 0.3).astype(float)
    pages = rng.permutation(20)[:12]
    found = hits(csr_array(matrix), start=np.ones(20), pages=pages, max_iter=5000, tol=1e-14)
    left, _, right = np.linalg.svd(matrix)
    np.testing.assert_allclose(found.hubs[pages], np.abs(left[:, 0]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.authorities, np.abs(right[0]), rtol=0, atol=1e-6)
    assert found.hubs.sum() == pytest.approx(found.hubs[pages].sum())
    assert found.change < 1e-14


def test_without_authorities_nothing_weighs() -> None:
    found = hits(csr_array(np.array([[0, 1.0]])), start=np.zeros(2))
    assert found.hubs.tolist() == found.authorities.tolist() == [0, 0]


def test_a_graph_without_pages() -> None:
    found = hits(csr_array((0, 3)), start=np.array([1.0, 0, 0]))
    assert found.hubs.tolist() == [0, 0, 0]


def test_the_start_is_left_as_it_was() -> None:
    start = np.array([0.0, 2.0])
    hits(csr_array(np.array([[0, 1.0]])), start=start)
    assert start.tolist() == [0, 2]
