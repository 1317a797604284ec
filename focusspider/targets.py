"""The targets that are fetched, before the crawl they are the examples of."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from focusspider import stats
from focusspider.failures import Failures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.core.engine import ExecutionEngine
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    from focusspider.page import PageParser
    from focusspider.profile import TopicProfile

__all__ = ["Targets"]

logger = logging.getLogger(__name__)


class Targets:
    """Gathers the target pages, of which some may fail.

    They go by the downloader and its middlewares alone: they are no pages of the crawl.

    Parameters
    ----------
    profile
        is given each target page
    """

    def __init__(self, profile: TopicProfile, parser: PageParser) -> None:
        self._profile = profile
        self._parser = parser
        self.failures = Failures()
        self.stats: StatsCollector | None = None

    async def fetch(self, engine: ExecutionEngine, urls: Sequence[str]) -> None:
        """Fetch targets, and return when each has come or failed."""
        waiting = [self._fetched(engine, url) for url in urls]
        for deferred in waiting:
            await maybe_deferred_to_future(deferred)

    def _fetched(self, engine: ExecutionEngine, url: str) -> Deferred[None]:
        downloaded: Deferred[Response] = deferred_from_coro(engine.download_async(Request(url)))
        added = downloaded.addCallback(self._add)

        def failed(failure: Failure) -> None:
            assert failure.value is not None
            self._failed(url, failure.value)

        return added.addErrback(failed)

    def _add(self, response: Response) -> None:
        if not 200 <= response.status < 300:
            raise HttpError(response, f"the status is {response.status}")
        self._profile.add_target(self._parser.parse(response))
        self._count(stats.TARGET_FETCHED)

    def _failed(self, url: str, error: BaseException) -> None:
        """Go on without a target."""
        reason = self.failures.add(error)
        logger.warning("Target %s is left out: %s (%s)", url, reason, error)
        self._count(stats.TARGET_FAILED)

    def _count(self, key: str) -> None:
        if self.stats is not None:
            self.stats.inc_value(key)
