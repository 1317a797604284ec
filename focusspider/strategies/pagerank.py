"""PageRank: a link is as good as its place in the graph of what is known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focusspider.keytable import ABSENT
from focusspider.models.pagerank import pagerank
from focusspider.registry import check_number, check_share, check_whole
from focusspider.strategies.backlink import count_priorities
from focusspider.strategies.base import GraphStrategy, LinkScores, Reranking, scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.frontier import FrontierView
    from focusspider.linkgraph import Snapshot
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import RerankWork, State

__all__ = ["PageRank"]


class PageRank(GraphStrategy):
    """Takes what has the highest PageRank among the fetched pages and what waits.

    Almpanidis, Kotropoulos and Pitas 2007, 2.2.1 and 5.1. Links to what is neither fetched
    nor waiting (other sites that are out of scope, pages that failed) are not in the graph,
    as the paper leaves them out. What waits has no links that are known, so a surfer who
    gets there goes on to any page. Each iteration starts from the ranks of the rerank
    before.

    The frontier is reordered every ``rerank_every`` pages (BSFSN); until then a new link
    waits at the end. So the first pages come in the order in which they were found.

    Parameters
    ----------
    d : float
        Damping factor, in [0, 1].
    max_iter : int
        Most iterations at each rerank.
    rerank_every : int
        N, the number of pages after which the frontier is reordered.
    rerank_growth : float
        It is not reordered either before the crawl has grown by this share: 0.02 begins to
        matter at 2,500 pages, and bounds the cost of all iterations by 50 times that of the
        last rerank. 0: every N pages, however many there are.
    """

    def __init__(
        self,
        *,
        d: float = 0.8,
        max_iter: int = 10,
        rerank_every: int = 50,
        rerank_growth: float = 0.02,
    ) -> None:
        check_share("d", d)
        check_whole("max_iter", max_iter)
        check_whole("rerank_every", rerank_every)
        check_number("rerank_growth", rerank_growth)
        self.d = d
        self.max_iter = max_iter
        self.rerank_every = rerank_every
        self.rerank_growth = rerank_growth

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Begin with an empty graph."""
        super().start(profile, random_state)
        # Of the nodes at the last rerank, 0 where there was none: (n_nodes,). In units of
        # the mean, so that a rank does not shrink as the graph grows.
        self._ranks = np.zeros(0)

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Let every link wait at the end."""
        return scored(np.zeros(len(page.links)))

    def rerank(self, frontier: FrontierView) -> RerankWork:
        """Return the work that computes the ranks of what waits."""
        return partial(self._reranking, self.graph.snapshot(), frontier)

    def _reranking(self, graph: Snapshot, frontier: FrontierView) -> Reranking:
        links, nodes = graph.links_among(frontier.keys)
        n_pages, n_nodes = links.shape
        start = self._start(nodes)
        ranks = n_nodes * pagerank(links, d=self.d, max_iter=self.max_iter, start=start).scores
        known = nodes != ABSENT
        kept = np.zeros(len(graph.keys))
        kept[nodes[known]] = ranks[known]
        self._ranks = kept
        linked = known[n_pages:]
        return Reranking(frontier.ids[linked], count_priorities(ranks[n_pages:][linked]))

    def _start(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the last ranks of nodes; a new one begins with the lowest there was."""
        ranks = np.zeros(len(nodes))
        known = (nodes != ABSENT) & (nodes < len(self._ranks))
        ranks[known] = self._ranks[nodes[known]]
        ranks[ranks == 0] = ranks[ranks > 0].min(initial=1.0)
        return ranks
