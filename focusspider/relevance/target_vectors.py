"""How similar a page is to each target page."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.errors import TopicError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.profile import TopicProfile

__all__ = ["WEIGHTINGS", "Nearest", "TargetVectors"]

WEIGHTINGS = ("tf", "tf-idf")


class Nearest(NamedTuple):
    """The target that a page is most similar to; of equals the first."""

    url: str
    similarity: float


class TargetVectors:
    """The target pages of a topic as unit vectors, behind an index from term to targets.

    A page is compared with all targets in one pass over its terms, so a hundred targets
    cost little more than one.

    Parameters
    ----------
    profile
        A topic with targets. Raises :class:`TopicError` where none has text.
    purpose
        What needs the targets, for the error.
    weighting : {"tf", "tf-idf"}
        The weight of a term is its count tf, or tf · idf with
        idf = ln((1 + n) / (1 + df)) + 1 over the n targets, of which df have the term
        (scikit-learn's smooth idf). A term that no target has weighs most, and makes a
        page less similar.
    """

    def __init__(self, profile: TopicProfile, *, purpose: str, weighting: str = "tf") -> None:
        targets = [target for target in profile.targets if target.terms]
        if not targets:
            none = "none of its target pages has text" if profile.targets else "it has none"
            raise TopicError(
                f"{profile.topic.source}: {purpose} compares pages with the topic's target "
                f"pages, and {none}; give targets, URLs or HTML files of pages that are wanted"
            )
        n = len(targets)
        frequency = Counter(term for target in targets for term in target.terms)
        self._idf: dict[str, float] | None = None
        self._unseen = 1.0
        if weighting == "tf-idf":
            self._idf = {t: math.log((1 + n) / (1 + df)) + 1 for t, df in frequency.items()}
            self._unseen = math.log(1 + n) + 1
        self.urls = tuple(target.url for target in targets)
        self._row = {term: row for row, term in enumerate(frequency)}
        vectors = [self._weights(target.terms) for target in targets]
        norms = [_norm(vector) for vector in vectors]
        # Postings: those of the term in row r are at _start[r] up to _start[r + 1].
        self._start = np.concatenate(([0], np.cumsum(list(frequency.values()))))
        order = sorted(
            (self._row[term], i, weight / norm)
            for i, (vector, norm) in enumerate(zip(vectors, norms, strict=True))
            for term, weight in vector.items()
        )
        self._target = np.array([i for _, i, _ in order], dtype=np.intp)  # (n_postings,)
        self._weight = np.array([w for _, _, w in order], dtype=np.float64)  # (n_postings,)

    def similarities(self, terms: Mapping[str, int]) -> NDArray[np.float64]:
        """Return the cosine of a page with each target, (n_targets,), in [0, 1]."""
        weights = self._weights(terms)
        known = [
            (row, w) for term, w in weights.items() if (row := self._row.get(term)) is not None
        ]
        if not known:
            return np.zeros(len(self.urls))
        rows = np.array([row for row, _ in known])  # (n_known,)
        page = np.array([w for _, w in known]) / _norm(weights)  # (n_known,)
        start = self._start[rows]
        count = self._start[rows + 1] - start
        # The postings of all known terms, one after the other: (n_found,)
        found = np.arange(count.sum()) + np.repeat(start - np.cumsum(count) + count, count)
        products = self._weight[found] * np.repeat(page, count)
        sums = np.bincount(self._target[found], weights=products, minlength=len(self.urls))
        return np.minimum(sums, 1.0)

    def nearest(self, terms: Mapping[str, int]) -> Nearest:
        """Return the target that a page is most similar to."""
        similarities = self.similarities(terms)
        best = int(similarities.argmax())
        return Nearest(self.urls[best], float(similarities[best]))

    def _weights(self, terms: Mapping[str, int]) -> Mapping[str, float]:
        if self._idf is None:
            return terms
        idf, unseen = self._idf, self._unseen
        return {term: count * idf.get(term, unseen) for term, count in terms.items()}


def _norm(weights: Mapping[str, float]) -> float:
    return math.sqrt(sum([weight * weight for weight in weights.values()]))
