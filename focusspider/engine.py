"""What we must know of Scrapy's engine and what has no public name, or had none until lately.

It is read here and nowhere else. Where a future Scrapy has renamed them, the crawl goes
on with a public substitute: a little later, or a little less exact, but never wrong.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.core.scheduler import BaseScheduler
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.utils.asyncio import CallLaterResult

__all__ = [
    "Waker",
    "has_started",
    "in_progress",
    "pause",
    "scheduler_of",
    "slot_defaults",
    "stop",
    "turn",
    "wake",
    "warn_of_unused",
]

logger = logging.getLogger(__name__)

#: What tells Scrapy's own scheduler how to filter and to queue.
_UNUSED = (
    "DUPEFILTER_CLASS",
    "SCHEDULER_PRIORITY_QUEUE",
    "SCHEDULER_MEMORY_QUEUE",
    "SCHEDULER_DISK_QUEUE",
    "SCHEDULER_START_MEMORY_QUEUE",
    "SCHEDULER_START_DISK_QUEUE",
)


def wake(engine: ExecutionEngine | None) -> bool:
    """Make the engine ask the scheduler again, and return whether that was possible.

    Without it, requests that were held back for politeness wait for the heartbeat that
    Scrapy's engine has for this case (5 seconds).
    """
    slot = getattr(engine, "_slot", None)
    nextcall = getattr(slot, "nextcall", None)
    if nextcall is None or getattr(slot, "closing", None) is not None:
        return False
    nextcall.schedule()
    return True


class Waker:
    """Makes the engine ask again at the earliest of the times that it was given."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._timer: CallLaterResult | None = None
        self._due = 0.0

    def wake_in(self, seconds: float) -> None:
        """Make the engine ask again in so many seconds, or before."""
        due = time.monotonic() + seconds
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = call_later(seconds, self._wake)

    def _wake(self) -> None:
        self._timer = None
        wake(self._crawler.engine)

    def cancel(self) -> None:
        """Let the engine sleep: the crawl is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def in_progress(engine: ExecutionEngine) -> AbstractSet[Request]:
    """Return the requests that the engine is not yet done with.

    The engine drops a request from this set when it was downloaded, its callback has run
    to the end and its items have left the pipelines: the moment to settle it. The public
    substitute knows only of the two stations, the downloader and the scraper.
    """
    slot = getattr(engine, "_slot", None)
    requests: AbstractSet[Request] | None = getattr(slot, "inprogress", None)
    if requests is not None:
        return requests
    scraping = engine.scraper.slot.active if engine.scraper.slot else set()
    return engine.downloader.active | scraping


def stop(crawler: Crawler, reason: str) -> None:
    """Close the crawl's spider, as soon as what is on its way has come to its end."""
    engine = crawler.engine
    if engine is not None and engine.spider is not None:
        deferred_from_coro(engine.close_spider_async(reason=reason))


def scheduler_of(engine: ExecutionEngine) -> BaseScheduler | None:
    """Return the scheduler in use; the engine says so itself since Scrapy 2.19."""
    if hasattr(engine, "scheduler"):
        return engine.scheduler
    scheduler: BaseScheduler | None = getattr(getattr(engine, "_slot", None), "scheduler", None)
    return scheduler


def slot_defaults(crawler: Crawler) -> Callable[[str], tuple[int, float]]:
    """Return what Scrapy's downloader gives a slot that it makes: (concurrency, delay)."""
    assert crawler.engine is not None
    downloader = crawler.engine.downloader

    def defaults(host: str) -> tuple[int, float]:
        slot = downloader.per_slot_settings.get(host, {})
        delay = getattr(downloader, "_delay", crawler.settings.getfloat("DOWNLOAD_DELAY"))
        return (
            int(slot.get("concurrency", downloader.domain_concurrency)),
            float(slot.get("delay", delay)),
        )

    return defaults


def warn_of_unused(settings: BaseSettings) -> None:
    """Say which settings of the user have no effect: those of Scrapy's own scheduler."""
    for name in _UNUSED:
        if (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["project"]:
            logger.warning(
                "%s has no effect: FocusScheduler filters and orders requests itself. To keep "
                "Scrapy's own, set SCHEDULER to it; to say which requests are the same, set "
                "REQUEST_FINGERPRINTER_CLASS.",
                name,
            )


async def pause(seconds: float) -> None:
    """Go on after some seconds; Scrapy has a ``sleep`` for it since 2.18."""
    came: Deferred[None] = Deferred()
    call_later(seconds, came.callback, None)
    await maybe_deferred_to_future(came)


async def turn() -> None:
    """Let the event loop have its turn."""
    await pause(0)


def has_started(engine: ExecutionEngine | None) -> bool:
    """Return whether the spider's start has come to its end; True if nobody can say."""
    return getattr(engine, "_start", None) is None
