"""Naive Bayes over counted features, taught one example at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.models.archive import check_shapes
from focusspider.registry import check_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.models.archive import Shapes

__all__ = ["CONTRIBUTION", "OnlineBayes"]

#: What :meth:`OnlineBayes.contribution` returns; the first class is the negative one.
CONTRIBUTION: Shapes = {
    "features": ("<i4", ("n_features",)),
    "counts": ("<i4", (2, "n_features")),
    "examples": ("<i8", (2,)),
}


class OnlineBayes:
    """Multinomial naive Bayes of two classes, with Laplace smoothing.

    An example is a list of features, each a number below ``n_features``; one that is there
    twice counts twice.

    Parameters
    ----------
    n_features
        How many features there are.

    Examples
    --------
    One feature in 3 of 4 of one class, and in 1 of 4 of the other, with two to choose from:

    >>> model = OnlineBayes(2)
    >>> model.learn(np.array([0, 0, 0, 1]), positive=True)
    >>> model.learn(np.array([0, 1, 1, 1]), positive=False)
    >>> model.log_odds(np.array([0]), np.array([0, 1])).round(4).tolist()  # log (4/6) / (2/6)
    [0.6931]
    """

    def __init__(self, n_features: int) -> None:
        check_whole("n_features", n_features)
        self.n_features = n_features
        self._counts = np.zeros((2, n_features))  # of features in each class
        self._examples = np.zeros(2)

    @property
    def n_examples(self) -> int:
        """How many examples it was taught."""
        return int(self._examples.sum())

    def learn(self, features: NDArray[np.integer[Any]], *, positive: bool) -> None:
        """Learn an example, (n,)."""
        np.add.at(self._counts[int(positive)], features, 1)
        self._examples[int(positive)] += 1

    def add(self, contribution: Mapping[str, NDArray[Any]], *, times: int = 1) -> None:
        """Add what another was taught (:meth:`contribution`); with ``times=-1`` take it off.

        Raises ``ValueError`` for what is none.
        """
        check_shapes(contribution, CONTRIBUTION)
        features, counts = contribution["features"], contribution["counts"]
        examples = contribution["examples"]
        if len(features) and not 0 <= features.min() <= features.max() < self.n_features:
            raise ValueError(f"features are numbers below {self.n_features}")
        if (np.diff(features) <= 0).any():
            raise ValueError("features are in ascending order, each once")
        if (counts < 0).any() or (examples < 0).any():
            raise ValueError("counts are not negative")
        self._counts[:, features] += times * counts
        self._examples += times * examples

    def contribution(self) -> dict[str, NDArray[Any]]:
        """Return what it was taught, but for features that no example has; see :meth:`add`."""
        features = np.flatnonzero(self._counts.any(axis=0))
        return {
            "features": features.astype(np.int32),
            "counts": self._counts[:, features].astype(np.int32),
            "examples": self._examples.astype(np.int64),
        }

    def log_odds(
        self, features: NDArray[np.integer[Any]], ends: NDArray[np.integer[Any]]
    ) -> NDArray[np.float64]:
        """Return the log odds of the positive class for many examples, (n_examples,).

        Parameters
        ----------
        features
            Those of all examples, one after the other, (n,).
        ends
            Where each example ends, after a 0, (n_examples + 1,).
        """
        totals = self._counts.sum(axis=1, keepdims=True) + self.n_features
        seen = np.log((self._counts[:, features] + 1) / totals)  # (2, n)
        sums = np.concatenate([[0.0], np.cumsum(seen[1] - seen[0])])
        prior = np.log((self._examples[1] + 1) / (self._examples[0] + 1))
        odds: NDArray[np.float64] = prior + np.diff(sums[ends])
        return odds

    def copy(self) -> OnlineBayes:
        """Return one that has learnt the same, and learns on its own."""
        return OnlineBayes(self.n_features).recall(self.arrays())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what :meth:`recall` takes up again."""
        return {"counts": self._counts, "examples": self._examples}

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> OnlineBayes:
        """Take up what was learnt, and return itself."""
        self._counts = np.array(arrays["counts"])
        self._examples = np.array(arrays["examples"])
        return self
