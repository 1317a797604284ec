"""Why a request brought no page, in one word for the statistics."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy import exceptions
from scrapy.spidermiddlewares.httperror import HttpError

from focusspider import stats

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

__all__ = ["Failures", "reason_of"]

#: (exception, reason), the first that fits; the reasons are those of focus/page/failed.
_REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (HttpError, "http"),
    (exceptions.CannotResolveHostError, "dns"),
    (exceptions.DownloadTimeoutError, "timeout"),
    (exceptions.DownloadCancelledError, "too_large"),
    (exceptions.DownloadConnectionRefusedError, "connection"),
    (exceptions.DownloadFailedError, "connection"),
    (exceptions.ResponseDataLossError, "connection"),
)


def reason_of(error: BaseException) -> str:
    """Return the reason, a key of ``focus/page/failed``, for what Scrapy raised."""
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    if isinstance(error, exceptions.IgnoreRequest):
        text = str(error)
        if "robots.txt" in text:
            return "robots"
        return "redirects" if "redirections" in text else "ignored"
    return "other"


class Failures:
    """The requests that brought no page, counted and remembered in words."""

    def __init__(self) -> None:
        self._causes: Counter[str] = Counter()
        self.stats: StatsCollector | None = None

    def add(self, error: BaseException, *, key: str = stats.PAGE_FAILED) -> str:
        """Count a failure under a key of the statistics, and return its reason."""
        reason = reason_of(error)
        detail = str(error) or type(error).__name__
        self._causes[f"{reason} ({detail.splitlines()[0][:120]})"] += 1
        if self.stats is not None:
            if key == stats.PAGE_FAILED:
                stats.count_reason(self.stats, key, reason)
            else:
                self.stats.inc_value(key)
        return reason

    def in_words(self) -> str:
        """Return the causes, the most frequent first.

        >>> failures = Failures()
        >>> _ = failures.add(exceptions.CannotResolveHostError("no such host"))
        >>> failures.in_words()
        '1 × dns (no such host)'
        """
        words = [f"{count} × {cause}" for cause, count in self._causes.most_common(5)]
        return "; ".join(words) or "no request was made"
