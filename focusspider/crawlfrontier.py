"""Which frontier a crawl has: in Redis, in a job directory, or in memory."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from focusspider.engine import stop
from focusspider.fleet import Fleet
from focusspider.frontier.guarded import GuardedFrontier
from focusspider.frontier.opening import memory_frontier, open_job

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from focusspider.config import FocusConfig
    from focusspider.frontier import Frontier
    from focusspider.session import Session

__all__ = ["fleet_of", "frontier_of"]

logger = logging.getLogger(__name__)


def fleet_of(crawler: Crawler, config: FocusConfig, session: Session | None) -> Fleet | None:
    """Return the worker that a session is, or a new one of a crawl without a topic."""
    if session is not None:
        return session.fleet
    if config.frontier is None or _fetches_single_pages(crawler):
        return None
    assert crawler.spider is not None
    job = getattr(crawler.spider, "_job", None)
    return Fleet.join(config, crawler.settings, spider=crawler.spider.name, job=job)


def _fetches_single_pages(crawler: Crawler) -> bool:
    """Return whether this is ``scrapy shell``, ``fetch`` or the like, which joins no crawl."""
    return any(getattr(addon, "is_crawl", True) is False for addon in crawler.addons.addons)


def frontier_of(crawler: Crawler, config: FocusConfig, session: Session | None) -> Frontier:
    """Return the frontier of a job directory, which a session has opened, or one in memory."""
    jobdir = crawler.settings["JOBDIR"]
    if not jobdir:
        return memory_frontier(config)
    opened = session.job if session is not None else None

    def failed(error: Exception) -> None:
        logger.error("The crawl stops: %s", error)
        stop(crawler, "frontier_error")

    assert crawler.spider is not None
    job = opened or open_job(jobdir, config, spider=crawler.spider.name)
    return GuardedFrontier(job, failed)
