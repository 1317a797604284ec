"""How well model and prior have told what pages would bring, before these were fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["LATEST", "Forecasts", "Skills", "concordance"]

#: The latest pages that are looked at.
LATEST = 100
#: Good pages among bad ones that count for pairs of which half are in the right order.
_UNKNOWN = 2.0
#: The doubt of the model is so many times as large or small at most, by how it has done.
_MOST = 2.0


class Skills(NamedTuple):
    """How well model and prior have ordered the latest pages: each a :func:`concordance`."""

    model: float = 0.5
    prior: float = 0.5

    @property
    def advantage(self) -> float:
        """How many times as good the odds are that the model orders two pages, in [½, 2]."""
        odds = [skill / (1 - skill) for skill in self]
        return min(max(odds[0] / odds[1], 1 / _MOST), _MOST)

    @property
    def silence(self) -> float:
        """How little links say, in [0, 1].

        1 where the better of the two is no better than chance, and 0 where it orders three
        of four pairs.
        """
        return min(max(3 - 4 * max(self), 0.0), 1.0)


class Forecasts(NamedTuple):
    """What was thought of the latest pages before they were fetched.

    Attributes
    ----------
    rows
        The pages, (n,).
    model, prior
        Log odds of their links by each, above the mean of what waited at that look, (n,).
        What all links of one look have in common tells how the crawl goes, and not which of
        them is better.
    """

    rows: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    model: NDArray[np.float64] = np.zeros(0)
    prior: NDArray[np.float64] = np.zeros(0)

    def followed_by(
        self, rows: NDArray[Any], model: NDArray[np.float64], prior: NDArray[np.float64]
    ) -> Forecasts:
        """Return them with newer ones, (n_new,) each; the oldest are left out."""
        pairs = zip(self, (rows, model, prior), strict=True)
        return Forecasts(*(np.concatenate([old, new])[-LATEST:] for old, new in pairs))

    def without_first(self, rows: int) -> Forecasts:
        """Return them where the first rows are forgotten, and the others numbered anew."""
        left = self.rows >= rows
        return Forecasts(self.rows[left] - rows, self.model[left], self.prior[left])

    def skills(self, outcomes: NDArray[np.float64]) -> Skills:
        """Return how well each has ordered these pages, by what came of each row, (n_rows,).

        What a page has opened since counts: a forecast is judged by what is known now.
        """
        brought = outcomes[self.rows]
        return Skills(concordance(self.model, brought), concordance(self.prior, brought))

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return them as arrays."""
        return self._asdict()

    @classmethod
    def recall(cls, memory: Mapping[str, NDArray[Any]]) -> Forecasts:
        """Take them up."""
        return cls(memory["rows"], memory["model"], memory["prior"])


def concordance(scores: NDArray[np.float64], outcomes: NDArray[np.float64]) -> float:
    """Return the share of pairs that scores have in the right order, in (0, 1).

    A pair is of two that have brought different things, in [0, 1]; it counts for the
    difference, and a tie of scores is half right. So this is the area under the ROC curve where
    outcomes are 0 or 1. It is drawn towards ½ where the pairs differ little, or few do:
    (m · share + 1) / (m + 2), where m is the sum of the differences over the number of pages.
    Of few good pages among many bad ones m is their number.

    >>> concordance(np.array([4.0, 1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0, 0.0]))  # m = 3/4
    0.6363636363636364
    """
    apart = np.maximum(outcomes[:, None] - outcomes[None, :], 0.0)
    total = float(apart.sum())
    if not total:
        return 0.5
    ahead = np.sign(scores[:, None] - scores[None, :])
    share = 0.5 + 0.5 * float((apart * ahead).sum()) / total
    m = total / len(outcomes)
    return (m * share + 0.5 * _UNKNOWN) / (m + _UNKNOWN)
