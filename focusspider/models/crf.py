"""Linear-chain conditional random field: one distribution over all states of a path."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.models.chain import ChainModel, Items, checked
from focusspider.models.chainfile import chain_file, chain_parts
from focusspider.registry import check_flag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

    from focusspider.models.modelfile import ModelFile

__all__ = ["CRF"]

#: What crfsuite says when it has converged; the code is that of a start at the optimum.
_CONVERGED = (
    "L-BFGS resulted in convergence",
    "L-BFGS terminated with the stopping criteria",
    "L-BFGS terminated with error code (2)",
)


class CRF(ChainModel):
    """p(s | o) = exp(Σ_t Σ λ f(s_{t-1}, s_t, o)) / Z(o) (Liu and Milios 2010, eq. 26).

    python-crfsuite finds the λ, by L-BFGS with a Gaussian prior (eq. 36); the weights are
    then taken out of its model, and the states followed a page at a time (eq. 37 and 38).
    Features are of one state and an observation, or of two states.

    A state that no label has cannot be recognised: its probability is 0.

    Parameters
    ----------
    k : int
        Number of states: hop distances 0 to k - 1.
    variance : float
        σ² of the Gaussian prior, as for MEMM; crfsuite's ``c2`` is 1 / (2σ²).
    edge : bool
        False leaves out the pairs of states, the edge features of table 1.
    possible_states : bool
        Whether a feature also has a weight for states that it was never seen with.
    max_iter : int
        L-BFGS ends after so many iterations, with a warning. 100 in the paper, which
        is too few for some data.
    tol : float
        It has converged when ten iterations change the posterior by less than this share.

    Attributes
    ----------
    weights_ : ndarray, (n_features + 1, k)
        Weights of a feature with each state; the last row is L2 of the paper, the state
        alone. crfsuite gives them with six decimals.
    transitions_ : ndarray, (k, k)
        Weights of state j after state i, L1 of the paper.
    seen_ : ndarray of bool, (k,)
        Which states the training data have.
    n_iter_ : int
        Iterations of L-BFGS.
    converged_ : bool
    """

    kind: ClassVar[str] = "crf"

    def __init__(
        self,
        k: int = 5,
        *,
        variance: float = 0.1,
        edge: bool = True,
        possible_states: bool = False,
        max_iter: int = 300,
        tol: float = 1e-5,
    ) -> None:
        super().__init__(k, variance=variance, edge=edge, max_iter=max_iter, tol=tol)
        check_flag("possible_states", possible_states)
        self.possible_states = possible_states

    def fit(
        self,
        features: csr_array,
        lengths: ArrayLike,
        labels: ArrayLike,
        *,
        names: Sequence[str] = (),
        progress: Callable[[int], object] | None = None,
    ) -> CRF:
        """Fit the model to sequences; parameters as those of :meth:`MEMM.fit`."""
        items = checked(features, lengths, labels, self.k, names)
        self.names_ = tuple(names)
        with tempfile.TemporaryDirectory(prefix="focusspider-crf-") as folder:
            self._train(items, Path(folder) / "model", progress)
        self.seen_ = np.bincount(items.labels, minlength=self.k) > 0
        if not self.converged_:
            warnings.warn(
                f"the conditional random field has not converged in {self.n_iter_} "
                f"iterations; give more (max_iter), or a smaller variance",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def _train(self, items: Items, path: Path, progress: Callable[[int], object] | None) -> None:
        import pycrfsuite

        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params(
            {
                "c1": 0.0,
                "c2": 1 / (2 * self.variance),
                "max_iterations": self.max_iter,
                "delta": self.tol,
                "feature.possible_transitions": True,
                "feature.possible_states": self.possible_states,
            }
        )
        self.n_iter_ = 0
        self.converged_ = False

        def read(line: str) -> None:
            self.converged_ |= any(end in line for end in _CONVERGED)
            if line.startswith("***** Iteration #"):
                self.n_iter_ += 1
                if progress is not None:
                    progress(self.n_iter_)

        trainer.message = read
        _append(trainer, items, whole=self.edge)
        trainer.train(str(path))
        tagger = pycrfsuite.Tagger()
        tagger.open(str(path))
        try:
            learnt = tagger.info()
        finally:
            tagger.close()
        self.weights_ = np.zeros((items.features.shape[1], self.k))
        for (column, state), weight in learnt.state_features.items():
            self.weights_[int(column), int(state)] = weight
        self.transitions_ = np.zeros((self.k, self.k))
        for (before, after), weight in learnt.transitions.items():
            self.transitions_[int(before), int(after)] = weight

    def log_potentials(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ λ f(i, j, o), (n, k + 1, k)."""
        pairs = np.vstack([self.transitions_, np.zeros(self.k)])
        pairs[:, ~self.seen_] = -np.inf
        scores: NDArray[np.float64] = (evidence + self.weights_[-1])[:, None, :] + pairs
        return scores

    def to_file(self, **about: Any) -> ModelFile:
        """Return the model as a :class:`ModelFile`; ``about`` are its other fields."""
        arrays = {"transitions": self.transitions_, "seen": self.seen_}
        return chain_file(self, arrays, about)

    @classmethod
    def from_file(cls, model: ModelFile) -> CRF:
        """Return the model of a file. Raises ModelFileError where it holds none."""
        shapes = {"transitions": ("<f8", ("k", "k")), "seen": ("|b1", ("k",))}
        made, arrays = chain_parts(model, cls, shapes)
        if arrays["seen"].shape != (made.k,) or arrays["weights"].shape[1] != made.k:
            raise model.damaged(f"its arrays are not those of {made.k} states")
        if not arrays["seen"].any():
            raise model.damaged("it knows no state")
        made.transitions_, made.seen_ = arrays["transitions"], arrays["seen"]
        return made


def _append(trainer: Any, items: Items, *, whole: bool) -> None:
    """Give crfsuite the sequences, or each item alone: between those there are no edges."""
    import pycrfsuite

    matrix = items.features
    columns = np.array([str(column) for column in range(matrix.shape[1])], dtype=object)
    labels = [str(label) for label in items.labels.tolist()]
    start = 0
    for length in items.lengths.tolist() if whole else [1] * len(labels):
        rows = []
        for item in range(start, start + length):
            part = slice(matrix.indptr[item], matrix.indptr[item + 1])
            names = columns[matrix.indices[part]].tolist()
            rows.append(dict(zip(names, matrix.data[part].tolist(), strict=True)))
        trainer.append(pycrfsuite.ItemSequence(rows), labels[start : start + length])
        start += length
