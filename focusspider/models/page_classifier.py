"""Which pages are like some and unlike others, by their words: naive Bayes, logistic regression."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from focusspider.models.modelfile import ModelFile, pack_texts, text_shapes
from focusspider.registry import check_choice, check_number, check_share, check_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from focusspider.models.modelfile import Shapes

__all__ = ["ALGORITHMS", "Classified", "PageClassifier", "PageWords"]

ALGORITHMS = ("naive-bayes", "logistic-regression")

#: What the names of features begin with.
_TEXT, _HEADING = "text:", "heading:"
#: Least pages to learn from: of each class where there are both, and where there is one.
MIN_EACH, MIN_ALONE = 2, 3
#: Pages up to which each is left out by itself, and parts of the pages of more.
_ALONE, _FOLDS = 100, 10
#: What a page is believed to be that is as like the samples as the middle one of them, where there
#: is nothing that is not wanted.
_MIDDLE = 0.9
#: How much less like, at least, a page may be than that: samples may be all the same.
_LEAST_SPREAD = 0.1
_LEAST_SLOPE = 1e-3
#: Of a weight in a file: sums of them stay finite.
_MOST = 1e12
#: Words that an explanation names.
_NAMED = 3


class PageWords(NamedTuple):
    """The terms of a page's text, and of its headings; how often each occurs does not count."""

    text: Collection[str]
    headings: Collection[str]


class Classified(NamedTuple):
    """What a page is held to be: the probability, and the features that weigh most for it."""

    probability: float
    reasons: tuple[str, ...]


class PageClassifier:
    """Tells wanted pages from others by the words of their text and of their headings.

    A page is two vectors, one of text and one of headings. In each, every term that occurs has the
    same value, and the length is 1: a long page counts as much as a short one, and the few words of
    its headings as much as those of its text. Both algorithms learn a weight w for each feature f
    and judge a page x by

        P(wanted | x) = 1 / (1 + exp(-a (Σ_f w_f x_f - b))).

    ``"logistic-regression"`` is that with an L2 prior, w, a and b learnt at once, the two classes
    weighing the same. It needs pages of both.

    ``"naive-bayes"`` is multinomial, w_f = log P(f | wanted) - log P(f | other), with
    P(f | c) = (Σ_x∈c x_f + λ) / (Σ_f Σ_x∈c x_f + λ n_features). As its probabilities are too sure,
    a and b are those of a logistic regression on the scores of pages that were left out (Platt).

    Without pages that are not wanted, naive Bayes compares with a background in which each term is
    as rare as one that was never seen: w_f = log((n_f + λ) / λ), n_f being how many of the pages
    have the term; the weights of text and headings have the length 1/2 each. A page is wanted where
    it is as like the others as the samples are like each other: b is the score below which a share
    of ``outliers`` of the samples are when left out, but at most nine tenths of the score of the
    middle one of them, and this has 0.9.

    Parameters
    ----------
    algorithm : {"naive-bayes", "logistic-regression"}
    smoothing : float
        λ, above 0; of naive Bayes.
    c : float
        Variance of the prior of the weights, above 0; of logistic regression.
    outliers : float
        Share, in [0, 1); used where there are no other pages.
    n_terms : int
        Features that count, those of most pages.

    Attributes
    ----------
    names_ : list of str
        The features, ``text:TERM`` and ``heading:TERM``.
    weights_ : ndarray, (n_features,)
        w.
    boundary_, slope_ : float
        b and a.
    n_pages_ : tuple of int
        How many wanted and other pages it has learnt from.
    """

    kind: ClassVar[str] = "relevance"
    PARAMETERS: ClassVar[tuple[str, ...]] = ("algorithm", "smoothing", "c", "outliers", "n_terms")
    SHAPES: ClassVar[Shapes] = {
        **text_shapes("names", "n_features"),
        "weights": ("<f8", ("n_features",)),
        "calibration": ("<f8", (2,)),
        "n_pages": ("<i8", (2,)),
    }

    def __init__(
        self,
        *,
        algorithm: str = "logistic-regression",
        smoothing: float = 1.0,
        c: float = 10.0,
        outliers: float = 0.05,
        n_terms: int = 20_000,
    ) -> None:
        check_choice("algorithm", algorithm, ALGORITHMS)
        check_number("smoothing", smoothing, np.finfo(np.float64).tiny)
        check_number("c", c, np.finfo(np.float64).tiny)
        check_share("outliers", outliers)
        if outliers == 1:
            raise ValueError("outliers must be below 1, or no page is wanted, got 1")
        check_whole("n_terms", n_terms)
        self.algorithm = algorithm
        self.smoothing = smoothing
        self.c = c
        self.outliers = outliers
        self.n_terms = n_terms

    def fit(self, wanted: Sequence[PageWords], others: Sequence[PageWords]) -> PageClassifier:
        """Learn from pages that are wanted, and from others where there are any.

        Raises
        ------
        ValueError
            Where there are too few of them, or none has words.
        """
        wanted, others = _ordered(wanted), _ordered(others)
        self.check_enough(len(wanted), len(others))
        pages = [*wanted, *others]
        self._learn_names(pages)
        rows = self._matrix(pages)  # (n_pages, n_features), sparse
        classes = np.arange(len(pages)) < len(wanted)  # (n_pages,)
        self.n_pages_ = len(wanted), len(others)
        if not others:
            self._fit_alone(rows)
        elif self.algorithm == "naive-bayes":
            self._fit_bayes(rows, classes)
        else:
            self._fit_logistic(rows, classes)
        self._index()
        return self

    def check_enough(self, n_wanted: int, n_others: int) -> None:
        """Raise ``ValueError`` where there are too few pages with words to learn from."""
        least = MIN_EACH if n_others else MIN_ALONE
        if n_wanted < least:
            raise ValueError(
                f"it learns from {least} wanted pages with words or more, and there are {n_wanted}"
            )
        if 0 < n_others < MIN_EACH:
            raise ValueError(
                f"it learns from {MIN_EACH} pages with words that are not wanted or more, or from "
                f"none, and there is {n_others}"
            )
        if not n_others and self.algorithm == "logistic-regression":
            raise ValueError(
                "'logistic-regression' needs pages that are not wanted; give negatives, or take "
                "algorithm = 'naive-bayes'"
            )

    def _learn_names(self, pages: Sequence[PageWords]) -> None:
        found = Counter(name for page in pages for name in _features(page))
        ordered = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
        self.names_ = sorted(name for name, _ in ordered[: self.n_terms])

    def _matrix(self, pages: Sequence[PageWords]) -> Any:
        """Return the vectors of pages, (n_pages, n_features), sparse."""
        from scipy.sparse import csr_array

        column = {name: number for number, name in enumerate(self.names_)}
        columns: list[int] = []
        values: list[float] = []
        ends = [0]
        for page in pages:
            for prefix, terms in _blocks(page):
                known = sorted(column[name] for t in terms if (name := prefix + t) in column)
                columns += known
                values += [1 / math.sqrt(max(len(terms), 1))] * len(known)
            ends.append(len(columns))
        return csr_array((values, columns, ends), shape=(len(pages), len(self.names_)))

    def _fit_alone(self, rows: Any) -> None:
        n = rows.shape[0]
        there = rows.copy()
        there.data = np.ones_like(there.data)
        counts = there.sum(axis=0)  # (n_features,)
        self.weights_ = self._alone(counts)
        left_out = np.empty(n)
        for page in range(n):
            row = rows[[page]]
            left_out[page] = (row @ self._alone(counts - there[[page]].toarray().ravel()))[0]
        low = float(np.quantile(left_out, self.outliers, method="lower"))
        middle = float(np.median(left_out))
        spread = max(middle - low, _LEAST_SPREAD * middle, _LEAST_SLOPE)
        self.boundary_, self.slope_ = middle - spread, math.log(_MIDDLE / (1 - _MIDDLE)) / spread

    def _alone(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights where there is only the background to compare with, (n_features,)."""
        weights = np.log((counts + self.smoothing) / self.smoothing)
        of_text = np.array([name.startswith(_TEXT) for name in self.names_])
        for block in (of_text, ~of_text):
            length = float(np.linalg.norm(weights[block]))
            if length:
                weights[block] /= 2 * length
        return weights

    def _fit_bayes(self, rows: Any, classes: NDArray[np.bool_]) -> None:
        self.weights_ = self._bayes(rows, classes)
        left_out = np.empty(len(classes))
        for fold in _folds(classes):
            weights = self._bayes(rows[~fold], classes[~fold])
            left_out[fold] = rows[fold] @ weights
        self.boundary_, self.slope_ = _platt(left_out, classes)

    def _bayes(self, rows: Any, classes: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return log P(f | wanted) - log P(f | other), (n_features,)."""
        wanted, other = (
            np.asarray(rows[of_class].sum(axis=0)) + self.smoothing
            for of_class in (classes, ~classes)
        )
        weights: NDArray[np.float64] = np.log(wanted / wanted.sum()) - np.log(other / other.sum())
        return weights

    def _fit_logistic(self, rows: Any, classes: NDArray[np.bool_]) -> None:
        from sklearn.linear_model import LogisticRegression

        fitted = LogisticRegression(C=self.c, class_weight="balanced", max_iter=1000)
        fitted.fit(rows, classes)
        self.weights_ = fitted.coef_[0].astype(np.float64)
        self.boundary_, self.slope_ = -float(fitted.intercept_[0]), 1.0

    def _index(self) -> None:
        texts: dict[str, float] = {}
        headings: dict[str, float] = {}
        for name, weight in zip(self.names_, self.weights_.tolist(), strict=True):
            kind, _, term = name.partition(":")
            (texts if f"{kind}:" == _TEXT else headings)[term] = weight
        self._weight_of = (texts, headings)

    def classify(self, page: PageWords) -> Classified:
        """Judge a page; the reasons are the words that weigh most for what it is held to be.

        A page with none of the words that were learnt is not wanted.
        """
        parts: list[tuple[float, str]] = []
        score = 0.0
        for weight_of, terms, ending in zip(self._weight_of, page, ("", " (heading)"), strict=True):
            known = [(weight, t) for t in terms if (weight := weight_of.get(t)) is not None]
            if known:
                scale = 1 / math.sqrt(len(terms))
                score += scale * sum([weight for weight, _ in known])
                parts += [(weight * scale, t + ending) for weight, t in known]
        if not parts:
            return Classified(0.0, ())
        probability = _sigmoid(self.slope_ * (score - self.boundary_))
        sign = 1 if probability >= 0.5 or not self.n_pages_[1] else -1
        strongest = sorted(((-sign * part, name) for part, name in parts if sign * part > 0))
        return Classified(probability, tuple(name for _, name in strongest[:_NAMED]))

    def to_file(self, **about: Any) -> ModelFile:
        """Return what :func:`~focusspider.models.modelfile.write_model` writes.

        ``about`` is what else a :class:`~focusspider.models.modelfile.ModelFile` holds.
        """
        return ModelFile(
            kind=self.kind,
            parameters={name: getattr(self, name) for name in self.PARAMETERS},
            arrays={
                **pack_texts("names", self.names_),
                "weights": self.weights_,
                "calibration": np.array([self.boundary_, self.slope_]),
                "n_pages": np.array(self.n_pages_, dtype=np.int64),
            },
            **about,
        )

    @classmethod
    def from_file(cls, file: ModelFile) -> PageClassifier:
        """Return the model of a model file; ``ModelFileError`` where it is not sound."""
        arrays = file.take(cls.SHAPES)
        made = file.made(cls, *cls.PARAMETERS)
        made.names_ = file.texts("names")
        if len(set(made.names_)) < len(made.names_):
            raise file.damaged("a feature is in it twice")
        if not all(name.startswith((_TEXT, _HEADING)) for name in made.names_):
            raise file.damaged(f"a feature does not begin with {_TEXT} or {_HEADING}")
        made.weights_ = arrays["weights"]
        boundary, slope = arrays["calibration"].tolist()
        wanted, others = arrays["n_pages"].tolist()
        if slope <= 0 or wanted < 1 or others < 0:
            raise file.damaged(f"its slope is {slope}, and it has learnt from {wanted} pages")
        if max(abs(boundary), slope, np.abs(made.weights_).max(initial=0)) > _MOST:
            raise file.damaged(f"a weight is beyond {_MOST:g}")
        made.boundary_, made.slope_, made.n_pages_ = boundary, slope, (wanted, others)
        made._index()
        return made


def _ordered(pages: Sequence[PageWords]) -> list[PageWords]:
    """Return the pages with words, in an order of their own: targets come as they are fetched."""
    there = [page for page in pages if page.text]
    return sorted(there, key=lambda page: (sorted(page.text), sorted(page.headings)))


def _blocks(page: PageWords) -> tuple[tuple[str, Collection[str]], ...]:
    return (_TEXT, page.text), (_HEADING, page.headings)


def _features(page: PageWords) -> list[str]:
    return [prefix + term for prefix, terms in _blocks(page) for term in terms]


def _folds(classes: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Return which pages are left out each time, so that each is once, and both classes stay."""
    n = len(classes)
    number = np.empty(n, dtype=np.int64)
    for of_class in (classes, ~classes):
        number[of_class] = np.arange(np.count_nonzero(of_class))
    n_folds = int(number.max()) + 1 if n <= _ALONE else _FOLDS
    return [number % n_folds == fold for fold in range(n_folds)]


def _platt(scores: NDArray[np.float64], classes: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the score at which both classes are as likely, and how steeply that changes."""
    from sklearn.linear_model import LogisticRegression

    middle, spread = float(scores.mean()), float(scores.std()) or 1.0
    fitted = LogisticRegression(class_weight="balanced")
    fitted.fit(((scores - middle) / spread)[:, None], classes)
    steep = max(float(fitted.coef_[0, 0]), _LEAST_SLOPE)
    return middle - spread * float(fitted.intercept_[0]) / steep, steep / spread


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    odds = math.exp(max(x, -700.0))
    return odds / (1 + odds)
