"""X-means: k-means that finds how many clusters there are."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.registry import check_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["XMeans", "bic"]

#: Variances below this share of that of all points count as it: points that are equal but
#: for rounding are not told apart.
_LEAST_VARIANCE = 1e-12


class _Clustering(NamedTuple):
    centers: NDArray[np.float64]  # (k, n_dims)
    labels: NDArray[np.int64]  # (n,)
    bic: float


def bic(
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    centers: NDArray[np.float64],
    *,
    least_variance: float = 0.0,
) -> float:
    r"""Return the Bayesian information criterion of a clustering; the larger the better.

    The points are thought to come from K spherical Gaussians of M dimensions which share
    one variance. With R points, R_k of them in cluster k, it is

        BIC = l - p/2 · log R,    p = (K - 1) + M·K + 1,
        l = Σ_k R_k log(R_k / R) - R·M/2 · log(2π σ²) - M·(R - K)/2,
        σ² = Σ_i ‖x_i - μ_(i)‖² / (M · (R - K)).

    Pelleg and Moore (ICML 2000) print σ² without M in the denominator, and one factor 2π for
    all dimensions; the density of a spherical Gaussian has them as here. For R ≤ K there is
    no variance, and the answer is minus infinity.

    Parameters
    ----------
    points
        (R, M).
    labels
        Cluster of each, 0 … K-1, (R,).
    centers
        (K, M).
    least_variance
        The least that σ² is taken for.

    Examples
    --------
    Two pairs, of which each is 2 wide: σ² = 4 / (4 - 2) = 2.

    >>> points, centers = np.array([[0.0], [2], [10], [12]]), np.array([[1.0], [11]])
    >>> by_hand = 4 * math.log(1 / 2) - 2 * math.log(2 * math.pi * 2) - 1 - 2 * math.log(4)
    >>> math.isclose(bic(points, np.array([0, 0, 1, 1]), centers), by_hand)
    True
    """
    n_points, n_dims = points.shape
    k = len(centers)
    if n_points <= k:
        return -math.inf
    squares = float(((points - centers[labels]) ** 2).sum())
    variance = max(squares / (n_dims * (n_points - k)), least_variance)
    if not variance:
        return math.inf
    sizes = np.bincount(labels, minlength=k)
    sizes = sizes[sizes > 0]
    likelihood = (
        float((sizes * np.log(sizes / n_points)).sum())
        - n_points * n_dims / 2 * math.log(2 * math.pi * variance)
        - n_dims * (n_points - k) / 2
    )
    n_free = (k - 1) + n_dims * k + 1
    return float(likelihood - n_free / 2 * math.log(n_points))


class XMeans:
    """K-means with the number of clusters between two bounds.

    Pelleg and Moore (ICML 2000). It starts with ``k_min`` clusters. Each cluster is split in
    two, alone, and stays split where two explain its points better than one by :func:`bic`;
    then all centres are moved by k-means, and so on until no cluster splits or there are
    ``k_max``. Of what it had after each k-means, the best by the criterion of all points is
    the result. Where splits are too many, those that gain most are made.

    Parameters
    ----------
    k_min, k_max : int
        Least and most clusters. Of fewer distinct points each is a cluster.
    n_init : int
        So often k-means starts anew where it starts from chance.
    max_iter : int
        Most iterations of k-means.

    Attributes
    ----------
    centers_ : ndarray, (n_clusters, n_dims)
        Centres; the cluster with the most points first, of equals that of the first point.
    labels_ : ndarray, (n_points,)
        Cluster of each point, from 0.
    bic_ : float
        Criterion of the result.
    n_clusters_ : int
        How many there are.
    """

    def __init__(
        self, *, k_min: int = 3, k_max: int = 8, n_init: int = 10, max_iter: int = 300
    ) -> None:
        check_whole("k_min", k_min)
        check_whole("k_max", k_max, k_min)
        check_whole("n_init", n_init)
        check_whole("max_iter", max_iter)
        self.k_min = k_min
        self.k_max = k_max
        self.n_init = n_init
        self.max_iter = max_iter

    def fit(self, points: NDArray[np.float64], *, random_state: np.random.Generator) -> XMeans:
        """Find the clusters of points, (n_points, n_dims).

        Warns where k-means did not converge. Raises ``ValueError`` where there is no point.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        if points.ndim != 2 or not points.size:
            raise ValueError(f"there must be points to cluster, got an array of {points.shape}")
        self._least = float(points.var(axis=0).mean()) * _LEAST_VARIANCE
        n_distinct = _n_distinct(points, self.k_max)
        state = self._k_means(points, min(self.k_min, n_distinct), random_state)
        best = state
        while len(state.centers) < min(self.k_max, n_distinct):
            centers = self._split(points, state, random_state)
            if len(centers) == len(state.centers):
                break
            state = self._k_means(points, centers, random_state)
            if state.bic > best.bic:
                best = state
        self._keep(best)
        return self

    def _keep(self, best: _Clustering) -> None:
        """Set the result, with the clusters in their order."""
        k = len(best.centers)
        sizes = np.bincount(best.labels, minlength=k)
        first = [int(np.argmax(best.labels == c)) for c in range(k)]
        order = sorted(range(k), key=lambda c: (-sizes[c], first[c]))
        place = np.empty(k, dtype=np.int64)
        place[order] = np.arange(k)
        self.centers_ = best.centers[order]
        self.labels_ = place[best.labels]
        self.bic_ = best.bic
        self.n_clusters_ = k

    def predict(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the cluster with the nearest centre, of equals the first, (n_points,)."""
        centers = self.centers_
        distances = (centers**2).sum(axis=1) - 2 * points @ centers.T  # less ‖x‖², (n, k)
        nearest: NDArray[np.int64] = distances.argmin(axis=1)
        return nearest

    def _split(
        self, points: NDArray[np.float64], state: _Clustering, random_state: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the centres with those replaced by two whose cluster is better split."""
        room = self.k_max - len(state.centers)
        children: dict[int, NDArray[np.float64]] = {}
        gains: dict[int, float] = {}
        for cluster, center in enumerate(state.centers):
            members = points[state.labels == cluster]
            if len(members) <= 2 or _n_distinct(members, 2) < 2:
                continue
            two = self._k_means(members, 2, random_state)
            one = bic(
                members,
                np.zeros(len(members), dtype=np.int64),
                center[None],
                least_variance=self._least,
            )
            if two.bic > one:
                children[cluster], gains[cluster] = two.centers, two.bic - one
        chosen = sorted(gains, key=lambda cluster: (-gains[cluster], cluster))[:room]
        kept = [center for c, center in enumerate(state.centers) if c not in chosen]
        return np.vstack([*kept, *(children[cluster] for cluster in chosen)])

    def _k_means(
        self,
        points: NDArray[np.float64],
        start: int | NDArray[np.float64],
        random_state: np.random.Generator,
    ) -> _Clustering:
        """Run k-means from so many centres by chance, or from given ones."""
        from sklearn.cluster import KMeans

        by_chance = isinstance(start, int)
        k_means = KMeans(
            start if isinstance(start, int) else len(start),
            init="k-means++" if by_chance else start,
            n_init=self.n_init if by_chance else 1,
            max_iter=self.max_iter,
            random_state=int(random_state.integers(2**31)),
        ).fit(points)
        if k_means.n_iter_ >= self.max_iter:
            warnings.warn(
                f"k-means did not converge in max_iter={self.max_iter} iterations", stacklevel=4
            )
        centers = k_means.cluster_centers_.astype(np.float64)
        labels = k_means.labels_.astype(np.int64)
        return _Clustering(
            centers, labels, bic(points, labels, centers, least_variance=self._least)
        )


def _n_distinct(points: NDArray[np.float64], most: int) -> int:
    """Return how many points differ, counting no further than to ``most``."""
    seen: set[bytes] = set()
    for point in points:
        seen.add(point.tobytes())
        if len(seen) >= most:
            break
    return len(seen)
