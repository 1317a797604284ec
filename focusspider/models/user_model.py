"""What the strategy ``hmm`` learns: a latent space, clusters in it, and hop distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.models.hmm import HopDistanceHMM
from focusspider.models.lsi import LatentSemanticIndex, unit_rows
from focusspider.models.modelfile import ModelFile
from focusspider.models.nearest import UNKNOWN, NearestClusters
from focusspider.models.wordweights import group_counts
from focusspider.models.xmeans import XMeans
from focusspider.registry import check_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.corpus import Counts
    from focusspider.models.hmm import Observation
    from focusspider.models.modelfile import Shapes

__all__ = ["OBSERVED", "UserModel"]

#: What the emissions of the training pages are counted from.
OBSERVED = ("clusters", "neighbours", "shares")


class UserModel:
    """The model of Liu, Janssen and Milios (2005), from counts of terms to beliefs.

    Pages become points of unit length in a latent space (2.2.1). Targets are cluster 0; the
    others are clustered by X-means, from 1 on (2.2.2). Hop distances and clusters make a
    hidden Markov model (section 3). A new page gets the cluster of its nearest neighbours
    (section 4), and :attr:`hmm_` tells the rest.

    Parameters
    ----------
    n_states, smoothing, start
        Of :class:`~focusspider.models.hmm.HopDistanceHMM`.
    n_topics, n_terms
        Of :class:`~focusspider.models.lsi.LatentSemanticIndex`.
    k_min, k_max
        Of :class:`~focusspider.models.xmeans.XMeans`.
    n_neighbors
        Of :class:`~focusspider.models.nearest.NearestClusters`.
    observed : str
        What emissions are counted from: ``"clusters"``, the pages' own, as in the paper. A
        crawl does not see these, it sees what the neighbours say; ``"neighbours"`` counts
        what they say of each training page when it is left out. ``"shares"`` does too, and
        lets each neighbour say its own, in training as in a crawl: a page is observed as the
        shares of the clusters among its neighbours.

    Attributes
    ----------
    lsi_, nearest_, hmm_
        The parts.
    cluster_counts_ : ndarray, (n_clusters, n_terms)
        How often each of ``lsi_.terms_`` is in the training pages of each cluster, for
        :mod:`~focusspider.models.wordweights`.
    """

    kind: ClassVar[str] = "hmm"
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *HopDistanceHMM.PARAMETERS,
        *LatentSemanticIndex.PARAMETERS,
        *NearestClusters.PARAMETERS,
        "k_min",
        "k_max",
        "observed",
    )
    SHAPES: ClassVar[Shapes] = {
        **LatentSemanticIndex.SHAPES,
        **NearestClusters.SHAPES,
        **HopDistanceHMM.SHAPES,
        "cluster_counts": ("<i8", ("n_clusters", "n_terms")),
    }

    def __init__(
        self,
        *,
        n_states: int = 5,
        smoothing: float = 1.0,
        start: str = "uniform",
        n_topics: int = 50,
        n_terms: int = 10_000,
        k_min: int = 3,
        k_max: int = 8,
        n_neighbors: int = 5,
        observed: str = "clusters",
    ) -> None:
        HopDistanceHMM(n_states=n_states, smoothing=smoothing, start=start)  # look at them
        LatentSemanticIndex(n_topics=n_topics, n_terms=n_terms)
        XMeans(k_min=k_min, k_max=k_max)
        NearestClusters(n_neighbors=n_neighbors)
        check_choice("observed", observed, OBSERVED)
        self.n_states = n_states
        self.smoothing = smoothing
        self.start = start
        self.n_topics = n_topics
        self.n_terms = n_terms
        self.k_min = k_min
        self.k_max = k_max
        self.n_neighbors = n_neighbors
        self.observed = observed

    def fit(
        self,
        pages: Counts,
        states: NDArray[np.int64],
        *,
        edges: NDArray[np.int64] | None = None,
        sequences: NDArray[np.int64] | None = None,
        lengths: NDArray[np.int64] | None = None,
        random_state: np.random.Generator,
    ) -> UserModel:
        """Learn from pages and either the links among them or sequences of them.

        Parameters
        ----------
        pages
            Counts of the terms of the training pages.
        states
            Hop distance of each to the nearest target, 0 being a target, (n_pages,).
        edges
            Numbers of the page that links and of the one that it links to, (n_edges, 2):
            transitions are counted in the graph, as the paper does.
        sequences, lengths
            Numbers of pages, the sequences one after another, and how many each has:
            transitions are counted in these.
        random_state
            Decides where k-means starts, and the vectors that the latent space is found from.

        Raises
        ------
        ValueError
            Where there are no targets, nothing else, or no words.
        """
        states = np.asarray(states, dtype=np.int64)
        n_pages, n_targets = pages.matrix.shape[0], int(np.count_nonzero(states == 0))
        if states.shape != (n_pages,):
            raise ValueError(f"each of {n_pages} pages has a state, got {states.shape}")
        if not 0 < n_targets < n_pages:
            raise ValueError(
                f"{n_targets} of {n_pages} pages are targets; there must be some, and others"
            )
        if (edges is None) == (sequences is None) or (sequences is None) != (lengths is None):
            raise ValueError("give either edges, or sequences and their lengths")
        self.lsi_ = LatentSemanticIndex(n_topics=self.n_topics, n_terms=self.n_terms)
        points = unit_rows(self.lsi_.fit(pages, random_state=random_state).transform(pages))
        clusters = self._clusters(points, states, random_state)
        n_clusters = int(clusters.max()) + 1
        known = np.flatnonzero(clusters != UNKNOWN)
        self.nearest_ = NearestClusters(n_neighbors=self.n_neighbors)
        self.nearest_.fit(points[known], clusters[known])
        self.cluster_counts_ = group_counts(pages.select(self.lsi_.terms_), clusters, n_clusters)
        observed: NDArray[Any] = clusters
        if self.observed == "neighbours":
            observed = np.full(n_pages, UNKNOWN)
            observed[known] = self.nearest_.leave_one_out()
        elif self.observed == "shares":
            observed = np.zeros((n_pages, n_clusters))
            observed[known] = self.nearest_.leave_one_out_shares()
        self.hmm_ = HopDistanceHMM(
            n_states=self.n_states, smoothing=self.smoothing, start=self.start
        )
        if edges is not None:
            self.hmm_.fit_graph(states, observed, edges, n_clusters=n_clusters)
        elif sequences is not None and lengths is not None:
            self.hmm_.fit(states[sequences], observed[sequences], lengths, n_clusters=n_clusters)
        return self

    def _clusters(
        self,
        points: NDArray[np.float64],
        states: NDArray[np.int64],
        random_state: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return the cluster of each page; of one without words it is unknown, (n_pages,)."""
        clusters = np.where(states == 0, 0, UNKNOWN)
        others = np.flatnonzero((states > 0) & points.any(axis=1))
        if not len(others):
            raise ValueError("none of the pages that are no targets has words to learn from")
        x_means = XMeans(k_min=self.k_min, k_max=self.k_max)
        clusters[others] = 1 + x_means.fit(points[others], random_state=random_state).labels_
        return clusters

    def observe(self, terms: Mapping[str, int]) -> Observation:
        """Return what is observed of a page, given as counts of its terms.

        Its cluster, ``UNKNOWN`` where it has no known words; or where :attr:`observed` is
        ``"shares"`` those of the clusters among its neighbours, (n_clusters,), zeros then.
        """
        point = self.lsi_.fold_in(terms)
        if self.observed == "shares":
            shares: NDArray[np.float64] = self.nearest_.shares(point[None])[0]
            return shares
        return self.nearest_.classify(point)

    def observe_all(self, pages: Counts) -> NDArray[Any]:
        """Return what is observed of many pages, (n_pages,) or (n_pages, n_clusters)."""
        points = self.lsi_.transform(pages)
        if self.observed == "shares":
            return self.nearest_.shares(points)
        return self.nearest_.predict(points)

    def to_file(self, **about: Any) -> ModelFile:
        """Return what :func:`~focusspider.models.modelfile.write_model` writes.

        ``about`` is what else a :class:`~focusspider.models.modelfile.ModelFile` holds:
        topic, training data, date and metrics.
        """
        return ModelFile(
            kind=self.kind,
            parameters={name: getattr(self, name) for name in self.PARAMETERS},
            arrays={
                **self.lsi_.to_arrays(),
                **self.nearest_.to_arrays(),
                **self.hmm_.to_arrays(),
                "cluster_counts": self.cluster_counts_,
            },
            **about,
        )

    @classmethod
    def from_file(cls, file: ModelFile) -> UserModel:
        """Return the model of a model file; ``ModelFileError`` where it is not sound."""
        arrays = file.take(cls.SHAPES)
        made = file.made(cls, *cls.PARAMETERS)
        made.lsi_ = LatentSemanticIndex.of(file, arrays)
        made.nearest_ = NearestClusters.of(file, arrays)
        made.hmm_ = HopDistanceHMM.of(file, arrays)
        made.cluster_counts_ = arrays["cluster_counts"]
        n_clusters = len(made.cluster_counts_)
        if made.nearest_.n_clusters_ != n_clusters or (made.cluster_counts_ < 0).any():
            raise file.damaged(
                f"its pages are not in {n_clusters} clusters, or its counts are below 0"
            )
        return made
