"""PageRank of a graph of which only some pages' links are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["PageRank", "pagerank"]


class PageRank(NamedTuple):
    """The ranks of all nodes, and how they came about.

    ``scores`` is (n_nodes,) and sums to 1. ``change`` is the sum of what the last iteration
    changed, so the scores are within d / (1 - d) of it from the exact ones (in the sum of
    absolute differences). ``floor`` is the score of a node that nobody links to, or prefers
    less than others.
    """

    scores: NDArray[np.float64]
    change: float
    floor: float


def pagerank(
    links: csr_array,
    *,
    d: float = 0.8,
    max_iter: int = 10,
    tol: float = 1e-6,
    start: NDArray[np.float64] | None = None,
    pages: NDArray[np.integer[Any]] | None = None,
    preference: NDArray[np.float64] | None = None,
) -> PageRank:
    """Rank the nodes of a graph (Almpanidis, Kotropoulos and Pitas 2007, eq. 11 and 5.1).

    With probability d a surfer follows one of the links of a page, each as likely as the
    others, and otherwise goes to any node. From a node without links, or whose links are
    not known, every node is as likely. The scores are the shares of the surfer's time, so
    they are eq. 11 divided by the number of nodes.

    With a ``preference`` the surfer goes to a node as likely as that says, also from a node
    without links: topic-sensitive PageRank (Haveliwala 2003).

    Parameters
    ----------
    links
        (n_pages, n_nodes): entry (i, j) is 1 where page i links to node j. The links of the
        nodes that are no pages are not known.
    d
        Damping factor, in [0, 1).
    max_iter, tol
        It ends after so many iterations, at least 1, or when one changes less than ``tol``
        in sum. The paper needs no more than 10: the order settles before the values do.
    start
        Where to start, (n_nodes,), not negative, of any sum above 0; None: all equal.
    pages
        The node of each page, (n_pages,); None: the first n_pages nodes.
    preference
        How much each node is preferred, (n_nodes,), not negative, of any sum above 0; None:
        all equal.

    Examples
    --------
    Two pages that link to each other and to a third node:

    >>> from scipy.sparse import csr_array
    >>> links = csr_array(np.array([[0, 1, 1], [1, 0, 1]]))
    >>> pagerank(links, max_iter=100).scores.round(4).tolist()
    [0.2941, 0.2941, 0.4118]
    """
    n_pages, n_nodes = links.shape
    if not n_nodes:
        return PageRank(np.zeros(0), 0.0, 0.0)
    degrees = np.diff(links.indptr)  # (n_pages,)
    rows = slice(n_pages) if pages is None else pages
    dangling = np.ones(n_nodes, dtype=np.bool_)
    dangling[rows] = degrees == 0
    shares = 1 / np.maximum(degrees, 1)
    onward = links.T  # (n_nodes, n_pages), without a copy
    scores = np.full(n_nodes, 1 / n_nodes) if start is None else start / start.sum()
    preferred = 1 / n_nodes if preference is None else preference / preference.sum()
    least = float(np.min(preferred))
    change = floor = 0.0
    for _ in range(max_iter):
        jumps = 1 - d + d * float(scores[dangling].sum())
        floor = jumps * least
        moved = d * (onward @ (scores[rows] * shares)) + jumps * preferred
        change = float(np.abs(moved - scores).sum())
        scores = moved
        if change < tol:
            break
    return PageRank(scores, change, floor)
