"""Relevance by a function of the user's own."""

from __future__ import annotations

import inspect
import logging
import numbers
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.registry import check_share, import_object
from focusspider.relevance.base import Judgement

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.profile import TopicProfile

__all__ = ["CallableRelevance"]

logger = logging.getLogger(__name__)

_RETURNS = "a number from 0 to 1, a bool, a Judgement, or (number or bool, why)"


class CallableRelevance:
    """Asks a function of the user's own, which is called with the :class:`Page`.

    It returns a relevance in [0, 1], which is compared with the threshold; or True or
    False; or either with a text that says why; or a :class:`Judgement`, which is final.

    Where the function raises, or returns something else, the page is not relevant and the
    crawl goes on: one page that it did not expect must not cost the others. Each kind of
    failure is logged as an error once, with the URL and the traceback, and counted.

    Parameters
    ----------
    function : str
        Import path, ``package.module:function`` or ``package.module.function``.
    threshold : float
        γ, in [0, 1], for functions that return a number.

    Attributes
    ----------
    failures : Counter
        How many pages failed, by kind: the name of the exception, or what was returned.
    """

    def __init__(self, *, function: str, threshold: float = 0.5) -> None:
        check_share("threshold", threshold)
        if not isinstance(function, str):
            raise ValueError(f"function must be an import path, got {function!r}")
        self.function = function
        self.threshold = threshold
        self.failures: Counter[str] = Counter()
        self._function = import_object(function)
        if isinstance(self._function, type) or not callable(self._function):
            raise ValueError(
                f"{function!r} is no function, but of type {type(self._function).__name__}; "
                f"give a function that takes a page"
            )
        if inspect.iscoroutinefunction(self._function):
            raise ValueError(f"{function!r} is async; give a function that is not")

    def start(self, profile: TopicProfile) -> None:
        """Learn nothing: the function decides."""

    def judge(self, page: Page) -> Judgement:
        """Ask the function."""
        try:
            value = self._function(page)
        except Exception as error:  # noqa: BLE001 - the function may raise anything
            return self._failed(page, type(error).__name__, f"raised {error!r}", error)
        judgement = self._judgement(value)
        if judgement is None:
            kind = f"returned {type(value).__name__}"
            return self._failed(page, kind, f"returned {value!r}, not {_RETURNS}", None)
        return judgement

    def _judgement(self, value: Any) -> Judgement | None:
        """Return what the function's answer means, or None where it means nothing."""
        if isinstance(value, Judgement):
            relevance = _share(value.relevance)
            if relevance is None:
                return None
            return Judgement(relevance, bool(value.relevant), str(value.why))
        why = None
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
            value, why = value
        relevance = _share(value)
        if relevance is None:
            return None
        if isinstance(value, bool | np.bool_):
            relevant = bool(value)
            said = f"{self.function} says {'yes' if relevant else 'no'}"
        else:
            relevant = relevance >= self.threshold
            sign = "≥" if relevant else "<"
            said = f"{self.function} {relevance:.3f} {sign} threshold {self.threshold:g}"
        return Judgement(relevance, relevant, said if why is None else why)

    def _failed(self, page: Page, kind: str, what: str, error: Exception | None) -> Judgement:
        self.failures[kind] += 1
        if self.failures[kind] == 1:
            logger.error(
                "relevance function %s %s for %s; the page counts as not relevant. Further "
                "failures of this kind are counted, not logged.",
                self.function, what, page.url, exc_info=error,
            )  # fmt: skip
        return Judgement(0.0, False, f"{self.function} {what}"[:200], failed=True)


def _share(value: object) -> float | None:
    """Return a number in [0, 1], or None where it is something else."""
    if not isinstance(value, numbers.Real | np.bool_):
        return None
    number = float(value)
    return number if 0 <= number <= 1 else None
