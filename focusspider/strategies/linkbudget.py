"""How much a strategy may compute beside its crawl: counted, so that it is the same each time."""

from __future__ import annotations

import math

__all__ = ["WorkBudget"]

#: Seconds of CPU that a page costs a crawl, and each of its links: fetched, parsed, judged,
#: scored and pushed, as measured on two cores of 2026. A slower machine is slower at all of it.
_PAGE, _PAGE_LINK = 3e-3, 4e-5
#: Seconds that learning costs: for each link that is known, for each that leads to what waits
#: and is scored, and for each page that a model is fitted to.
_KNOWN, _SCORED, _FITTED = 4e-7, 2e-6, 2e-5
#: Seconds that are free: a short crawl is the better for looking often.
_FREE = 3.0


class WorkBudget:
    """Weighs the work of learning against that of crawling.

    A clock would make each crawl another one, so both are estimated from what is counted.

    Parameters
    ----------
    share
        Of all CPU seconds, how many may go into learning, in [0, 1]; but for the first three.
        With 1 there is no bound, with 0 nothing is learnt.

    Attributes
    ----------
    earned, spent : float
        Seconds of learning that the pages so far are worth, and that it took.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._rate = math.inf if share == 1 else share / (1 - share)
        self.earned = _FREE if share else 0.0
        self.spent = 0.0

    def add_page(self, n_links: int) -> None:
        """Earn what a page with so many links is worth."""
        self.earned += self._rate * (_PAGE + n_links * _PAGE_LINK)

    def recall(self, earned: float, spent: float) -> None:
        """Take up what an earlier process had; its share may have been another."""
        self.spent = spent
        self.earned = earned if math.isfinite(earned) else self.earned + spent

    def affords(self, *, known: int, scored: int, fitted: int) -> bool:
        """Return whether there is enough for a rerank, and spend it if so.

        Parameters
        ----------
        known
            Links that are known.
        scored
            Links that lead to what waits.
        fitted
            Pages to which a model is fitted.
        """
        cost = known * _KNOWN + scored * _SCORED + fitted * _FITTED
        if not self._share or self.spent + cost > self.earned:
            return False
        self.spent += cost
        return True
