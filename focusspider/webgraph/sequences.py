"""Sequences of pages to learn from, drawn out of a web graph.

Two papers, two kinds of sequence:

- MEMM and CRF (Liu and Milios 2010, 3.1) learn from random walks over back-link layers:
  :func:`sample_sequences`.
- HMM (Liu, Janssen and Milios 2005, 2.1 and 3.2) learns from a browsing session. Its
  equations count pages and links of the session's graph, not sequences;
  :func:`sample_paths` gives the paths of such a graph that end at a target, for the models
  that need sequences.

Everything is arrays: pages are numbers, links are two arrays of them, and a page's layer or
distance is one number each, -1 for a page that leads to no target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.registry import check_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Sequences", "hop_states", "sample_paths", "sample_sequences"]

#: Up to so many walks are looked at one by one, to tell how many sequences there are.
EXACT_UP_TO = 200_000
#: Draws in a row that bring nothing new before sampling ends.
PATIENCE = 2_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Sequences:
    """Sequences of pages, one after the other.

    Attributes
    ----------
    pages : ndarray, (n_items,)
        The pages of all sequences.
    lengths : ndarray, (n_sequences,)
        How many of them belong to each.
    possible : int
        How many different sequences the rules allow.
    exact : bool
        Whether ``possible`` was counted one by one; otherwise it counts walks with loops
        too, and is an upper bound.
    """

    pages: NDArray[np.intp]
    lengths: NDArray[np.intp]
    possible: int
    exact: bool

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[NDArray[np.intp]]:
        return iter(np.split(self.pages, np.cumsum(self.lengths)[:-1]) if len(self) else [])

    def states(self, distances: ArrayLike, k: int) -> NDArray[np.intp]:
        """Return the state of each page of the sequences, (n_items,); see :func:`hop_states`."""
        return hop_states(distances, k)[self.pages]


def hop_states(distances: ArrayLike, k: int) -> NDArray[np.intp]:
    """Return the states 0 to k - 1 of pages by their hop distances; -1 is no way at all.

    The last state is "k - 1 or more".

    >>> hop_states([0, 1, 4, 9, -1], 5).tolist()
    [0, 1, 4, 4, 4]
    """
    check_whole("k", k)
    hops = np.asarray(distances, dtype=np.intp)
    return np.where((hops < 0) | (hops >= k), k - 1, hops)


def sample_sequences(
    n: int,
    *,
    n_pages: int,
    src: ArrayLike,
    dst: ArrayLike,
    layers: ArrayLike,
    random_state: np.random.Generator,
    min_length: int = 2,
    max_length: int = 10,
    only_down: bool = True,
) -> Sequences:
    """Draw sequences by the rules of Liu and Milios (2010, 3.1).

    A sequence starts at a random page and goes on to a random child, until it has a length
    drawn from ``min_length`` to ``max_length``. It goes only from a higher layer to a lower
    one or within a layer, never comes to a page twice, and no sequence is taken twice. One
    that cannot go on ends where it is, and is kept if it is long enough. Where the rules
    allow no more than n sequences, all of them are returned, in random order.

    Parameters
    ----------
    n : int
        How many are wanted. There may be fewer.
    src, dst : array_like, (n_links,)
        Pages at the two ends of each link.
    layers : array_like, (n_pages,)
        The layer that each page was found in, that is, its distance before extra targets
        are marked. The paper's figure 5 has 9→7→3→4→1→0 as valid and forbids 4→7, which
        holds for these layers, and not for distances afterwards (where 7 is a target, and
        3 two hops from one); its remark that 4→7 is a sequence of length 2 does not. Labels
        are distances afterwards: :meth:`Sequences.states`.
    only_down : bool
        False also follows links to higher layers, so that what is learnt from has seen
        links that lead away. The paper wants "positive" sequences only.
    """
    graph = _Graph(n_pages, src, dst, layers, only_down=only_down)
    return _sampled(n, graph, random_state, min_length, max_length, None)


def sample_paths(
    n: int,
    *,
    n_pages: int,
    src: ArrayLike,
    dst: ArrayLike,
    distances: ArrayLike,
    random_state: np.random.Generator,
    min_length: int = 2,
    max_length: int = 10,
) -> Sequences:
    """Draw paths that end at a target, out of the graph of a browsing session.

    The graph is as Liu, Janssen and Milios (2005, 2.1) have it: the pages that a person
    visited and all links among them, so that a path may be a shorter one than the person
    took. A path starts at a random page, never goes away from the targets, never comes to
    a page twice, and ends at the first target it comes to. Parameters are those of
    :func:`sample_sequences`; a target is a page at distance 0.
    """
    hops = np.asarray(distances, dtype=np.intp)
    src, dst = np.asarray(src, dtype=np.intp), np.asarray(dst, dtype=np.intp)
    graph = _Graph(n_pages, src, dst, hops, only_down=True)
    graph.keep((hops[graph.src] > 0) & (hops[graph.dst] >= 0))
    return _sampled(n, graph, random_state, min_length, max_length, hops == 0)


class _Graph:
    """The links that a sequence may follow, each once, by the page that has them."""

    def __init__(
        self, n_pages: int, src: ArrayLike, dst: ArrayLike, layers: ArrayLike, *, only_down: bool
    ) -> None:
        check_whole("n_pages", n_pages, 0)
        self.n_pages = n_pages
        src, dst = np.asarray(src, dtype=np.intp), np.asarray(dst, dtype=np.intp)
        height = np.asarray(layers, dtype=np.intp)
        if src.shape != dst.shape or src.ndim != 1:
            raise ValueError(f"src and dst must be of one length, got {src.shape}, {dst.shape}")
        if height.shape != (n_pages,):
            raise ValueError(
                f"each of the {n_pages} pages needs one layer or distance, got {height.shape}"
            )
        if len(src) and not (
            min(src.min(), dst.min()) >= 0 and max(src.max(), dst.max()) < n_pages
        ):
            raise ValueError(f"links must be among the pages 0 to {n_pages - 1}")
        height = np.where(height < 0, np.iinfo(np.intp).max, height)
        links = np.unique(src * n_pages + dst)
        self.src, self.dst = np.divmod(links, max(n_pages, 1))
        keep = self.src != self.dst
        if only_down:
            keep &= height[self.src] >= height[self.dst]
        self.keep(keep)

    def keep(self, links: NDArray[np.bool_]) -> None:
        """Drop the other links."""
        self.src, self.dst = self.src[links], self.dst[links]
        starts = np.searchsorted(self.src, np.arange(self.n_pages + 1))
        self.start: list[int] = starts.tolist()
        self.child: list[int] = self.dst.tolist()

    def children(self, page: int) -> list[int]:
        return self.child[self.start[page] : self.start[page + 1]]

    def walks(self, least: int, most: int, ends: NDArray[np.bool_] | None) -> float:
        """Return how many walks there are of so many pages, those with loops too."""
        ending: NDArray[Any] = np.ones(self.n_pages) if ends is None else ends.astype(float)
        total = 0.0
        for length in range(1, most + 1):
            if length >= least:
                total += float(ending.sum())
            ending = np.bincount(self.src, weights=ending[self.dst], minlength=self.n_pages)
        return total

    def paths(
        self, least: int, most: int, ends: NDArray[np.bool_] | None
    ) -> Iterator[tuple[int, ...]]:
        """Yield every path without loops."""
        ending = None if ends is None else set(np.flatnonzero(ends).tolist())
        for first in range(self.n_pages):
            path = [first]
            waiting = [iter(self.children(first))]
            while waiting:
                page = next(waiting[-1], None)
                if page is None:
                    waiting.pop()
                    path.pop()
                    continue
                if page in path:
                    continue
                path.append(page)
                if len(path) >= least and (ending is None or page in ending):
                    yield tuple(path)
                if len(path) < most:
                    waiting.append(iter(self.children(page)))
                else:
                    path.pop()


def _sampled(
    n: int,
    graph: _Graph,
    random_state: np.random.Generator,
    least: int,
    most: int,
    ends: NDArray[np.bool_] | None,
) -> Sequences:
    check_whole("n", n)
    check_whole("min_length", least, 2)
    check_whole("max_length", most, least)
    walks = graph.walks(least, most, ends)
    exact = walks <= EXACT_UP_TO
    possible = sum(1 for _ in graph.paths(least, most, ends)) if exact else int(walks)
    if exact and possible <= n:
        found = list(graph.paths(least, most, ends))
        found = [found[i] for i in random_state.permutation(possible).tolist()]
    else:
        found = _drawn(n, graph, random_state, least, most, ends)
    return Sequences(
        pages=np.array([page for path in found for page in path], dtype=np.intp),
        lengths=np.array([len(path) for path in found], dtype=np.intp),
        possible=possible,
        exact=exact,
    )


def _drawn(
    n: int,
    graph: _Graph,
    random_state: np.random.Generator,
    least: int,
    most: int,
    ends: NDArray[np.bool_] | None,
) -> list[tuple[int, ...]]:
    starts = np.unique(graph.src).tolist()
    found: dict[tuple[int, ...], None] = {}
    in_vain = 0
    while starts and len(found) < n and in_vain < PATIENCE:
        path = [starts[random_state.integers(len(starts))]]
        length = most if ends is not None else int(random_state.integers(least, most + 1))
        while len(path) < length:
            children = graph.children(path[-1])
            if not children:
                break
            page = children[random_state.integers(len(children))]
            if page in path:
                others = [child for child in children if child not in path]
                if not others:
                    break
                page = others[random_state.integers(len(others))]
            path.append(page)
        sequence = tuple(path)
        if len(path) < least or (ends is not None and not ends[path[-1]]) or sequence in found:
            in_vain += 1
            continue
        in_vain = 0
        found[sequence] = None
    return list(found)
