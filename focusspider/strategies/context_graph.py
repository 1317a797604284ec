"""Context graph: a link is worth what the layer of its page is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from focusspider.models.context_graph import ContextGraph as Layers
from focusspider.strategies.base import LinkScores, scored
from focusspider.strategies.learnt import LearntStrategy

if TYPE_CHECKING:
    import os

    from focusspider.page import Page
    from focusspider.strategies.base import State

__all__ = ["ContextGraph"]


class ContextGraph(LearntStrategy):
    """Takes the links of pages near to the targets first, by what naive Bayes says of a page.

    Diligenti et al. (VLDB 2000), as Liu, Janssen and Milios (2005, 5.2.1) use it: a page is
    in the layer j that is most likely, or in "other" where that is not likely enough. Its
    links are in the queue of that layer, the one of layer 0 first and "other" last, and
    within a queue the likelier pages are first. So a score in [0, 1] is::

        (n_layers + 1 - j + P(j | page)) / (n_layers + 2),

    where "other" is j = n_layers + 1, with the probability of its most likely layer.

    Parameters
    ----------
    model : path, optional
        The model file, relative to the topic file; ``context-graph.npz`` in the topic's
        folder of models if not given.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"terms", "model"})

    kind: ClassVar[str] = "context-graph"

    def __init__(
        self,
        *,
        model: str | os.PathLike[str] | None = None,
        base_dir: str | os.PathLike[str] | None = None,
        models_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(model=model, base_dir=base_dir, models_dir=models_dir)
        self._learnt = Layers.from_file(self._file)

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Give every link the place of the page's layer."""
        layer, confidence = self._learnt.predict(page.terms)
        other = self._learnt.other
        n_links = len(page.links)
        scores = np.full(n_links, (other - layer + confidence) / (other + 1))
        parts = {
            "layer": np.full(n_links, float(layer)),
            "confidence": np.full(n_links, confidence),
        }
        return scored(scores, parts)
