"""What MEMM and CRF have in common: beliefs along the path of a page, and one step ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.models.chain import MODES
from focusspider.priority import BELIEF_COMPONENTS, belief_priorities
from focusspider.registry import check_choice
from focusspider.strategies.base import LinkScores
from focusspider.strategies.learnt import LearntStrategy, carried_belief
from focusspider.webgraph.features import PageFeatures
from focusspider.webgraph.vocabulary import Vocabulary

if TYPE_CHECKING:
    import os

    from focusspider.models.chain import ChainModel
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import State

__all__ = ["ChainStrategy"]


class ChainStrategy(LearntStrategy):
    """Gives each link the belief about the hop distance of the page that it leads to.

    Liu and Milios (2010, 3.3). The belief about a page follows from that about its parent,
    which its request carries, and from what the page, its URL and the anchor that led to it
    show. One step on, with what the page shows of each link, follows the belief about the
    page behind it: the link's priority, P(T0) first, and where it is the same to 0.001
    P(T1), and so on up to five states. With a model that was trained without look-ahead it
    is the belief about the page itself, as it would be if that link were followed from it:
    3.3 to the letter, where the anchor that leads on is a feature of the page.

    The state of a request is the belief about the page that has the link, before one of its
    links is followed: they all carry the same.

    Parameters
    ----------
    model : path, optional
        The model file, relative to the topic file; the one named after the strategy in the
        topic's folder of models if not given.
    mode : {"marginal", "viterbi"}
        Whether beliefs are summed over the states before, or are of the best of them.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"terms", "anchor", "context", "model"})
    learns: ClassVar[type[Any]]

    def __init__(
        self,
        *,
        model: str | os.PathLike[str] | None = None,
        mode: str = "marginal",
        base_dir: str | os.PathLike[str] | None = None,
        models_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        check_choice("mode", mode, MODES)
        super().__init__(model=model, base_dir=base_dir, models_dir=models_dir)
        self.mode = mode
        self._learnt: ChainModel = self.learns.from_file(self._file)
        try:
            self._vocabulary = Vocabulary(self._learnt.names_)
        except ValueError as error:
            raise self._file.damaged(str(error)) from None

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Make ready what makes the features that the model has learnt from."""
        super().start(profile, random_state)
        about = self._file.parameters
        try:
            self._features = PageFeatures(
                profile,
                families=about["families"],
                lookahead=about["lookahead"],
                important=about["important"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise self._file.damaged(f"it does not say how features are made: {error}") from None
        self._vocabulary.matrix([{}])  # which loads scipy: now, and not while the crawl waits

    def score(self, page: Page, state: State | None) -> LinkScores:
        """Give each link what is believed of the page that it leads to."""
        features, learnt = self._features, self._learnt
        row = features.of_page(page) | features.of_anchor(page.url, page.pointing or "")
        before = carried_belief(state, learnt.k)
        matrix = self._vocabulary.matrix
        belief = learnt.forward(before, matrix([row]), mode=self.mode)[0]
        if not page.links:
            children = np.empty((0, learnt.k))
        elif features.lookahead:
            rows = [features.of_link(page, link) for link in page.links]
            children = learnt.predict_child(belief, matrix(rows), mode=self.mode)
        else:
            own = learnt.evidence(matrix([row]))[0]
            rows = [features.of_next(page, link) for link in page.links]
            children = learnt.forward(before, matrix(rows), evidence=own, mode=self.mode)
        parts = {f"T{j}": children[:, j] for j in range(learnt.k)}
        priorities = belief_priorities(children[:, :BELIEF_COMPONENTS])
        return LinkScores(priorities, tuple(belief.tolist()), parts)
