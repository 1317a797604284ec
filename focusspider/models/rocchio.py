"""Which words tell documents of worth from others: Rocchio's query, and what is near to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Documents", "Rocchio"]

#: Bits of the number of dimensions of a vector, at least and at most. Words whose hashes agree in
#: them share one. There is one for four words of all documents: most recur.
_BITS = 10, 16
#: 1 + log tf.
_WEIGHTS = 1 + np.log(np.maximum(np.arange(256), 1))


class Documents(NamedTuple):
    """The words of documents, one document after the other.

    Attributes
    ----------
    words
        32-bit hashes, each word of a document once, (n_words,).
    counts
        How often the document has it, (n_words,).
    ends
        Number of words up to the last of each document, (n,).
    """

    words: NDArray[np.uint32]
    counts: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @property
    def owners(self) -> NDArray[np.int64]:
        """Which document each word is of, (n_words,)."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))


class Rocchio:
    """A query that is near to documents of worth and far from the others (Rocchio 1971).

    With unit vectors v of (1 + log tf) · log((n + 1) / (df + ½)), and a worth w in [0, 1] of
    each document,

        q = Σ w v / (Σ w + ½) - Σ (1 - w) v / (Σ (1 - w) + ½).

    What a document is compared with must not hold its own worth, so it is compared with the
    query of the documents in other folds.

    Parameters
    ----------
    documents
        n of them.
    worth
        (n,).
    folds
        Fold of each, from 0, (n,).

    Attributes
    ----------
    cosines : ndarray
        Of each document with the query of the others, in [-1, 1], (n,); 0 without words.
    """

    def __init__(
        self, documents: Documents, worth: NDArray[np.float64], folds: NDArray[np.int64]
    ) -> None:
        n = len(documents.ends)
        size = 1 << min(max(_BITS[0], (len(documents.words) // 4).bit_length()), _BITS[1])
        self._mask = np.uint32(size - 1)
        found = np.bincount(documents.words & self._mask, minlength=size)
        self._idf = np.log((n + 1) / (found + 0.5))
        vectors, owners, places = self._vectors(documents)
        n_folds = int(folds.max(initial=0)) + 1
        places += (folds * size).astype(np.int32)[owners]
        cells = n_folds * size
        good = np.bincount(places, vectors * worth[owners], minlength=cells).reshape(n_folds, -1)
        sums = np.bincount(places, vectors, minlength=cells).reshape(n_folds, -1)
        n_good = np.bincount(folds, worth, minlength=n_folds)
        n_all = np.bincount(folds, minlength=n_folds)
        whole = good.sum(axis=0), sums.sum(axis=0), n_good.sum(), n_all.sum()
        self._query = _query(*whole)
        self._query /= _length(self._query)
        others = _query(
            whole[0] - good,
            whole[1] - sums,
            (whole[2] - n_good)[:, None],
            (whole[3] - n_all)[:, None],
        )
        near = np.bincount(owners, vectors * others.ravel()[places], minlength=n)
        self.cosines = near / _length(others)[folds]

    def cosines_of(self, documents: Documents) -> NDArray[np.float64]:
        """Return the cosines of other documents with the query, (n,)."""
        vectors, owners, places = self._vectors(documents)
        near = np.bincount(owners, vectors * self._query[places], minlength=len(documents.ends))
        return near.astype(np.float64)

    def _vectors(
        self, documents: Documents
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
        """Return the unit vectors as what is not 0: figures, whose each is, and dimensions."""
        places = (documents.words & self._mask).astype(np.int32)
        owners = documents.owners
        figures = _WEIGHTS[documents.counts] * self._idf[places]
        norms = np.sqrt(np.bincount(owners, figures * figures, minlength=len(documents.ends)))
        return figures / norms[owners], owners, places


def _query(
    good: NDArray[np.float64], sums: NDArray[np.float64], n_good: Any, n_all: Any
) -> NDArray[np.float64]:
    """Return q of the sums of w v and of v, (…, n_places), and those of w and of 1."""
    of_good, of_bad = 1 / (n_good + 0.5), 1 / (n_all - n_good + 0.5)
    query: NDArray[np.float64] = good * (of_good + of_bad) - sums * of_bad
    return query


def _length(queries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lengths of queries, (…, n_places); 1 for one that is 0."""
    lengths = np.sqrt(np.einsum("...i,...i->...", queries, queries))
    return np.where(lengths > 0, lengths, 1.0)
