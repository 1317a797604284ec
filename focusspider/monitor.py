"""How a crawl goes, for who looks on: at the foot of a terminal, or a line a minute in the log."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from focusspider.config import FocusConfig
from focusspider.frontier import Watched
from focusspider.liveview import BEST_SHOWN, LiveView
from focusspider.payload import url_of
from focusspider.priority import to_score
from focusspider.progress import Progress, counted, duration
from focusspider.scheduler import FocusScheduler
from focusspider.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

__all__ = ["Monitor"]

logger = logging.getLogger(__name__)

_TICK = 1.0  # seconds between two looks at the counts
_WINDOW = 60  # looks, over which pages a second are counted
#: A glance at the frontier may take so much of the time, and is not older than needed.
_GLANCE_SHARE, _GLANCE_LEAST = 0.005, 2.0


class Monitor:
    """An extension that shows how the crawl goes, and at its end says what was found.

    On a terminal (``FOCUS_LIVE``) the foot shows it, once a second. Elsewhere the log has a
    line every ``LOGSTATS_INTERVAL`` seconds. It reads counts that others keep, so that it
    costs nothing between two looks.
    """

    def __init__(
        self, crawler: Crawler, *, live: bool, interval: float, clock: Callable[[], float]
    ) -> None:
        self._crawler = crawler
        self._session = Session.of(crawler)
        self._live = live
        self._interval = interval
        self._clock = clock
        self._view: LiveView | None = None
        self._loop: AsyncioLoopingCall | LoopingCall | None = None
        self._started = clock()
        self._next_line = self._started + interval
        self._next_glance = self._started
        self._seen = Progress()  # hosts and best of the last glance
        self._counts: deque[tuple[float, int]] = deque(maxlen=_WINDOW)
        self._timeout = crawler.settings.getfloat("CLOSESPIDER_TIMEOUT")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the monitor of a crawl."""
        config = FocusConfig.from_settings(crawler.settings)
        monitor = cls(
            crawler,
            live=config.live,
            interval=crawler.settings.getfloat("LOGSTATS_INTERVAL"),
            clock=time.monotonic,
        )
        crawler.signals.connect(monitor.start, signals.spider_opened)
        crawler.signals.connect(monitor.stop, signals.spider_closed)
        return monitor

    def start(self) -> None:
        """Begin to look."""
        self._started = self._clock()
        self._next_line = self._started + self._interval
        if self._live:
            self._view = LiveView.opened(sys.stderr)
        if self._view is None and not self._interval:
            return
        self._loop = create_looping_call(self._tick)
        self._loop.start(_TICK)

    def stop(self, reason: str) -> None:
        """End, and say what was found and where it is."""
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        if self._view is not None:
            self._view.close()
        progress = self._progress()
        _, found, waiting = progress.in_words()
        took = duration(self._clock() - self._started)
        words = [f"{counted(progress.fetched, 'page')} in {took}"]
        words += [part for part in (found, waiting) if part]
        folder = self._session.folder if self._session else None
        where = f" Files: {folder.path}" if folder else ""
        logger.info("Crawl ended (%s): %s.%s", reason, "; ".join(words), where)

    def _tick(self) -> None:
        progress = self._progress()
        now = self._clock()
        if self._view is not None:
            shown = self._view.show(self._title(), self._with_glance(progress))
            if not shown:  # the terminal has gone, and the log may go on elsewhere
                self._view = None
        elif self._interval and now >= self._next_line:
            self._next_line += self._interval
            logger.info("So far: %s", "; ".join(part for part in progress.in_words() if part))

    def _title(self) -> str:
        spider = self._crawler.spider
        assert spider is not None
        if self._session is None:
            return spider.name
        return f"{self._session.topic.name} by {self._session.strategy_name}"

    def _progress(self) -> Progress:
        """Return the counts as they are now."""
        scheduler = FocusScheduler.of(self._crawler)
        counts = None if scheduler is None else scheduler.frontier.counts
        session = self._session
        fetched = session.fetched if session else self._responses()
        now = self._clock()
        self._counts.append((now, fetched))
        since, before = self._counts[0]
        rate = (fetched - before) / (now - since) if now > since else 0.0
        return Progress(
            fetched=fetched,
            relevant=session.relevant if session else None,
            recent=_mean(session.record.recent) if session else None,
            waiting=counts.waiting if counts else None,
            rate=rate,
            budget=session.topic.limits.pages if session else None,
            left=self._left(session.remaining if session else None, rate, now),
        )

    def _responses(self) -> int:
        """Return how many answers this process had: the frontier may be that of others too."""
        assert self._crawler.stats is not None
        return int(self._crawler.stats.get_value("response_received_count", 0))

    def _left(self, pages: int | None, rate: float, now: float) -> float | None:
        """Return the seconds until the first limit is reached, as far as one can know."""
        ends = []
        if pages is not None and rate > 0:
            ends.append(pages / rate)
        if self._timeout:
            ends.append(max(0.0, self._started + self._timeout - now))
        return min(ends, default=None)

    def _with_glance(self, progress: Progress) -> Progress:
        """Add hosts and the best that wait, as they were a few seconds ago at most.

        But not as they were before anything waited, or while something did.
        """
        scheduler = FocusScheduler.of(self._crawler)
        frontier: object = None if scheduler is None else scheduler.frontier
        began = self._clock()
        stale = bool(progress.waiting) != bool(self._seen.hosts)
        if (stale or began >= self._next_glance) and isinstance(frontier, Watched):
            hosts, best = frontier.glance(BEST_SHOWN)
            links = tuple((to_score(entry.priority), url_of(entry.payload)) for entry in best)
            self._seen = Progress(hosts=hosts, best=links)
            took = self._clock() - began
            self._next_glance = began + max(_GLANCE_LEAST, took / _GLANCE_SHARE)
        return replace(progress, hosts=self._seen.hosts, best=self._seen.best)


def _mean(flags: Collection[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
