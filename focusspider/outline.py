"""Where the links of a page are in its tree, for who must know which stand together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from selectolax.lexbor import LexborNode

__all__ = ["Outline", "OutlineReader"]


class Outline(NamedTuple):
    """The elements that have links under them, numbered so that parents come first.

    ``parents`` is (n_elements,): the element above each, -1 for a root. ``of_links`` is
    (n_links,): the element that is the parent of each link, -1 for none.
    """

    parents: NDArray[np.int32]
    of_links: NDArray[np.int32]

    def above(self, link: int) -> list[int]:
        """Return the elements above a link, the nearest first."""
        found = []
        element = int(self.of_links[link])
        while element >= 0:
            found.append(element)
            element = int(self.parents[element])
        return found


class OutlineReader:
    """Notes the elements above the links of a page, as these are read."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._of_links: list[int] = []
        self._numbers: dict[int, int] = {}

    def begin(self) -> None:
        """Begin another tree of the same page: nodes are told apart by address."""
        self._numbers.clear()

    def add(self, node: LexborNode) -> None:
        """Note a link."""
        new = []
        at = node.parent
        number = -1
        while at is not None and at.is_element_node:
            key = at.mem_id
            known = self._numbers.get(key)
            if known is not None:
                number = known
                break
            new.append(key)
            at = at.parent
        for key in reversed(new):
            self._parents.append(number)
            number = self._numbers[key] = len(self._parents) - 1
        self._of_links.append(number)

    def outline(self) -> Outline:
        """Return what was noted."""
        return Outline(
            np.array(self._parents, dtype=np.int32), np.array(self._of_links, dtype=np.int32)
        )
