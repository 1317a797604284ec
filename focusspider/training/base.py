"""The contract of a trainer: from a web graph to a model file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

import numpy as np

from focusspider.errors import NotAPageError, TrainingError
from focusspider.page import Page
from focusspider.profile import TopicProfile
from focusspider.webgraph.distances import hop_distances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from focusspider.models.modelfile import ModelFile
    from focusspider.page import PageParser
    from focusspider.topic import Topic
    from focusspider.webgraph import WebGraph

__all__ = ["FARTHEST", "Told", "Trained", "Trainer", "TrainingData"]

#: Is told what a trainer does, such as ``"Fitting"``, how much of it is done, and of how
#: much. The command draws its bar from it; both numbers are 0 or more.
Told = Callable[[str, int, int], None]

#: Links to a target beyond which a page is as far as one that leads to none.
FARTHEST = 50


class Trained(NamedTuple):
    """What came of training.

    Attributes
    ----------
    model : ModelFile
        Kind, arrays, parameters and metrics; the caller adds topic, fingerprint and date.
        Metrics are numbers under names that say what they are, such as
        ``held_out_accuracy``; how they were held out is in the trainer's docstring.
    learnt : tuple of str
        What it has learnt, in two lines for people.
    warnings : tuple of str
        What the user should know, such as that it has not converged or that a class is
        missing; each one line that says what to do.
    """

    model: ModelFile
    learnt: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Trainer(Protocol):
    """Learns one kind of model. Its constructor takes parameters by keyword and checks them."""

    kind: ClassVar[str]
    """Name of the strategy that uses the model, and the model file's kind."""

    def train(
        self, data: TrainingData, *, random_state: np.random.Generator, told: Told
    ) -> Trained:
        """Learn from a graph.

        The same data and random state give the same model, byte for byte. Nothing of
        ``data`` is changed; other trainers are given it too.

        Raises
        ------
        TrainingError
            Where there is too little data: how much there is, how much it needs, and what
            to do; :meth:`TrainingData.need` raises it.
        """
        ...


class TrainingData:
    """A web graph that was read, for one topic.

    Parameters
    ----------
    pages : sequence of Page
        As a crawl would parse them, in the order of the graph's numbers.
    sources, destinations : array_like, (n_edges,)
        The pages at the two ends of each link.
    targets : array_like of bool, (n_pages,)
        Which are wanted.
    given : array_like of bool, (n_pages,), optional
        Which of them the user named; others were found by their likeness. None: all.
    topic : Topic
    parser : PageParser
        That made the pages.
    source : str
        What messages call the graph, such as its path.

    Attributes
    ----------
    profile : TopicProfile
        Of the topic, with the graph's targets as its target pages.
    """

    def __init__(
        self,
        *,
        pages: Sequence[Page],
        sources: ArrayLike,
        destinations: ArrayLike,
        targets: ArrayLike,
        topic: Topic,
        parser: PageParser,
        given: ArrayLike | None = None,
        source: str = "the web graph",
    ) -> None:
        self.pages = tuple(pages)
        self.sources: NDArray[np.int64] = np.asarray(sources, dtype=np.int64)
        self.destinations: NDArray[np.int64] = np.asarray(destinations, dtype=np.int64)
        self.targets: NDArray[np.bool_] = np.asarray(targets, dtype=np.bool_)
        self.given = self.targets if given is None else np.asarray(given, dtype=np.bool_)
        self.topic = topic
        self.parser = parser
        self.source = source
        self.profile = TopicProfile(topic, parser.analyzer)
        for number in np.flatnonzero(self.targets).tolist():
            self.profile.add_target(self.pages[number])

    @classmethod
    def of_graph(
        cls, graph: WebGraph, topic: Topic, parser: PageParser, *, told: Told
    ) -> TrainingData:
        """Read the pages of a graph, and the links among them."""
        urls, sources, destinations, targets = graph.arrays()
        given = np.zeros(len(urls), dtype=np.bool_)
        pages = []
        for page in graph.pages():
            given[page.number] = page.target and not page.extra
            try:
                pages.append(parser.parse(graph.response(page.url)))
            except NotAPageError:
                pages.append(Page(page.url, analyzer=parser.analyzer))
            told("Reading the graph", len(pages), len(urls))
        return cls(
            pages=pages,
            sources=sources,
            destinations=destinations,
            targets=targets,
            given=given,
            topic=topic,
            parser=parser,
            source=str(graph.path),
        )

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.pages)

    def distances(self, n_states: int) -> NDArray[np.int64]:
        """Return the links from each page to the nearest target, (n_pages,).

        n_states - 1 is "so many or more", or that no target can be reached.
        """
        return hop_distances(self.sources, self.destinations, self.targets, n_states=n_states)

    @cached_property
    def layers(self) -> NDArray[np.int64]:
        """The back-link layer of each page, (n_pages,), -1 for one that leads to no target.

        That is its distance to the targets that the user named.
        """
        found = hop_distances(self.sources, self.destinations, self.given, n_states=FARTHEST)
        return np.where(found == FARTHEST - 1, -1, found)

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """What the frontier calls each page, (n_pages,)."""
        return np.array([page.key for page in self.pages], dtype=np.uint64)

    def need(self, what: str, found: int, least: int) -> None:
        """Raise TrainingError where there is less of something than is needed."""
        if found < least:
            raise TrainingError(
                f"{self.source} has too little to learn from: {found:,} {what}, and at least "
                f"{least:,} are needed; name more targets, or collect more pages: "
                f"scrapy focus-collect {self.topic.name} --fresh, with more --layers and "
                f"--per-layer, or --relevant"
            )
