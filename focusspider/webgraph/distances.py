"""How many links each page of a graph is away from the nearest target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["hop_distances"]


def hop_distances(
    sources: NDArray[np.int64],
    destinations: NDArray[np.int64],
    targets: NDArray[np.bool_],
    *,
    n_states: int,
) -> NDArray[np.int64]:
    """Return the state of each page: the fewest links to a target, n_states - 1 at most.

    State n_states - 1 is "so many or more", and that of a page from which no target can be
    reached (memm-crf 3.1 and 3.2, HMM 3.1). The search is by breadth, backwards from the
    targets, over edge e from page ``sources[e]`` to page ``destinations[e]``.

    Parameters
    ----------
    sources, destinations
        (n_edges,), pages as numbers from 0.
    targets
        Which pages are targets, (n_pages,).
    n_states
        2 or more.

    Returns
    -------
    ndarray of int64
        (n_pages,), in 0 … n_states - 1.

    >>> on_a_path = np.arange(3), np.arange(1, 4)  # 0 → 1 → 2 → 3
    >>> hop_distances(*on_a_path, np.array([False, False, False, True]), n_states=3).tolist()
    [2, 2, 1, 0]
    """
    if n_states < 2:
        raise ValueError(f"n_states is {n_states}: targets and the rest make 2, so give 2 or more")
    distances = np.where(targets, 0, n_states - 1)
    nearest = targets.copy()
    for distance in range(1, n_states - 1):
        found = np.zeros_like(nearest)
        found[sources[nearest[destinations]]] = True
        nearest = found & (distances > distance)
        distances[nearest] = distance
    return distances
