"""DOM: a link is as good as the text around it, and a little as its page."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from focusspider.page import AGGREGATIONS
from focusspider.registry import check_choice, check_share
from focusspider.strategies.base import KeywordStrategy, LinkScores, scored, text_similarities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.page import Page
    from focusspider.strategies.base import State

__all__ = ["Dom"]


class Dom(KeywordStrategy):
    """Scores a link by its page and by the text under its aggregation node.

    score = α · cosine(page) + (1 - α) · cosine(context), each with the keywords, by term
    frequency (Pant and Menczer 2003, 4.4). With α = 1 it is best-first.

    Parameters
    ----------
    alpha : float
        Weight α of the page against the context, in [0, 1].
    aggregation : str
        Which element above a link gives its context: ``"parent"``, as in the paper, or
        another of :data:`~focusspider.page.AGGREGATIONS`.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"terms", "context"})

    def __init__(self, *, alpha: float = 0.25, aggregation: str = "parent") -> None:
        check_share("alpha", alpha)
        check_choice("aggregation", aggregation, AGGREGATIONS)
        self.alpha = alpha
        self.aggregation = aggregation

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Score each link by its page and its context."""
        scores, parts = self.link_scores(page)
        return scored(scores, parts)

    def link_scores(self, page: Page) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Return the score of each link, (n_links,), and its parts."""
        links = page.links
        page_score = self.similarity(page.terms)
        context = text_similarities(
            links, attrgetter("context"), page.context_terms, self.similarity
        )
        scores = self.alpha * page_score + (1 - self.alpha) * context  # (n_links,)
        return scores, {"page": np.full(len(links), page_score), "context": context}
