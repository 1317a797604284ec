"""Why a request brought no page, in one word for the statistics."""

from __future__ import annotations

from collections import Counter
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from scrapy import exceptions
from scrapy.spidermiddlewares.httperror import HttpError

from focusspider import stats

if TYPE_CHECKING:
    from collections.abc import Mapping

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
#: (words of Scrapy's IgnoreRequest, reason)
_IGNORED = (
    ("robots.txt", "robots"),
    ("redirections", "redirects"),
    ("DOWNLOAD_MAXSIZE", "too_large"),
)


def reason_of(error: BaseException) -> str:
    """Return the reason, a key of ``focus/page/failed``, for what Scrapy raised."""
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    if isinstance(error, exceptions.IgnoreRequest):
        text = str(error)
        return next((reason for words, reason in _IGNORED if words in text), "ignored")
    return "invalid" if _is_answers_fault(error) else "other"


def _is_answers_fault(error: BaseException) -> bool:
    """Return whether one of Scrapy's downloader middlewares broke on what was answered."""
    return any(
        frame.f_globals.get("__name__", "").startswith("scrapy.downloadermiddlewares.")
        for frame, _ in walk_tb(error.__traceback__)
    )


#: Where Scrapy counts what brought no page, and how that is said.
_COUNTED = (
    ("downloader/exception_type_count/", ""),
    ("httperror/response_ignored_status_count/", "status "),
    ("robotstxt/forbidden", "forbidden by robots.txt"),
    (f"{stats.REQUEST_REFUSED}/", "refused: "),
)


def _counted(counts: Mapping[str, Any]) -> Counter[str]:
    causes: Counter[str] = Counter()
    for key, count in counts.items():
        for prefix, words in _COUNTED:
            if key.startswith(prefix):
                causes[words + key.removeprefix(prefix).rpartition(".")[2]] += count
    return causes


class Failures:
    """The requests that brought no page, counted and remembered in words."""

    def __init__(self) -> None:
        self._causes: Counter[str] = Counter()
        self.stats: StatsCollector | None = None

    def add(self, error: BaseException, *, key: str = stats.PAGE_FAILED) -> str:
        """Count a failure under a key of the statistics, and return its reason."""
        reason = reason_of(error)
        detail = str(error) or type(error).__name__
        if isinstance(error, HttpError):  # whose text says nothing of which
            detail = f"status {error.response.status}"
        self._causes[f"{reason} ({detail.splitlines()[0][:120]})"] += 1
        if self.stats is not None:
            if key == stats.PAGE_FAILED:
                stats.count_reason(self.stats, key, reason)
            else:
                self.stats.inc_value(key)
        return reason

    def in_words(self, counts: Mapping[str, Any] | None = None) -> str:
        """Return the causes, the most frequent first; those of Scrapy's counts if there are none.

        A spider whose errbacks are its own tells us nothing, but Scrapy has counted.

        >>> failures = Failures()
        >>> _ = failures.add(exceptions.CannotResolveHostError("no such host"))
        >>> failures.in_words()
        '1 × dns (no such host)'
        >>> Failures().in_words({"httperror/response_ignored_status_count/404": 2})
        '2 × status 404'
        """
        causes = self._causes or _counted(counts or {})
        words = [f"{count} × {cause}" for cause, count in causes.most_common(5)]
        return "; ".join(words) or "no request was made"
