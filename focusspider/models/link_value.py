"""What a link is worth, learnt from what following others has brought.

A :class:`LinkValue` weighs many figures against each other, such as those of a
:class:`~focusspider.models.success_table.SuccessTable`. A crawl refits it again and again.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from focusspider.registry import check_number, check_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LinkValue", "logit", "sigmoid"]

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
    probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-_between(z, _LARGEST)))
    return probabilities


def _between(values: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Return values cut at ±most; for few of them numpy's ``clip`` takes several times as long."""
    cut: NDArray[np.float64] = np.minimum(np.maximum(values, -most), most)
    return cut


class LinkValue:
    """Logistic regression with an L2 penalty on standardised features, by Newton's method.

    It minimises Σ vᵢ (log(1 + exp(zᵢ)) - yᵢ zᵢ) + ½ λ |w - u|², with zᵢ = w·(xᵢ - μ)/σ + b.
    The yᵢ may be any number in [0, 1]: a share of a success is worth its share. The (xᵢ - μ)/σ
    are cut at ±4: a feature that hardly varied among the examples may be anywhere later.

    The u are what the features weigh as long as the examples do not say otherwise. Where many
    features are evidence of one thing, and the examples are few, equal weights predict better
    than fitted ones (Dawes 1979, The robust beauty of improper linear models).

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
        *,
        prior_weights: NDArray[np.float64] | None = None,
    ) -> LinkValue:
        """Learn from examples: (n, n_features), (n,) in [0, 1], and their weights v, (n,).

        ``prior_weights`` are u, (n_features,); None: 0, as ridge regression has it.

        Raises ``ValueError`` for features that are not finite: no step leads anywhere then.
        """
        if not np.isfinite(features).all():
            raise ValueError("features must be finite numbers")
        v = np.ones(len(outcomes)) if sample_weight is None else sample_weight
        self.mean_ = features.mean(axis=0)
        deviations = features.std(axis=0)
        self.scale_ = np.where(deviations > 1e-9, deviations, 1.0)
        deviations = _between((features - self.mean_) / self.scale_, _FARTHEST)
        z = np.column_stack([deviations, np.ones(len(features))])
        ridge = np.full(z.shape[1], self.l2)
        ridge[-1] = _INTERCEPT_L2
        start = np.zeros(z.shape[1])
        if prior_weights is not None:
            start[:-1] = prior_weights
        weights = start.copy()
        share = np.clip(v @ outcomes / max(v.sum(), 1e-12), 1e-4, 1 - 1e-4)
        weights[-1] = logit(float(share))
        loss = _loss(z @ weights, outcomes, v, weights - start, ridge)
        for _ in range(self.max_iter):
            p = sigmoid(z @ weights)
            gradient = z.T @ (v * (p - outcomes)) + ridge * (weights - start)
            curvature = (z * (v * p * (1 - p))[:, None]).T @ z + np.diag(ridge)
            step = np.linalg.solve(curvature, gradient)
            # Newton's step may be too long far from the minimum; half of it is then tried.
            while True:
                moved = weights - step
                after = _loss(z @ moved, outcomes, v, moved - start, ridge)
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
        deviations = _between((features - self.mean_) / self.scale_, _FARTHEST)
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
    moved: NDArray[np.float64],
    ridge: NDArray[np.float64],
) -> float:
    """Return what is minimised; ``moved`` are the weights less what they are shrunk to."""
    losses = np.logaddexp(0, z) - outcomes * z
    return float(v @ losses + 0.5 * (ridge @ moved**2))
