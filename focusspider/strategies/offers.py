"""What a worker thinks of URLs that wait at the hosts of other workers.

It knows the links to them, which the worker does not that has the host: without a word from
it they would keep the priority that they were found with, when little had been learnt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from focusspider.models.archive import Shapes
    from focusspider.strategies.base import Contribution

__all__ = ["MOST_OFFERS", "OFFERS", "best_offers", "offers"]

#: So many are told, of those that were found last.
MOST_OFFERS = 30_000
#: What :func:`offers` returns: keys, with the bits of signed numbers, and log odds.
OFFERS: Shapes = {
    "offer_keys": ("<i8", ("n_offers",)),
    "offer_scores": ("<f4", ("n_offers",)),
}


def offers(keys: NDArray[np.uint64], scores: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return what is told of URLs: their keys and their scores, (n,) each."""
    return {"offer_keys": keys.view(np.int64), "offer_scores": scores.astype(np.float32)}


def best_offers(
    contributions: Iterable[Contribution], keys: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Return the best score that other workers give each of the URLs, or NaN, (n,)."""
    best = np.full(len(keys), np.nan)
    order = np.argsort(keys)
    for each in contributions:
        told = each["offer_keys"].view(np.uint64)
        places = np.searchsorted(keys, told, sorter=order)
        here = np.flatnonzero(places < len(order))
        rows = order[places[here]]
        same = keys[rows] == told[here]
        scores = each["offer_scores"][here[same]].astype(np.float64)
        np.fmax.at(best, rows[same], scores)
    return best
