"""The targets that are fetched, before the crawl they are the examples of."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from focusspider import stats
from focusspider.errors import NotAPageError
from focusspider.failures import Failures

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from focusspider.page import PageParser
    from focusspider.profile import TopicProfile

__all__ = ["Targets"]

logger = logging.getLogger(__name__)


class Targets:
    """Gathers the target pages, of which some may fail.

    Parameters
    ----------
    profile
        is given each target page
    expected
        how many were asked for
    """

    def __init__(self, profile: TopicProfile, parser: PageParser, *, expected: int) -> None:
        self._profile = profile
        self._parser = parser
        self._open = expected
        self._settled: Deferred[None] = Deferred()
        self.failures = Failures()
        self.stats: StatsCollector | None = None

    async def settled(self) -> None:
        """Wait until each target has come or failed."""
        if self._open > 0:
            await maybe_deferred_to_future(self._settled)

    def add(self, response: Response) -> None:
        """Take a target page."""
        try:
            self._profile.add_target(self._parser.parse(response))
        except NotAPageError as error:
            self.failed(response.url, error)
            return
        self._count(stats.TARGET_FETCHED)

    def failed(self, url: str, error: BaseException) -> None:
        """Go on without a target."""
        reason = self.failures.add(error)
        logger.warning("Target %s is left out: %s (%s)", url, reason, error)
        self._count(stats.TARGET_FAILED)

    def _count(self, key: str) -> None:
        if self.stats is not None:
            self.stats.inc_value(key)
        self._open -= 1
        if self._open == 0:
            self._settled.callback(None)
