"""What MEMM and CRF have in common: beliefs along the path of a page, and one step ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.models.chain import MODES
from focusspider.priority import BELIEF_COMPONENTS, belief_priorities
from focusspider.registry import check_choice
from focusspider.strategies.base import BaseStrategy, LinkScores
from focusspider.strategies.learnt import check_language, learnt_model
from focusspider.webgraph.features import PageFeatures
from focusspider.webgraph.vocabulary import Vocabulary

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from focusspider.models.chain import ChainModel
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import State

__all__ = ["ChainStrategy"]


class ChainStrategy(BaseStrategy):
    """Gives each link the belief about the hop distance of the page that it leads to.

    Liu and Milios (2010, 3.3). The belief about a page follows from that about its parent,
    which its request carries, and from what the page, its URL and the anchor that led to it
    show. One step on, with what the page shows of each link, follows the belief about the
    page behind it: the link's priority, P(T0) first, and where it is the same to 0.001
    P(T1), and so on up to five states. A model that was trained without look-ahead gives
    all links of a page the belief about the page itself, to the letter of the paper.

    The state of a request is the belief about the page that has the link.

    Parameters
    ----------
    model : path, optional
        The model file, relative to the topic file; the one named after the strategy in the
        topic's folder of models if not given.
    mode : {"marginal", "viterbi"}
        Whether beliefs are summed over the states before, or are of the best of them.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"terms", "anchor", "model"})
    kind: ClassVar[str]
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
        self.model = model
        self.mode = mode
        self.base_dir = base_dir
        self.models_dir = models_dir
        self._file = learnt_model(self.kind, model, base_dir=base_dir, models_dir=models_dir)
        self._learnt: ChainModel = self.learns.from_file(self._file)
        try:
            self._vocabulary = Vocabulary(self._learnt.names_)
        except ValueError as error:
            raise self._file.damaged(str(error)) from None

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:  # noqa: ARG002
        """Make ready what makes the features that the model has learnt from."""
        check_language(self._file, profile)
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
        before = _belief(state, learnt.k)
        belief = learnt.forward(before, self._vocabulary.matrix([row]), mode=self.mode)[0]
        n_links = len(page.links)
        if not n_links:
            children = np.empty((0, learnt.k))
        elif features.lookahead:
            links = self._vocabulary.matrix([features.of_link(page, link) for link in page.links])
            children = learnt.predict_child(belief, links, mode=self.mode)
        else:
            children = np.tile(belief, (n_links, 1))
        parts = {f"T{j}": children[:, j] for j in range(learnt.k)}
        priorities = belief_priorities(children[:, :BELIEF_COMPONENTS])
        return LinkScores(priorities, tuple(belief.tolist()), parts)


def _belief(state: State | None, k: int) -> NDArray[np.float64] | None:
    """Return the belief that a request carries; None where it is that of no such model."""
    belief = np.asarray(state if state is not None else (), dtype=np.float64)
    sound = belief.shape == (k,) and np.isfinite(belief).all() and (belief >= 0).all()
    return belief if sound and belief.any() else None
