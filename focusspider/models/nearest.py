"""Nearest neighbours: the cluster of a page is that of the pages that it is most like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.registry import check_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from focusspider.models.modelfile import ModelFile, Shapes

__all__ = ["UNKNOWN", "NearestClusters"]

#: The cluster of a page of which nothing is known, such as one without a known word.
UNKNOWN = -1
#: Points that are compared at once: so many times the points that are known are in memory.
_CHUNK = 500


class NearestClusters:
    """K-nearest-neighbours classification by the cosine.

    As Liu, Janssen and Milios (2005, section 4) put a new page into one of the clusters of
    the training pages. The most frequent cluster among the neighbours wins; of equals the
    one whose cosines have the larger sum, and then the first. Neighbours are at a cosine
    above 0, so that there may be none.

    Parameters
    ----------
    n_neighbors : int
        How many pages decide.

    Attributes
    ----------
    points_ : ndarray, (n_points, n_topics)
        The points that are known, each of length 1, or of zeros.
    clusters_ : ndarray, (n_points,)
        Their clusters.
    n_clusters_ : int
        Number of clusters, 0 … n_clusters_ - 1.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("n_neighbors",)
    SHAPES: ClassVar[Shapes] = {
        "nearest_points": ("<f8", ("n_points", "n_topics")),
        "nearest_clusters": ("<i8", ("n_points",)),
    }

    def __init__(self, *, n_neighbors: int = 5) -> None:
        check_whole("n_neighbors", n_neighbors)
        self.n_neighbors = n_neighbors

    def fit(self, points: NDArray[np.float64], clusters: NDArray[np.int64]) -> NearestClusters:
        """Keep points of length 1, (n_points, n_topics), and the cluster of each, from 0."""
        if not len(points) or clusters.shape != (len(points),) or clusters.min() < 0:
            raise ValueError(
                f"each point has a cluster from 0 on, got {points.shape} and {clusters.shape}"
            )
        self.points_ = points
        self.clusters_ = clusters
        self.n_clusters_ = int(clusters.max()) + 1
        return self

    def classify(self, point: NDArray[np.float64]) -> int:
        """Return the cluster of a point, or ``UNKNOWN``; its length does not matter."""
        return int(self.predict(point[None])[0])

    def predict(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the cluster of each point, or ``UNKNOWN``, (n,)."""
        return np.array([self._vote(*near) for near in self._near(points)], dtype=np.int64)

    def shares(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return which share of its neighbours each cluster has, (n, n_clusters).

        A row sums to 1, or is of zeros for a point without neighbours.
        """
        rows = [self._share(near) for near, _ in self._near(points)]
        return np.array(rows).reshape(-1, self.n_clusters_)

    def leave_one_out(self) -> NDArray[np.int64]:
        """Return the cluster that each known point would have if it were new, (n_points,)."""
        found = [self._vote(*near) for near in self._near(self.points_, new=False)]
        return np.array(found, dtype=np.int64)

    def leave_one_out_shares(self) -> NDArray[np.float64]:
        """Return the shares of each known point as if it were new, (n_points, n_clusters)."""
        rows = [self._share(near) for near, _ in self._near(self.points_, new=False)]
        return np.array(rows).reshape(-1, self.n_clusters_)

    def _near(
        self, points: NDArray[np.float64], *, new: bool = True
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield the neighbours of each point, the nearest first, and their cosines, (k,)."""
        k = self.n_neighbors
        for start in range(0, len(points), _CHUNK):
            # To 9 decimals: what is alike must not be told apart by how sums were rounded.
            chunk = np.round(points[start : start + _CHUNK] @ self.points_.T, 9)  # (n, n_points)
            if not new:
                here = np.arange(len(chunk))
                chunk[here, start + here] = 0
            for cosines in chunk:
                least = np.partition(cosines, -k)[-k] if len(cosines) > k else 0.0
                near = np.flatnonzero((cosines >= least) & (cosines > 0))
                near = near[np.argsort(-cosines[near], kind="stable")][:k]  # of equals the first
                yield near, cosines[near]

    def _vote(self, near: NDArray[np.int64], cosines: NDArray[np.float64]) -> int:
        if not len(near):
            return UNKNOWN
        voted, places, votes = np.unique(
            self.clusters_[near], return_inverse=True, return_counts=True
        )
        sums = np.round(np.bincount(places, weights=cosines), 9)
        return int(voted[np.where(votes == votes.max(), sums, -1).argmax()])

    def _share(self, near: NDArray[np.int64]) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = np.bincount(
            self.clusters_[near], minlength=self.n_clusters_
        ) / max(len(near), 1)
        return shares

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, in the arrays of :attr:`SHAPES`."""
        return {"nearest_points": self.points_, "nearest_clusters": self.clusters_}

    @classmethod
    def of(cls, file: ModelFile, arrays: Mapping[str, NDArray[Any]]) -> NearestClusters:
        """Return the points that a model file holds, whose arrays have been looked at."""
        made = file.made(cls, *cls.PARAMETERS)
        try:
            return made.fit(arrays["nearest_points"], arrays["nearest_clusters"])
        except ValueError as error:
            raise file.damaged(str(error)) from None
