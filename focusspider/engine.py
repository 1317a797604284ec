"""What we must know of Scrapy's engine and what has no public name, or had none until lately.

It is read here and nowhere else. Where a future Scrapy has renamed them, the crawl goes
on with a public substitute: a little later, or a little less exact, but never wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.core.scheduler import BaseScheduler

__all__ = ["in_progress", "scheduler_of", "wake"]


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
