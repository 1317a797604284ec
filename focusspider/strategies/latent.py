"""What the strategies share that put pages and what waits into one latent space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.corpus import Corpus, Counts, corpus_path, frequent_terms, read_corpus
from focusspider.growing import GrowingArray
from focusspider.priority import scalar_priorities
from focusspider.registry import check_flag, check_number, check_whole
from focusspider.strategies.base import (
    GraphStrategy,
    LinkScores,
    Reranking,
    scored,
    topic_terms,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csc_array, csr_array

    from focusspider.frontier import FrontierView
    from focusspider.linkgraph import Snapshot
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.relevance.base import Judgement
    from focusspider.strategies.base import RerankWork, State

__all__ = ["ExpandedMatrix", "LatentStrategy"]


class ExpandedMatrix(NamedTuple):
    """What the crawl knows of pages and of what waits (figure 4).

    Documents are the fetched pages and the waiting requests. They are described by the
    terms that they hold and by the fetched pages that link to them.

    Almpanidis, Kotropoulos and Pitas 2007. The paper has documents as columns.

    Attributes
    ----------
    vocabulary
        The terms that count.
    query
        How often the topic has each, (n_terms,).
    text
        Lᵀ, (n_pages, n_terms): how often each page has each term.
    anchors
        Oᵀ, (n_waiting, n_terms): likewise the anchors of links to what waits; None: O = 0.
    links
        (G R), (n_pages, n_pages + n_waiting): row i marks what page i links to.
    """

    vocabulary: Sequence[str]
    query: NDArray[np.float64]
    text: csr_array
    anchors: csr_array | None
    links: csc_array


class _Block:
    """Pages that were fetched one after the other: their terms, and their links' anchors."""

    def __init__(
        self, pages: Corpus, anchors: Corpus, anchor_keys: GrowingArray[np.uint64]
    ) -> None:
        self.pages = pages
        self.anchors = anchors
        self.anchor_keys = anchor_keys  # where each link leads whose anchor is a document

    @classmethod
    def empty(cls) -> _Block:
        return cls(Corpus(), Corpus(), GrowingArray(np.uint64))

    def read(self) -> _Read:
        """Return what another thread may read."""
        return _Read(self.pages.counts(), self.anchors.counts(), self.anchor_keys.view())


class _Read(NamedTuple):
    pages: Counts
    anchors: Counts
    anchor_keys: NDArray[np.uint64]


class LatentStrategy(GraphStrategy, ABC):
    """Compares what waits with the topic by the pages that link to it.

    Every ``rerank_every`` pages the model is made anew of all that is known. In between, a
    new link waits at the end, and before the first time links are taken in their order: the
    BSFSN strategy of Almpanidis, Kotropoulos and Pitas (2007, 5.1).

    Subclasses give :meth:`scores`.

    Parameters
    ----------
    n_terms : int
        So many terms count, the most frequent ones: of the corpus, or without one of the
        pages so far. The terms of the topic count as well.
    corpus : path or None
        Texts to learn from before the crawl, see :func:`~focusspider.corpus.read_corpus`;
        a relative path is relative to the topic file.
    anchors : bool
        Describe what waits also by the anchors of the links to it.
    max_pages : int
        The model knows the latest pages, at least so many and up to twice as many.
    rerank_every, rerank_growth
        The model is made anew after so many pages, and not before the crawl has grown by
        this share.
    """

    def __init__(
        self,
        *,
        n_terms: int,
        corpus: str | os.PathLike[str] | None,
        anchors: bool,
        max_pages: int,
        rerank_every: int,
        rerank_growth: float,
        base_dir: str | os.PathLike[str] | None,
    ) -> None:
        check_whole("n_terms", n_terms)
        check_flag("anchors", anchors)
        check_whole("max_pages", max_pages)
        check_whole("rerank_every", rerank_every)
        check_number("rerank_growth", rerank_growth)
        self.n_terms = n_terms
        self.corpus = corpus
        self.anchors = anchors
        self.max_pages = max_pages
        self.rerank_every = rerank_every
        self.rerank_growth = rerank_growth
        self.base_dir = base_dir
        self._corpus_path = corpus_path(corpus, base_dir)

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """The terms of pages, and who links to whom; the anchors if they count."""
        return frozenset({"terms", "graph", "anchor"} if self.anchors else {"terms", "graph"})

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Begin with the topic, and with the corpus where there is one."""
        super().start(profile, random_state)
        self._random_state = random_state
        self._topic = topic_terms(profile)
        self._blocks = [_Block.empty()]
        self._first = 0  # of the rows of the graph, the first that is in the blocks
        self._vocabulary: Sequence[str] | None = None
        if self._corpus_path is not None:
            counts = read_corpus(self._corpus_path, profile.analyzer)
            self._vocabulary = self._words([counts])
            self.learn(counts.select(self._vocabulary))

    @abstractmethod
    def learn(self, corpus: csr_array) -> None:
        """Learn the corpus, (n_documents, n_terms); called once, if there is one."""

    @abstractmethod
    def scores(self, known: ExpandedMatrix) -> NDArray[np.float64]:
        """Return how good each waiting request is, (n_waiting,), in [0, 1].

        It runs in another thread than ``score`` and ``observe``.
        """

    def observe(self, page: Page, judgement: Judgement) -> None:  # noqa: ARG002
        """Add the page, its links and its terms."""
        if len(self._blocks[-1].pages) == self.max_pages:
            self._first += sum(len(block.pages) for block in self._blocks[:-1])
            self._blocks = [self._blocks[-1], _Block.empty()]
        if not self.add_page(page):
            return
        block = self._blocks[-1]
        block.pages.add(page.terms)
        if self.anchors:
            for link, key in zip(page.links, page.link_keys.tolist(), strict=True):
                if link.anchor:
                    block.anchors.add(page.anchor_terms(link))
                    block.anchor_keys.append(key)

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Let every link wait at the end."""
        return scored(np.zeros(len(page.links)))

    def rerank(self, frontier: FrontierView) -> RerankWork:
        """Return the work that compares what waits with the topic."""
        blocks = [block.read() for block in self._blocks]
        return partial(self._reranking, self.graph.snapshot(), self._first, blocks, frontier)

    def _reranking(
        self, graph: Snapshot, first: int, blocks: Sequence[_Read], frontier: FrontierView
    ) -> Reranking:
        from scipy.sparse import vstack

        links = graph.links_among(frontier.keys, first=first).matrix.tocsc()
        vocabulary = self._vocabulary or self._words([block.pages for block in blocks])
        known = ExpandedMatrix(
            vocabulary=vocabulary,
            query=np.array([self._topic.get(term, 0) for term in vocabulary], dtype=np.float64),
            text=vstack([block.pages.select(vocabulary) for block in blocks], format="csr"),
            anchors=_anchored(blocks, frontier.keys, vocabulary) if self.anchors else None,
            links=links,
        )
        priorities = scalar_priorities(self.scores(known))
        # What only forgotten pages link to, or none, keeps the priority that it has.
        linked = np.diff(links.indptr)[len(links.indptr) - 1 - len(frontier.ids) :] > 0
        return Reranking(frontier.ids[linked], priorities[linked])

    def _words(self, corpora: Sequence[Counts]) -> Sequence[str]:
        return frequent_terms(corpora, self.n_terms, always=self._topic)

    def memory(self) -> Mapping[str, NDArray[Any]]:
        """Return the graph, and the terms of the pages that the model knows."""
        memory = {**super().memory(), "first": np.array(self._first)}
        for number, block in enumerate(self._blocks):
            memory |= _named(f"{number}/pages/", block.pages.arrays())
            memory |= _named(f"{number}/anchors/", block.anchors.arrays())
            memory[f"{number}/anchor_keys"] = block.anchor_keys.view()
        return memory

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was known."""
        super().recall(memory)
        self._first = int(memory["first"])
        self._blocks = [
            _Block(
                Corpus.of(_part(memory, f"{number}/pages/")),
                Corpus.of(_part(memory, f"{number}/anchors/")),
                GrowingArray.of(memory[f"{number}/anchor_keys"]),
            )
            for number in range(2)
            if f"{number}/anchor_keys" in memory
        ]


def _named(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {prefix + name: array for name, array in arrays.items()}


def _part(memory: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a memory that :func:`_named` gave this prefix."""
    return {
        name.removeprefix(prefix): array
        for name, array in memory.items()
        if name.startswith(prefix)
    }


def _anchored(
    blocks: Sequence[_Read], waiting: NDArray[np.uint64], vocabulary: Sequence[str]
) -> csr_array:
    """Return how often the anchors of links to each waiting request have each term."""
    from scipy.sparse import csr_array, vstack

    anchors = vstack([block.anchors.select(vocabulary) for block in blocks], format="csr")
    keys = np.concatenate([block.anchor_keys for block in blocks])
    order = np.argsort(waiting)
    places = np.searchsorted(waiting, keys, sorter=order)
    columns = np.flatnonzero(places < len(waiting))
    rows = order[places[columns]]
    same = waiting[rows] == keys[columns]
    rows, columns = rows[same], columns[same]
    chosen = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(waiting), len(keys)))
    return csr_array(chosen @ anchors)
