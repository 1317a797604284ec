"""Trains MEMM and CRF on sequences of pages that lead to targets."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from focusspider.errors import TrainingError
from focusspider.keytable import url_key
from focusspider.priority import BELIEF_COMPONENTS, belief_priorities
from focusspider.profile import TopicProfile
from focusspider.registry import check_flag, check_texts, check_whole
from focusspider.training.base import Trained
from focusspider.training.collection import (
    Split,
    check_held_out,
    in_states,
    missing_distances,
    of_language,
    order,
)
from focusspider.webgraph.features import AHEAD, FAMILIES, PageFeatures, important_words
from focusspider.webgraph.sequences import Sequences, sample_sequences
from focusspider.webgraph.trainingset import TrainingSet, links_by_key, training_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focusspider.models.modelfile import ModelFile
    from focusspider.training.base import Told, TrainingData

__all__ = ["ChainTrainer"]

#: Least of what there must be to learn from.
MIN_TARGETS, MIN_OTHERS, MIN_SEQUENCES = 1, 10, 20
#: Paths that are drawn to measure, and most that are drawn to learn from.
_MEASURED, MAX_SEQUENCES = 2_000, 100_000


class _Fitted(NamedTuple):
    model: Any  # MEMM or CRF
    features: PageFeatures
    set: TrainingSet
    problems: tuple[str, ...]


class ChainTrainer:
    """Learns how features of pages and links tell hop distances, along paths to targets.

    Liu and Milios (2010, 3.1 and 3.2): sequences are drawn along links; each page is labelled
    with its distance to a target, 0 to k - 1. In the paper they only go from a higher
    back-link layer to a lower one or within a layer, and features are those of its table 1:
    ``only_down=True`` and the families of
    :data:`~focusspider.webgraph.features.TABLE_1` are the paper to the letter. A crawl also follows
    links that lead away from targets, and has more to look at, so the defaults are others.

    Measures are of a share of the pages that is held out: a model learns from sequences
    among the other pages, and paths are then drawn wherever links lead. A page held out is
    looked at on the first path that comes from it to a child. ``held_out_accuracy`` is how
    often its state is the one believed most once it is read, ``held_out_log_likelihood`` the
    mean natural logarithm of what is believed of it, ``guessed_accuracy`` and
    ``guessed_log_likelihood`` those of one who knows only how many pages are in each state.
    ``held_out_order`` is of their links: of two to pages in different states, how often the
    one to the nearer page has the higher priority; 0.5 is chance. The model that is kept has
    learnt from all pages.

    Parameters
    ----------
    k : int
        Number of states; the last is "k - 1 links or more".
    n_sequences : int
        Sequences that are drawn, at most; the paper has 4,368 to 12,928 (its table 2).
    families : sequence of str, optional
        Of :data:`~focusspider.webgraph.features.FAMILIES`, what is looked at; all if not
        given, but without look-ahead not those of
        :data:`~focusspider.webgraph.features.AHEAD`, which are known only until a page is
        fetched. ``text`` compares pages with the targets that the topic names, and is left
        out where none is a file or in the graph: there is nothing to compare with.
    only_down : bool
        Whether sequences never go to a higher layer, as in the paper.
    lookahead : bool
        Whether a link is worth what is believed of the page behind it, from what its parent
        shows of it. If not, all links of a page have the belief about that page.
    variance, max_iter
        Of the model.
    max_features : int
        Features that count, those in most pages and links.
    held_out : float
        Share of the pages, in [0, 1); 0 measures nothing.
    """

    kind: ClassVar[str]
    model: ClassVar[type[Any]]

    def __init__(
        self,
        *,
        k: int = 5,
        n_sequences: int = 6_000,
        families: Sequence[str] | None = None,
        only_down: bool = False,
        lookahead: bool = True,
        variance: float = 0.1,
        max_iter: int = 300,
        max_features: int = 20_000,
        held_out: float = 0.2,
    ) -> None:
        check_whole("k", k, 2)
        check_whole("n_sequences", n_sequences, MIN_SEQUENCES)
        if n_sequences > MAX_SEQUENCES:
            raise ValueError(f"n_sequences must be at most {MAX_SEQUENCES:,}, got {n_sequences:,}")
        check_flag("only_down", only_down)
        check_flag("lookahead", lookahead)
        self._families = _families(families, lookahead)
        check_whole("max_features", max_features)
        check_held_out(held_out)
        self.k = k
        self.n_sequences = n_sequences
        self.families = families
        self.only_down = only_down
        self.lookahead = lookahead
        self.variance = variance
        self.max_iter = max_iter
        self.max_features = max_features
        self.held_out = held_out
        self._model()  # looks at the rest

    def _model(self) -> Any:
        return self.model(self.k, variance=self.variance, max_iter=self.max_iter)

    def train(
        self, data: TrainingData, *, random_state: np.random.Generator, told: Told
    ) -> Trained:
        """Learn from all pages and links of a graph, after measuring on a part of them."""
        told(f"{self.kind}: drawing sequences", 0, 3)
        states = data.distances(self.k)
        edges = np.column_stack([data.sources, data.destinations])
        data.need("targets", int(np.count_nonzero(states == 0)), MIN_TARGETS)
        data.need("pages that are no targets", int(np.count_nonzero(states > 0)), MIN_OTHERS)
        sequences = self._drawn(data, edges, random_state)
        data.need("sequences of linked pages", len(sequences), MIN_SEQUENCES)
        told(f"{self.kind}: measuring", 1, 3)
        metrics: dict[str, Any] = {}
        split = Split.of(states, self.held_out, random_state)
        if split is not None:
            metrics = self._measured(data, states, edges, split, random_state)
        told(f"{self.kind}: fitting", 2, 3)
        every = np.ones(len(data), dtype=np.bool_)
        model, features, made, problems = self._fitted(data, states, sequences, every, random_state)
        told(f"{self.kind}: fitting", 3, 3)
        file: ModelFile = model.to_file(parameters=features.parameters(), metrics=metrics)
        n_pages, n_features = len(np.unique(sequences.pages)), len(made.vocabulary)
        counts = np.bincount(states, minlength=self.k)
        return Trained(
            of_language(file, data),
            (
                f"{len(sequences):,} sequences of {n_pages:,} pages, with {n_features:,} features",
                "pages by links to the nearest target: " + in_states(states, self.k),
            ),
            (
                *problems,
                *missing_distances(counts, data.topic.name, parameter="k", open_end=True),
            ),
        )

    def _drawn(
        self, data: TrainingData, edges: NDArray[np.int64], random_state: np.random.Generator
    ) -> Sequences:
        return sample_sequences(
            self.n_sequences,
            n_pages=len(data),
            src=edges[:, 0],
            dst=edges[:, 1],
            layers=data.layers,
            only_down=self.only_down,
            random_state=random_state,
        )

    def _fitted(
        self,
        data: TrainingData,
        states: NDArray[np.int64],
        sequences: Sequences,
        known: NDArray[np.bool_],
        random_state: np.random.Generator,
    ) -> _Fitted:
        """Learn from sequences; ``known`` says which pages may be looked at, (n_pages,)."""
        features = self._features(data, known)
        made = training_set(
            sequences,
            states[sequences.pages],
            data.pages.__getitem__,
            features,
            link_of=links_by_key(data.keys),
            random_state=random_state,
            max_features=self.max_features,
        )
        model = self._model()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            model.fit(made.features, made.lengths, made.labels, names=made.vocabulary.names)
        problems = {str(one.message) for one in caught if one.category is RuntimeWarning}
        return _Fitted(model, features, made, tuple(sorted(problems)))

    def _features(self, data: TrainingData, known: NDArray[np.bool_]) -> PageFeatures:
        """Return what makes features as a crawl does, which knows the topic's targets alone."""
        profile = TopicProfile(data.topic, data.parser.analyzer)
        targets = [data.pages[n] for n in np.flatnonzero(data.targets & known).tolist()]
        wanted = {url_key(url) for url in data.topic.target_urls}
        for target in targets:
            if wanted & {target.key, *target.moved_from_keys}:
                profile.add_target(target)
        for path in data.topic.target_files:
            url = path.absolute().as_uri()
            profile.add_target(data.parser.parse_html(path.read_bytes(), url))
        families = [name for name in self._families if name != "text" or profile.targets]
        if not families:
            raise TrainingError(
                f"{data.source} has none of the targets that topic {data.topic.name!r} names, and "
                f"nothing but 'text' is to be looked at, which compares pages with these; give "
                f"more families"
            )
        return PageFeatures(
            profile,
            families=families,
            lookahead=self.lookahead,
            important=important_words(targets, data.parser.analyzer),
        )

    def _measured(
        self,
        data: TrainingData,
        states: NDArray[np.int64],
        edges: NDArray[np.int64],
        split: Split,
        random_state: np.random.Generator,
    ) -> dict[str, Any]:
        """Return how well a model of the other pages tells what comes after those held out."""
        out = split.out
        kept = self._drawn(data, edges[~out[edges].any(axis=1)], random_state)
        paths = _ahead_of(data, edges, out, random_state)
        if len(kept) < MIN_SEQUENCES or not len(paths):
            return {}
        model, features, made, _ = self._fitted(data, states, kept, ~out, random_state)
        seen = training_set(
            paths,
            states[paths.pages],
            data.pages.__getitem__,
            features,
            link_of=links_by_key(data.keys),
            random_state=random_state,
            share=1.0,
            vocabulary=made.vocabulary,
        )
        beliefs = model.beliefs(seen.features, seen.lengths)
        last = np.cumsum(paths.lengths) - 1  # the child; before it is the page held out
        ahead = beliefs[last if self.lookahead else last - 1, :BELIEF_COMPONENTS]
        _, first = np.unique(paths.pages[last - 1], return_index=True)
        told, true = beliefs[last - 1][first], states[paths.pages[last - 1]][first]
        often = np.bincount(states[~out], minlength=self.k) + 1.0
        guess = often / often.sum()
        of_true = np.maximum(told[np.arange(len(true)), true], 1e-12)
        return {
            "held_out_pages": len(true),
            "held_out_links": len(last),
            "held_out_accuracy": float(np.mean(told.argmax(axis=1) == true)),
            "held_out_log_likelihood": float(np.log(of_true).mean()),
            "held_out_order": order(belief_priorities(ahead), states[paths.pages[last]]),
            "guessed_accuracy": float(np.mean(guess.argmax() == true)),
            "guessed_log_likelihood": float(np.log(guess[true]).mean()),
        }


def _families(given: Sequence[str] | None, lookahead: bool) -> Sequence[str]:
    """Return the families that are looked at; ValueError where one can't be."""
    known = [name for name in FAMILIES if lookahead or name not in AHEAD]
    if given is None:
        return known
    check_texts("families", given)
    unknown = [name for name in given if name not in known]
    if unknown or not given:
        without = "" if lookahead else " without look-ahead"
        raise ValueError(f"families{without} must be some of {', '.join(known)}, got {given!r}")
    return given


def _ahead_of(
    data: TrainingData,
    edges: NDArray[np.int64],
    out: NDArray[np.bool_],
    random_state: np.random.Generator,
) -> Sequences:
    """Return paths that end at a child of a page held out, one for each such link."""
    walks = sample_sequences(
        _MEASURED,
        n_pages=len(data),
        src=edges[:, 0],
        dst=edges[:, 1],
        layers=np.zeros(len(data), dtype=np.intp),  # links are followed wherever they lead
        random_state=random_state,
    )
    found: dict[tuple[int, int], list[int]] = {}
    for walk in walks:
        pages = walk.tolist()
        for t, link in enumerate(pairwise(pages)):
            if out[link[0]]:
                found.setdefault(link, pages[: t + 2])
    return Sequences(
        pages=np.array([page for path in found.values() for page in path], dtype=np.intp),
        lengths=np.array([len(path) for path in found.values()], dtype=np.intp),
        possible=walks.possible,
        exact=walks.exact,
    )
