"""A host that is asked too often is left alone: until when it says, or longer each time."""

from __future__ import annotations

import time
from dataclasses import dataclass
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
#: What a ban may look like as well; but one page may be forbidden, so two in a row count.
_FORBIDDEN = 403


class RetryAfterMiddleware:
    """A downloader middleware that sees a 429 or 503 before Scrapy retries its request.

    All requests of the host wait in the frontier for as long as its ``Retry-After`` says,
    up to ``FOCUS_MAX_RETRY_AFTER``, and none of them holds a place in the downloader. The
    request itself is among them if Scrapy's RetryMiddleware retries it. With another
    scheduler nothing happens.

    Where a host does not say, or answers 403 twice in a row, it is left alone for
    ``FOCUS_BACKOFF`` seconds, and twice as long each time until it gives a page.
    """

    def __init__(self, crawler: Crawler, *, longest: float, backoff: float = 0.0) -> None:
        self._crawler = crawler
        self._longest = longest
        self._backoff = backoff
        self._refusals: dict[str, _Refusals] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RetryAfterMiddleware:
        """Build the middleware of a crawl."""
        config = FocusConfig.from_settings(crawler.settings)
        return cls(crawler, longest=config.max_retry_after, backoff=config.backoff)

    def process_response(self, request: Request, response: Response) -> Response:
        """Hold the host, and pass the response on."""
        value = response.headers.get("Retry-After")
        scheduler = FocusScheduler.of(self._crawler)
        if scheduler is None:
            return response
        seconds = 0.0
        if response.status in _STATUSES and value is not None:
            seconds = seconds_to_wait(value.decode("latin-1"), datetime.now(UTC))
        if not seconds:  # also where it asks for no time, or says what nobody can read
            self._back_off(scheduler, scheduler.host(request), response.status)
        else:
            assert self._crawler.stats is not None
            scheduler.politeness.hold(scheduler.host(request), min(seconds, self._longest))
            self._crawler.stats.inc_value(stats.HOST_HELD)
            if seconds > self._longest:
                stats.count_reason(self._crawler.stats, stats.HOST_CAPPED, "retry_after")
        return response

    def _back_off(self, scheduler: FocusScheduler, host: str, status: int) -> None:
        """Leave a host alone that refuses, and forget its refusals when it gives a page."""
        if status not in _STATUSES and status != _FORBIDDEN:
            if status < 400:
                self._refusals.pop(host, None)
            return
        refusals = self._refusals.setdefault(host, _Refusals())
        now = time.monotonic()
        if not self._backoff or now < refusals.until:
            return  # it was asked before the last refusal came
        if status == _FORBIDDEN and not refusals.forbidden:
            refusals.forbidden = True
            return
        seconds = min(self._backoff * 2 ** min(refusals.pauses, 20), self._longest)
        refusals.pauses += 1
        refusals.until = now + seconds
        scheduler.politeness.hold(host, seconds)
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(stats.HOST_BACKED_OFF)


@dataclass
class _Refusals:
    """What a host has refused since its last page."""

    forbidden: bool = False
    pauses: int = 0
    until: float = 0.0


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
