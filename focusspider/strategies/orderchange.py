"""How much an order has changed, told by a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ndcg", "sampled"]


def ndcg(gains: NDArray[np.float64]) -> float:
    """Return the normalised discounted cumulative gain of an order, in [0, 1].

    Järvelin and Kekäläinen (2002): Σ gᵢ / log₂(i + 1) over that of the best order; 1 where
    there is nothing to gain.

    Parameters
    ----------
    gains
        What each is worth, at least 0, in the order that is looked at, (n,).

    >>> ndcg(np.array([1.0, 0.5, 0.0])), round(ndcg(np.array([0.0, 1.0])), 3)
    (1.0, 0.631)
    """
    discounts = 1 / np.log2(np.arange(2, len(gains) + 2))
    best = float(np.sort(gains)[::-1] @ discounts)
    return float(gains @ discounts) / best if best > 0 else 1.0


def sampled(priorities: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Return places of a part of what waits, in its order: the n / 2 best, and each k-th other.

    All where there are no more than n.
    """
    order = np.argsort(-priorities.astype(np.float64), kind="stable")
    if len(order) <= n:
        return order
    best, rest = order[: n // 2], order[n // 2 :]
    return np.concatenate([best, rest[:: -(-len(rest) // (n // 2))]])
