"""Nearest neighbours: the cluster of a page is that of the pages that it is most like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.registry import check_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        found = [
            self._vote(cosines)
            for start in range(0, len(points), _CHUNK)
            for cosines in points[start : start + _CHUNK] @ self.points_.T
        ]
        return np.array(found, dtype=np.int64)

    def leave_one_out(self) -> NDArray[np.int64]:
        """Return the cluster that each known point would have if it were new, (n_points,)."""
        found = []
        for start in range(0, len(self.points_), _CHUNK):
            cosines = self.points_[start : start + _CHUNK] @ self.points_.T  # (n, n_points)
            here = np.arange(len(cosines))
            cosines[here, start + here] = -np.inf
            found += [self._vote(of_point) for of_point in cosines]
        return np.array(found, dtype=np.int64)

    def _vote(self, cosines: NDArray[np.float64]) -> int:
        """Return the winner, given the cosine with each of the points, (n_points,)."""
        # To 9 decimals: points that are alike must not be told apart by how sums were rounded.
        cosines = np.round(cosines, 9)
        least = 0.0
        if len(cosines) > self.n_neighbors:
            least = np.partition(cosines, -self.n_neighbors)[-self.n_neighbors]
        near = np.flatnonzero((cosines >= least) & (cosines > 0))
        near = near[np.argsort(-cosines[near], kind="stable")][: self.n_neighbors]
        if not len(near):
            return UNKNOWN
        clusters = self.clusters_[near]
        voted, places, votes = np.unique(clusters, return_inverse=True, return_counts=True)
        sums = np.round(np.bincount(places, weights=cosines[near]), 9)
        return int(voted[np.where(votes == votes.max(), sums, -1).argmax()])

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
