"""What follows from a robots.txt besides what it forbids: delays."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from focusspider import stats
from focusspider.config import FocusConfig
from focusspider.failures import reason_of
from focusspider.scheduler import FocusScheduler

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

__all__ = ["RobotsDelayMiddleware"]


class RobotsDelayMiddleware:
    """A downloader middleware behind Scrapy's RobotsTxtMiddleware.

    The first request to a host waits in the downloader for its robots.txt. When that is
    there, the host may not be asked again at once: then the request goes back to the
    frontier, and waits where it holds no place in the downloader and where a better one
    can overtake it.

    The host is asked no sooner than its ``Crawl-delay`` says, up to
    ``FOCUS_MAX_CRAWL_DELAY``; Scrapy reports it since 2.18. With another scheduler nothing
    happens.
    """

    def __init__(self, crawler: Crawler, *, longest: float) -> None:
        self._crawler = crawler
        self._longest = longest
        settings = crawler.settings
        self._robots_agent: str | None = settings["ROBOTSTXT_USER_AGENT"]
        self._default_agent: str = settings["USER_AGENT"]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsDelayMiddleware:
        """Build the middleware of a crawl that reads robots.txt."""
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        config = FocusConfig.from_settings(crawler.settings)
        middleware = cls(crawler, longest=config.max_crawl_delay)
        _log_in_one_line()
        if hasattr(signals, "robots_parsed"):
            crawler.signals.connect(middleware.robots_parsed, signals.robots_parsed)
        return middleware

    def process_request(self, request: Request) -> Request | None:
        """Give a request back whose host can't start it now."""
        scheduler = FocusScheduler.of(self._crawler)
        return request if scheduler is not None and scheduler.is_early(request) else None

    def robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Take a host's delay."""
        agent = self._robots_agent or request.headers.get(b"User-Agent") or self._default_agent
        seconds = robotparser.crawl_delay(agent)
        scheduler = FocusScheduler.of(self._crawler)
        if scheduler is None or seconds is None or not seconds > 0:
            return
        assert self._crawler.stats is not None
        scheduler.politeness.keep_apart(scheduler.host(request), min(seconds, self._longest))
        self._crawler.stats.inc_value(stats.HOST_CRAWL_DELAY)
        if seconds > self._longest:
            stats.count_reason(self._crawler.stats, stats.HOST_CAPPED, "crawl_delay")


class _OneLine(logging.Filter):
    """Takes the traceback off what is the host's fault, and not the code's."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and reason_of(error) != "other":
            record.exc_info = record.exc_text = None
        return True


def _log_in_one_line() -> None:
    """Have Scrapy say in one line that a robots.txt could not be had, for each dead host."""
    logger = logging.getLogger("scrapy.downloadermiddlewares.robotstxt")
    if not any(isinstance(known, _OneLine) for known in logger.filters):
        logger.addFilter(_OneLine())
