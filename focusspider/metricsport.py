"""A crawl's statistics over HTTP, for Prometheus: ``http://127.0.0.1:PORT/metrics``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.reactor import listen_tcp
from twisted.internet.error import CannotListenError
from twisted.web.resource import Resource
from twisted.web.server import Site

import focusspider
from focusspider.config import FocusConfig
from focusspider.prometheus import CONTENT_TYPE, Family, families, render
from focusspider.scheduler import FocusScheduler
from focusspider.session import Session

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.web.http import Request

__all__ = ["MetricsPort"]

logger = logging.getLogger(__name__)


class MetricsPort:
    """An extension that answers with the counts as they are, and costs nothing between two asks.

    It listens from the start of the crawl to its end, on the first free port of
    ``FOCUS_METRICS_PORT`` and on this machine only, unless ``FOCUS_METRICS_HOST`` says
    otherwise. Where no port is free the log says so, and the crawl goes on: it is worth more
    than being watched.
    """

    def __init__(self, crawler: Crawler, *, ports: tuple[int, int], host: str) -> None:
        self._crawler = crawler
        self._ports = ports
        self._host = host
        self._listening: Any = None  # a port of Twisted's, which has no usable types

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension of a crawl that is to be watched."""
        config = FocusConfig.from_settings(crawler.settings)
        if config.metrics_port is None:
            raise NotConfigured
        port = cls(crawler, ports=config.metrics_port, host=config.metrics_host)
        crawler.signals.connect(port.start, signals.spider_opened)
        crawler.signals.connect(port.stop, signals.spider_closed)
        return port

    def start(self) -> None:
        """Listen."""
        root: Any = Resource()  # type: ignore[no-untyped-call]
        root.putChild(b"metrics", _Metrics(self))
        site: Any = _Site(root)  # type: ignore[no-untyped-call]
        try:
            self._listening = listen_tcp(list(self._ports), self._host, site)
        except CannotListenError as error:
            logger.warning(
                "FOCUS_METRICS_PORT = %s: the crawl goes on unwatched, since it cannot listen on "
                "%s (%s); give a port that is free, or a range of them",
                "-".join(map(str, dict.fromkeys(self._ports))),
                self._host,
                error.socketError,
            )
            return
        where = self._listening.getHost()
        host = f"[{where.host}]" if ":" in where.host else where.host
        logger.info("Metrics: http://%s:%d/metrics", host, where.port)

    async def stop(self) -> None:
        """Listen no more."""
        if self._listening is not None:
            listening, self._listening = self._listening, None
            await maybe_deferred_to_future(listening.stopListening())

    def text(self) -> str:
        """Return the metrics as they are now."""
        labels = {"spider": self._crawler.spider.name if self._crawler.spider else ""}
        session = Session.of(self._crawler)
        if session is not None:
            labels["topic"] = session.topic.name
        return render([*_about(session), *families(self._counts())], labels)

    def _counts(self) -> dict[str, object]:
        """Return the statistics, with what the frontier counts into them when it closes."""
        assert self._crawler.stats is not None
        counts: dict[str, object] = dict(self._crawler.stats.get_stats())
        scheduler = FocusScheduler.of(self._crawler)
        if scheduler is not None and not scheduler.closed:
            counts |= scheduler.frontier.counts.by_stat()
        return counts


class _Metrics(Resource):
    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, port: MetricsPort) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._port = port

    def render_GET(self, request: Any) -> bytes:  # noqa: N802 - Twisted's name
        request.setHeader(b"Content-Type", CONTENT_TYPE.encode())
        request.setHeader(b"Connection", b"close")  # the crawl may end before the next ask
        return self._port.text().encode()


class _Site(Site):
    noisy = False

    def log(self, request: Request) -> None:
        """Say nothing: the log is the crawl's."""


def _about(session: Session | None) -> list[Family]:
    """Return what is known of a crawl from its start."""
    if session is None:
        return []
    about = {
        "strategy": session.strategy_name,
        "run": session.folder.path.name if session.folder is not None else "",
        "version": focusspider.__version__,
    }
    found = [
        Family("focus_crawl_info", "gauge", "What the crawl is; always 1.", ((about, 1),)),
        Family(
            "focus_crawl_start_time_seconds",
            "gauge",
            "When the crawl began, in seconds since 1970.",
            (({}, session.started.timestamp()),),
        ),
    ]
    if session.topic.limits.pages is not None:
        limit = session.topic.limits.pages
        meaning = "The topic's limit of pages."
        found.append(Family("focus_crawl_limit_pages", "gauge", meaning, (({}, limit),)))
    return found
