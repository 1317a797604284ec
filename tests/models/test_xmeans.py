"""X-means on points whose clusters are known, and its criterion against numbers worked by hand."""

from __future__ import annotations

from math import inf, log, pi
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from focusspider.models.xmeans import XMeans, bic

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def blobs(k: int, n_dims: int, *, n: int = 60, apart: float = 12.0) -> NDArray[np.float64]:
    """Return points around k places on the axes, of which each is ``apart`` from the others."""
    places = np.zeros((k, n_dims))
    for number in range(k):
        places[number, number // 2 % n_dims] = apart * (-1) ** number * (1 + number // (2 * n_dims))
    return np.concatenate([place + rng(7).standard_normal((n, n_dims)) for place in places])


def zeros(n: int) -> NDArray[np.int64]:
    return np.zeros(n, dtype=np.int64)


def test_the_criterion_of_one_cluster() -> None:
    # Four corners of a square of side 2: each is at distance √2 from the centre, so the
    # squares sum to 8, and σ² = 8 / (2 · 3). The likelihood is that of a Gaussian:
    # Σ_i (-M/2 · log(2πσ²)) - 8 / (2σ²), with 3 + 1 - 1 = 3 parameters.
    square = np.array([[0.0, 0], [0, 2], [2, 0], [2, 2]])
    variance = 8 / 6
    likelihood = -4 * log(2 * pi * variance) - 8 / (2 * variance)
    expected = likelihood - 3 / 2 * log(4)
    assert bic(square, zeros(4), np.array([[1.0, 1]])) == pytest.approx(expected, rel=1e-12)


def test_the_criterion_of_two_clusters() -> None:
    # 0, 2 and 4 around 2, and 10 alone: squares 4 + 0 + 4, σ² = 8 / (4 - 2) = 4; the shares
    # are 3/4 and 1/4; 1 share, 2 centres and 1 variance are free.
    points = np.array([[0.0], [2], [4], [10]])
    likelihood = 3 * log(3 / 4) + log(1 / 4) - 2 * log(2 * pi * 4) - 8 / (2 * 4)
    expected = likelihood - 4 / 2 * log(4)
    found = bic(points, np.array([0, 0, 0, 1]), np.array([[2.0], [10]]))
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_criterion_at_its_limits() -> None:
    points = np.array([[1.0], [1.0], [1.0]])
    assert bic(points, zeros(3), np.array([[1.0]])) == inf
    assert bic(points[:1], zeros(1), np.array([[1.0]])) == -inf
    # σ² is the least variance 1/100, of two parameters; the exponent stays -M (R - K) / 2.
    found = bic(points, zeros(3), np.array([[1.0]]), least_variance=0.01)
    assert found == pytest.approx(-3 / 2 * log(2 * pi * 0.01) - 1 - log(3), rel=1e-12)


@pytest.mark.parametrize("n_dims", [2, 10, 50])
@pytest.mark.parametrize("k", [3, 4, 5, 7, 8])
def test_it_finds_a_known_number_of_clusters(k: int, n_dims: int) -> None:
    points = blobs(k, n_dims)
    found = XMeans(k_min=3, k_max=8).fit(points, random_state=rng())
    assert found.n_clusters_ == k
    for cluster in range(k):  # each blob is one cluster
        assert len(set(found.labels_[60 * cluster : 60 * cluster + 60].tolist())) == 1
    assert_allclose(
        np.sort(found.centers_, axis=0),
        np.sort(points.reshape(k, 60, n_dims).mean(axis=1), axis=0),
        atol=1e-9,
    )
    assert_array_equal(found.predict(points), found.labels_)


@pytest.mark.parametrize("n_dims", [1, 2, 10, 50])
@pytest.mark.parametrize("seed", range(5))
def test_it_says_no_where_there_are_none(n_dims: int, seed: int) -> None:
    points = rng(seed).standard_normal((300, n_dims))
    assert XMeans(k_min=1, k_max=8).fit(points, random_state=rng()).n_clusters_ == 1
    if n_dims > 1:  # three pieces of a line's Gaussian are not Gaussians, and may be split on
        assert XMeans(k_min=3, k_max=8).fit(points, random_state=rng()).n_clusters_ == 3


def test_it_goes_no_further_than_k_max_and_makes_the_best_splits() -> None:
    # Two pairs of blobs, one much further apart: with room for one split it goes there.
    places = np.array([[0.0, 0], [100, 0], [0, 1000], [14, 1000]])
    points = np.concatenate([place + rng(3).standard_normal((50, 2)) for place in places])
    found = XMeans(k_min=2, k_max=3).fit(points, random_state=rng())
    assert found.n_clusters_ == 3
    assert found.labels_[0] != found.labels_[50]
    assert found.labels_[100] == found.labels_[150]


def test_the_same_seed_gives_the_same_clusters() -> None:
    points = rng(1).standard_normal((200, 5))
    before = points.copy()
    first, second = (XMeans(k_min=4).fit(points, random_state=rng(5)) for _ in range(2))
    assert_array_equal(first.labels_, second.labels_)
    assert_array_equal(first.centers_, second.centers_)
    assert first.bic_ == second.bic_
    assert_array_equal(points, before)


def test_the_larger_cluster_comes_first() -> None:
    points = np.concatenate([blobs(3, 2)[:70], blobs(3, 2)[120:180]])  # 60, 10 and 60
    found = XMeans().fit(points, random_state=rng())
    assert np.bincount(found.labels_).tolist() == [60, 60, 10]
    assert found.labels_[0] == 0


@pytest.mark.parametrize(
    ("points", "n_clusters"),
    [
        ([[1.0, 2]] * 9, 1),  # all alike
        ([[1.0, 2]] * 5 + [[3.0, 4]] * 5, 2),  # fewer than k_min
        ([[0.0, 0]] * 5 + [[3.0, 4]] * 5 + [[9, 9]] * 5 + [[20, 3]] * 5, 4),
        ([[1.0, 2]], 1),
        ([[1.0, 2], [3, 4], [5, 9]], 3),
    ],
)
def test_equal_points_are_never_parted(points: list[list[float]], n_clusters: int) -> None:
    found = XMeans(k_min=3, k_max=8).fit(np.array(points), random_state=rng())
    assert found.n_clusters_ == n_clusters
    labels: dict[tuple[float, ...], set[int]] = {}
    for point, label in zip(points, found.labels_.tolist(), strict=True):
        labels.setdefault(tuple(point), set()).add(label)
    assert all(len(of_point) == 1 for of_point in labels.values())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k_min": 0}, "k_min must be a whole number of at least 1, got 0"),
        ({"k_min": 4, "k_max": 3}, "k_max must be a whole number of at least 4, got 3"),
        ({"n_init": 1.5}, "n_init must be a whole number of at least 1, got 1.5"),
        ({"max_iter": True}, "max_iter must be"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        XMeans(**parameters)


def test_no_points() -> None:
    with pytest.raises(ValueError, match=r"there must be points to cluster, got an array of \(0,"):
        XMeans().fit(np.zeros((0, 3)), random_state=rng())


def test_k_means_that_did_not_converge_warns() -> None:
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        XMeans(max_iter=1).fit(rng().standard_normal((300, 2)), random_state=rng())
