"""The trainer of the classifier of relevance, on pages whose words are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import TrainingError
from focusspider.models.page_classifier import PageClassifier, PageWords
from focusspider.training.relevance import RelevanceTrainer, fingerprint, with_examples
from tests.pages import page
from tests.training.smalldata import KINDS, WORDS, data, pages

if TYPE_CHECKING:
    from focusspider.training.base import Trained, TrainingData


def trained(of: TrainingData, **params: Any) -> Trained:
    random = np.random.default_rng(0)
    return RelevanceTrainer(**params).train(of, random_state=random, told=lambda *_: None)


def verdict(of: Trained, *words: str) -> bool:
    model = PageClassifier.from_file(of.model)
    return model.classify(PageWords(words, ())).probability >= 0.5


@pytest.mark.parametrize("algorithm", [None, "naive-bayes", "logistic-regression"])
def test_targets_are_told_from_the_other_pages(algorithm: str | None) -> None:
    found = trained(data(), algorithm=algorithm)
    assert found.model.parameters["algorithm"] == algorithm or algorithm is None
    assert found.model.parameters["language"] == "english"
    assert verdict(found, *WORDS["robot"][:5])
    assert not verdict(found, *WORDS["sport"][:5])
    metrics = found.model.metrics
    # A fifth of 12 robots and of 60 others: 2 and 12.
    assert metrics["held_out_pages"] == 14
    assert metrics["guessed_accuracy"] == pytest.approx(12 / 14, abs=1e-12)
    assert metrics["held_out_accuracy"] > metrics["guessed_accuracy"]
    assert not found.warnings


def test_without_other_pages_there_is_recall_alone_and_a_warning() -> None:
    robots = pages()[: KINDS["robot"]]
    found = trained(data(pages=robots, edges=[]))
    assert found.model.parameters["algorithm"] == "naive-bayes"
    assert found.model.metrics.keys() == {"held_out_pages", "held_out_recall"}
    assert "there are no pages that are not wanted" in found.warnings[0]
    with pytest.raises(TrainingError, match=r"^graph.sqlite: 'logistic-regression' needs pages"):
        trained(data(pages=robots, edges=[]), algorithm="logistic-regression")


def test_too_few_targets_are_refused_with_how_many_there_are() -> None:
    with pytest.raises(TrainingError, match=r"2 targets with words, and at least 3 are needed"):
        trained(data(n_targets=2))


def test_the_same_pages_give_the_same_file() -> None:
    one, other = (trained(data()).model for _ in range(2))
    assert one.metrics == other.metrics
    assert all((one.arrays[name] == other.arrays[name]).all() for name in one.arrays)


def test_examples_are_added_and_tell_the_fingerprint() -> None:
    before = data()
    more = with_examples(before, [page("<p>a robot")], [page("<p>tea"), page("<p>cake")])
    assert len(more) == len(before) + 3
    assert more.targets[-3:].tolist() == [True, False, False]
    assert fingerprint(before) == fingerprint(data()) != fingerprint(more)
    swapped = with_examples(before, [page("<p>tea")], [page("<p>a robot"), page("<p>cake")])
    assert fingerprint(swapped) != fingerprint(more)
