"""The truncated decomposition and its update against numpy's decomposition of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_array, hstack

from focusspider.models.lsi_update import (
    LatentSpace,
    column_cosines,
    truncated_svd,
    unit_columns,
    update_svd,
)


def matrix(rows: int, columns: int, *, density: float = 0.1, seed: int = 0) -> csc_array:
    rng = np.random.default_rng(seed)
    return csc_array(rng.random((rows, columns)) * (rng.random((rows, columns)) < density))


def svd(of: csc_array, k: int, seed: int = 0) -> LatentSpace:
    return truncated_svd(of, k, random_state=np.random.default_rng(seed))


def whole(of: np.ndarray, k: int) -> LatentSpace:
    u, s, _ = np.linalg.svd(of)
    return LatentSpace(u[:, :k], s[:k])


def assert_same(found: LatentSpace, expected: LatentSpace) -> None:
    """The same singular values, and the same space: singular vectors have no sign."""
    assert_allclose(found.s, expected.s, rtol=1e-9)
    assert_allclose(found.u @ found.u.T, expected.u @ expected.u.T, rtol=0, atol=1e-8)
    assert_allclose(found.u.T @ found.u, np.eye(len(found.s)), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "k"),
    [((60, 40), 5), ((40, 60), 5), ((300, 200), 7), ((200, 300), 7), ((30, 20), 20), ((9, 5), 50)],
)
def test_the_largest_singular_values(shape: tuple[int, int], k: int) -> None:
    of = matrix(*shape)
    assert_same(svd(of, k), whole(of.toarray(), min(k, np.linalg.matrix_rank(of.toarray()))))


@pytest.mark.parametrize("rank", [1, 3, 10, 18, 19, 20, 21, 30])
def test_a_matrix_of_small_rank(rank: int) -> None:
    # Lanczos vectors are 2k + 1 = 21 here; about as many and fewer dimensions are a trap.
    rng = np.random.default_rng(rank)
    left = (rng.random((150, rank)) < 0.2) * rng.random((150, rank))
    of = left @ ((rng.random((rank, 120)) < 0.2) * rng.random((rank, 120)))
    found = svd(csc_array(of), 10)
    assert_same(found, whole(of, min(10, np.linalg.matrix_rank(of))))


@pytest.mark.parametrize("shape", [(5, 4), (200, 100), (7, 0)])
def test_a_matrix_of_zeros(shape: tuple[int, int]) -> None:
    found = svd(csc_array(shape), 3)
    assert found.u.shape == (shape[0], 0)
    assert found.s.shape == (0,)


def test_the_same_seed_gives_the_same() -> None:
    of = matrix(300, 200)
    assert np.array_equal(svd(of, 7, seed=1).u, svd(of, 7, seed=1).u)


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_an_update_that_loses_nothing_is_the_decomposition_of_the_whole(batch: int) -> None:
    a, d = matrix(30, 12, seed=1), matrix(30, 11, seed=2)
    together = hstack([a, d]).toarray()
    found = update_svd(svd(a, 30), d, 30, batch=batch)
    assert_same(found, whole(together, np.linalg.matrix_rank(together)))


def test_an_update_at_once_is_exact_for_what_was_kept() -> None:
    # The best approximation of (A_k | D), whatever A lost on the way to A_k.
    a, d, k = matrix(80, 60, seed=1), matrix(80, 50, seed=2), 6
    kept = svd(a, k)
    a_k = kept.u @ kept.u.T @ a.toarray()
    assert_same(update_svd(kept, d, k), whole(np.hstack([a_k, d.toarray()]), k))


def test_the_update_is_the_truncated_decomposition_of_the_whole() -> None:
    # What hcla does with svd="truncated", and with svd="update": (U S | D) has the same
    # left side as (A_k | D).
    a, d, k = matrix(120, 90, seed=3), matrix(120, 70, seed=4), 8
    kept = svd(a, k)
    together = csc_array(hstack([csc_array(kept.u * kept.s), d]))
    assert_same(update_svd(kept, d, k), svd(together, k))


def test_in_batches_it_is_near() -> None:
    rng = np.random.default_rng(0)
    topics = rng.random((100, 5)) ** 4  # five directions, and a little of everything
    of = csc_array(topics @ rng.random((5, 300)) + 0.01 * rng.random((100, 300)))
    exact, found = svd(of, 5), update_svd(LatentSpace.empty(100), of, 5, batch=20)
    assert_allclose(found.s, exact.s, rtol=1e-3)
    assert np.linalg.norm(found.u.T @ exact.u) ** 2 == pytest.approx(5, abs=1e-2)


def test_rows_that_were_zero_are_found_by_the_update_and_lost_as_printed() -> None:
    # HCLA eq. 17 and 18: U_Bᵀ D sees nothing of rows in which U_B is zero, such as links.
    text, links = matrix(20, 15, density=0.3), np.zeros((24, 4))
    links[[20, 20, 21, 22], [0, 1, 2, 3]] = 1
    before = svd(text, 20).with_rows(24)
    assert not (before.u.T @ links).any()
    found = update_svd(before, csc_array(links), 30)
    assert_allclose(np.linalg.norm(found.u.T @ links, axis=0), 1, rtol=1e-12)


def test_with_rows_adds_rows_of_zeros() -> None:
    a = matrix(10, 8)
    below = np.vstack([a.toarray(), np.zeros((3, 8))])
    assert_same(svd(a, 10).with_rows(13), whole(below, len(svd(a, 10).s)))


def test_unit_columns() -> None:
    given = csc_array(np.array([[3.0, 0, 0], [4, 0, 2]]))
    assert_allclose(unit_columns(given).toarray(), [[0.6, 0, 0], [0.8, 0, 1]], rtol=1e-15)
    assert given.toarray().tolist() == [[3, 0, 0], [4, 0, 2]]
    assert unit_columns(csc_array((2, 0))).shape == (2, 0)


def test_cosines_in_a_space_of_everything_are_cosines() -> None:
    of = unit_columns(matrix(20, 30, density=0.3))
    query = np.random.default_rng(0).random(20)
    expected = query @ of.toarray() / np.linalg.norm(query)
    assert_allclose(column_cosines(svd(of, 20), of, query), expected, rtol=0, atol=1e-8)


def test_cosines_as_equation_19_has_them() -> None:
    # (e_jᵀ V S) (Uᵀq) / (‖S Vᵀ e_j‖ ‖q‖), with V of numpy's decomposition.
    of, k = unit_columns(matrix(60, 40, density=0.2)), 4
    u, s, vt = np.linalg.svd(of.toarray())
    query = np.random.default_rng(0).random(60)
    columns = s[:k, np.newaxis] * vt[:k]  # S Vᵀ
    expected = columns.T @ (u[:, :k].T @ query)
    expected /= np.linalg.norm(columns, axis=0) * np.linalg.norm(query)
    assert_allclose(column_cosines(svd(of, k), of, query), expected, rtol=0, atol=1e-8)


def test_nothing_has_the_cosine_0() -> None:
    space = LatentSpace(np.eye(3)[:, :1], np.ones(1))
    columns = csc_array(np.array([[0.0, 0, 1], [0, 1, 0], [0, 0, 0]]))  # of zeros, outside, inside
    assert column_cosines(space, columns, np.ones(3)).tolist() == pytest.approx([0, 0, 3**-0.5])
    assert column_cosines(space, columns, np.zeros(3)).tolist() == [0, 0, 0]
    assert column_cosines(LatentSpace.empty(3), columns, np.ones(3)).tolist() == [0, 0, 0]
