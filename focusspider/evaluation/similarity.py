"""The metrics that need no truth: how similar the fetched pages are to the topic.

Hub-seeking is Pant and Menczer, "Topical crawling for business intelligence", ECDL 2003.
HMM is Liu, Janssen and Milios, "Using HMM to learn user browsing patterns for focused web
crawling" (2005).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from focusspider.evaluation.metrics import running_mean, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "TermWeights",
    "maximum_average_similarity",
    "precision_at",
    "precision_curve",
    "topic_similarities",
]


class TermWeights:
    """The TF-IDF weights of hub-seeking eq. 2.

    w_kp = (0.5 + 0.5 · tf_kp / max tf_p) · ln(|C| / df_k) for the terms of page p, and 0
    for terms that it does not have. C is the set of all pages that any of the compared
    crawls fetched, and df_k the number of them that have term k.

    Parameters
    ----------
    pages
        the counts of terms of each page of C, once: the union over all crawls of the topic
    """

    def __init__(self, pages: Iterable[Mapping[str, int]]) -> None:
        frequencies: Counter[str] = Counter()
        n_pages = 0
        for terms in pages:
            frequencies.update(terms.keys())
            n_pages += 1
        self._idf = {term: math.log(n_pages / df) for term, df in frequencies.items()}

    def vector(self, terms: Mapping[str, int]) -> dict[str, float]:
        """Return the weights of a text's terms.

        A term that no page of C has weighs nothing: its df is 0, and it can match nothing.
        The same goes for a term that all of them have.
        """
        if not terms:
            return {}
        half_of_max = 0.5 / max(terms.values())
        idf = self._idf
        return {
            term: (0.5 + half_of_max * tf) * idf[term]
            for term, tf in terms.items()
            if idf.get(term)
        }

    def similarities(
        self, pages: Iterable[Mapping[str, int]], texts: Sequence[Mapping[str, int]]
    ) -> NDArray[np.float64]:
        """Return the cosine of each page with each text, (n_pages, n_texts).

        Hub-seeking eq. 3, and the cosine below HMM eq. 9. 0 where either has no weight.
        """
        columns: dict[str, list[tuple[int, float]]] = {}
        for column, text in enumerate(texts):
            vector = self.vector(text)
            norm = _norm(vector)
            for term, weight in vector.items():
                columns.setdefault(term, []).append((column, weight / norm))
        rows = []
        for page in pages:
            vector = self.vector(page)
            norm = _norm(vector)
            row = [0.0] * len(texts)
            for term, own in vector.items():  # in their order: sums of floats depend on it
                for column, weight in columns.get(term, ()):
                    row[column] += own * weight / norm
            rows.append(row)
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(texts))


def topic_similarities(
    description: Mapping[str, int], pages: Mapping[str, Mapping[str, int]]
) -> dict[str, float]:
    """Return sim(d, p) of hub-seeking eq. 3 for each page that any crawl fetched.

    Parameters
    ----------
    description
        the counts of terms of the topic's description: in the paper the descriptions of
        seeds and targets together
    pages
        URL → counts of terms, of the pages of all the crawls that are compared
    """
    weights = TermWeights(pages.values())
    column = weights.similarities(pages.values(), [description])[:, 0]
    return dict(zip(pages, column.tolist(), strict=True))


def precision_curve(similarities: ArrayLike) -> NDArray[np.float64]:
    """Return precision@N, the mean similarity of the first N pages, for each N.

    Hub-seeking eq. 1: (1/N) Σ sim(d, p_i). Its mean over topics is average precision@N.
    """
    return running_mean(similarities)


def precision_at(similarities: ArrayLike, n: int) -> float:
    """Return precision@N of hub-seeking eq. 1.

    >>> precision_at([0.5, 0.25, 0.0], 2)
    0.375
    """
    return value_at(precision_curve(similarities), n)


def maximum_average_similarity(similarities: ArrayLike) -> NDArray[np.float64]:
    """Return the maximum average similarity σ after each page, (n_pages,).

    HMM eq. 9, memm-crf eq. 10: σ = max over the targets t of the mean of cos(p, t) over
    the pages p crawled so far. It is the maximum of means, not the mean of maxima, which
    the text below the equation describes.

    Parameters
    ----------
    similarities : array_like, shape (n_pages, n_targets)
        cos(p, t) of each page in the order of fetching with each target page.
    """
    cosines = np.asarray(similarities, dtype=np.float64)
    if cosines.ndim != 2 or not cosines.shape[1]:
        raise ValueError(
            f"similarities are needed of each page with at least one target, got shape "
            f"{cosines.shape}"
        )
    maxima: NDArray[np.float64] = running_mean(cosines).max(axis=1)
    return maxima


def _norm(vector: Mapping[str, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in vector.values()))
