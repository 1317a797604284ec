"""HITS: hubs link to good authorities, and authorities are linked to by good hubs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["Hits", "hits"]


class Hits(NamedTuple):
    """The weights of all nodes, and how they came about.

    ``hubs`` and ``authorities`` are (n_nodes,), each of length 1, or 0 where nothing links
    to an authority. ``change`` is the largest change of a weight in the last iteration.
    """

    hubs: NDArray[np.float64]
    authorities: NDArray[np.float64]
    change: float


def hits(
    links: csr_array,
    *,
    start: NDArray[np.float64],
    pages: NDArray[np.integer[Any]] | None = None,
    max_iter: int = 20,
    tol: float = 1e-6,
) -> Hits:
    """Weigh the nodes of a graph as hubs and as authorities (Kleinberg 1999).

    An iteration is Shchekotykhin, Jannach and Friedrich's H, then A (section 4): the hub
    weight of a page is the sum of the authority weights that it links to, and the authority
    weight of a node that of the hub weights of the pages that link to it. Both are
    normalised. Hubs start from 0, so the first iteration counts the authorities that each
    page links to.

    Parameters
    ----------
    links
        (n_pages, n_nodes): entry (i, j) is 1 where page i links to node j.
    start
        Authority weights to start from, (n_nodes,), not negative: 1 for what is known to be
        an authority, 0 for the rest.
    pages
        The node of each page, (n_pages,); None: the first n_pages nodes.
    max_iter, tol
        It ends after so many iterations, at least 1, or when no weight changes more than
        ``tol``. Few iterations stay near the start; many go to the largest community of the
        graph, whatever it is about.

    Examples
    --------
    Page 0 links to nodes 2, 3 and 4, page 1 to node 2 only:

    >>> from scipy.sparse import csr_array
    >>> links = csr_array(np.array([[0, 0, 1, 1, 1], [0, 0, 1, 0, 0]]))
    >>> found = hits(links, start=np.array([0, 0, 1.0, 1.0, 0]), max_iter=1)
    >>> found.hubs.round(4).tolist()  # 2 and 1 of the authorities, over the root of 5
    [0.8944, 0.4472, 0.0, 0.0, 0.0]
    >>> found.authorities.round(4).tolist()  # 3, 2 and 2, over the root of 17
    [0.0, 0.0, 0.7276, 0.4851, 0.4851]
    """
    n_pages, n_nodes = links.shape
    rows = slice(n_pages) if pages is None else pages
    onward = links.T  # (n_nodes, n_pages), without a copy
    authorities = _unit(start)
    of_pages = np.zeros(n_pages)
    change = 0.0
    for _ in range(max_iter):
        hubs = _unit(links @ authorities)  # (n_pages,)
        moved = _unit(onward @ hubs)  # (n_nodes,)
        change = float(
            max(
                np.abs(hubs - of_pages).max(initial=0.0),
                np.abs(moved - authorities).max(initial=0.0),
            )
        )
        of_pages, authorities = hubs, moved
        if change < tol:
            break
    weights = np.zeros(n_nodes)
    weights[rows] = of_pages
    return Hits(weights, authorities, change)


def _unit(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of length 1, or all 0."""
    length = float(np.linalg.norm(weights))
    return weights / length if length else np.asarray(weights, dtype=np.float64)
