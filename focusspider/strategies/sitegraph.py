"""One site as xCrawl sees it: its links, its authorities and hubs, and what nodes weigh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.keytable import ABSENT
from focusspider.linkgraph import LinkGraph
from focusspider.models.hits import hits
from focusspider.models.pagerank import pagerank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

__all__ = ["VARIANTS", "SiteGraph"]

#: How nodes are weighed (Shchekotykhin, Jannach and Friedrich, figure 8).
VARIANTS = ("topic-sensitive", "pagerank", "hits")
#: Ranks need not be nearer to the exact ones than this, in sum: their order has settled.
_TOLERANCE = 1e-4


class SiteGraph:
    """The pages of one site and the links among them.

    Shchekotykhin, Jannach and Friedrich, section 4. What the judge has accepted is an
    authority. Formula 1 gives authorities the weight 1, hubs that which HITS gave them, and
    the rest 1/n, with n the number of nodes. What is made of it depends on the variant:

    ``topic-sensitive``
        PageRank with damping c that prefers nodes by these weights
    ``pagerank``
        the harmonic mean of these weights and PageRank without a preference, each as a share
        of its largest
    ``hits``
        these weights as they are

    The paper gives an edge its source's weight over its out-degree, so all edges of one page
    weigh the same, and follows "the link leading to the node with the highest weight"
    (section 3). The weight of a node under PageRank is the sum of those of the edges to it.

    Parameters
    ----------
    variant
        One of :data:`VARIANTS`.
    c
        Damping factor of PageRank, in [0, 1).
    min_authorities
        Number of authorities that a page must link to to be a hub.
    hub_share
        Share of the largest hub weight that it must have.
    max_iter
        Most iterations of PageRank and HITS each time; PageRank goes on from the weights
        before.
    """

    def __init__(
        self, *, variant: str, c: float, min_authorities: int, hub_share: float, max_iter: int
    ) -> None:
        self.variant = variant
        self.c = c
        self.min_authorities = min_authorities
        self.hub_share = hub_share
        self.max_iter = max_iter
        self.links = LinkGraph()
        self.authorities: dict[int, None] = {}  # nodes, in the order of fetching
        self.hubs: dict[int, None] = {}  # nodes, in the order in which they were found
        self._hub_weights = np.zeros(0)
        self._ranks = np.zeros(0)
        self._weights: NDArray[np.float64] | None = None
        self._searched = 0  # pages at the last search for hubs

    def add_page(self, key: int, link_keys: Iterable[int], *, accepted: bool) -> int:
        """Add a fetched page and its links within the site, and return its node."""
        new = self.links.add_page(key, link_keys)
        node = int(self.links.nodes([key])[0])
        if new:
            self._weights = None
            if accepted:
                self.authorities[node] = None
        return node

    def is_fetched(self, node: int) -> bool:
        """Return whether the links of a node are known."""
        return int(self.links.rows[node]) != ABSENT

    def onward(self, node: int) -> NDArray[np.int32]:
        """Return the nodes that a fetched page links to, each once."""
        row = self.links.rows[node]
        matrix = self.links.csr()
        found: NDArray[np.int32] = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        return found

    @property
    def weights(self) -> NDArray[np.float64]:
        """What each node weighs, (n_nodes,)."""
        if self._weights is None:
            self._weights = self._weigh()
        return self._weights

    def find_hubs(self) -> int:
        """Weigh the pages as hubs anew, and return how many are hubs that were none before.

        A hub is a page that is no authority, links to enough of them and weighs enough.
        """
        graph = self.links
        if self._searched == graph.n_fetched or not self.authorities:
            return 0
        self._searched = graph.n_fetched
        start = np.zeros(len(graph))
        start[list(self.authorities)] = 1
        found = hits(graph.csr(), start=start, pages=graph.fetched, max_iter=self.max_iter)
        weights = found.hubs
        weights[list(self.authorities)] = 0
        self._hub_weights, self._weights = weights, None
        linked = graph.csr() @ start  # (n_fetched,)
        nodes = graph.fetched[linked >= self.min_authorities]
        before = len(self.hubs)
        least = max(self.hub_share * float(weights.max(initial=0)), np.finfo(np.float64).tiny)
        self.hubs |= dict.fromkeys(nodes[weights[nodes] >= least].tolist())
        return len(self.hubs) - before

    def _weigh(self) -> NDArray[np.float64]:
        graph = self.links
        given = self._formula_1()
        if self.variant == "hits" or not len(graph):
            return given
        topical = self.variant == "topic-sensitive"
        start = np.full(len(graph), self._ranks.min(initial=1.0))
        start[: len(self._ranks)] = self._ranks
        self._ranks = pagerank(
            graph.csr(),
            pages=graph.fetched,
            d=self.c,
            max_iter=self.max_iter,
            tol=_TOLERANCE,
            start=start,
            preference=given if topical else None,
        ).scores
        if topical:
            return self._ranks
        given, ranks = given / given.max(), self._ranks / self._ranks.max()
        mean: NDArray[np.float64] = 2 * given * ranks / (given + ranks)
        return mean

    def _formula_1(self) -> NDArray[np.float64]:
        """Return what each node weighs before PageRank, (n_nodes,)."""
        n_nodes = len(self.links)
        weights = np.zeros(n_nodes)
        weights[: len(self._hub_weights)] = self._hub_weights
        weights[weights == 0] = 1 / max(n_nodes, 1)
        weights[list(self.authorities)] = 1
        return weights

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return what :meth:`recall` takes up again."""
        return {
            **self.links.arrays(),
            "authorities": np.array(list(self.authorities), dtype=np.int32),
            "hubs": np.array(list(self.hubs), dtype=np.int32),
            "hub_weights": self._hub_weights,
            "ranks": self._ranks,
            "searched": np.array(self._searched),
        }

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was known of the site."""
        self.links = LinkGraph.of(memory)
        self.authorities = dict.fromkeys(memory["authorities"].tolist())
        self.hubs = dict.fromkeys(memory["hubs"].tolist())
        self._hub_weights = memory["hub_weights"]
        self._ranks = memory["ranks"]
        self._searched = int(memory["searched"])
        self._weights = None
