"""Shark-search with Okapi weights, learnt from a text corpus or while crawling."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.corpus import (
    corpus_path,
    frequent_terms,
    pack_terms,
    read_corpus,
    unpack_terms,
)
from focusspider.models.archive import check_shapes
from focusspider.models.okapi import Collection, okapi_weights, weighted_cosine
from focusspider.registry import check_number, check_share, check_whole
from focusspider.strategies.shark_search import SharkSearch

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.corpus import Counts
    from focusspider.models.archive import Shapes
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.relevance.base import Judgement
    from focusspider.strategies.base import Contribution, ContributionWork
    from focusspider.text import Terms

__all__ = ["SharkSearchOkapi"]

#: Terms that other workers are told of: those beyond are rare, and weigh as if nobody had them.
_MOST_TERMS = 100_000
_CONTRIBUTION: Shapes = {
    "size": ("<f8", (2,)),
    "terms": ("|u1", ("bytes of terms",)),
    "frequencies": ("<i8", ("n_terms",)),
}


class SharkSearchOkapi(SharkSearch):
    """``shark-search`` whose similarities weigh terms by what they tell apart.

    The SS2 of Almpanidis, Kotropoulos and Pitas (2007, 2.1.1 and 5.1). A text is a vector
    of combined weights (eq. 1 to 3, see :func:`~focusspider.models.okapi.combined_weight`).

    With a corpus, collection and examples come from it, as in the paper: "we use the topic
    query to extract the most relevant documents and use them as sample examples". Those are
    the ``examples`` documents with the largest sum of the weights of the topic's terms, and
    a page is as similar as to the mean of their vectors, each of length 1. Anchors and
    contexts are a few words, and are compared with the keywords.

    Without one, pages are compared with the keywords too, and the collection is what the
    crawl has read so far, and one empty document, since otherwise the first page's terms
    would weigh nothing.

    Parameters
    ----------
    d, beta, gamma, aggregation
        As for ``shark-search``; in the paper ``gamma`` is 1.
    k1, b : float
        What a second occurrence of a term adds, and how much long texts are discounted.
    corpus : path or None
        Texts to learn from, see :func:`~focusspider.corpus.read_corpus`; a relative path is
        relative to the topic file.
    n_terms : int
        So many terms of the corpus count, the most frequent ones, and those of the topic.
    examples : int
        How many documents of the corpus show what is wanted. The paper does not say.
    """

    def __init__(
        self,
        *,
        d: float = 0.5,
        beta: float = 0.8,
        gamma: float = 0.5,
        aggregation: str = "parent",
        k1: float = 2.0,
        b: float = 0.75,
        corpus: str | os.PathLike[str] | None = None,
        n_terms: int = 1000,
        examples: int = 10,
        base_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(d=d, beta=beta, gamma=gamma, aggregation=aggregation)
        check_number("k1", k1)
        check_share("b", b)
        check_whole("n_terms", n_terms)
        check_whole("examples", examples)
        self.k1 = k1
        self.b = b
        self.corpus = corpus
        self.n_terms = n_terms
        self.examples = examples
        self.base_dir = base_dir
        self._corpus_path = corpus_path(corpus, base_dir)

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Keep the terms of the topic, and learn the corpus where there is one."""
        super().start(profile, random_state)
        self._example: Mapping[str, float] = self.keywords
        self._vocabulary: frozenset[str] | None = None
        if self._corpus_path is None:
            self._collection = Collection(extra=1)
        else:
            self._learn(read_corpus(self._corpus_path, profile.analyzer))

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Count the terms of the page where there is no corpus."""
        super().observe(page, judgement)
        if self._corpus_path is None:
            self._collection.add(page.terms)

    def similarity(self, terms: Terms) -> float:
        """Return the cosine of an anchor or a context with the keywords."""
        return weighted_cosine(self.keywords, self._weights(terms))

    def page_similarity(self, terms: Terms) -> float:
        """Return the cosine of a page with the mean example, or with the keywords."""
        return weighted_cosine(self._example, self._weights(terms))

    def _weights(self, terms: Terms) -> dict[str, float]:
        known: Mapping[str, int] = terms
        if self._vocabulary is not None:
            known = {term: n for term, n in terms.items() if term in self._vocabulary}
        return self._collection.weights(known, length=terms.total, k1=self.k1, b=self.b)

    def memory(self) -> Mapping[str, NDArray[Any]]:
        """Return the collection that was read so far."""
        frequencies = self._collection.frequencies
        return {
            "size": np.array([self._collection.n, self._collection.length]),
            "terms": pack_terms(frequencies),
            "frequencies": np.fromiter(frequencies.values(), np.int64, len(frequencies)),
        }

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up the collection, where it is not that of the corpus."""
        if self._corpus_path is None:
            self._collection = _collection(memory, extra=1)

    def contribution(self) -> ContributionWork | None:
        """Return the work that packs the collection of own pages; of a corpus there is none."""
        if self._corpus_path is not None or not self._collection.n:
            return None
        own = self._collection
        return partial(_packed, own.n, own.length, own.frequencies.copy())

    def join(self, worker: str, contribution: Contribution) -> None:
        """Count the pages of another worker too."""
        if self._corpus_path is None:
            check_shapes(contribution, _CONTRIBUTION)
            if min(*contribution["size"].tolist(), *contribution["frequencies"].tolist()) < 0:
                raise ValueError("counts are not negative")
            self._collection.others[worker] = _collection(contribution)

    def _learn(self, corpus: Counts) -> None:
        """Take collection and examples from a corpus."""
        vocabulary = frequent_terms([corpus], self.n_terms, always=self.keywords)
        counts, lengths = corpus.select(vocabulary), corpus.lengths()
        frequencies = np.bincount(counts.indices, minlength=len(vocabulary)).tolist()
        known = {term: n for term, n in zip(vocabulary, frequencies, strict=True) if n}
        self._vocabulary = frozenset(vocabulary)
        self._collection = Collection(len(lengths), float(lengths.sum()), known)
        weights = okapi_weights(counts, lengths, k1=self.k1, b=self.b)
        asked = np.array([term in self.keywords for term in vocabulary], dtype=np.float64)
        answers = weights @ asked  # (n_documents,)
        best = np.argsort(-answers, kind="stable")[: self.examples]
        best = best[answers[best] > 0]
        if len(best):  # or the corpus says what is usual, and has no example
            vectors = weights[best].toarray()
            mean = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).mean(axis=0)
            pairs = zip(vocabulary, mean.tolist(), strict=True)
            self._example = {term: weight for term, weight in pairs if weight}


def _packed(n: int, length: float, frequencies: Mapping[str, int]) -> Contribution:
    """Return a collection as arrays; of very many terms the most frequent."""
    counts = np.fromiter(frequencies.values(), np.int64, len(frequencies))
    names = list(frequencies)
    if len(names) > _MOST_TERMS:
        chosen = np.sort(np.argsort(-counts, kind="stable")[:_MOST_TERMS])
        names, counts = [names[i] for i in chosen.tolist()], counts[chosen]
    return {
        "size": np.array([n, length], dtype=np.float64),
        "terms": pack_terms(names),
        "frequencies": counts,
    }


def _collection(arrays: Mapping[str, NDArray[Any]], *, extra: int = 0) -> Collection:
    n, length = arrays["size"].tolist()
    terms = unpack_terms(arrays["terms"])
    counts = dict(zip(terms, arrays["frequencies"].tolist(), strict=True))
    return Collection(int(n), length, counts, extra=extra)
