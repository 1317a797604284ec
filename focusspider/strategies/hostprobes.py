"""Which hosts are worth a look that no page of was fetched: one cheap probe each."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from focusspider.strategies.linkcandidates import distinct
from focusspider.strategies.urlspelling import URL_GROUPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.strategies.linkevidence import Snapshot

__all__ = ["allowed_probes", "probes"]

_HOST = URL_GROUPS.index("host")
#: Pages up to which the share of probes stays the same; it then falls as 1/√n.
_STEADY_UNTIL = 400


def allowed_probes(explore: float, n: int) -> int:
    """Return how many probes a crawl of n pages may have made.

    A share ``explore`` of the first 400 pages, and less and less of the later ones: of n pages
    explore · √(400 n).

    >>> [allowed_probes(0.05, n) for n in (100, 400, 10_000)]
    [5, 20, 100]
    """
    return int(explore * min(n, sqrt(_STEADY_UNTIL * n)))


def probes(seen: Snapshot, log_odds: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return the best URL of each host of which nothing was fetched, the best hosts first.

    Links to another host say little of what is there, so its entrance may wait for thousands
    of pages.

    Parameters
    ----------
    log_odds
        Of each node that waits, NaN of the others, (n_nodes,).
    most
        How many at most.

    Returns
    -------
    ndarray
        Nodes, (at most ``most``,).
    """
    waiting = np.flatnonzero(~np.isnan(log_odds))
    hosts = seen.node_groups[:, _HOST]
    fetched = distinct(hosts[seen.row_node])
    unseen = waiting[~np.isin(hosts[waiting], fetched)]
    by_score = unseen[np.lexsort((unseen, -log_odds[unseen]))]  # best first
    _, first = np.unique(hosts[by_score], return_index=True)
    return by_score[np.sort(first)][:most]
