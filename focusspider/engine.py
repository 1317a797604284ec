"""What we must know of Scrapy's engine and what has no public name, or had none until lately.

It is read here and nowhere else. Where a future Scrapy has renamed them, the crawl goes
on with a public substitute: a little later, or a little less exact, but never wrong.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.core.scheduler import BaseScheduler
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

__all__ = ["in_progress", "scheduler_of", "slot_defaults", "wake", "warn_of_unused"]

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
