"""Where the links of a page are in its tree, for who must know what they stand beside.

A tree is gone when a page is parsed; what is here needs another one. A strategy that looks at
it says so (``needs``), and no other pays for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from selectolax.lexbor import LexborNode

__all__ = ["LeafReader", "Leaves", "Outline", "OutlineReader", "TreeReader"]


class TreeReader(Protocol):
    """Is shown the links of a page, as these are read."""

    def begin(self, root: LexborNode) -> None:
        """Begin a tree of the page; it may have several, one for its frames."""
        ...

    def add(self, node: LexborNode) -> None:
        """Note a link of this tree, in the order of :attr:`~focusspider.page.Page.links`."""
        ...


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
    """Notes the elements above the links of a page."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._of_links: list[int] = []
        self._numbers: dict[int, int] = {}

    def begin(self, root: LexborNode) -> None:  # noqa: ARG002
        """Begin a tree: nodes are told apart by address."""
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


class Leaves(NamedTuple):
    """The leaves of a page's tree that hold text, in their order, and where its links are.

    ``spans`` has for each link its first leaf and the one after its last; of one without text
    they are the same.
    """

    texts: Sequence[str]
    spans: Sequence[tuple[int, int]]

    def around(self, link: int, distance: int) -> list[tuple[int, str]]:
        """Return the leaves within a distance of a link, as (distance, text).

        The distance of a link's own leaves is 0, that of the leaf before it is -1, and that of
        the leaf after it 1 (Chakrabarti, Punera and Subramanyam 2002, 3.2).

        >>> Leaves(["a", "b", "c", "d"], [(1, 3)]).around(0, 1)
        [(-1, 'a'), (0, 'b'), (0, 'c'), (1, 'd')]
        """
        first, end = self.spans[link]
        leaves = range(max(0, first - distance), min(len(self.texts), end + distance))
        return [
            (min(leaf - first, 0) if leaf < end else leaf - end + 1, self.texts[leaf])
            for leaf in leaves
        ]


class LeafReader:
    """Notes the leaves of a page's tree, and which are those of its links."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._spans: list[tuple[int, int]] = []
        self._root: LexborNode | None = None
        self._links: dict[int, int] = {}

    def begin(self, root: LexborNode) -> None:
        """Begin a tree, and look through the one before, whose links are all known now."""
        self._look_through()
        self._root = root

    def add(self, node: LexborNode) -> None:
        """Note a link."""
        self._links[node.mem_id] = len(self._spans)
        self._spans.append((len(self._texts), len(self._texts)))

    def leaves(self) -> Leaves:
        """Return what was noted."""
        self._look_through()
        return Leaves(self._texts, self._spans)

    def _look_through(self) -> None:
        if self._root is None:
            return
        for node in self._root.traverse(include_text=True):
            number = self._links.get(node.mem_id)
            if number is not None:
                first = len(self._texts)
                within = sum(bool(_text_of(leaf)) for leaf in node.traverse(include_text=True))
                self._spans[number] = first, first + within
            text = _text_of(node)
            if text:
                self._texts.append(text)
        self._root = None
        self._links.clear()


def _text_of(node: LexborNode) -> str:
    """Return the text of a leaf: its own, or what stands for an image."""
    if node.is_text_node:
        return (node.text_content or "").strip()
    if node.tag == "img":
        return (node.attributes.get("alt") or "").strip()
    return ""
