"""Relevance by similarity to the topic's target pages, or to its keywords."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.errors import TopicError
from focusspider.registry import check_choice, check_share
from focusspider.relevance.base import Judgement
from focusspider.relevance.target_vectors import WEIGHTINGS, TargetVectors
from focusspider.text import cosine

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.profile import TopicProfile

__all__ = ["WITHOUT_TARGETS", "WITH_TARGETS", "CosineRelevance"]

#: γ where none is given: without targets, and with targets by weighting.
WITHOUT_TARGETS = 0.1
WITH_TARGETS = {"tf": 0.3, "tf-idf": 0.2}


class CosineRelevance:
    """A page is as relevant as it is similar to the most similar target page.

    Without targets it is compared with the keywords and the description together. A page
    is relevant from the threshold γ on.

    Parameters
    ----------
    threshold : float or None
        γ, in [0, 1]. None is 0.1 without targets; with targets 0.3, or 0.2 for tf-idf.
    weighting : {"tf", "tf-idf"}
        Weights of terms: their counts, or their counts with the inverse document frequency
        over the targets (see :class:`~.target_vectors.TargetVectors`), which a topic
        without targets does not have.

    Notes
    -----
    How to choose γ: crawl a few hundred pages with ``FOCUS_EXPORT=all``, sort them by
    relevance, and see where the wanted pages end. A cosine has no scale of its own. A few
    keywords are never very similar to a whole page, and the more keywords there are, the
    less; while any two pages of one language share some words.

    The defaults lie between the best values of 16 topics on three collections of pages:
    university sites of 1997 and of 2020, and an encyclopedia; 1 to 15 keywords, 5 or 10
    targets. The mean F1 of a collection's topics was highest at γ = 0.075 to 0.2 without
    targets, at 0.2 to 0.4 with targets by tf, and at 0.1 to 0.3 by tf-idf. Single topics
    were best anywhere from 0.025 to 0.65, so a γ of your own pays.
    """

    def __init__(self, *, threshold: float | None = None, weighting: str = "tf") -> None:
        if threshold is not None:
            check_share("threshold", threshold)
        check_choice("weighting", weighting, WEIGHTINGS)
        self.threshold = threshold
        self.weighting = weighting

    def start(self, profile: TopicProfile) -> None:
        """Keep what pages are compared with, and settle the threshold."""
        self._targets: TargetVectors | None = None
        default = WITHOUT_TARGETS
        if profile.targets:
            self._targets = TargetVectors(
                profile, purpose="relevance 'cosine'", weighting=self.weighting
            )
            default = WITH_TARGETS[self.weighting]
        elif self.weighting != "tf":
            raise TopicError(
                f"{profile.topic.source}: relevance 'cosine' takes the weights of "
                f"{self.weighting!r} from target pages, and the topic has none; give targets, "
                f"or weighting = 'tf'"
            )
        elif not profile.query:
            raise TopicError(
                f"{profile.topic.source}: relevance 'cosine' has nothing to compare pages with: "
                f"no keywords, no description and no target page; give keywords or targets"
            )
        self._query = profile.query
        self._gamma = default if self.threshold is None else self.threshold

    def judge(self, page: Page) -> Judgement:
        """Compare a page."""
        if self._targets is None:
            similarity, with_what = cosine(self._query, page.terms), "the keywords"
        else:
            with_what, similarity = self._targets.nearest(page.terms)
        relevant = similarity >= self._gamma
        sign = "≥" if relevant else "<"
        why = f"cosine {similarity:.3f} with {with_what} {sign} threshold {self._gamma:g}"
        return Judgement(similarity, relevant, why)
