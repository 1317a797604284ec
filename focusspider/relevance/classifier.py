"""Relevance by a classifier of texts, trained before the crawl or from the topic's targets."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from focusspider.errors import TopicError
from focusspider.models.modelfile import read_model
from focusspider.models.page_classifier import ALGORITHMS, PageClassifier, PageWords
from focusspider.registry import check_choice, check_share
from focusspider.relevance.base import Judgement
from focusspider.relevance.negatives import negative_files, read_negatives
from focusspider.resources import located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focusspider.page import Page
    from focusspider.profile import TopicProfile

__all__ = ["FILE_NAME", "ClassifierRelevance", "page_words"]

logger = logging.getLogger(__name__)

#: The model of a topic, in its folder of models.
FILE_NAME = "relevance.npz"


class ClassifierRelevance:
    """A page is relevant where its words are those of the target pages rather than of others.

    Where ``scrapy focus-train TOPIC --relevance`` has written a model, that decides. Otherwise
    one is trained when the crawl begins, from the topic's targets and the pages that are not
    wanted (``negatives``), or from the targets alone: see
    :class:`~focusspider.models.page_classifier.PageClassifier`.

    Parameters
    ----------
    threshold : float
        Least probability, in [0, 1].
    algorithm : {"naive-bayes", "logistic-regression"}, optional
        None is the file's; without a file logistic regression where there are negatives, and
        naive Bayes where there are none.
    negatives : str or list of str
        HTML files, and folders of them, of pages that are not wanted, relative to the topic file.
    model : path, optional
        The model file, relative to the topic file; ``relevance.npz`` in the topic's folder of
        models, where that is there, if not given.
    """

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        algorithm: str | None = None,
        negatives: str | Sequence[str] = (),
        model: str | os.PathLike[str] | None = None,
        base_dir: str | os.PathLike[str] | None = None,
        models_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        check_share("threshold", threshold)
        if algorithm is not None:
            check_choice("algorithm", algorithm, ALGORITHMS)
        if model is not None and (not isinstance(model, str | os.PathLike) or not str(model)):
            raise ValueError(f"model must be a path, got {model!r}")
        self.threshold = threshold
        self.algorithm = algorithm
        self.negatives = negatives
        self.model = model
        self.base_dir = base_dir
        self.models_dir = models_dir
        self._negatives = negative_files(negatives, base_dir)
        self._classifier: PageClassifier | None = None
        path = self._model_path()
        if path is not None:
            self._file = read_model(path, kind=PageClassifier.kind)
            self._classifier = PageClassifier.from_file(self._file)
            if algorithm not in {None, self._classifier.algorithm}:
                raise ValueError(
                    f"algorithm is {algorithm!r}, and {path} has learnt by "
                    f"{self._classifier.algorithm!r}; leave algorithm out, or train it again with "
                    f"'scrapy focus-train TOPIC --relevance'"
                )

    def _model_path(self) -> Path | None:
        if self.model is not None:
            path = located(self.model, self.base_dir)
            if not path.exists():
                raise ValueError(
                    f"model: there is no {path}; train it with 'scrapy focus-train TOPIC "
                    f"--relevance', or leave it out"
                )
            return path
        path = Path(self.models_dir or ".", FILE_NAME)
        return path if self.models_dir is not None and path.exists() else None

    def start(self, profile: TopicProfile) -> None:
        """Look whether the model is of the topic's language; learn one where there is none."""
        if self._classifier is not None:
            self._file.check_language(profile.analyzer.language)
            logger.info("Relevance is judged by %s of %s.", self._file.source, self._file.date)
            return
        wanted = [page_words(target.page) for target in profile.targets]
        others = [page_words(page) for page in read_negatives(self._negatives, profile.analyzer)]
        algorithm = self.algorithm or ALGORITHMS[bool(others)]
        try:
            self._classifier = PageClassifier(algorithm=algorithm).fit(wanted, others)
        except ValueError as error:
            raise TopicError(
                f"{profile.topic.source}: relevance 'classifier': {error}; its wanted pages are "
                f"the topic's targets"
            ) from None
        logger.info(
            "Relevance is judged by %s, trained from %d targets and %d pages that are not wanted.",
            algorithm, *self._classifier.n_pages_,
        )  # fmt: skip

    def judge(self, page: Page) -> Judgement:
        """Classify a page."""
        assert self._classifier is not None
        probability, reasons = self._classifier.classify(page_words(page))
        relevant = probability >= self.threshold
        sign = "≥" if relevant else "<"
        why = f"{self._classifier.algorithm} {probability:.3f} {sign} threshold {self.threshold:g}"
        return Judgement(probability, relevant, f"{why}: {', '.join(reasons)}" if reasons else why)


def page_words(page: Page) -> PageWords:
    """Return what a classifier sees of a page."""
    return PageWords(page.terms, page.heading_terms)
