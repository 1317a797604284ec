"""Trains the hidden Markov model of hop distances on a web graph."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from focusspider.models.hmm import STARTS
from focusspider.models.user_model import UserModel
from focusspider.priority import BELIEF_COMPONENTS, belief_priorities
from focusspider.registry import check_choice
from focusspider.training.base import Trained
from focusspider.training.collection import (
    Split,
    check_held_out,
    counts_of,
    in_states,
    missing_distances,
    of_language,
    order,
    part_of,
)
from focusspider.webgraph.sequences import Sequences, sample_paths, sample_sequences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.corpus import Counts
    from focusspider.training.base import Told, TrainingData

__all__ = ["HmmTrainer"]

#: Least of what there must be to learn from.
MIN_TARGETS, MIN_OTHERS, MIN_LINKS = 1, 10, 10
#: Paths that are drawn: to learn where they start, and to measure.
_PATHS, _MEASURED = 10_000, 2_000


class _Fitted(NamedTuple):
    """A model, and what k-means said while it was learnt."""

    model: UserModel
    problems: tuple[str, ...]


class HmmTrainer:
    """Learns clusters of pages, and how they follow each other on the way to a target.

    Liu, Janssen and Milios (2005, 2.2 and 3): each link of the graph is a transition between
    hop distances, each page shows its cluster. The graph is taken as it is: that of a
    browsing session is what a person saw (their training data no. 1), a collected one all
    that links lead to (no. 3).

    Measures are of a share of the pages that is held out; the model that is kept has
    learnt from all. Paths are drawn through the whole graph, and pages that are not held out
    show what they would if they were new. How often the state of a page is the one that is
    believed most, once it is seen, is ``held_out_accuracy``, and the mean natural logarithm
    of what is believed of it ``held_out_log_likelihood``; ``guessed_accuracy`` and
    ``guessed_log_likelihood`` are those of one who knows nothing but how many pages are in
    each state. ``held_out_order`` is about the links of these pages: of two that lead to
    pages in different states, how often the one to the nearer page has the higher priority;
    0.5 is chance.

    Parameters
    ----------
    n_states, smoothing, start, n_topics, n_terms, k_min, k_max, n_neighbors, observed
        Of :class:`~focusspider.models.user_model.UserModel`. What a page shows is learnt as
        it is seen in a crawl, as the shares of clusters among its neighbours;
        ``observed="clusters"`` is the paper to the letter. With ``start="counted"``
        transitions are counted in paths that end at a target, since a graph does not tell
        where they start.
    held_out : float
        Share of the pages, in [0, 1); 0 measures nothing.
    """

    kind: ClassVar[str] = "hmm"

    def __init__(
        self,
        *,
        n_states: int = 5,
        smoothing: float = 1.0,
        start: str = "uniform",
        n_topics: int = 50,
        n_terms: int = 10_000,
        k_min: int = 3,
        k_max: int = 8,
        n_neighbors: int = 15,
        observed: str = "shares",
        held_out: float = 0.2,
    ) -> None:
        check_choice("start", start, STARTS)
        check_held_out(held_out)
        self.n_states = n_states
        self.smoothing = smoothing
        self.start = start
        self.n_topics = n_topics
        self.n_terms = n_terms
        self.k_min = k_min
        self.k_max = k_max
        self.n_neighbors = n_neighbors
        self.observed = observed
        self.held_out = held_out
        self._model()  # looks at the rest
        if n_states < 2:
            raise ValueError(f"n_states must be 2 or more, targets and others, got {n_states}")

    def _model(self) -> UserModel:
        return UserModel(**{name: getattr(self, name) for name in UserModel.PARAMETERS})

    def train(
        self, data: TrainingData, *, random_state: np.random.Generator, told: Told
    ) -> Trained:
        """Learn from all pages and links of a graph, after measuring on a part of them."""
        told("hmm: counting words", 0, 3)
        counts = counts_of(data)
        states = data.distances(self.n_states)
        has_words = np.diff(counts.matrix.indptr) > 0
        edges = np.column_stack([data.sources, data.destinations])
        n_others = int(np.count_nonzero(has_words & (states > 0)))
        data.need("targets", int(np.count_nonzero(states == 0)), MIN_TARGETS)
        data.need("pages with words that are no targets", n_others, MIN_OTHERS)
        data.need("links between pages", len(edges), MIN_LINKS)
        told("hmm: measuring", 1, 3)
        metrics: dict[str, Any] = {}
        split = Split.of(states, self.held_out, random_state)
        if split is not None:
            metrics = self._measured(data, counts, states, split, random_state)
        told("hmm: fitting", 2, 3)
        model, problems = self._fitted(counts, states, edges, random_state)
        told("hmm: fitting", 3, 3)
        clusters = int(model.nearest_.n_clusters_)
        learnt = (
            f"{len(data):,} pages in {clusters} clusters, cluster 0 the "
            f"{int(np.count_nonzero(states == 0)):,} targets, and {len(edges):,} links"
        )
        return Trained(
            of_language(replace(model.to_file(), metrics=metrics), data),
            (
                learnt,
                "pages by links to the nearest target: " + in_states(states, self.n_states),
            ),
            (
                *problems,
                *missing_distances(
                    np.bincount(states, minlength=self.n_states),
                    data.topic.name,
                    parameter="n_states",
                    open_end=True,
                ),
                *_few_clusters(clusters - 1),
                *_without_words(int(np.count_nonzero(~has_words)), len(data)),
            ),
        )

    def _fitted(
        self,
        counts: Counts,
        states: NDArray[np.int64],
        edges: NDArray[np.int64],
        random_state: np.random.Generator,
    ) -> _Fitted:
        given: dict[str, Any] = {"edges": edges}
        if self.start == "counted":
            paths = sample_paths(
                _PATHS,
                n_pages=len(states),
                src=edges[:, 0],
                dst=edges[:, 1],
                distances=states,
                random_state=random_state,
            )
            given = {"sequences": paths.pages, "lengths": paths.lengths}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            model = self._model().fit(counts, states, **given, random_state=random_state)
        problems = {str(warning.message) for warning in caught if warning.category is UserWarning}
        return _Fitted(model, tuple(sorted(problems)))

    def _measured(
        self,
        data: TrainingData,
        counts: Counts,
        states: NDArray[np.int64],
        split: Split,
        random_state: np.random.Generator,
    ) -> dict[str, Any]:
        """Return how well a model of the other pages tells what comes after those held out."""
        kept = np.flatnonzero(~split.out)
        edges = split.kept_edges(data.sources, data.destinations)
        kept_counts = part_of(counts, kept)
        try:
            model = self._fitted(kept_counts, states[kept], edges, random_state).model
        except ValueError:  # what is left is too little, though all is not
            return {}
        observed = model.observe_all(counts)
        there = model.lsi_.transform(kept_counts).any(axis=1) | (states[kept] == 0)
        leave_one_out = (
            model.nearest_.leave_one_out_shares
            if model.observed == "shares"
            else model.nearest_.leave_one_out
        )
        observed[kept[there]] = leave_one_out()
        paths = sample_sequences(
            _MEASURED,
            n_pages=len(data),
            src=data.sources,
            dst=data.destinations,
            layers=np.zeros(len(data), dtype=np.intp),  # links are followed wherever they lead
            random_state=random_state,
        )
        return _score(model, paths, observed, states, split.out)


def _score(
    model: UserModel,
    paths: Sequences,
    observed: NDArray[Any],
    states: NDArray[np.int64],
    out: NDArray[np.bool_],
) -> dict[str, Any]:
    """Return the measures; what is said of a page or a link first, on any path, counts."""
    often = np.bincount(states[~out], minlength=model.n_states) + 1.0
    guess = often / often.sum()
    believed: dict[int, NDArray[np.float64]] = {}
    ahead: dict[tuple[int, int], NDArray[np.float64]] = {}  # by the ends of each link
    for path in paths:
        beliefs = model.hmm_.filter(observed[path])
        pages = path.tolist()
        for t in np.flatnonzero(out[path]).tolist():
            believed.setdefault(pages[t], beliefs[t])
            if t + 1 < len(pages):
                ahead.setdefault((pages[t], pages[t + 1]), model.hmm_.ahead(beliefs[t]))
    if not believed or not ahead:
        return {}
    true = states[list(believed)]
    told = np.array(list(believed.values()))  # (n_pages, n_states)
    of_true = np.maximum(told[np.arange(len(true)), true], 1e-12)
    priorities = belief_priorities(np.array(list(ahead.values()))[:, :BELIEF_COMPONENTS])
    return {
        "held_out_pages": len(believed),
        "held_out_links": len(ahead),
        "held_out_accuracy": float(np.mean(told.argmax(axis=1) == true)),
        "held_out_log_likelihood": float(np.log(of_true).mean()),
        "held_out_order": order(priorities, states[[child for _, child in ahead]]),
        "guessed_accuracy": float(np.mean(guess.argmax() == true)),
        "guessed_log_likelihood": float(np.log(guess[true]).mean()),
    }


def _few_clusters(n: int) -> tuple[str, ...]:
    said = (
        "the pages that are no targets are one cluster, so that they tell targets from others "
        "and nothing else; collect more pages, of more kinds"
    )
    return (said,) if n == 1 else ()


def _without_words(n: int, n_pages: int) -> tuple[str, ...]:
    said = (
        f"{n:,} of {n_pages:,} pages have no words, so that they are in no cluster; look at "
        "whether they are drawn by scripts, and record them in a browser: scrapy focus-record"
    )
    return (said,) if n * 10 >= n_pages else ()
