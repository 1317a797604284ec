"""The words of groups of pages: those that tell a group from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.inspection.sections import MOST, Lists, Section
from focusspider.models.wordweights import log_odds_ratios, mutual_information, top_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focusspider.models.modelfile import ModelFile

__all__ = ["word_sections"]

#: Words of all pages together: products of two such numbers are whole numbers of 64 bits.
_MAX_WORDS = 3e9


def word_sections(
    file: ModelFile,
    counts: NDArray[np.int64],
    groups: Sequence[str],
    terms: Sequence[str],
    n: int,
    *,
    what: str,
) -> list[Section]:
    """Return the n words of each group by log odds ratio, and by mutual information.

    Parameters
    ----------
    counts
        How often each term is in each group, (n_groups, n_terms).
    groups
        What the groups are called, (n_groups,).
    what
        What one is, for the headings, such as ``"cluster"``.
    """
    if counts.sum(dtype=np.float64) > _MAX_WORDS:
        raise file.damaged(f"it counts more than {_MAX_WORDS:.0e} words")
    shown = counts[:MOST]
    if len(shown) < 2:  # there is nothing to tell one from
        only = top_words(shown.astype(np.float64), terms, n)
        lists = Lists(list(zip(groups, only, strict=True)))
        return [Section(f"Words of the {what}", "How often each is in its pages.", lists)]
    odds = top_words(log_odds_ratios(shown), terms, n)
    information = top_words(mutual_information(shown), terms, n)
    return [
        Section(
            f"Words of each {what}, by log odds ratio",
            "p · log(p (1 − q) / (q (1 − p))): p is the share of the word among all words of the "
            f"{what}, q that among those of the others. Words are stems.",
            Lists(list(zip(groups[:MOST], odds, strict=True))),
        ),
        Section(
            f"Words of each {what}, by mutual information",
            f"In nats: how much the word tells of whether a page is of the {what}. Of words that "
            "are more frequent in it than elsewhere.",
            Lists(list(zip(groups[:MOST], information, strict=True))),
        ),
    ]
