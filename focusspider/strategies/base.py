"""The contract of a strategy, and what most of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from focusspider.priority import scalar_priorities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from focusspider.frontier import FrontierView
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.relevance.base import Judgement

__all__ = ["BaseStrategy", "LinkScores", "Reranking", "State", "Strategy"]

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
    parts: Mapping[str, NDArray[np.float64]] = {}  # noqa: RUF012 - read only


class Reranking(NamedTuple):
    """New priorities for waiting requests."""

    ids: NDArray[np.int64]  # (n,)
    priorities: NDArray[np.int64]  # (n,)


class Strategy(Protocol):
    """Decides which link is worth the next request.

    No clock, no I/O, no global random state: the same pages in the same order give the
    same scores.
    """

    #: What it looks at, so that nothing is computed for nobody: ``"terms"``,
    #: ``"context"``, ``"graph"``, ``"targets"``, ``"model"``.
    needs: ClassVar[frozenset[str]]

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Learn the topic; called once, before the first page, when targets are known."""
        ...

    def score(self, page: Page, state: State | None) -> LinkScores:
        """Score the links of a page; ``state`` is what the request carried, if anything."""
        ...

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Learn from a page that was judged; called before its links are scored."""
        ...

    def rerank(self, frontier: FrontierView) -> Reranking | None:
        """Return new priorities for waiting requests, or None: nothing to change."""
        ...


class BaseStrategy:
    """A strategy that does not learn during the crawl; subclasses give ``score``."""

    needs: ClassVar[frozenset[str]] = frozenset()
    profile: TopicProfile

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:  # noqa: ARG002
        """Keep the topic."""
        self.profile = profile

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Learn nothing."""

    def rerank(self, frontier: FrontierView) -> Reranking | None:  # noqa: ARG002
        """Change nothing."""
        return None


def scored(
    scores: ArrayLike, state: State | None = None, **parts: NDArray[np.float64] | Any
) -> LinkScores:
    """Return the :class:`LinkScores` of scalar scores in [0, 1]."""
    return LinkScores(scalar_priorities(scores), state, parts)
