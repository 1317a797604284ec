"""Inference in a chain of states, one step at a time: what MEMM and CRF have in common.

At each position there is a matrix M of weights exp(Σ λ f(i, j, o)) of a state j after a
state i. MEMM normalises each row of it, CRF the whole sequence; what follows is the same for
both. A belief is the distribution over the states of the last page given the pages up to it,
and all that one step hands to the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from focusspider.registry import check_choice, check_flag, check_number, check_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

__all__ = ["MODES", "ChainModel", "Items", "checked"]

#: Sum over the paths that lead to a state, or take the best of them.
MODES = ("marginal", "viterbi")


class Items(NamedTuple):
    """Training data that was looked at: features with a bias column, and who follows whom."""

    features: csr_array  # (n_items, n_features + 1), the last column is 1
    labels: NDArray[np.intp]  # (n_items,)
    previous: NDArray[np.intp]  # (n_items,), k at the start of a sequence
    lengths: NDArray[np.intp]  # (n_sequences,)


class ChainModel(ABC):
    """A fitted chain of k states. Subclasses give ``fit`` and :meth:`log_potentials`.

    Attributes
    ----------
    weights_ : ndarray, (n_features + 1, r)
        Weights of the features, the last row those of the bias.
    names_ : tuple of str
        Names of the features, if ``fit`` was given any.
    """

    kind: ClassVar[str]
    weights_: NDArray[np.float64]
    names_: tuple[str, ...]

    def __init__(self, k: int, *, variance: float, edge: bool, max_iter: int, tol: float) -> None:
        check_whole("k", k)
        check_number("variance", variance, np.finfo(np.float64).tiny)
        check_flag("edge", edge)
        check_whole("max_iter", max_iter)
        check_number("tol", tol)
        self.k = k
        self.variance = variance
        self.edge = edge
        self.max_iter = max_iter
        self.tol = tol

    def evidence(self, features: csr_array) -> NDArray[np.float64]:
        """Return what features add to the scores, (n, r), without the bias.

        Evidence of the same page from two rows may be added: that of the link which led to
        it, kept until it is fetched, and that of the page.
        """
        product: NDArray[np.float64] = features @ self.weights_[:-1]
        return product

    @abstractmethod
    def log_potentials(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log M of each row, (n, k + 1, k): [i, j] is state j after i; i = k starts."""

    def forward(
        self,
        previous: ArrayLike | None,
        features: csr_array,
        *,
        evidence: ArrayLike | None = None,
        mode: str = "marginal",
    ) -> NDArray[np.float64]:
        """Return beliefs one step on, (n, k): each row sums to 1.

        In the mode "marginal" p(s_t | o_1..t) (eq. 20 of MEMM; 37 and 38 of CRF), in
        "viterbi" the weight of the best path that ends in each state (eq. 24 and 39),
        scaled likewise.

        Parameters
        ----------
        previous : array_like, (k,) or (n, k), or None
            Belief of the same mode at the page before; None: there is none, a sequence
            begins. Its scale does not matter.
        features : csr_array, (n, n_features)
            Each row is a page that may come next: of n links of a page, all with the same
            previous belief, or one page.
        evidence : array_like, (r,) or (n, r), optional
            Is added to that of the features.
        """
        check_choice("mode", mode, MODES)
        found = self.evidence(features)
        if evidence is not None:
            found = found + np.asarray(evidence, dtype=np.float64)
        log_weights = self._ahead(self._log_previous(previous), self.log_potentials(found), mode)
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        beliefs: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return beliefs

    def viterbi(self, previous: ArrayLike | None, features: csr_array) -> NDArray[np.float64]:
        """Return :meth:`forward` in the mode "viterbi"."""
        return self.forward(previous, features, mode="viterbi")

    def predict_child(
        self, belief: ArrayLike, links: csr_array, *, mode: str = "marginal"
    ) -> NDArray[np.float64]:
        """Return beliefs about pages that were not fetched, (n_links, k).

        ``belief`` is that of the page which links to them, and ``links`` holds what it
        shows of each; a row may be empty.
        """
        return self.forward(belief, links, mode=mode)

    def beliefs(
        self, features: csr_array, lengths: ArrayLike, *, mode: str = "marginal"
    ) -> NDArray[np.float64]:
        """Return the belief at each position of sequences, (n_items, k)."""
        check_choice("mode", mode, MODES)
        potentials = self.log_potentials(self.evidence(features))
        found = np.empty((len(potentials), self.k))
        for items, _, log_weights, _ in self._steps(potentials, lengths, mode):
            found[items] = np.exp(log_weights)
            found[items] /= found[items].sum(axis=1, keepdims=True)
        return found

    def decode(self, features: csr_array, lengths: ArrayLike) -> NDArray[np.intp]:
        """Return the most likely states of sequences, (n_items,) (eq. 22)."""
        potentials = self.log_potentials(self.evidence(features))
        before = np.empty((len(potentials), self.k), dtype=np.intp)
        last = np.empty(len(potentials), dtype=np.intp)
        for items, log_previous, log_weights, _ in self._steps(potentials, lengths, "viterbi"):
            rows = log_previous[:, :, None] + potentials[items]
            before[items] = rows.argmax(axis=1)
            last[items] = log_weights.argmax(axis=1)
        states = last
        ends = np.cumsum(np.asarray(lengths, dtype=np.intp))
        for end, length in zip(ends.tolist(), np.asarray(lengths).tolist(), strict=True):
            for item in range(end - 1, end - length, -1):
                states[item - 1] = before[item, states[item]]
        return states

    def log_likelihood(self, features: csr_array, lengths: ArrayLike, labels: ArrayLike) -> float:
        """Return Σ log p(s | o) over sequences (eq. 15 and 30); -inf for an unseen state."""
        potentials = self.log_potentials(self.evidence(features))
        states = np.asarray(labels, dtype=np.intp)
        before = previous_states(states, np.asarray(lengths, dtype=np.intp), self.k)
        score = float(potentials[np.arange(len(states)), before, states].sum())
        for *_, scales in self._steps(potentials, lengths, "marginal"):
            score -= float(scales.sum())
        return score

    def _steps(
        self, potentials: NDArray[np.float64], lengths: ArrayLike, mode: str
    ) -> Iterator[
        tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    ]:
        """Go through all sequences at once.

        Yields, of each position t, the items there, the weights of the states before, the
        weights of the states, both logarithmic, and what was taken off to scale them.
        """
        sizes = np.asarray(lengths, dtype=np.intp)
        if (sizes < 1).any() or sizes.sum() != len(potentials):
            raise ValueError(f"lengths sum to {sizes.sum()}, and there are {len(potentials)} rows")
        starts = np.cumsum(sizes) - sizes
        log_previous = np.tile(self._log_previous(None), (len(sizes), 1))
        for t in range(int(sizes.max(initial=0))):
            going = sizes > t
            items = starts[going] + t
            log_weights = self._ahead(log_previous[going], potentials[items], mode)
            scales = log_weights.max(axis=1)
            if mode == "marginal":
                scales = scales + np.log(np.exp(log_weights - scales[:, None]).sum(axis=1))
            log_weights = log_weights - scales[:, None]
            yield items, log_previous[going], log_weights, scales
            log_previous[going] = np.column_stack([log_weights, np.full(len(log_weights), -np.inf)])

    def _log_previous(self, previous: ArrayLike | None) -> NDArray[np.float64]:
        """Return the logarithms of weights of the states before, (1 or n, k + 1)."""
        if previous is None:
            start = np.full((1, self.k + 1), -np.inf)
            start[0, self.k] = 0.0
            return start
        weights = np.atleast_2d(np.asarray(previous, dtype=np.float64))
        if weights.ndim != 2 or weights.shape[1] != self.k:
            raise ValueError(f"a belief has {self.k} numbers, got {np.shape(previous)}")
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any(axis=1).all()):
            raise ValueError(f"a belief has numbers of 0 or more, not all 0, got {previous!r}")
        with np.errstate(divide="ignore"):
            return np.log(np.column_stack([weights, np.zeros(len(weights))]))

    @staticmethod
    def _ahead(
        log_previous: NDArray[np.float64], potentials: NDArray[np.float64], mode: str
    ) -> NDArray[np.float64]:
        """Return the logarithms of the weights of the next states, (n, k), unscaled."""
        paths = log_previous[:, :, None] + potentials  # (n, k + 1, k)
        best: NDArray[np.float64] = paths.max(axis=1)
        if mode == "viterbi":
            return best
        shift = np.where(np.isfinite(best), best, 0.0)
        with np.errstate(divide="ignore"):
            total: NDArray[np.float64] = shift + np.log(
                np.exp(paths - shift[:, None, :]).sum(axis=1)
            )
        return total


def previous_states(
    labels: NDArray[np.intp], lengths: NDArray[np.intp], k: int
) -> NDArray[np.intp]:
    """Return the state before each item, (n_items,), k at the start of a sequence."""
    previous = np.empty_like(labels)
    previous[1:] = labels[:-1]
    previous[np.cumsum(lengths) - lengths] = k
    return previous


def checked(
    features: csr_array, lengths: ArrayLike, labels: ArrayLike, k: int, names: Sequence[str]
) -> Items:
    """Return training data with a bias column. ``ValueError`` where they do not fit together."""
    from scipy.sparse import csr_array

    sizes: NDArray[Any] = np.asarray(lengths, dtype=np.intp)
    states: NDArray[Any] = np.asarray(labels, dtype=np.intp)
    n_items, n_features = features.shape
    if not len(sizes) or (sizes < 1).any() or not sizes.sum() == len(states) == n_items:
        raise ValueError(
            f"there must be sequences, and as many rows and labels as they have items: "
            f"got lengths that sum to {sizes.sum()}, {n_items} rows, {len(states)} labels"
        )
    if len(names) not in {0, n_features}:
        raise ValueError(f"{len(names)} names for {n_features} features")
    if not 0 <= states.min() <= states.max() < k:
        raise ValueError(f"labels must be states from 0 to {k - 1}, got {np.unique(states)}")
    features = csr_array(features, dtype=np.float64)
    if not np.isfinite(features.data).all():
        raise ValueError("features must be finite numbers")
    ends = features.indptr[1:]
    with_bias = csr_array(
        (
            np.insert(features.data, ends, 1.0),
            np.insert(features.indices, ends, n_features),
            features.indptr + np.arange(n_items + 1, dtype=features.indptr.dtype),
        ),
        shape=(n_items, n_features + 1),
    )
    return Items(with_bias, states, previous_states(states, sizes, k), sizes)
