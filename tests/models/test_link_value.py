"""The value of links: against scipy's optimiser and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from focusspider.models.link_value import LinkValue, sigmoid


def examples(n: int = 200, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    features = random.normal(size=(n, k)) * [1, 10, 0.1, 3, 1] + [0, 5, 1, 0, 0]
    features[:, 4] = 2.0  # says nothing
    z = features[:, 0] - 0.2 * features[:, 1] + 1
    return features, (random.random(n) < sigmoid(z)).astype(np.float64)


def test_the_fit_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    features, outcomes = examples()
    model = LinkValue(l2=2.0).fit(features, outcomes)
    standard = (features - features.mean(axis=0)) / np.where(
        features.std(axis=0) > 1e-9, features.std(axis=0), 1
    )
    theirs = LogisticRegression(C=1 / 2.0, tol=1e-10, max_iter=1000).fit(standard, outcomes)
    np.testing.assert_allclose(model.weights_, theirs.coef_[0], rtol=0, atol=1e-3)
    np.testing.assert_allclose(
        model.log_odds(features), theirs.decision_function(standard), rtol=0, atol=5e-3
    )


def test_soft_outcomes_and_weights_are_the_minimum_that_scipy_finds() -> None:
    from scipy.optimize import minimize

    features, _ = examples(60)
    random = np.random.default_rng(5)
    outcomes, weights = random.random(60), random.random(60)
    model = LinkValue(l2=0.7, tol=1e-8).fit(features, outcomes, weights)
    z = (features - model.mean_) / model.scale_

    def loss(w: np.ndarray) -> float:
        s = z @ w[:-1] + w[-1]
        likelihood = outcomes * np.log1p(np.exp(-s)) + (1 - outcomes) * np.log1p(np.exp(s))
        return float(weights @ likelihood + 0.35 * w[:-1] @ w[:-1] + 0.0005 * w[-1] ** 2)

    best = minimize(loss, np.zeros(6), options={"gtol": 1e-9}).x
    np.testing.assert_allclose([*model.weights_, model.intercept_], best, rtol=0, atol=1e-4)


def test_weights_are_shrunk_to_those_that_are_given() -> None:
    from scipy.optimize import minimize

    features, outcomes = examples(60)
    usual = np.array([1.0, 0.5, -0.5, 0.0, 2.0])
    model = LinkValue(l2=3.0, tol=1e-8).fit(features, outcomes, prior_weights=usual)
    z = (features - model.mean_) / model.scale_

    def loss(w: np.ndarray) -> float:
        s = z @ w[:-1] + w[-1]
        likelihood = outcomes * np.log1p(np.exp(-s)) + (1 - outcomes) * np.log1p(np.exp(s))
        return float(likelihood.sum() + 1.5 * ((w[:-1] - usual) ** 2).sum() + 0.0005 * w[-1] ** 2)

    best = minimize(loss, np.zeros(6), options={"gtol": 1e-9}).x
    np.testing.assert_allclose([*model.weights_, model.intercept_], best, rtol=0, atol=1e-4)
    assert model.weights_[4] == pytest.approx(2.0)  # it never varied: nothing speaks against it
    strict = LinkValue(l2=1e6).fit(features, outcomes, prior_weights=usual)
    np.testing.assert_allclose(strict.weights_, usual, rtol=0, atol=1e-3)


def test_contributions_sum_to_the_log_odds() -> None:
    features, outcomes = examples()
    model = LinkValue().fit(features, outcomes)
    total = model.contributions(features).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, model.log_odds(features), rtol=0, atol=1e-9)
    again = LinkValue().recall(model.arrays())
    assert np.array_equal(again.log_odds(features), model.log_odds(features))


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_one_outcome_only_is_learnt_too(outcome: float) -> None:
    features, _ = examples(30)
    model = LinkValue().fit(features, np.full(30, outcome))
    assert ((sigmoid(model.log_odds(features)) > 0.9) == (outcome > 0)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_no_numbers_are_refused(value: float) -> None:
    features, outcomes = examples()
    features[3, 1] = value
    with pytest.raises(ValueError, match="features must be finite numbers"):
        LinkValue().fit(features, outcomes)


def test_what_lies_far_from_the_examples_counts_as_near() -> None:
    features = np.column_stack([np.linspace(-1, 1, 100), np.linspace(0, 1e-6, 100)])
    model = LinkValue().fit(features, (features[:, 0] > 0).astype(np.float64))
    far = np.array([[0.0, 1000.0]])
    assert abs(model.contributions(far)[0, 1]) <= 4 * abs(model.weights_[1]) + 1e-12
    np.testing.assert_allclose(
        model.log_odds(far), model.contributions(far).sum(axis=1) + model.intercept_, atol=1e-12
    )
