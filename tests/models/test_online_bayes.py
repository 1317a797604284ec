"""The online naive Bayes against worked numbers and scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

from focusspider.models.online_bayes import OnlineBayes


def test_one_word() -> None:
    model = OnlineBayes(1)
    model.learn(np.array([0]), positive=True)
    model.learn(np.array([0]), positive=True)
    model.learn(np.array([0]), positive=False)
    # the word is certain in both classes; the prior is 3 to 2
    assert model.log_odds(np.array([0]), np.array([0, 1])) == pytest.approx(np.log(3 / 2))


def test_nothing_learnt_and_nothing_seen() -> None:
    model = OnlineBayes(4)
    assert model.log_odds(np.array([1, 2]), np.array([0, 2, 2])).tolist() == [0, 0]
    assert model.log_odds(np.array([], dtype=int), np.array([0])).tolist() == []
    model.learn(np.array([], dtype=int), positive=True)
    assert model.log_odds(np.array([], dtype=int), np.array([0, 0])) == pytest.approx(np.log(2))


def test_it_is_multinomial_naive_bayes() -> None:
    from sklearn.naive_bayes import MultinomialNB

    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, (30, 12))
    classes = rng.random(30) < 0.4
    model = OnlineBayes(12)
    for row, positive in zip(counts, classes, strict=True):
        model.learn(np.repeat(np.arange(12), row), positive=bool(positive))
    assert model.n_examples == 30
    reference = MultinomialNB().fit(counts, classes)
    expected = np.diff(reference.predict_joint_log_proba(counts), axis=1).ravel()
    expected -= np.diff(reference.class_log_prior_)
    expected += np.log((classes.sum() + 1) / ((~classes).sum() + 1))  # the prior is smoothed too
    features = np.concatenate([np.repeat(np.arange(12), row) for row in counts])
    ends = np.cumsum([0, *counts.sum(axis=1)])
    np.testing.assert_allclose(model.log_odds(features, ends), expected, rtol=1e-9)


def test_a_copy_learns_on_its_own() -> None:
    model = OnlineBayes(2)
    other = model.copy()
    other.learn(np.array([0, 0]), positive=True)
    assert (model.n_examples, other.n_examples) == (0, 1)
    again = OnlineBayes(2).recall(other.arrays())
    odds = [one.log_odds(np.array([0]), np.array([0, 1])).tolist() for one in (other, again)]
    assert odds[0] == odds[1] != model.log_odds(np.array([0]), np.array([0, 1])).tolist()


def test_no_features_are_refused() -> None:
    with pytest.raises(ValueError, match="n_features must be a whole number of at least 1, got 0"):
        OnlineBayes(0)
