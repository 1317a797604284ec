"""What trainers share: the words of pages, which are held out, and what is said of states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.corpus import Corpus, Counts
from focusspider.registry import check_share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.models.modelfile import ModelFile
    from focusspider.training.base import TrainingData

__all__ = [
    "Split",
    "check_held_out",
    "counts_of",
    "in_states",
    "missing_distances",
    "of_language",
    "order",
    "part_of",
]


def check_held_out(share: object) -> None:
    """Raise ``ValueError`` unless a share of the pages can be held out, in [0, 1)."""
    check_share("held_out", share)
    if share == 1:
        raise ValueError("held_out must be below 1, or there is nothing to learn from")


def counts_of(data: TrainingData) -> Counts:
    """Return the counts of the terms of each page, as a crawl sees them."""
    corpus = Corpus(data.parser.analyzer.language)
    for page in data.pages:
        corpus.add(page.terms)
    return corpus.counts()


def part_of(counts: Counts, pages: NDArray[np.int64]) -> Counts:
    """Return the counts of some pages, with the terms that are in these."""
    rows = counts.matrix[pages]
    used = np.unique(rows.indices)
    terms = [counts.terms[column] for column in used.tolist()]
    return Counts(rows[:, used], terms, {term: column for column, term in enumerate(terms)})


def of_language(file: ModelFile, data: TrainingData) -> ModelFile:
    """Return a model that says in which language its words are stems."""
    language = {"language": data.parser.analyzer.language}
    return replace(file, parameters={**file.parameters, **language})


class Split(NamedTuple):
    """Which pages are held out, (n_pages,)."""

    out: NDArray[np.bool_]

    @classmethod
    def of(
        cls, states: NDArray[np.int64], share: float, random_state: np.random.Generator
    ) -> Split | None:
        """Hold out a share of the pages of each state; None where that is nothing."""
        out = np.zeros(len(states), dtype=np.bool_)
        for state in np.unique(states).tolist():
            pages = np.flatnonzero(states == state)
            out[random_state.permutation(pages)[: int(share * len(pages))]] = True
        return cls(out) if out.any() else None

    def kept_edges(
        self, sources: NDArray[np.int64], destinations: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the links among the other pages, by their numbers among these, (n, 2)."""
        number = np.cumsum(~self.out) - 1
        kept = ~self.out[sources] & ~self.out[destinations]
        return np.column_stack([number[sources[kept]], number[destinations[kept]]])


def in_states(states: NDArray[np.int64], n_states: int) -> str:
    """Return how many pages are in each state, for people.

    >>> in_states(np.array([0, 2, 2]), 3)
    '0: 1, 1: 0, 2 or more: 2'
    """
    counts = np.bincount(states, minlength=n_states).tolist()
    last = n_states - 1
    return ", ".join(
        f"{state}{' or more' if state == last else ''}: {count:,}"
        for state, count in enumerate(counts)
    )


def missing_distances(
    counts: NDArray[np.int64], topic: str, *, parameter: str, open_end: bool
) -> tuple[str, ...]:
    """Return what to say where there is no page at some distance.

    Parameters
    ----------
    counts
        How many pages are at each, (n_distances,).
    parameter
        Which one says how many distances there are.
    open_end
        Whether the last one is "so many or more".
    """
    last = len(counts) - 1 if open_end else -1
    missing = [
        f"{distance} or more" if distance == last else str(distance)
        for distance in np.flatnonzero(counts == 0).tolist()
    ]
    said = (
        f"no page is {' or '.join(missing)} links away from a target, so that nothing can be "
        f"learnt of such pages; collect more layers (scrapy focus-collect {topic} --fresh "
        f"--layers N), or train with fewer ({parameter})"
    )
    return (said,) if missing else ()


def order(priorities: NDArray[np.int64], states: NDArray[np.int64]) -> float:
    """Return how often the nearer of two pages in different states has the higher priority.

    Ties count half; 0.5 where all are in one state.

    >>> order(np.array([5, 3, 3, 1]), np.array([0, 0, 2, 1]))  # of 5 pairs, one is a tie
    0.7
    """
    right, pairs = 0.0, 0
    for state in np.unique(states).tolist():
        nearer, farther = priorities[states == state], np.sort(priorities[states > state])
        below = np.searchsorted(farther, nearer, "left") + np.searchsorted(farther, nearer, "right")
        right += float(below.sum()) / 2
        pairs += len(nearer) * len(farther)
    return right / pairs if pairs else 0.5
