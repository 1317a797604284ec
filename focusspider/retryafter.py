"""``Retry-After``: a host that says when to come back is left alone until then."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from focusspider import stats
from focusspider.config import FocusConfig
from focusspider.scheduler import FocusScheduler

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["RetryAfterMiddleware", "seconds_to_wait"]

_STATUSES = frozenset({429, 503})


class RetryAfterMiddleware:
    """A downloader middleware that sees a 429 or 503 before Scrapy retries its request.

    All requests of the host wait in the frontier for as long as its ``Retry-After`` says,
    up to ``FOCUS_MAX_RETRY_AFTER``, and none of them holds a place in the downloader. The
    request itself is among them if Scrapy's RetryMiddleware retries it. With another
    scheduler nothing happens.
    """

    def __init__(self, crawler: Crawler, *, longest: float) -> None:
        self._crawler = crawler
        self._longest = longest

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RetryAfterMiddleware:
        """Build the middleware of a crawl."""
        config = FocusConfig.from_settings(crawler.settings)
        return cls(crawler, longest=config.max_retry_after)

    def process_response(self, request: Request, response: Response) -> Response:
        """Hold the host, and pass the response on."""
        value = response.headers.get("Retry-After")
        if response.status not in _STATUSES or value is None:
            return response
        scheduler = FocusScheduler.of(self._crawler)
        seconds = seconds_to_wait(value.decode("latin-1"), datetime.now(UTC))
        if scheduler is not None and seconds:
            assert self._crawler.stats is not None
            scheduler.politeness.hold(scheduler.host(request), min(seconds, self._longest))
            self._crawler.stats.inc_value(stats.HOST_HELD)
            if seconds > self._longest:
                stats.count_reason(self._crawler.stats, stats.HOST_CAPPED, "retry_after")
        return response


def seconds_to_wait(value: str, now: datetime) -> float:
    """Return what a ``Retry-After`` asks for, 0 for nothing (RFC 9110, 10.2.3).

    >>> seconds_to_wait("120", datetime(2026, 1, 1, tzinfo=UTC))
    120.0
    >>> seconds_to_wait("Thu, 01 Jan 2026 00:00:30 GMT", datetime(2026, 1, 1, tzinfo=UTC))
    30.0
    >>> seconds_to_wait("soon", datetime(2026, 1, 1, tzinfo=UTC))
    0.0
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return 0.0
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())
