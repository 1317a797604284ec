"""Shark-search: relevance is inherited, and fades from generation to generation."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from focusspider.page import AGGREGATIONS
from focusspider.registry import check_choice, check_share
from focusspider.strategies.base import KeywordStrategy, LinkScores, scored, text_similarities

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.strategies.base import State
    from focusspider.text import Terms

__all__ = ["SharkSearch"]


class SharkSearch(KeywordStrategy):
    """Scores a link by what its page passes on, by its anchor, and by what surrounds it.

    A page passes on d times its own similarity to the keywords; where that is zero, d
    times what it inherited itself, so that interest in a good page fades over
    generations instead of ending at the first page off topic::

        inherited     = d · sim(page)       if sim(page) > 0, else d · inherited(page)
        surroundings  = 1 if sim(anchor) > 0, else sim(context)
        neighbourhood = β · sim(anchor) + (1 - β) · surroundings
        score         = γ · inherited + (1 - γ) · neighbourhood

    sim is the cosine of term frequencies. This is Hersovici et al. 1998, with the text
    under the aggregation node as the anchor's surroundings. Almpanidis, Kotropoulos and
    Pitas (2007, 5.1, their SS1) describe the inheritance alone: that is ``gamma = 1``.
    Neither says what a seed inherits; here it is nothing. A page with several parents
    inherits from the one whose link has the highest score when the page is fetched.

    The state of a request is (inherited,).

    Parameters
    ----------
    d : float
        Decay a generation, in [0, 1] (δ of Hersovici et al.).
    beta : float
        Weight β of the anchor against its surroundings, in [0, 1].
    gamma : float
        Weight γ of what is inherited against the neighbourhood, in [0, 1].
    aggregation : str
        As for ``dom``.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"terms", "anchor", "context"})

    def __init__(
        self,
        *,
        d: float = 0.5,
        beta: float = 0.8,
        gamma: float = 0.5,
        aggregation: str = "parent",
    ) -> None:
        for name, value in (("d", d), ("beta", beta), ("gamma", gamma)):
            check_share(name, value)
        check_choice("aggregation", aggregation, AGGREGATIONS)
        self.d = d
        self.beta = beta
        self.gamma = gamma
        self.aggregation = aggregation

    def score(self, page: Page, state: State | None) -> LinkScores:
        """Score each link, and pass on what its page will have inherited."""
        similarity = self.page_similarity(page.terms)
        inherited = self.d * (similarity or (state[0] if state else 0.0))
        links = page.links
        anchor = text_similarities(links, attrgetter("anchor"), page.anchor_terms, self.similarity)
        surroundings = np.ones(len(links))
        (without,) = np.nonzero(anchor == 0)  # the contexts of other links are not needed
        surroundings[without] = text_similarities(
            [links[i] for i in without.tolist()],
            attrgetter("context"),
            page.context_terms,
            self.similarity,
        )
        neighbourhood = self.beta * anchor + (1 - self.beta) * surroundings  # (n_links,)
        scores = self.gamma * inherited + (1 - self.gamma) * neighbourhood
        parts = {
            "inherited": np.full(len(links), inherited),
            "anchor": anchor,
            "surroundings": surroundings,
        }
        return scored(scores, parts, (inherited,))

    def page_similarity(self, terms: Terms) -> float:
        """Return how similar a page is to the topic."""
        return self.similarity(terms)
