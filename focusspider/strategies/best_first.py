"""Best-first: a link is as good as the page that it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.registry import check_choice
from focusspider.relevance.target_vectors import TargetVectors
from focusspider.strategies.base import BaseStrategy, LinkScores, scored, topic_terms
from focusspider.text import cosine

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import State

__all__ = ["BestFirst"]


class BestFirst(BaseStrategy):
    """Gives each link the similarity of its page to the topic.

    The naive best-first crawler: all links of a page share one score.

    Parameters
    ----------
    against : {"keywords", "targets"}
        ``"keywords"``: cosine of term frequencies with the keywords (Pant and Menczer 2003,
        4.3; for topics without keywords see :func:`~.base.topic_terms`). ``"targets"``: the
        largest cosine with a target page (Liu, Janssen and Milios 2005, 5.2.1), which the
        topic must then have.
    """

    def __init__(self, *, against: str = "keywords") -> None:
        check_choice("against", against, ("keywords", "targets"))
        self.against = against

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """The terms of pages; and targets, where pages are compared with them."""
        return frozenset({"terms", "targets"} if self.against == "targets" else {"terms"})

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:  # noqa: ARG002
        """Keep what pages are compared with; raise :class:`TopicError` where there is none."""
        if self.against == "targets":
            self._targets = TargetVectors(
                profile, purpose="strategy 'best-first' with against = \"targets\""
            )
        else:
            self._keywords = topic_terms(profile)

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Give every link the score of the page."""
        if self.against == "targets":
            similarity = self._targets.nearest(page.terms).similarity
        else:
            similarity = cosine(self._keywords, page.terms)
        scores = np.full(len(page.links), similarity)
        return scored(scores, {"page": scores})
