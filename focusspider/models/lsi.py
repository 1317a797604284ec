"""Latent semantic indexing: pages as points where words that go together lie together."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.corpus import frequent_terms
from focusspider.models.modelfile import ModelFile, pack_texts, text_shapes
from focusspider.registry import check_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from focusspider.corpus import Counts
    from focusspider.models.modelfile import Shapes

__all__ = ["LatentSemanticIndex", "unit_rows"]

#: Power iterations of the decomposition: with so many it is exact for the larger values.
_POWER_ITERS = 8
#: That of a word in one of 2 ** 63 pages.
_LARGEST_IDF = 64


class LatentSemanticIndex:
    """The latent semantic space of a collection of pages.

    Liu, Janssen and Milios (2005, 2.2.1). The weight of term i in page k is

        W_ik = tf_ik (log2(N / df_i) + 1) / √(Σ_j (tf_jk (log2(N / df_j) + 1))²),    (eq. 1)

    and the point of a page is Uᵀw, where A = U Σ Vᵀ is the truncated singular value
    decomposition of the weights, a column a page (eq. 2). So pages of the collection, whose
    points are those of Σ Vᵀ, and new ones, which are folded in, are treated alike. The
    decomposition is gensim's; what is kept, and used for new pages, is plain arrays.

    Parameters
    ----------
    n_topics : int
        Dimensions k of the space. There are fewer where the collection has a smaller rank.
    n_terms : int
        The terms that occur most often count, so many; the others do not.

    Attributes
    ----------
    terms_ : list of str
        The terms, the most frequent first.
    idf_ : ndarray, (n_terms,)
        log2(N / df) + 1 of each.
    components_ : ndarray, (n_terms, n_topics)
        U. In each column the number that is furthest from 0 is positive.
    singular_values_ : ndarray, (n_topics,)
        Σ; they fall.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("n_topics", "n_terms")
    SHAPES: ClassVar[Shapes] = {
        **text_shapes("lsi_terms", "n_terms"),
        "lsi_idf": ("<f8", ("n_terms",)),
        "lsi_components": ("<f8", ("n_terms", "n_topics")),
        "lsi_singular_values": ("<f8", ("n_topics",)),
    }

    def __init__(self, *, n_topics: int = 50, n_terms: int = 10_000) -> None:
        check_whole("n_topics", n_topics)
        check_whole("n_terms", n_terms)
        self.n_topics = n_topics
        self.n_terms = n_terms

    def fit(self, pages: Counts, *, random_state: np.random.Generator) -> LatentSemanticIndex:
        """Learn the space of a collection.

        Raises ``ValueError`` where the pages have no words.
        """
        self.__dict__.pop("_columns", None)  # those of an earlier fit
        self.terms_ = frequent_terms([pages], self.n_terms)
        counts = pages.select(self.terms_)
        if not counts.nnz:
            raise ValueError(f"{counts.shape[0]} pages have no words to learn from")
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        self.idf_ = np.log2(counts.shape[0] / frequencies) + 1
        self._decompose(self.weights(counts), random_state)
        return self

    def _decompose(self, weights: csr_array, random_state: np.random.Generator) -> None:
        from gensim.models import LsiModel

        n_pages = weights.shape[0]
        rows = zip(
            np.split(weights.indices, weights.indptr[1:-1]),
            np.split(weights.data, weights.indptr[1:-1]),
            strict=True,
        )
        model = LsiModel(
            # As lists: given a sparse matrix, gensim forgets the seed.
            corpus=[list(zip(terms.tolist(), of.tolist(), strict=True)) for terms, of in rows],
            id2word=dict(enumerate(self.terms_)),
            num_topics=min(self.n_topics, *weights.shape),
            chunksize=n_pages,  # all at once, so that it is exact
            power_iters=_POWER_ITERS,
            random_seed=int(random_state.integers(2**31)),
        )
        components = np.asarray(model.projection.u, dtype=np.float64)
        furthest = np.abs(components).argmax(axis=0)
        signs = np.sign(components[furthest, np.arange(components.shape[1])])
        self.components_ = np.ascontiguousarray(components * signs)
        self.singular_values_ = np.asarray(model.projection.s, dtype=np.float64)

    def weights(self, counts: csr_array) -> csr_array:
        """Return the weights (eq. 1) of counts of :attr:`terms_`, (n_pages, n_terms)."""
        from scipy.sparse import csr_array

        weights = counts.data * self.idf_[counts.indices]
        n_pages = counts.shape[0]
        rows = np.repeat(np.arange(n_pages), np.diff(counts.indptr))
        lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=n_pages))
        return csr_array((weights / lengths[rows], counts.indices, counts.indptr), counts.shape)

    def transform(self, pages: Counts) -> NDArray[np.float64]:
        """Return the points of pages, (n_pages, n_topics); 0 for one without known terms."""
        points: NDArray[np.float64] = self.weights(pages.select(self.terms_)) @ self.components_
        return points

    def fold_in(self, terms: Mapping[str, int]) -> NDArray[np.float64]:
        """Return the point of one page, given as counts of terms, (n_topics,)."""
        place = self._columns.get
        known = [(column, n) for t, n in terms.items() if (column := place(t)) is not None]
        if not known:
            return np.zeros(len(self.singular_values_))
        columns = np.array([column for column, _ in known])
        weights = np.array([n for _, n in known]) * self.idf_[columns]
        point: NDArray[np.float64] = weights @ self.components_[columns]
        return point / math.sqrt(weights @ weights)

    @functools.cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms_)}

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, in the arrays of :attr:`SHAPES`."""
        return {
            **pack_texts("lsi_terms", self.terms_),
            "lsi_idf": self.idf_,
            "lsi_components": self.components_,
            "lsi_singular_values": self.singular_values_,
        }

    @classmethod
    def of(cls, file: ModelFile, arrays: Mapping[str, NDArray[Any]]) -> LatentSemanticIndex:
        """Return the space that a model file holds, whose arrays have been looked at."""
        made = file.made(cls, *cls.PARAMETERS)
        made.terms_ = file.texts("lsi_terms")
        if len(set(made.terms_)) < len(made.terms_):
            raise file.damaged("a term is in it twice")
        made.idf_ = arrays["lsi_idf"]
        if not ((made.idf_ > 0) & (made.idf_ <= _LARGEST_IDF)).all():
            raise file.damaged(f"lsi_idf has numbers that are not above 0, up to {_LARGEST_IDF}")
        made.components_ = arrays["lsi_components"]
        made.singular_values_ = arrays["lsi_singular_values"]
        return made

    def to_file(self, **about: Any) -> ModelFile:
        """Return what :func:`~focusspider.models.modelfile.write_model` writes.

        ``about`` is what else a :class:`~focusspider.models.modelfile.ModelFile` holds:
        topic, training data, date and metrics.
        """
        parameters = {name: getattr(self, name) for name in self.PARAMETERS}
        return ModelFile(kind="lsi", arrays=self.to_arrays(), parameters=parameters, **about)

    @classmethod
    def from_file(cls, file: ModelFile) -> LatentSemanticIndex:
        """Return the space of a model file; ``ModelFileError`` where it is not sound."""
        return cls.of(file, file.take(cls.SHAPES))


def unit_rows(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points scaled to length 1, (n, n_dims); those of zeros stay.

    >>> unit_rows(np.array([[3.0, 4], [0, 0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(points, axis=-1, keepdims=True)
    unit: NDArray[np.float64] = points / np.where(lengths > 0, lengths, 1)
    return unit
