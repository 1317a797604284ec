"""Breadth-first: the links in the order in which they were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.strategies.base import BaseStrategy, LinkScores, scored

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.strategies.base import State

__all__ = ["BreadthFirst"]


class BreadthFirst(BaseStrategy):
    """Gives all links one priority, so that the frontier orders them by age.

    The baseline of every paper (Pant and Menczer 2003, 4.2).
    """

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Give every link the priority 0."""
        return scored(np.zeros(len(page.links)))
