"""Which links of a hub stand together with those to known authorities."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.outline import Outline

__all__ = ["beside"]


def beside(outline: Outline, nodes: NDArray[np.int32], known: NDArray[np.bool_]) -> list[int]:
    """Return the links of a page that stand in a sub-tree with a link to an authority.

    Shchekotykhin, Jannach and Friedrich, section 4: "the algorithm analyzes the DOM paths of
    all links pointing to known authorities and determines their DOM parent elements". The
    parent of a link is often an element of its own, as in a list, so the sub-tree of a link
    is that of the nearest element above it that also holds a link to another authority; where
    the page has only one, to any other page.

    Parameters
    ----------
    nodes
        Where each link leads, (n_links,), -1 for what does not count.
    known
        Whether that is a known authority, (n_links,).
    """
    chosen = np.flatnonzero(known)
    several = len(set(nodes[chosen].tolist())) > 1
    others = chosen if several else np.flatnonzero(nodes >= 0)
    # how many different pages the links under each element lead to
    led: set[tuple[int, int]] = {
        (element, int(nodes[link])) for link in others.tolist() for element in outline.above(link)
    }
    pages = Counter(element for element, _ in led)
    roots = set()
    for link in chosen.tolist():
        for element in outline.above(link):
            if pages[element] > 1:
                roots.add(element)
                break
    return [
        link
        for link in np.flatnonzero(nodes >= 0).tolist()
        if not roots.isdisjoint(outline.above(link))
    ]
