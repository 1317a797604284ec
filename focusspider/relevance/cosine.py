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

__all__ = ["CosineRelevance"]


#: Default γ without targets, and with targets by weighting.
WITHOUT_TARGETS = 0.1
WITH_TARGETS = {"tf": 0.4, "tf-idf": 0.3}


class CosineRelevance:
    """A page is as relevant as it is similar to the most similar target page.

    Without targets it is compared with the keywords and the description together. A page
    is relevant from the threshold γ on.

    Parameters
    ----------
    threshold : float or None
        γ, in [0, 1]. None is 0.35 with targets and 0.1 without.
    weighting : {"tf", "tf-idf"}
        Weights of terms: their counts, or their counts with the inverse document frequency
        over the targets (see :class:`~.target_vectors.TargetVectors`), which a topic
        without targets does not have.
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
