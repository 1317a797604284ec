"""HMM: a link is worth what a hidden Markov model believes of where it leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from focusspider.models.hmm import MODES
from focusspider.models.user_model import UserModel
from focusspider.priority import BELIEF_COMPONENTS, belief_priorities
from focusspider.registry import check_choice
from focusspider.strategies.base import LinkScores
from focusspider.strategies.learnt import LearntStrategy, carried_belief

if TYPE_CHECKING:
    import os

    from focusspider.page import Page
    from focusspider.strategies.base import State

__all__ = ["Hmm"]


class Hmm(LearntStrategy):
    """Gives each link the belief about the state of the page that it leads to.

    Liu, Janssen and Milios (2005, sections 3.3 and 4). A page shows the cluster of its
    nearest neighbours in the latent space of the training pages. With it, and with the
    belief of its parent, which its request carries, it has a belief α over hop distances
    (eq. 7); from it follows that of its children, which are not seen (eq. 8)::

        α(s_j, t)    = b[j, c_t] Σ_i α(s_i, t-1) a[i, j], normalised
        α'(s_j, t+1) = Σ_i α(s_i, t) a[i, j]

    All links of a page share the priority of (P(T0), …, P(Tn-1)), in the order of the
    papers: P(T0) first, and where it is the same to 0.001, P(T1), and so on. Of a model
    with more than five states the first five count.

    The state of a request is the belief α of the page that has the link.

    Parameters
    ----------
    model : path, optional
        The model file, relative to the topic file; ``hmm.npz`` in the topic's folder of
        models if not given.
    mode : {"marginal", "viterbi"}
        Whether beliefs are summed over the states before, or are of the best of them.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"terms", "model"})

    kind: ClassVar[str] = "hmm"

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
        self._learnt = UserModel.from_file(self._file)

    def score(self, page: Page, state: State | None) -> LinkScores:
        """Give every link what is believed of the page's children."""
        hmm = self._learnt.hmm_
        observed = self._learnt.observe(page.terms)
        before = carried_belief(state, hmm.n_states)
        if before is None:
            belief = hmm.begin(observed)
        else:
            belief = hmm.follow(before, observed, mode=self.mode)
        children = hmm.ahead(belief, mode=self.mode)
        n_links = len(page.links)
        parts = {f"T{j}": np.full(n_links, p) for j, p in enumerate(children.tolist())}
        if isinstance(observed, int):
            parts["cluster"] = np.full(n_links, float(observed))
        priority = belief_priorities(children[:BELIEF_COMPONENTS])[0]
        return LinkScores(np.full(n_links, priority), tuple(belief.tolist()), parts)
