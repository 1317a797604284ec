"""The contract of a strategy, and what most of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from focusspider.errors import TopicError
from focusspider.linkgraph import LinkGraph
from focusspider.priority import scalar_priorities
from focusspider.text import Terms, cosine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from focusspider.frontier import FrontierView
    from focusspider.page import Link, Page
    from focusspider.profile import TopicProfile
    from focusspider.relevance.base import Judgement

__all__ = [
    "BaseStrategy",
    "Contribution",
    "ContributionWork",
    "GraphStrategy",
    "KeywordStrategy",
    "LaterParts",
    "LinkScores",
    "RerankWork",
    "Reranking",
    "Sharer",
    "State",
    "Strategy",
    "scored",
    "text_similarities",
    "topic_terms",
]

#: What a request carries to the page that it leads to: a short list of floats, JSON-safe.
State = tuple[float, ...]


class LinkScores(NamedTuple):
    """What a strategy says of the links of one page.

    ``priorities`` has a priority for each of ``page.links``, in their order. ``state`` is
    what the children inherit. ``parts`` explains: for each named part of the score, its
    value for each link (``FOCUS_EXPLAIN``).
    """

    priorities: NDArray[np.int64]  # (n_links,)
    state: State | None = None
    parts: Mapping[str, NDArray[np.float64]] = {}


class LaterParts(Mapping[str, "NDArray[np.float64]"]):
    """Parts of scores that are computed when one is asked for: in most crawls none is."""

    def __init__(self, compute: Callable[[], Mapping[str, NDArray[np.float64]]]) -> None:
        self._compute = compute

    @cached_property
    def _parts(self) -> Mapping[str, NDArray[np.float64]]:
        return self._compute()

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


class Reranking(NamedTuple):
    """New priorities for waiting requests."""

    ids: NDArray[np.int64]  # (n,)
    priorities: NDArray[np.int64]  # (n,)


#: What makes a reranking, in another thread; see :meth:`Strategy.rerank`.
RerankWork = Callable[[], Reranking]
#: What a worker has learnt, as arrays that :mod:`focusspider.models.archive` can pack.
Contribution = Mapping[str, "NDArray[Any]"]
#: What makes a contribution, in another thread; see :meth:`Sharer.contribution`.
ContributionWork = Callable[[], Contribution]


class Strategy(Protocol):
    """Decides which link is worth the next request.

    No clock, no I/O, no global random state: the same pages in the same order give the
    same scores.
    """

    @property
    def needs(self) -> frozenset[str]:
        """What it looks at, so that nothing is computed for nobody.

        ``"terms"`` and ``"context"`` are the terms of the page and of its links' contexts,
        ``"anchor"`` those of their anchors; ``"graph"`` is who links to whom: the keys of
        the page and of its links (:attr:`~focusspider.page.Page.link_keys`), by which the
        frontier knows them too; ``"targets"`` and ``"model"`` are what it cannot begin
        without. Mostly a class attribute.
        """
        ...

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Learn the topic; called once, before the first page, when targets are known."""
        ...

    def score(self, page: Page, state: State | None) -> LinkScores:
        """Score the links of a page; ``state`` is what the request carried, if anything."""
        ...

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Learn from a page that was judged; called before its links are scored."""
        ...

    def rerank(self, frontier: FrontierView) -> Reranking | RerankWork | None:
        """Return new priorities for waiting requests, or None: nothing to change.

        It is asked for them every ``rerank_every`` pages, an attribute of the strategy,
        and with ``rerank_growth`` not before the crawl has grown by that share, so that a
        rerank whose cost grows with the crawl costs the same for each page. What keeps its
        priority need not be in the answer; a frontier may hold what no page was seen to
        link to, such as where a redirect leads, and that is better left alone.

        What takes more than a few milliseconds is returned as work: a function that
        returns the :class:`Reranking`. It runs in another thread while the crawl goes on
        with ``score`` and ``observe``, so it must only read what was put together for it
        here, and keep only what the next work begins with. No other work runs meanwhile,
        and ``rerank`` is not called. Where requests are made one at a time, the crawl waits
        for it, and is the same each time.

        A strategy with the attribute ``holds`` may give links
        :data:`~focusspider.priority.HELD`: they wait, and are not fetched before a rerank
        raises them. It is asked as well whenever nothing else is to be fetched, answers at
        once, and the crawl ends when its answer raises nothing. One whose attribute
        ``rerank_at_once`` is true is asked after the next page, however few there were.
        """
        ...


class Learner(Protocol):
    """What a strategy has besides that learns during the crawl, and survives its process.

    It may also have ``observe_nothing(page)``, which is called where a response was no page,
    such as a file, with one that has its address alone, and ``explain(key)``, which returns
    the parts of what is thought of a waiting URL, by name, when it is taken and its priority
    is not that of its first score.
    """

    def memory(self) -> Mapping[str, NDArray[Any]]:
        """Return what was learnt, as arrays; they are written with the crawl's checkpoints."""
        ...

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was learnt; called once, after ``start``."""
        ...


class Sharer(Protocol):
    """What a strategy has besides whose workers learn from each other's pages.

    A contribution is what a worker knows of the pages that it has fetched itself, all of it
    and nothing else. So contributions can be added: no page is in two of them. Each takes the
    place of the one before, so it does no harm to take one twice, or never.
    """

    def contribution(self) -> Contribution | ContributionWork | None:
        """Return what was learnt of this worker's own pages; None: nothing yet.

        Names are of small letters, digits and ``_``. What takes more than a few milliseconds
        is returned as work that runs in another thread, like that of
        :meth:`Strategy.rerank`. Nothing that was joined is counted in it.
        """
        ...

    def join(self, worker: str, contribution: Contribution) -> None:
        """Take what another worker has learnt, in the place of what it had said before.

        Called between pages, after ``start``. Raises ``ValueError`` for what is no
        contribution of such a strategy, and has then changed nothing. Neither
        :meth:`contribution` nor :meth:`Learner.memory` holds what was joined.
        """
        ...


class BaseStrategy:
    """A strategy that does not learn during the crawl; subclasses give ``score``."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Learn nothing."""

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Learn nothing."""

    def rerank(self, frontier: FrontierView) -> Reranking | RerankWork | None:  # noqa: ARG002
        """Change nothing."""
        return None


class GraphStrategy(BaseStrategy):
    """A strategy that looks at the graph of the pages seen so far.

    A URL that redirects is not a page: links to it count as links to where it leads, from
    when that page is fetched. Until then the page waits with the priority that the URL had.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"graph"})

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:  # noqa: ARG002
        """Begin with an empty graph."""
        self.graph = LinkGraph()
        self.graph.csr()  # which loads scipy: now, and not while the crawl waits

    def observe(self, page: Page, judgement: Judgement) -> None:  # noqa: ARG002
        """Add the page and its links to the graph."""
        self.add_page(page)

    def add_page(self, page: Page) -> bool:
        """Add a page and its links, and return whether it was new."""
        new = self.graph.add_page(page.key, page.link_keys)
        for key in page.moved_from_keys:
            self.graph.add_redirect(key, page.key)
        return new

    def memory(self) -> Mapping[str, NDArray[Any]]:
        """Return the graph."""
        return self.graph.arrays()

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up the graph."""
        self.graph = LinkGraph.of(memory)


class KeywordStrategy(BaseStrategy):
    """A strategy that compares text with the topic's keywords."""

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:  # noqa: ARG002
        """Keep the terms of the topic that text is compared with."""
        self.keywords: Terms = topic_terms(profile)

    def similarity(self, terms: Terms) -> float:
        """Return the cosine of a text with the keywords, by term frequency."""
        return cosine(self.keywords, terms)


def topic_terms(profile: TopicProfile) -> Terms:
    """Return the terms of the keywords; without any those of the description.

    A topic that has neither is guided by the terms of its target pages together. Raises
    :class:`TopicError` where there is nothing in any of the three.
    """
    terms = (
        profile.keywords
        or profile.description
        or Terms.merged(target.terms for target in profile.targets)
    )
    if not terms:
        raise TopicError(
            f"{profile.topic.source}: there is nothing to compare pages with: no keywords, no "
            f"description, and no text in the target pages; give keywords"
        )
    return terms


def text_similarities(
    links: Sequence[Link],
    text_of: Callable[[Link], str],
    terms_of: Callable[[Link], Terms],
    similarity: Callable[[Terms], float],
) -> NDArray[np.float64]:
    """Return the similarity of one text of each link to the topic, (n_links,).

    Links with the same text, as those under one aggregation node, share the work.
    """
    known: dict[str, float] = {}
    scores: list[float] = []
    for link in links:
        text = text_of(link)
        score = known.get(text)
        if score is None:
            score = known[text] = similarity(terms_of(link)) if text else 0.0
        scores.append(score)
    return np.array(scores, dtype=np.float64)


def scored(
    scores: ArrayLike,
    parts: Mapping[str, NDArray[np.float64]] | None = None,
    state: State | None = None,
) -> LinkScores:
    """Return the :class:`LinkScores` of scalar scores in [0, 1], (n_links,)."""
    return LinkScores(scalar_priorities(scores), state, parts or {})
