"""Trains the context graph: which words the layers around the targets have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.models.context_graph import ContextGraph
from focusspider.training.base import Trained
from focusspider.training.collection import (
    Split,
    check_held_out,
    counts_of,
    missing_distances,
    of_language,
    part_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.corpus import Counts
    from focusspider.training.base import Told, TrainingData

__all__ = ["ContextGraphTrainer"]

#: Least of what there must be to learn from.
MIN_TARGETS, MIN_OTHERS = 1, 5
_MOST_LAYERS = 100


class ContextGraphTrainer:
    """Learns the words of each layer around the targets.

    Liu, Janssen and Milios (2005, 5.2): layer 0 are the targets, layer i the pages from
    which the nearest target is i links away. Pages beyond the last layer, and those that
    lead to no target, are left out.

    Measures are of a share of the pages that is held out; the model that is kept has
    learnt from all. ``held_out_accuracy`` is the share whose most likely layer is the right
    one, ``held_out_log_likelihood`` the mean natural logarithm of its probability, and
    ``held_out_other`` the share that is like no layer. ``guessed_accuracy`` is that of one
    who always says the largest layer.

    Parameters
    ----------
    n_layers, max_pages, n_features, n_terms, smoothing, threshold, prior
        Of :class:`~focusspider.models.context_graph.ContextGraph`.
    held_out : float
        Share of the pages, in [0, 1); 0 measures nothing.
    """

    kind: ClassVar[str] = "context-graph"

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
        held_out: float = 0.2,
    ) -> None:
        check_held_out(held_out)
        if n_layers > _MOST_LAYERS:
            raise ValueError(f"n_layers must be at most {_MOST_LAYERS}, got {n_layers:,}")
        self.n_layers = n_layers
        self.max_pages = max_pages
        self.n_features = n_features
        self.n_terms = n_terms
        self.smoothing = smoothing
        self.threshold = threshold
        self.prior = prior
        self.held_out = held_out
        self._model()  # looks at the rest

    def _model(self) -> ContextGraph:
        return ContextGraph(**{name: getattr(self, name) for name in ContextGraph.PARAMETERS})

    def train(
        self, data: TrainingData, *, random_state: np.random.Generator, told: Told
    ) -> Trained:
        """Learn from the pages of a graph, after measuring on a part of them."""
        told("context-graph: counting words", 0, 3)
        counts = counts_of(data)
        layers = data.distances(self.n_layers + 2)
        within = layers <= self.n_layers
        has_words = np.diff(counts.matrix.indptr) > 0
        n_others = int(np.count_nonzero(within & has_words & (layers > 0)))
        data.need("targets with words", int(np.count_nonzero(has_words & (layers == 0))),
                  MIN_TARGETS)  # fmt: skip
        data.need("pages with words in the layers around the targets", n_others, MIN_OTHERS)
        told("context-graph: measuring", 1, 3)
        metrics: dict[str, Any] = {}
        split = Split.of(layers, self.held_out, random_state)
        if split is not None:
            metrics = self._measured(data, counts, layers, split, random_state)
        told("context-graph: fitting", 2, 3)
        model = self._model().fit(counts, layers, random_state=random_state)
        told("context-graph: fitting", 3, 3)
        sizes = ", ".join(f"{layer}: {n:,}" for layer, n in enumerate(model.layer_pages_.tolist()))
        beyond = (
            f"{int(np.count_nonzero(~within)):,} of {len(data):,} pages lead to no target in "
            f"{self.n_layers} links; at most {self.max_pages:,} of a layer were learnt from"
        )
        return Trained(
            of_language(replace(model.to_file(), metrics=metrics), data),
            (
                f"pages by layer: {sizes}",
                beyond,
            ),
            missing_distances(
                model.layer_pages_, data.topic.name, parameter="n_layers", open_end=False
            ),
        )

    def _measured(
        self,
        data: TrainingData,
        counts: Counts,
        layers: NDArray[np.int64],
        split: Split,
        random_state: np.random.Generator,
    ) -> dict[str, Any]:
        """Return how well a model of the other pages tells the layers of those held out."""
        kept = np.flatnonzero(~split.out)
        out = np.flatnonzero(split.out & (layers <= self.n_layers))
        try:
            model = self._model().fit(
                part_of(counts, kept), layers[kept], random_state=random_state
            )
        except ValueError:  # what is left is too little, though all is not
            return {}
        if not len(out):
            return {}
        posteriors = np.array([model.posterior(data.pages[page].terms) for page in out.tolist()])
        true = layers[out]
        of_true = np.maximum(posteriors[np.arange(len(out)), true], 1e-12)
        largest = int(np.bincount(layers[kept], minlength=self.n_layers + 2)[:-1].argmax())
        return {
            "held_out_pages": len(out),
            "held_out_accuracy": float(np.mean(posteriors.argmax(axis=1) == true)),
            "held_out_log_likelihood": float(np.log(of_true).mean()),
            "held_out_other": float(np.mean(posteriors.max(axis=1) < self.threshold)),
            "guessed_accuracy": float(np.mean(true == largest)),
        }
