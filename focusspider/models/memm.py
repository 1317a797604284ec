"""Maximum-entropy Markov model: the next state given the last and what is seen of a page."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.models.chain import ChainModel, checked
from focusspider.models.chainfile import chain_file, chain_parts
from focusspider.registry import check_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

    from focusspider.models.modelfile import ModelFile

__all__ = ["MEMM", "negative_posterior"]

PRIORS = ("pooled", "zero")


class MEMM(ChainModel):
    """One maximum-entropy model of the next state for each state that may come before.

    p(s | s', o) = exp(Σ λ f(s', s, o)) / z(o, s') (Liu and Milios 2010, eq. 13), where a
    feature is a pair of states together with an observation (eq. 5): so each previous state
    has weights of its own, and the start of a sequence too. λ makes the posterior likelihood
    of eq. 16 largest, by L-BFGS with the gradient of eq. 17.

    Parameters
    ----------
    k : int
        Number of states: hop distances 0 to k - 1.
    variance : float
        σ² of the Gaussian prior. The paper gives none. Pages are in many sequences, so that
        a wide prior hardly holds against the data.
    prior : {"pooled", "zero"}
        Mean μ of the prior. "zero" is the paper's. "pooled" is what one model learns from
        all positions, whatever came before: a previous state with few data is near it, and
        one with none is just that.
    edge : bool
        False leaves out what came before, the edge features of table 1: one model for all.
    max_iter, tol : int, float
        L-BFGS ends after so many iterations, with a warning, or when one changes the
        posterior by less than this share of it.

    Attributes
    ----------
    weights_ : ndarray, (n_features + 1, (k + 1) · k)
        Column i · k + j: state j after state i, and i = k at the start.
    counts_ : ndarray, (k + 1, k)
        How often the training data have state j after i.
    n_iter_ : int
        Iterations of L-BFGS in all.
    converged_ : bool
    """

    kind: ClassVar[str] = "memm"

    def __init__(
        self,
        k: int = 5,
        *,
        variance: float = 0.1,
        prior: str = "pooled",
        edge: bool = True,
        max_iter: int = 300,
        tol: float = 1e-6,
    ) -> None:
        super().__init__(k, variance=variance, edge=edge, max_iter=max_iter, tol=tol)
        check_choice("prior", prior, PRIORS)
        self.prior = prior

    def fit(
        self,
        features: csr_array,
        lengths: ArrayLike,
        labels: ArrayLike,
        *,
        names: Sequence[str] = (),
        progress: Callable[[int], object] | None = None,
    ) -> MEMM:
        """Fit the model to sequences.

        Parameters
        ----------
        features : csr_array, (n_items, n_features)
            Of all sequences, one after the other.
        lengths : array_like, (n_sequences,)
            How many items belong to each.
        labels : array_like, (n_items,)
            The states, 0 to k - 1.
        names : sequence of str, (n_features,), optional
        progress : callable, optional
            Is called with the number of iterations so far.
        """
        items = checked(features, lengths, labels, self.k, names)
        k, n_weights = self.k, items.features.shape[1]
        self.names_ = tuple(names)
        self.n_iter_ = 0
        self.converged_ = True
        self.counts_ = np.zeros((k + 1, k), dtype=np.int64)
        np.add.at(self.counts_, (items.previous, items.labels), 1)
        zero = np.zeros((n_weights, k))
        mean = zero
        if self.prior == "pooled" or not self.edge:
            mean = self._fitted(items.features, items.labels, zero, progress)
        weights = np.repeat(mean[:, None, :], k + 1, axis=1)  # (n_features + 1, k + 1, k)
        for state in range(k + 1) if self.edge else ():
            rows = np.flatnonzero(items.previous == state)
            if len(rows):
                weights[:, state] = self._fitted(
                    items.features[rows], items.labels[rows], mean, progress
                )
        self.weights_ = np.ascontiguousarray(weights.reshape(n_weights, (k + 1) * k))
        if not self.converged_:
            warnings.warn(
                f"the maximum-entropy Markov model has not converged in {self.max_iter} "
                f"iterations; give more (max_iter), or a smaller variance",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def _fitted(
        self,
        features: csr_array,
        labels: NDArray[np.intp],
        mean: NDArray[np.float64],
        progress: Callable[[int], object] | None,
    ) -> NDArray[np.float64]:
        """Return the weights of one maximum-entropy model, (n_features + 1, k)."""
        from scipy.optimize import minimize

        def iterated(_: Any) -> None:
            self.n_iter_ += 1
            if progress is not None:
                progress(self.n_iter_)

        transposed = features.T.tocsr()
        found = minimize(
            negative_posterior,
            mean.ravel(),
            args=(features, transposed, labels, mean, self.variance),
            method="L-BFGS-B",
            jac=True,
            callback=iterated,
            options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 1e-8, "maxfun": 10**9},
        )
        self.converged_ &= bool(found.success)
        weights: NDArray[np.float64] = found.x.reshape(mean.shape)
        return weights

    def log_potentials(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(j | i, o), (n, k + 1, k)."""
        scores = (evidence + self.weights_[-1]).reshape(len(evidence), self.k + 1, self.k)
        return _log_softmax(scores)

    def to_file(self, **about: Any) -> ModelFile:
        """Return the model as a :class:`ModelFile`; ``about`` are its other fields."""
        return chain_file(self, {"counts": self.counts_}, about)

    @classmethod
    def from_file(cls, model: ModelFile) -> MEMM:
        """Return the model of a file. Raises ModelFileError where it holds none."""
        made, arrays = chain_parts(model, cls, {"counts": ("<i8", ("k_and_start", "k"))})
        k = made.k
        if arrays["counts"].shape != (k + 1, k) or arrays["weights"].shape[1] != (k + 1) * k:
            raise model.damaged(f"its arrays are not those of {k} states")
        made.counts_ = arrays["counts"]
        return made


def negative_posterior(
    flat: NDArray[np.float64],
    features: csr_array,
    transposed: csr_array,
    labels: NDArray[np.intp],
    mean: NDArray[np.float64],
    variance: float,
) -> tuple[float, NDArray[np.float64]]:
    """Return -L of eq. 16 of one maximum-entropy model, and its gradient, (n_weights · k,).

    The gradient of L is Ẽ - E - (λ - μ) / σ² (eq. 17): how often a feature is with a state,
    less how often the model expects it, less the pull of the prior.

    Parameters
    ----------
    flat : ndarray, (n_weights · k,)
        λ.
    features, transposed
        (n, n_weights), and the same turned over, (n_weights, n).
    labels : ndarray, (n,)
    mean : ndarray, (n_weights, k)
        μ.
    """
    weights = flat.reshape(mean.shape)
    log_p = _log_softmax(features @ weights)  # (n, k)
    rows = np.arange(len(labels))
    off = weights - mean
    loss = float(-log_p[rows, labels].sum() + (off * off).sum() / (2 * variance))
    expected = np.exp(log_p)
    expected[rows, labels] -= 1.0
    gradient = transposed @ expected + off / variance
    return loss, gradient.ravel()


def _log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = scores - scores.max(axis=-1, keepdims=True)
    found: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return found
