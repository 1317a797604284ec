"""A hidden Markov model of how many hops a page is away from a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.registry import check_choice, check_number, check_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.models.modelfile import ModelFile, Shapes

    #: What is seen of a page: its cluster, or the share that each cluster has in it.
    Observation = int | NDArray[np.float64]

__all__ = ["MODES", "STARTS", "HopDistanceHMM"]

#: How beliefs are passed on: summed over the states before, or the best of them.
MODES = ("marginal", "viterbi")
#: What is believed of a page on which a path starts.
STARTS = ("uniform", "counted")


class HopDistanceHMM:
    """Hidden states are hop distances, and what is observed is the cluster of each page.

    Liu, Janssen and Milios (2005, section 3). In state T_i a page is i hops away from a
    target, in the last one at least so many. Probabilities are ratios of counts (eq. 3, 4)
    with Laplace smoothing, so that no cluster makes a belief zero in a state that did not
    show it:

        a[i, j] = P(T_j | T_i) = (n_ij + λ) / (Σ_k n_ik + λ · n_states),
        b[j, c] = P(c | T_j)   = (m_jc + λ) / (Σ_k m_jk + λ · n_clusters).

    Eq. 3 prints the sum over the other index, which would not give the probabilities that
    eq. 5 to 8 need; here rows sum to 1. Beliefs are normalised at each step; the recursion
    as printed (eq. 7) runs out of small numbers on long paths.

    Parameters
    ----------
    n_states : int
        Number of states n.
    smoothing : float
        λ of both; 0: none. A state without any count is uniform then.
    start : str
        Initial distribution π: ``"uniform"``, as the paper has it, or ``"counted"``, the
        states in which the training sequences start, with the same smoothing.

    Attributes
    ----------
    transitions_ : ndarray, (n_states, n_states)
        A; rows sum to 1.
    emissions_ : ndarray, (n_states, n_clusters)
        B; rows sum to 1.
    start_ : ndarray, (n_states,)
        π.
    state_counts_ : ndarray, (n_states,)
        How many pages of each state it was fitted to.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("n_states", "smoothing", "start")
    SHAPES: ClassVar[Shapes] = {
        "hmm_transitions": ("<f8", ("n_states", "n_states")),
        "hmm_emissions": ("<f8", ("n_states", "n_clusters")),
        "hmm_start": ("<f8", ("n_states",)),
        "hmm_state_counts": ("<i8", ("n_states",)),
    }

    def __init__(
        self, *, n_states: int = 5, smoothing: float = 1.0, start: str = "uniform"
    ) -> None:
        check_whole("n_states", n_states)
        check_number("smoothing", smoothing)
        check_choice("start", start, STARTS)
        self.n_states = n_states
        self.smoothing = smoothing
        self.start = start

    def fit(
        self,
        states: NDArray[np.int64],
        clusters: NDArray[Any],
        lengths: NDArray[np.int64],
        *,
        n_clusters: int,
    ) -> HopDistanceHMM:
        """Count in sequences of pages.

        Parameters
        ----------
        states, clusters
            Hop distance and cluster of each page, the sequences one after another,
            (n_pages,). A distance beyond the last state counts as the last; a negative
            cluster is unknown, and not counted. Instead of clusters there may be the shares
            that each has in a page, (n_pages, n_clusters); a row of zeros is unknown.
        lengths
            How many pages each sequence has, (n_sequences,).
        n_clusters
            Number of clusters.
        """
        states = self._checked(states, clusters, n_clusters)
        lengths = np.asarray(lengths)
        if (lengths < 1).any() or lengths.sum() != len(states):
            raise ValueError(f"lengths must sum to the {len(states)} pages, got {lengths.sum()}")
        within = np.ones(len(states), dtype=bool)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)[: len(lengths)]
        within[starts] = False
        steps = np.flatnonzero(within)
        self._estimate(states, clusters, n_clusters, states[steps - 1], states[steps])
        if self.start == "counted":
            begun = np.bincount(states[starts], minlength=self.n_states).astype(np.float64)
            self.start_ = self._shares(begun[None])[0]
        return self

    def fit_graph(
        self,
        states: NDArray[np.int64],
        clusters: NDArray[Any],
        edges: NDArray[np.int64],
        *,
        n_clusters: int,
    ) -> HopDistanceHMM:
        """Count in a graph, as the paper does: each edge is a transition, each page a cluster.

        Parameters
        ----------
        states, clusters
            As in :meth:`fit`, but each page once.
        edges
            Numbers of the page that links and the page that it links to, (n_edges, 2).
        n_clusters
            Number of clusters.
        """
        if self.start != "uniform":
            raise ValueError("start must be 'uniform': in a graph nothing tells where paths start")
        states = self._checked(states, clusters, n_clusters)
        edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        if edges.size and not 0 <= edges.min() <= edges.max() < len(states):
            raise ValueError(f"edges must be between the {len(states)} pages, got {edges.max()}")
        self._estimate(states, clusters, n_clusters, states[edges[:, 0]], states[edges[:, 1]])
        return self

    def _checked(
        self, states: NDArray[np.int64], clusters: NDArray[Any], n_clusters: int
    ) -> NDArray[np.int64]:
        check_whole("n_clusters", n_clusters)
        if states.ndim != 1 or clusters.shape not in {states.shape, (len(states), n_clusters)}:
            raise ValueError(
                f"each page has a state and a cluster, or shares of {n_clusters}, "
                f"got {states.shape} and {clusters.shape}"
            )
        if len(states) and (
            states.min() < 0 or (clusters.ndim == 1 and clusters.max() >= n_clusters)
        ):
            raise ValueError(
                f"states are from 0 on and clusters below {n_clusters}, "
                f"got {states.min()} and {clusters.max()}"
            )
        return np.minimum(states, self.n_states - 1)

    def _estimate(
        self,
        states: NDArray[np.int64],
        clusters: NDArray[Any],
        n_clusters: int,
        before: NDArray[np.int64],
        after: NDArray[np.int64],
    ) -> None:
        n_states = self.n_states
        self.transitions_ = self._shares(_pairs(before, after, n_states, n_states))
        if clusters.ndim == 1:
            seen = clusters >= 0
            shown = _pairs(states[seen], clusters[seen], n_states, n_clusters)
        else:
            shown = np.stack([clusters[states == state].sum(axis=0) for state in range(n_states)])
        self.emissions_ = self._shares(shown)
        self.start_ = np.full(n_states, 1 / n_states)
        self.state_counts_ = np.bincount(states, minlength=n_states)

    def _shares(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        smoothed = counts + self.smoothing
        smoothed[smoothed.sum(axis=1) == 0] = 1
        shares: NDArray[np.float64] = smoothed / smoothed.sum(axis=1, keepdims=True)
        return shares

    def begin(self, observed: Observation) -> NDArray[np.float64]:
        """Return the belief of a page that starts a path: π b, normalised, (n_states,).

        Parameters
        ----------
        observed
            Cluster of the page; a negative one is unknown, and tells nothing. Or the share
            that each cluster has in it, (n_clusters,), for which b[j] is Σ_c share_c b[j, c].
        """
        return self._seen(self.start_.copy(), observed)

    def follow(
        self, belief: NDArray[np.float64], observed: Observation, *, mode: str = "marginal"
    ) -> NDArray[np.float64]:
        """Return the belief of a page, given its parent's, (n_states,).

        α(s_j, t) = b[j, c] Σ_i α(s_i, t-1) a[i, j] (eq. 7), normalised; with the maximum in
        place of the sum for ``mode="viterbi"``, where δ(s_j, t) is proportional to the
        probability of the best path that ends in s_j. ``observed`` is as in :meth:`begin`.
        """
        return self._seen(self.ahead(belief, mode=mode), observed)

    def ahead(self, belief: NDArray[np.float64], *, mode: str = "marginal") -> NDArray[np.float64]:
        """Return what is believed of the children of a page, which are not seen, (n_states,).

        α'(s_j, t+1) = Σ_i α(s_i, t) a[i, j] (eq. 8). For ``mode="viterbi"`` the maximum,
        normalised.
        """
        check_choice("mode", mode, MODES)
        children: NDArray[np.float64]
        if mode == "marginal":
            children = belief @ self.transitions_
        else:
            best = (belief[:, None] * self.transitions_).max(axis=0)
            children = best / best.sum()
        return children

    def _seen(self, belief: NDArray[np.float64], observed: Observation) -> NDArray[np.float64]:
        """Return a belief after an observation; one that cannot be changes nothing."""
        likelihood = self._likelihood(observed)
        if likelihood is None:
            return belief
        joint = belief * likelihood
        total = joint.sum()
        return joint / total if total > 0 else belief

    def _likelihood(self, observed: Observation) -> NDArray[np.float64] | None:
        """Return P(observed | T_j), (n_states,); None where it is unknown."""
        likelihood: NDArray[np.float64]
        if isinstance(observed, np.ndarray):
            if not observed.any():
                return None
            likelihood = self.emissions_ @ observed
        elif observed < 0:
            return None
        else:
            likelihood = self.emissions_[:, observed]
        return likelihood

    def filter(self, clusters: NDArray[Any], *, mode: str = "marginal") -> NDArray[np.float64]:
        """Return the belief of each page of one path, P(S_t | O_1..t), (n_pages, n_states).

        ``clusters`` are those of the pages, (n_pages,), or shares, (n_pages, n_clusters).
        """
        beliefs = np.zeros((len(clusters), self.n_states))
        for t, observed in enumerate(_each(clusters)):
            before = beliefs[t - 1]
            beliefs[t] = self.follow(before, observed, mode=mode) if t else self.begin(observed)
        return beliefs

    def viterbi(self, clusters: NDArray[Any]) -> NDArray[np.int64]:
        """Return the most likely states of one path, of equals the nearer ones, (n_pages,)."""
        n_pages = len(clusters)
        best = self.filter(clusters, mode="viterbi")
        states = np.zeros(n_pages, dtype=np.int64)
        if n_pages:
            states[-1] = best[-1].argmax()
        for t in range(n_pages - 2, -1, -1):
            states[t] = (best[t] * self.transitions_[:, states[t + 1]]).argmax()
        return states

    def log_prob(self, clusters: NDArray[Any], lengths: NDArray[np.int64]) -> float:
        """Return log P(clusters), natural, summed over sequences as in :meth:`fit`.

        Minus infinity where one cannot be; unknown clusters count as certain.
        """
        total, end = 0.0, 0
        with np.errstate(divide="ignore"):
            for length in np.asarray(lengths).tolist():
                belief = self.start_
                for t, observed in enumerate(_each(clusters[end : end + length])):
                    belief = self.ahead(belief) if t else belief
                    likelihood = self._likelihood(observed)
                    if likelihood is not None:
                        total += float(np.log(belief @ likelihood))
                    belief = self._seen(belief, observed)
                end += length
        return total

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, in the arrays of :attr:`SHAPES`."""
        return {
            "hmm_transitions": self.transitions_,
            "hmm_emissions": self.emissions_,
            "hmm_start": self.start_,
            "hmm_state_counts": self.state_counts_,
        }

    @classmethod
    def of(cls, file: ModelFile, arrays: Mapping[str, NDArray[Any]]) -> HopDistanceHMM:
        """Return the model that a model file holds, whose arrays have been looked at."""
        made = file.made(cls, *cls.PARAMETERS)
        made.transitions_ = arrays["hmm_transitions"]
        made.emissions_ = arrays["hmm_emissions"]
        made.start_ = arrays["hmm_start"]
        made.state_counts_ = arrays["hmm_state_counts"]
        if made.start_.shape != (made.n_states,):
            raise file.damaged(f"it has {len(made.start_)} states, and n_states={made.n_states}")
        for rows in (made.transitions_, made.emissions_, made.start_[None]):
            if (rows < 0).any() or not np.allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-6):
                raise file.damaged("what should be probabilities does not sum to 1")
        return made


def _pairs(a: NDArray[np.int64], b: NDArray[np.int64], n_a: int, n_b: int) -> NDArray[np.float64]:
    """Return how often each pair of numbers occurs, (n_a, n_b)."""
    counts = np.bincount(a * n_b + b, minlength=n_a * n_b)
    return counts.reshape(n_a, n_b).astype(np.float64)


def _each(clusters: NDArray[Any]) -> Sequence[Observation]:
    return clusters.tolist() if clusters.ndim == 1 else list(clusters)
