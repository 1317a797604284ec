"""The order of what waits, by what was learnt: whether it is another one, and the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.models.link_value import sigmoid
from focusspider.strategies.base import Reranking
from focusspider.strategies.linkbandit import PathBandit, wordless
from focusspider.strategies.linkcandidates import distinct
from focusspider.strategies.linklearning import priorities
from focusspider.strategies.orderchange import ndcg, sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.frontier import FrontierView
    from focusspider.strategies.linklearning import Learnt, LinkLearner
    from focusspider.strategies.linkprobes import LinkProbes
    from focusspider.strategies.linksharing import Elsewhere
    from focusspider.strategies.linktables import Snapshot

__all__ = ["NO_RERANKING", "NewOrder"]

#: What waits of which so many are looked at, to see whether its order has changed.
_SAMPLE = 1_000
#: Log odds of a probe: no link is as good as certain, and what is found meanwhile comes later.
_PROBE = 30.0

NO_RERANKING = Reranking(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class NewOrder:
    """The order that was learnt, of what waits.

    Parameters
    ----------
    probes
        Links that come before all others.
    frontier
        What waits.
    pages
        Number of pages so far, forgotten ones included.
    """

    def __init__(
        self,
        learner: LinkLearner,
        probes: LinkProbes,
        seen: Snapshot,
        learnt: Learnt,
        frontier: FrontierView,
        *,
        pages: int,
    ) -> None:
        self._learner = learner
        self._probes = probes
        self._seen = seen
        self._learnt = learnt
        self._pages = pages
        self._frontier = frontier
        by_key = np.argsort(seen.node_key)
        places = np.searchsorted(seen.node_key, frontier.keys, sorter=by_key)
        # The node of each that waits, and whether there is one.
        self._nodes = by_key[np.minimum(places, seen.n_nodes - 1)]
        self._known = seen.node_key[self._nodes] == frontier.keys
        self._waiting = distinct(self._nodes[self._known])

    def likeness(self) -> float:
        """Return NDCG of the order in which links wait, by their new values, of a part of them.

        0 where so few wait that it is as well to reorder them.
        """
        if self._known.sum() <= _SAMPLE:
            return 0.0
        part = self._nodes[self._known][sampled(self._frontier.priorities[self._known], _SAMPLE)]
        log_odds = self._learner.log_odds(self._seen, distinct(part), self._learnt)[part]
        return ndcg(sigmoid(log_odds[~np.isnan(log_odds)]))

    def levels(self) -> tuple[float, float]:
        """Return the log odds by model and prior of what waits, in the mean of a part of it."""
        every = max(1, len(self._waiting) // _SAMPLE)
        return self._learner.levels(self._seen, self._waiting[::every], self._learnt)

    def reranking(self, elsewhere: Elsewhere | None) -> tuple[Reranking, NDArray[np.float64]]:
        """Return new priorities of what waits, and what it is thought to bring, (n_nodes,)."""
        log_odds = self._learner.log_odds(self._seen, self._waiting, self._learnt)
        expected = np.where(np.isnan(log_odds), 0.0, sigmoid(np.nan_to_num(log_odds)))
        bandit = self._bandit()
        log_odds[self._probes.choose(self._seen, log_odds, self._pages, bandit)] = _PROBE
        values = np.where(self._known, log_odds[self._nodes], np.nan)
        if elsewhere is not None:
            values = elsewhere.raised(self._frontier.keys, values)
        scored = np.flatnonzero(~np.isnan(values))
        return Reranking(self._frontier.ids[scored], priorities(values[scored])), expected

    def probes_alone(self) -> Reranking:
        """Return new priorities of new probes; all else keeps its own."""
        bandit = self._bandit()
        might = self._probes.candidates(self._seen, self._waiting, self._pages, bandit)
        if not len(might):
            return NO_RERANKING
        log_odds = self._learner.log_odds(self._seen, might, self._learnt)
        chosen = np.zeros(self._seen.n_nodes, dtype=np.bool_)
        chosen[self._probes.choose(self._seen, log_odds, self._pages, bandit)] = True
        raised = np.flatnonzero(self._known & chosen[self._nodes])
        return Reranking(self._frontier.ids[raised], priorities(np.full(len(raised), _PROBE)))

    def _bandit(self) -> PathBandit:
        silence = self._learnt.skills.silence * wordless(self._seen)
        return PathBandit(self._seen, self._learnt.successes.host_paths, silence, self._waiting)
