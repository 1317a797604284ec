"""The tree of the pages that led to relevant ones, and the best hubs.

A page has one parent: the page with the link that it was fetched for. Pages are numbers from 0
in the order of fetching, so that a parent is below its children, and -1 is none.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Hub", "Node", "below", "best_hubs", "relevant_tree"]


@dataclass
class Node:
    """A page of the tree.

    ``pages_out`` and ``relevant_out`` are the pages that its links led to and that are left
    out here, and the relevant pages among them and what they led to.
    """

    page: int
    children: list[Node] = field(default_factory=list)
    pages_out: int = 0
    relevant_out: int = 0


class Hub(NamedTuple):
    """A page, how many pages its links brought, how many relevant, and how many further on."""

    page: int
    brought: int
    relevant: int
    below: int


def below(parents: Sequence[int], relevant: Sequence[bool]) -> list[int]:
    """Return for each page how many relevant pages are on paths through it, itself included.

    >>> below([-1, 0, 0, 2], [False, True, False, True])
    [2, 1, 1, 1]
    """
    counts = [int(one) for one in relevant]
    for page in range(len(counts) - 1, -1, -1):
        if parents[page] >= 0:
            counts[parents[page]] += counts[page]
    return counts


def relevant_tree(
    parents: Sequence[int], counts: Sequence[int], *, most: int, deepest: int
) -> Node:
    """Return the tree of the paths to relevant pages; its top is no page (-1).

    Parameters
    ----------
    counts
        what :func:`below` gives
    most
        pages of the tree; those that led to the most relevant pages go first
    deepest
        levels of the tree
    """
    children: dict[int, list[int]] = {}
    for page, parent in enumerate(parents):
        if counts[page]:
            children.setdefault(parent, []).append(page)
    top = Node(-1)
    open_: list[tuple[int, int, int, Node]] = []  # (-count, page, level, its parent's node)

    def push(node: Node, level: int) -> None:
        own = children.get(node.page, ())
        node.pages_out, node.relevant_out = len(own), sum(counts[page] for page in own)
        if level < deepest:
            for page in own:
                heapq.heappush(open_, (-counts[page], page, level, node))

    push(top, 0)
    while open_ and most > 0:
        count, page, level, above = heapq.heappop(open_)
        node = Node(page)
        above.children.append(node)
        above.pages_out -= 1
        above.relevant_out += count
        most -= 1
        push(node, level + 1)
    return top


def best_hubs(
    parents: Sequence[int], relevant: Sequence[bool], counts: Sequence[int], *, most: int
) -> list[Hub]:
    """Return the pages whose own links brought the most relevant pages, best first."""
    brought: dict[int, int] = {}
    good: dict[int, int] = {}
    for page, parent in enumerate(parents):
        if parent >= 0:
            brought[parent] = brought.get(parent, 0) + 1
            good[parent] = good.get(parent, 0) + bool(relevant[page])
    order = sorted((-number, brought[page], page) for page, number in good.items() if number)
    return [Hub(page, brought[page], good[page], counts[page] - bool(relevant[page]))
            for _, _, page in order[:most]]  # fmt: skip
