"""Okapi term weights: how much a term says of a document, given a collection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["Collection", "combined_weight", "okapi_weights", "weighted_cosine"]

_Number = TypeVar("_Number", float, "NDArray[np.float64]")
#: So many terms are remembered; beyond it those go that were in one document only.
MAX_TERMS = 1_000_000


def combined_weight(cfw: _Number, tf: _Number, ndl: _Number, *, k1: float, b: float) -> _Number:
    """Return CW = CFW · TF · (k1 + 1) / (k1 · ((1 - b) + b · NDL) + TF).

    Eq. 3 of Almpanidis, Kotropoulos and Pitas (2007), with the bracket where Robertson and
    Spärck Jones have it; the print has TF inside, multiplied with k1.

    Parameters
    ----------
    cfw
        Collection frequency weight of the term, log(n / n_i) (eq. 1).
    tf
        How often the document has it.
    ndl
        Length of the document over the mean length (eq. 2).
    k1, b
        What a second occurrence adds, and how much long documents are discounted.

    >>> combined_weight(1.0, 2.0, 1.0, k1=2.0, b=0.75)
    1.5
    """
    return cfw * tf * (k1 + 1) / (k1 * ((1 - b) + b * ndl) + tf)


class Collection:
    """How many documents have each term, and how long documents are.

    Parameters
    ----------
    n, length
        Number of documents, and their lengths in sum.
    frequencies
        In how many documents each term is.
    extra
        Documents without any of the terms that are counted too. With none, a term that is
        in every document weighs nothing, and so does each term of the first document.

    Attributes
    ----------
    others : mapping of str to Collection
        Collections of other documents that count as if they were of this one.

    Examples
    --------
    >>> collection = Collection()
    >>> collection.add({"robot": 3, "arm": 1})
    >>> collection.add({"arm": 2})
    >>> collection.weights({"robot": 1, "arm": 1}, k1=2.0, b=0.75)["arm"]
    0.0
    """

    def __init__(
        self,
        n: int = 0,
        length: float = 0.0,
        frequencies: Mapping[str, int] | None = None,
        *,
        extra: int = 0,
    ) -> None:
        self.n = n
        self.length = length
        self.frequencies = dict(frequencies or {})
        self.extra = extra
        self.others: dict[str, Collection] = {}

    def add(self, terms: Mapping[str, int]) -> None:
        """Add a document."""
        self.n += 1
        self.length += sum(terms.values())
        frequencies = self.frequencies
        for term in terms:
            frequencies[term] = frequencies.get(term, 0) + 1
        if len(frequencies) > MAX_TERMS:
            self.frequencies = {term: n for term, n in frequencies.items() if n > 1}

    def weights(
        self, terms: Mapping[str, int], *, k1: float, b: float, length: float | None = None
    ) -> dict[str, float]:
        """Return the combined weight of each term of a document.

        ``length`` is the document's if these are not all of its terms. A term that no
        document of the collection has weighs as one that a single one has.
        """
        others = self.others.values()
        all_length = self.length + sum(other.length for other in others)
        if not all_length:
            return {}
        all_n = self.n + sum(other.n for other in others)
        n = all_n + self.extra
        ndl = (sum(terms.values()) if length is None else length) * all_n / all_length
        get = self._frequency if others else self.frequencies.get
        return {
            term: combined_weight(math.log(n / get(term, 1)), float(tf), ndl, k1=k1, b=b)
            for term, tf in terms.items()
        }

    def _frequency(self, term: str, least: int) -> int:
        """Return in how many documents a term is, also of the others."""
        found = self.frequencies.get(term, 0)
        for other in self.others.values():
            found += other.frequencies.get(term, 0)
        return max(found, least)


def okapi_weights(
    counts: csr_array, lengths: NDArray[np.float64], *, k1: float, b: float
) -> csr_array:
    """Return the combined weights of the terms of a collection's documents, (n, n_terms).

    Parameters
    ----------
    counts
        How often each document has each term, (n, n_terms).
    lengths
        How long each document is, (n,).
    """
    from scipy.sparse import csr_array

    n, n_terms = counts.shape
    frequencies = np.maximum(np.bincount(counts.indices, minlength=n_terms), 1)
    ndl = lengths / max(lengths.mean(), np.finfo(np.float64).tiny)
    weights = combined_weight(
        np.log(n / frequencies)[counts.indices],
        counts.data.astype(np.float64),
        np.repeat(ndl, np.diff(counts.indptr)),
        k1=k1,
        b=b,
    )
    return csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)


def weighted_cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Return the cosine of two vectors of weights that are not negative; 0 for one of zeros."""
    if len(a) > len(b):
        a, b = b, a
    product = sum(weight * b.get(term, 0.0) for term, weight in a.items())
    if not product:
        return 0.0
    lengths = (math.sqrt(sum(w * w for w in vector.values())) for vector in (a, b))
    return min(product / math.prod(lengths), 1.0)
