"""Trains the classifier of relevance: which words wanted pages have, and others lack."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.errors import TrainingError
from focusspider.models.page_classifier import ALGORITHMS, PageClassifier
from focusspider.relevance.classifier import page_words
from focusspider.training.base import Trained, TrainingData
from focusspider.training.collection import Split, check_held_out, of_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focusspider.models.page_classifier import PageWords
    from focusspider.page import Page
    from focusspider.training.base import Told

__all__ = ["MIN_WANTED", "RelevanceTrainer", "fingerprint", "with_examples"]

#: Least of wanted pages with words.
MIN_WANTED = 3


class RelevanceTrainer:
    """Learns to tell the targets from the other pages.

    Measures are of a share of the pages that is held out; the model that is kept has learnt from
    all. ``held_out_precision`` is the share of the pages taken for wanted that are, and
    ``held_out_recall`` the share of the wanted ones that are taken for it. ``held_out_accuracy`` is
    the share of pages that are taken for what they are, and ``guessed_accuracy`` that of one who
    always says what most are. Where there are only wanted pages, there is recall alone.

    Parameters
    ----------
    algorithm : {"naive-bayes", "logistic-regression"}, optional
        None is the latter where there are pages that are not wanted, else the former.
    smoothing, c, outliers, n_terms
        Of :class:`~focusspider.models.page_classifier.PageClassifier`.
    held_out : float
        Share of the pages, in [0, 1); 0 measures nothing.
    """

    kind: ClassVar[str] = "relevance"

    def __init__(
        self,
        *,
        algorithm: str | None = None,
        smoothing: float = 1.0,
        c: float = 10.0,
        outliers: float = 0.05,
        n_terms: int = 20_000,
        held_out: float = 0.2,
    ) -> None:
        check_held_out(held_out)
        self.algorithm = algorithm
        self.smoothing = smoothing
        self.c = c
        self.outliers = outliers
        self.n_terms = n_terms
        self.held_out = held_out
        self._model(ALGORITHMS[0])  # looks at the rest

    def _model(self, otherwise: str) -> PageClassifier:
        return PageClassifier(
            algorithm=otherwise if self.algorithm is None else self.algorithm,
            smoothing=self.smoothing,
            c=self.c,
            outliers=self.outliers,
            n_terms=self.n_terms,
        )

    def train(
        self, data: TrainingData, *, random_state: np.random.Generator, told: Told
    ) -> Trained:
        """Learn from the pages, after measuring on a part of them."""
        told("relevance: counting words", 0, 3)
        words = [page_words(page) for page in data.pages]
        known = np.array([bool(page.text) for page in words], dtype=np.bool_)
        data.need("targets with words", int(np.count_nonzero(known & data.targets)), MIN_WANTED)
        kept = np.flatnonzero(known)
        words, wanted = [words[page] for page in kept.tolist()], data.targets[kept]
        told("relevance: measuring", 1, 3)
        split = Split.of(wanted.astype(np.int64), self.held_out, random_state)
        metrics = {} if split is None else self._measured(words, wanted, split.out)
        told("relevance: fitting", 2, 3)
        model = self._fitted(words, wanted, data)
        told("relevance: fitting", 3, 3)
        strongest = sorted(
            zip(model.weights_.tolist(), model.names_, strict=True),
            key=lambda entry: (-entry[0], entry[1]),
        )
        n_wanted, n_others = model.n_pages_
        found = f"{model.algorithm}, from {n_wanted:,} wanted and {n_others:,} other pages"
        first = ", ".join(name for _, name in strongest[:5])
        return Trained(
            of_language(replace(model.to_file(), metrics=metrics), data),
            (f"{found}, with {len(model.names_):,} words", f"strongest: {first}"),
            _warnings(n_others),
        )

    def _fitted(
        self, words: Sequence[PageWords], wanted: NDArray[np.bool_], data: TrainingData
    ) -> PageClassifier:
        try:
            return self._learnt(words, wanted)
        except ValueError as error:
            raise TrainingError(f"{data.source}: {error}") from None

    def _learnt(self, words: Sequence[PageWords], wanted: NDArray[np.bool_]) -> PageClassifier:
        those = [page for page, is_wanted in zip(words, wanted.tolist(), strict=True) if is_wanted]
        others = [p for p, is_wanted in zip(words, wanted.tolist(), strict=True) if not is_wanted]
        return self._model(ALGORITHMS[bool(others)]).fit(those, others)

    def _measured(
        self, words: Sequence[PageWords], wanted: NDArray[np.bool_], out: NDArray[np.bool_]
    ) -> dict[str, Any]:
        """Return how well a model of the other pages tells those held out."""
        left = np.flatnonzero(~out).tolist()
        try:
            model = self._learnt([words[page] for page in left], wanted[left])
        except ValueError:  # what is left is too little, though all is not
            return {}
        held = np.flatnonzero(out)
        said = np.array([model.classify(words[page]).probability >= 0.5 for page in held.tolist()])
        true = wanted[held]
        right = int(np.count_nonzero(said & true))
        metrics: dict[str, Any] = {"held_out_pages": len(held)}
        if true.any():
            metrics["held_out_recall"] = right / int(np.count_nonzero(true))
        if not true.all():
            metrics["held_out_precision"] = right / max(int(np.count_nonzero(said)), 1)
            metrics["held_out_accuracy"] = float(np.mean(said == true))
            metrics["guessed_accuracy"] = float(max(true.mean(), 1 - true.mean()))
        return metrics


def with_examples(
    data: TrainingData, wanted: Sequence[Page], others: Sequence[Page]
) -> TrainingData:
    """Return the data with more pages, which no link leads to."""
    flags = [np.ones(len(wanted), dtype=np.bool_), np.zeros(len(others), dtype=np.bool_)]
    return TrainingData(
        pages=[*data.pages, *wanted, *others],
        sources=data.sources,
        destinations=data.destinations,
        targets=np.concatenate([data.targets, *flags]),
        topic=data.topic,
        parser=data.parser,
        source=data.source,
    )


def fingerprint(data: TrainingData) -> str:
    """Return what is another where other pages are learnt from, or are held to be wanted."""
    digest = hashlib.sha256()
    for page, wanted in zip(data.pages, data.targets.tolist(), strict=True):
        words = page_words(page)
        digest.update(f"{wanted} {sorted(words.text)} {sorted(words.headings)}\n".encode())
    return digest.hexdigest()


def _warnings(n_others: int) -> tuple[str, ...]:
    said = (
        "there are no pages that are not wanted, so that it can only tell what is unlike the "
        "targets; name some in [relevance] of the topic (negatives), or collect a web graph"
    )
    return () if n_others else (said,)
