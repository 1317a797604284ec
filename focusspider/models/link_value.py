"""What a link is worth, learnt from what following others has brought.

Two parts that a crawl refits again and again, and that need no more than numpy. A
:class:`SuccessTable` says how often the links of a group (one source page, one directory,
one word) led to something; a :class:`LinkValue` weighs many such figures against each other.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.registry import check_number, check_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FOLDS", "LinkValue", "SuccessTable", "logit", "sigmoid"]

#: Places of a table of hashes at most, as a power of two: trials are many, groups are fewer.
_MOST_BITS = 18
#: Parts of the trials, of which a member leaves its own out.
FOLDS = 5
#: Standard deviations from the mean that count: a feature that hardly varied when the model was
#: fitted may be any number of them away later.
_FARTHEST = 4.0
#: Ridge of the intercept: it keeps that finite where all examples have one outcome.
_INTERCEPT_L2 = 1e-3
#: Of a logit, whichever sign: beyond it a probability is 0 or 1 to nine digits.
_LARGEST = 30.0


def logit(p: float) -> float:
    """Return the log odds of a probability in (0, 1)."""
    return float(np.log(p / (1 - p)))


def sigmoid(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of log odds; those beyond ±30 count as ±30."""
    probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(z, -_LARGEST, _LARGEST)))
    return probabilities


class SuccessTable:
    """How often the members of each group succeeded, smoothed towards the mean of all.

    The log odds of a group with s successes in t trials are

        log((s + a·m) / (t - s + a·(1 - m))) - log(m / (1 - m)),

    so 0 for a group that is not known: m is the mean of all, and a the number of trials that
    it counts for.

    What a model is fitted to must not hold a member's own outcome. Trials are in folds, and a
    member of one asks for its group without that fold. To leave out the member alone would
    not do: what is left is then the lower the higher its own outcome is, and where the groups
    differ little that would be all a model learns.

    Groups are integers. Those of 32-bit hashes share places, where the table is full, with
    others by chance; those that number things from 0 do not.

    Parameters
    ----------
    groups
        Group of each trial, (n_trials,); hashes, or numbers from 0.
    outcomes
        What came of each, in [0, 1], (n_trials,).
    folds
        Fold of each, from 0 to :data:`FOLDS` - 1, (n_trials,); None: members ask with their own
        outcomes in what they are told.
    mean
        m, in (0, 1).
    prior
        a, above 0.
    numbered
        So many numbers there are; a larger one is not known. None: groups are hashes.
    added
        Groups, trials and successes that were counted elsewhere, (n,) each; they are in no
        fold.
    """

    __slots__ = ("_folded", "_mask", "_mean", "_numbered", "_prior", "_successes", "_trials")

    def __init__(
        self,
        groups: NDArray[np.integer],
        outcomes: NDArray[np.float64],
        folds: NDArray[np.int64] | None = None,
        *,
        mean: float,
        prior: float = 1.0,
        numbered: int | None = None,
        added: tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]] | None = None,
    ) -> None:
        self._mean, self._prior, self._numbered = mean, prior, numbered
        # A quarter full where all trials differ, up to the most; the number after the last is
        # that of all unknown ones.
        n = len(groups) + (0 if added is None else len(added[0]))
        self._mask = (1 << min(max(10, (4 * n).bit_length()), _MOST_BITS)) - 1
        size = self._mask + 1 if numbered is None else numbered + 1
        places = self._places(groups)
        self._trials = np.bincount(places, minlength=size).astype(np.float32)
        self._successes = np.bincount(places, outcomes, minlength=size).astype(np.float32)
        if added is not None:
            more = self._places(added[0])
            self._trials += np.bincount(more, added[1], minlength=size).astype(np.float32)
            self._successes += np.bincount(more, added[2], minlength=size).astype(np.float32)
        self._folded: tuple[NDArray[np.int32], NDArray[np.float32]] | None = None
        if folds is not None:
            self._folded = (places * FOLDS + folds).astype(np.int32), outcomes.astype(np.float32)

    def counts(
        self, groups: NDArray[np.integer], folds: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return trials and successes of each group, without those of a fold where given, (n,)."""
        places = self._places(groups)
        trials = self._trials[places].astype(np.float64)
        successes = self._successes[places].astype(np.float64)
        if folds is not None:
            of_fold, good_of_fold = self._in_fold(places * FOLDS + folds)
            trials = np.maximum(trials - of_fold, 0)
            successes = np.clip(successes - good_of_fold, 0, trials)
        return trials, successes

    def log_odds(
        self, trials: NDArray[np.float64], successes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the smoothed log odds of counts, less those of the mean."""
        m, a = self._mean, self._prior
        odds: NDArray[np.float64] = (successes + a * m) / (trials - successes + a * (1 - m))
        return np.log(odds) - logit(m)

    def evidence(
        self, groups: NDArray[np.integer], folds: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return the :meth:`log_odds` of the :meth:`counts` of groups."""
        return self.log_odds(*self.counts(groups, folds))

    def drop_folds(self) -> None:
        """Forget what is in which fold, when a model has been fitted: that is most of it all."""
        self._folded = None

    def _in_fold(self, asked: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return trials and successes of places in folds, (n,) each."""
        if self._folded is None:
            raise ValueError("the trials are in no folds, or these were dropped")
        places, outcomes = self._folded
        order = np.argsort(places, kind="stable")
        ascending = places[order]
        sums = np.concatenate([[0.0], np.cumsum(outcomes[order], dtype=np.float64)])
        wanted = asked.astype(np.int32)
        first = np.searchsorted(ascending, wanted)
        end = np.searchsorted(ascending, wanted, side="right")
        return (end - first).astype(np.float64), sums[end] - sums[first]

    def _places(self, groups: NDArray[np.integer]) -> NDArray[np.int64]:
        if self._numbered is None:
            return groups.astype(np.int64) & self._mask
        return np.minimum(groups.astype(np.int64), self._numbered)


class LinkValue:
    """Logistic regression with an L2 penalty on standardised features, by Newton's method.

    It minimises Σ vᵢ (log(1 + exp(zᵢ)) - yᵢ zᵢ) + ½ λ |w|², with zᵢ = w·(xᵢ - μ)/σ + b. The
    yᵢ may be any number in [0, 1]: a share of a success is worth its share. The (xᵢ - μ)/σ
    are cut at ±4: a feature that hardly varied among the examples may be anywhere later.

    Parameters
    ----------
    l2 : float
        λ, of the weights of the standardised features.
    max_iter, tol
        It ends after so many steps, or when one changes no weight by more than ``tol``.

    Attributes
    ----------
    mean_, scale_ : ndarray
        μ and σ, (n_features,); σ is 1 for a feature that does not vary.
    weights_ : ndarray
        w, (n_features,).
    intercept_ : float
        b.
    """

    def __init__(self, *, l2: float = 1.0, max_iter: int = 50, tol: float = 1e-4) -> None:
        check_number("l2", l2, np.finfo(np.float64).tiny)
        check_whole("max_iter", max_iter)
        check_number("tol", tol)
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol

    def fit(
        self,
        features: NDArray[np.float64],
        outcomes: NDArray[np.float64],
        sample_weight: NDArray[np.float64] | None = None,
    ) -> LinkValue:
        """Learn from examples: (n, n_features), (n,) in [0, 1], and their weights v, (n,).

        Raises ``ValueError`` for features that are not finite: no step leads anywhere then.
        """
        if not np.isfinite(features).all():
            raise ValueError("features must be finite numbers")
        v = np.ones(len(outcomes)) if sample_weight is None else sample_weight
        self.mean_ = features.mean(axis=0)
        deviations = features.std(axis=0)
        self.scale_ = np.where(deviations > 1e-9, deviations, 1.0)
        deviations = np.clip((features - self.mean_) / self.scale_, -_FARTHEST, _FARTHEST)
        z = np.column_stack([deviations, np.ones(len(features))])
        ridge = np.full(z.shape[1], self.l2)
        ridge[-1] = _INTERCEPT_L2
        weights = np.zeros(z.shape[1])
        share = np.clip(v @ outcomes / max(v.sum(), 1e-12), 1e-4, 1 - 1e-4)
        weights[-1] = logit(float(share))
        loss = _loss(z @ weights, outcomes, v, weights, ridge)
        for _ in range(self.max_iter):
            p = sigmoid(z @ weights)
            gradient = z.T @ (v * (p - outcomes)) + ridge * weights
            curvature = (z * (v * p * (1 - p))[:, None]).T @ z + np.diag(ridge)
            step = np.linalg.solve(curvature, gradient)
            # Newton's step may be too long far from the minimum; half of it is then tried.
            while True:
                moved = weights - step
                after = _loss(z @ moved, outcomes, v, moved, ridge)
                if after <= loss + 1e-12 * abs(loss) or np.abs(step).max() < self.tol:
                    break
                step /= 2
            weights, loss = moved, after
            if np.abs(step).max() < self.tol:
                break
        else:
            warnings.warn(
                f"the value of links has not converged in {self.max_iter} steps: the last "
                f"changed a weight by {np.abs(step).max():.2g}",
                RuntimeWarning,
                stacklevel=2,
            )
        self.weights_ = weights[:-1]
        self.intercept_ = float(weights[-1])
        return self

    def contributions(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each feature adds to the log odds, (n, n_features)."""
        deviations = np.clip((features - self.mean_) / self.scale_, -_FARTHEST, _FARTHEST)
        parts: NDArray[np.float64] = deviations * self.weights_
        return parts

    def log_odds(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log odds of success, (n,)."""
        z: NDArray[np.float64] = self.contributions(features).sum(axis=1) + self.intercept_
        return z

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return what :meth:`recall` makes the same of again."""
        intercept = np.array([self.intercept_])
        return {
            "mean": self.mean_,
            "scale": self.scale_,
            "weights": self.weights_,
            "intercept": intercept,
        }

    def recall(self, arrays: dict[str, NDArray[np.float64]]) -> LinkValue:
        """Take up what was learnt."""
        self.mean_, self.scale_ = arrays["mean"], arrays["scale"]
        self.weights_, self.intercept_ = arrays["weights"], float(arrays["intercept"][0])
        return self


def _loss(
    z: NDArray[np.float64],
    outcomes: NDArray[np.float64],
    v: NDArray[np.float64],
    weights: NDArray[np.float64],
    ridge: NDArray[np.float64],
) -> float:
    losses = np.logaddexp(0, z) - outcomes * z
    return float(v @ losses + 0.5 * (ridge @ weights**2))
