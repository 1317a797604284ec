"""Backlink: a link is as good as the number of fetched pages that have it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focusspider.priority import scalar_priorities
from focusspider.registry import check_whole
from focusspider.strategies.base import GraphStrategy, LinkScores, Reranking

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from focusspider.frontier import FrontierView
    from focusspider.linkgraph import Snapshot
    from focusspider.page import Page
    from focusspider.strategies.base import RerankWork, State

__all__ = ["Backlink", "count_priorities"]


class Backlink(GraphStrategy):
    """Takes what most fetched pages link to.

    The BL of Almpanidis, Kotropoulos and Pitas (2007, 2.2): the in-degree in the graph of
    what is known so far. Several links of one page count once. The frontier is reordered
    every ``rerank_every`` pages, as the paper does (BSFSN, 5.1); until then a new link has
    the priority of one backlink, which it has at least, and among equals the oldest is
    next. With ``rerank_every=1`` every count is exact at any time.

    Parameters
    ----------
    rerank_every : int
        N, the number of pages after which the frontier is reordered.
    """

    def __init__(self, *, rerank_every: int = 50) -> None:
        check_whole("rerank_every", rerank_every)
        self.rerank_every = rerank_every

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Give every link the priority of one backlink."""
        backlinks = np.ones(len(page.links))
        return LinkScores(count_priorities(backlinks), None, {"backlinks": backlinks})

    def rerank(self, frontier: FrontierView) -> RerankWork:
        """Return the work that counts the backlinks of what waits."""
        return partial(_reranking, self.graph.snapshot(), frontier)


def _reranking(graph: Snapshot, frontier: FrontierView) -> Reranking:
    counts = graph.in_degrees(frontier.keys)  # (n_waiting,)
    linked = counts > 0
    return Reranking(frontier.ids[linked], count_priorities(counts[linked]))


def count_priorities(counts: ArrayLike) -> NDArray[np.int64]:
    """Put counts on the grid of priorities: n as the score n / (n + 1).

    Counts up to 33 million keep their order.

    >>> count_priorities([0, 1, 3]).tolist() == [0, 2**49, 3 * 2**48]
    True
    """
    numbers = np.asarray(counts, dtype=np.float64)
    return scalar_priorities(numbers / (numbers + 1))
