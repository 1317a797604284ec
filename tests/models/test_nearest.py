"""Nearest neighbours against another library, and votes by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from focusspider.errors import ModelFileError
from focusspider.models import nearest
from focusspider.models.lsi import unit_rows
from focusspider.models.modelfile import ModelFile
from focusspider.models.nearest import UNKNOWN, NearestClusters

if TYPE_CHECKING:
    from numpy.typing import NDArray


def at(*degrees: float) -> NDArray[np.float64]:
    """Return points on the circle."""
    turns = np.radians(degrees)
    return np.column_stack([np.cos(turns), np.sin(turns)])


@pytest.mark.parametrize("n_neighbors", [1, 2, 3, 7])
def test_it_is_scikit_learns_with_the_cosine(n_neighbors: int) -> None:
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(0)
    points = unit_rows(np.abs(rng.standard_normal((80, 5))))  # all cosines are above 0
    clusters = rng.integers(4, size=80)
    new = np.abs(rng.standard_normal((40, 5)))
    found = NearestClusters(n_neighbors=n_neighbors).fit(points, clusters).predict(new)
    theirs = NearestNeighbors(n_neighbors=n_neighbors, metric="cosine").fit(points)
    distances, neighbours = theirs.kneighbors(new)
    for point, near, of in zip(found, distances, neighbours, strict=True):
        votes = np.bincount(clusters[of], minlength=4)
        cosines = np.bincount(clusters[of], weights=1 - near, minlength=4)
        assert point == max(range(4), key=lambda c: (votes[c], cosines[c]))


@pytest.mark.parametrize(
    ("degrees", "clusters", "n_neighbors", "expected"),
    [
        ([0, 40, 50], [1, 0, 0], 1, 1),
        ([0, 40, 50], [1, 0, 0], 3, 0),  # two votes to one
        ([10, 40], [1, 0], 2, 1),  # one each, the nearer
        ([10, -10], [1, 0], 2, 0),  # as near: the first cluster
        ([10, 40, 100], [1, 0, 0], 3, 1),  # beyond a right angle is no neighbour
        ([10], [2], 5, 2),  # fewer points than neighbours
        ([100, 200], [1, 0], 2, UNKNOWN),
    ],
)
def test_votes_by_hand(
    degrees: list[float], clusters: list[int], n_neighbors: int, expected: int
) -> None:
    model = NearestClusters(n_neighbors=n_neighbors).fit(at(*degrees), np.array(clusters))
    assert model.classify(at(0)[0]) == expected
    assert model.classify(at(0)[0] * 1e-3) == expected


def test_a_point_of_zeros_is_unknown() -> None:
    model = NearestClusters().fit(np.vstack([at(0, 10), [[0, 0]]]), np.array([0, 0, 1]))
    assert model.predict(np.zeros((2, 2))).tolist() == [UNKNOWN, UNKNOWN]
    assert model.predict(np.zeros((0, 2))).tolist() == []


def test_leaving_one_out_is_fitting_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    points, clusters = unit_rows(rng.standard_normal((30, 4))), rng.integers(3, size=30)
    monkeypatch.setattr(nearest, "_CHUNK", 7)
    found = NearestClusters().fit(points, clusters).leave_one_out()
    for left in range(30):
        others = np.arange(30) != left
        alone = NearestClusters().fit(points[others], clusters[others])
        assert found[left] == alone.classify(points[left])
    assert NearestClusters().fit(points[:1], clusters[:1]).leave_one_out().tolist() == [UNKNOWN]


def test_shares_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    model = NearestClusters(n_neighbors=4).fit(
        at(0, 5, 10, 20, 80, 200), np.array([0, 2, 0, 1, 1, 3])
    )
    assert model.shares(at(0)).tolist() == [[2 / 4, 1 / 4, 1 / 4, 0]]
    assert model.shares(at(165)).tolist() == [[0, 1 / 2, 0, 1 / 2]]  # at 80 and 200, no more
    assert model.shares(np.zeros((1, 2))).tolist() == [[0, 0, 0, 0]]
    assert model.shares(np.zeros((0, 2))).shape == (0, 4)
    monkeypatch.setattr(nearest, "_CHUNK", 4)
    left_out = model.leave_one_out_shares()
    for left in range(6):
        others = np.arange(6) != left
        alone = NearestClusters(n_neighbors=4).fit(model.points_[others], model.clusters_[others])
        expected = np.zeros(4)
        expected[: alone.n_clusters_] = alone.shares(model.points_[left : left + 1])[0]
        assert_array_equal(left_out[left], expected)


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    points, clusters = unit_rows(rng.standard_normal((30, 4))), rng.integers(3, size=30)
    model = NearestClusters().fit(points, clusters)
    before = model.predict(points)
    monkeypatch.setattr(nearest, "_CHUNK", 7)
    assert_array_equal(model.predict(points), before)


def test_arrays_make_it_again() -> None:
    model = NearestClusters(n_neighbors=3).fit(at(0, 10, 20), np.array([0, 2, 1]))
    file = ModelFile(kind="x", arrays=model.to_arrays(), parameters={"n_neighbors": 3})
    again = NearestClusters.of(file, file.take(NearestClusters.SHAPES))
    assert again.predict(at(5, 15)).tolist() == model.predict(at(5, 15)).tolist()
    assert again.n_clusters_ == 3
    bad = ModelFile(
        kind="x",
        arrays={**file.arrays, "nearest_clusters": np.array([0, -1, 1])},
        parameters={"n_neighbors": 3},
    )
    with pytest.raises(ModelFileError, match="not a sound 'x' model: each point has a cluster"):
        NearestClusters.of(bad, bad.take(NearestClusters.SHAPES))


def test_wrong_input() -> None:
    with pytest.raises(ValueError, match="n_neighbors must be a whole number of at least 1"):
        NearestClusters(n_neighbors=0)
    with pytest.raises(ValueError, match="each point has a cluster from 0 on"):
        NearestClusters().fit(at(0, 1), np.array([0]))
    with pytest.raises(ValueError, match="each point has a cluster from 0 on"):
        NearestClusters().fit(np.zeros((0, 2)), np.array([], dtype=np.int64))
