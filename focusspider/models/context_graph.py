"""The context graph: naive Bayes says which layer around the targets a page is like."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from focusspider.corpus import frequent_terms
from focusspider.models.modelfile import ModelFile, pack_texts, text_shapes
from focusspider.registry import check_choice, check_number, check_share, check_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from focusspider.corpus import Counts
    from focusspider.models.modelfile import Shapes

__all__ = ["PRIORS", "ContextGraph", "Layer"]

#: What is believed of a page before it is read.
PRIORS = ("uniform", "counted")

_MOST = 10**12  # of a count in a file: sums of them stay whole


class Layer(NamedTuple):
    """What a page is taken for.

    ``number`` is the layer, 0 for a target, and one more than the last for a page that is
    like none (:attr:`ContextGraph.other`). ``confidence`` is the probability of the layer
    that is most likely.
    """

    number: int
    confidence: float


class ContextGraph:
    """One multinomial naive Bayes class for each layer, and "other" for weak matches.

    Diligenti et al. (VLDB 2000), as Liu, Janssen and Milios (2005, 5.2.1) use it: layer i
    are pages from which a target is i links away; theirs had at most 300 each. A page is
    represented by its terms of the largest TF-IDF, f · log(N / df), and

        P(layer | page) ∝ P(layer) Π_w P(w | layer)^f(w),
        P(w | layer) = (n(w, layer) + λ) / (Σ_w' n(w', layer) + λ · n_terms),

    where f counts a term in the page and n in the pages of the layer, each with its own
    largest terms. Where the winner is less likely than the threshold, the page is "other".

    Parameters
    ----------
    n_layers : int
        Layers around the targets, which are layer 0.
    max_pages : int
        So many pages of a layer are learnt from, at most; where there are more, they are drawn
        by chance.
    n_features : int
        Terms that represent a page.
    n_terms : int
        The terms that occur most often count, so many.
    smoothing : float
        λ, above 0.
    threshold : float
        Least probability of the winner, in [0, 1].
    prior : str
        P(layer): ``"uniform"``, since how many pages a layer has tells how they were
        collected, or ``"counted"``, the share of its pages. A layer without pages has none.

    Attributes
    ----------
    terms_ : list of str
        The terms, the most frequent first.
    idf_ : ndarray, (n_terms,)
        log(N / df) of each.
    layer_counts_ : ndarray, (n_layers + 1, n_terms)
        n(w, layer).
    layer_pages_ : ndarray, (n_layers + 1,)
        Pages of each layer that it has learnt from.
    prior_ : ndarray, (n_layers + 1,)
        P(layer).
    log_likelihood_ : ndarray, (n_layers + 1, n_terms)
        log P(w | layer), natural.
    """

    kind: ClassVar[str] = "context-graph"
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "n_layers",
        "max_pages",
        "n_features",
        "n_terms",
        "smoothing",
        "threshold",
        "prior",
    )
    SHAPES: ClassVar[Shapes] = {
        **text_shapes("terms", "n_terms"),
        "idf": ("<f8", ("n_terms",)),
        "layer_counts": ("<i8", ("n_layers + 1", "n_terms")),
        "layer_pages": ("<i8", ("n_layers + 1",)),
    }

    def __init__(
        self,
        *,
        n_layers: int = 4,
        max_pages: int = 5_000,
        n_features: int = 40,
        n_terms: int = 10_000,
        smoothing: float = 1.0,
        threshold: float = 0.5,
        prior: str = "uniform",
    ) -> None:
        check_whole("n_layers", n_layers)
        check_whole("max_pages", max_pages)
        check_whole("n_features", n_features)
        check_whole("n_terms", n_terms)
        check_number("smoothing", smoothing, np.finfo(np.float64).tiny)
        check_share("threshold", threshold)
        check_choice("prior", prior, PRIORS)
        self.n_layers = n_layers
        self.max_pages = max_pages
        self.n_features = n_features
        self.n_terms = n_terms
        self.smoothing = smoothing
        self.threshold = threshold
        self.prior = prior

    @property
    def other(self) -> int:
        """Number of the layer of pages that are like none."""
        return self.n_layers + 1

    def fit(
        self, pages: Counts, layers: NDArray[np.int64], *, random_state: np.random.Generator
    ) -> ContextGraph:
        """Learn from pages.

        Parameters
        ----------
        pages
            Counts of their terms.
        layers
            Hop distance of each to the nearest target, (n_pages,); pages beyond the last
            layer are left out.
        random_state
            Draws pages where a layer has too many.

        Raises
        ------
        ValueError
            Where there are no targets, or no words.
        """
        n_pages = pages.matrix.shape[0]
        layers = np.asarray(layers, dtype=np.int64)
        if layers.shape != (n_pages,) or (layers < 0).any():
            raise ValueError(f"each of {n_pages} pages has a layer from 0 on, got {layers.shape}")
        chosen = self._drawn(layers, random_state)
        if not (layers[chosen] == 0).any():
            raise ValueError(f"none of {n_pages} pages is a target, which layer 0 is made of")
        self.__dict__.pop("_columns", None)  # those of an earlier fit
        self.terms_ = frequent_terms([pages], self.n_terms)
        counts = pages.select(self.terms_)[chosen]
        if not counts.nnz:
            raise ValueError(f"{len(chosen)} pages have no words to learn from")
        frequencies = np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1)
        self.idf_ = np.log(len(chosen) / frequencies)
        self.layer_counts_ = np.zeros((self.n_layers + 1, len(self.terms_)), dtype=np.int64)
        for layer, (columns, numbers) in zip(layers[chosen], self._pages(counts), strict=True):
            self.layer_counts_[layer, columns] += numbers.astype(np.int64)
        self.layer_pages_ = np.bincount(layers[chosen], minlength=self.n_layers + 1)
        self._estimate()
        return self

    def _drawn(
        self, layers: NDArray[np.int64], random_state: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the numbers of the pages to learn from, which rise, (n,)."""
        drawn = []
        for layer in range(self.n_layers + 1):
            members = np.flatnonzero(layers == layer)
            if len(members) > self.max_pages:
                members = random_state.choice(members, self.max_pages, replace=False)
            drawn.append(members)
        return np.sort(np.concatenate(drawn))

    def _estimate(self) -> None:
        there = self.layer_pages_ if self.prior == "counted" else self.layer_pages_ > 0
        self.prior_ = there / there.sum()
        smoothed = self.layer_counts_ + self.smoothing
        self.log_likelihood_ = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))

    def _pages(self, counts: csr_array) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return the features of each page, given counts of :attr:`terms_`."""
        ends = counts.indptr
        return [
            self._features(counts.indices[start:end], counts.data[start:end])
            for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ]

    def _features(
        self, columns: NDArray[np.int64], counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the terms of the largest TF-IDF of a page, of equals the more frequent ones.

        The factor 1 / max f of Diligenti et al. is the same for all of them.
        """
        largest = np.lexsort([columns, -counts * self.idf_[columns]])[: self.n_features]
        return columns[largest], counts[largest]

    def posterior(self, terms: Mapping[str, int]) -> NDArray[np.float64]:
        """Return P(layer | page), given counts of its terms, (n_layers + 1,)."""
        place = self._columns.get
        known = [(column, n) for t, n in terms.items() if (column := place(t)) is not None]
        columns = np.array([column for column, _ in known], dtype=np.int64)
        counts = np.array([n for _, n in known], dtype=np.float64)
        return self._posterior(*self._features(columns, counts))

    def _posterior(
        self, columns: NDArray[np.int64], counts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            log_joint = np.log(self.prior_) + self.log_likelihood_[:, columns] @ counts
        joint = np.exp(log_joint - log_joint.max())
        posterior: NDArray[np.float64] = joint / joint.sum()
        return posterior

    def predict(self, terms: Mapping[str, int]) -> Layer:
        """Return the layer of a page, given counts of its terms; of equals the nearer one."""
        return self._winner(self.posterior(terms))

    def predict_all(self, pages: Counts) -> list[Layer]:
        """Return the layer of each of many pages."""
        counts = pages.select(self.terms_)
        return [self._winner(self._posterior(*features)) for features in self._pages(counts)]

    def _winner(self, posterior: NDArray[np.float64]) -> Layer:
        winner = int(posterior.argmax())
        confidence = float(posterior[winner])
        return Layer(self.other if confidence < self.threshold else winner, confidence)

    @functools.cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms_)}

    def to_file(self, **about: Any) -> ModelFile:
        """Return what :func:`~focusspider.models.modelfile.write_model` writes.

        ``about`` is what else a :class:`~focusspider.models.modelfile.ModelFile` holds:
        topic, training data, date and metrics.
        """
        return ModelFile(
            kind=self.kind,
            parameters={name: getattr(self, name) for name in self.PARAMETERS},
            arrays={
                **pack_texts("terms", self.terms_),
                "idf": self.idf_,
                "layer_counts": self.layer_counts_,
                "layer_pages": self.layer_pages_,
            },
            **about,
        )

    @classmethod
    def from_file(cls, file: ModelFile) -> ContextGraph:
        """Return the model of a model file; ``ModelFileError`` where it is not sound."""
        arrays = file.take(cls.SHAPES)
        made = file.made(cls, *cls.PARAMETERS)
        made.terms_ = file.texts("terms")
        made.idf_ = arrays["idf"]
        made.layer_counts_ = arrays["layer_counts"]
        made.layer_pages_ = arrays["layer_pages"]
        if len(set(made.terms_)) < len(made.terms_):
            raise file.damaged("a term is in it twice")
        if len(made.layer_pages_) != made.n_layers + 1:
            raise file.damaged(
                f"it has {len(made.layer_pages_)} layers, and n_layers={made.n_layers}"
            )
        for counts in (made.layer_counts_, made.layer_pages_):
            if not 0 <= counts.min(initial=0) <= counts.max(initial=0) <= _MOST:
                raise file.damaged(f"what should be counts is not from 0 to {_MOST}")
        if not made.layer_pages_[0]:
            raise file.damaged("it has learnt from no targets")
        made._estimate()
        return made
