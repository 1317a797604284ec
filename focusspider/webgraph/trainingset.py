"""Sequences of pages as what a sequence model is fitted to: a matrix, lengths and labels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.registry import check_share
from focusspider.webgraph.vocabulary import Columns, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

    from focusspider.page import Link, Page
    from focusspider.webgraph.features import PageFeatures, Row
    from focusspider.webgraph.sequences import Sequences

    #: The link by which a page leads to another, whose number is given; None if it has none.
    LinkOf = Callable[[Page, int], Link | None]

__all__ = ["TrainingSet", "links_by_key", "training_set"]


class TrainingSet(NamedTuple):
    """What a model is fitted to.

    ``features`` is (n_items, n_features), ``lengths`` (n_sequences,), ``labels`` (n_items,),
    and ``vocabulary`` names the columns.
    """

    features: csr_array
    lengths: NDArray[np.intp]
    labels: NDArray[np.intp]
    vocabulary: Vocabulary

    def part(self, chosen: ArrayLike) -> TrainingSet:
        """Return some of the sequences, by a mask of them or by their numbers, in order."""
        mask = np.zeros(len(self.lengths), dtype=bool)
        mask[np.asarray(chosen)] = True
        items = np.repeat(mask, self.lengths)
        return TrainingSet(
            self.features[items], self.lengths[mask], self.labels[items], self.vocabulary
        )


def links_by_key(keys: ArrayLike) -> LinkOf:
    """Return a function that finds the link from a page to another by :attr:`Page.key`.

    Of several links to one page it is the first that has an anchor. ``keys`` are those of
    all pages, (n_pages,).
    """
    known = np.asarray(keys, dtype=np.uint64)

    def link_of(page: Page, number: int) -> Link | None:
        places = np.flatnonzero(page.link_keys == known[number])
        links = [page.links[place] for place in places.tolist()]
        return next((link for link in links if link.anchor), links[0] if links else None)

    return link_of


def training_set(
    sequences: Sequences,
    labels: ArrayLike,
    page_of: Callable[[int], Page],
    features: PageFeatures,
    *,
    link_of: LinkOf,
    random_state: np.random.Generator,
    share: float = 0.5,
    min_count: int = 2,
    max_features: int = 20_000,
    vocabulary: Vocabulary | None = None,
) -> TrainingSet:
    """Return the features of sequences, and the state of each page.

    Parameters
    ----------
    labels : array_like, (n_items,)
        :meth:`Sequences.states`.
    page_of : callable
        Gives the page of a number; called once for each page, in the order of numbers.
    link_of : callable
        Gives the link by which a page leads to another; :func:`links_by_key`.
    share : float
        With look-ahead, in so many of the sequences the last page is one that was not
        fetched: it keeps only what its parent shows of it. Without, it is ignored. Of the
        link to a page that was fetched only URL and anchor count, as a request keeps them.
    min_count, max_features : int
        For the vocabulary, which is learnt of the distinct pages and links. A page that is
        in many sequences counts once.
    vocabulary : Vocabulary, optional
        Takes the place of one that is learnt, for data held out.
    """
    check_share("share", share)
    rows = _Rows(sequences, page_of, features, link_of)
    if vocabulary is None:
        vocabulary = Vocabulary.of(rows.all(), min_count=min_count, max_features=max_features)
    columns = rows.columns(vocabulary)
    ahead = random_state.random(len(sequences)) < (share if features.lookahead else 0.0)
    items: list[tuple[Columns, ...]] = []
    for pages, unseen in zip(sequences, ahead.tolist(), strict=True):
        path = pages.tolist()
        arrivals = [columns.start[path[0]], *(columns.arrival[edge] for edge in pairwise(path))]
        onwards = [*(columns.onward[edge] for edge in pairwise(path)), None]
        for t, (page, arrival, onward) in enumerate(zip(path, arrivals, onwards, strict=True)):
            if unseen and t == len(path) - 1:  # at least two pages are in a sequence
                items.append((columns.link[path[-2], path[-1]],))
            elif onward is None:
                items.append((columns.page[page], arrival))
            else:
                items.append((columns.page[page], arrival, onward))
    return TrainingSet(
        vocabulary.joined(items),
        sequences.lengths,
        np.asarray(labels, dtype=np.intp),
        vocabulary,
    )


class _Columns(NamedTuple):
    page: dict[int, Columns]
    start: dict[int, Columns]
    link: dict[tuple[int, int], Columns]
    arrival: dict[tuple[int, int], Columns]
    onward: dict[tuple[int, int], Columns]


class _Rows:
    """The features of each page and of each link of the sequences, once.

    ``link`` is all that a page shows of another which was not fetched, ``arrival`` what is
    left of that when it is: a request keeps the URL and the anchor.
    """

    def __init__(
        self,
        sequences: Sequences,
        page_of: Callable[[int], Page],
        features: PageFeatures,
        link_of: LinkOf,
    ) -> None:
        self.page: dict[int, Row] = {}
        self.start: dict[int, Row] = {}
        self.link: dict[tuple[int, int], Row] = {}
        self.arrival: dict[tuple[int, int], Row] = {}
        self.onward: dict[tuple[int, int], Row] = {}
        edges = sorted({edge for pages in sequences for edge in pairwise(pages.tolist())})
        children: dict[int, list[int]] = {}
        for parent, child in edges:
            children.setdefault(parent, []).append(child)
        for number in np.unique(sequences.pages).tolist():
            page = page_of(number)
            self.page[number] = features.of_page(page)
            self.start[number] = features.of_url(page.url)
            for child in children.get(number, ()):
                link = link_of(page, child)
                if link is not None:
                    self.link[number, child] = features.of_link(page, link)
                    self.arrival[number, child] = features.of_anchor(link.url, link.anchor)
                    self.onward[number, child] = features.of_next(page, link)
        for parent, child in edges:  # where a link was not found, only the URL is known
            self.link.setdefault((parent, child), self.start[child])
            self.arrival.setdefault((parent, child), self.start[child])
            self.onward.setdefault((parent, child), {})

    def all(self) -> list[Row]:
        return [*self.page.values(), *self.link.values(), *self.onward.values()]

    def columns(self, vocabulary: Vocabulary) -> _Columns:
        of = vocabulary.columns
        return _Columns(
            {key: of(row) for key, row in self.page.items()},
            {key: of(row) for key, row in self.start.items()},
            {key: of(row) for key, row in self.link.items()},
            {key: of(row) for key, row in self.arrival.items()},
            {key: of(row) for key, row in self.onward.items()},
        )
