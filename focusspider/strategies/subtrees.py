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
    is that of the nearest element above it that also holds a link to another page.

    Parameters
    ----------
    nodes
        Where each link leads, (n_links,), -1 for what does not count.
    known
        Whether that is a known authority, (n_links,), and so no -1.
    """
    above = {link: outline.above(link) for link in np.flatnonzero(nodes >= 0).tolist()}
    led = {(element, int(nodes[link])) for link, elements in above.items() for element in elements}
    pages = Counter(element for element, _ in led)  # to which links under each element lead
    roots = set()
    for link in np.flatnonzero(known).tolist():
        roots.update([element for element in above[link] if pages[element] > 1][:1])
    return [link for link, elements in above.items() if not roots.isdisjoint(elements)]
