"""The one line that makes a project's crawls focused ones.

``ADDONS = {"focusspider.FocusAddon": 500}`` in the settings of any Scrapy project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from focusspider import onemessage
from focusspider.config import FocusConfig
from focusspider.errors import TopicError
from focusspider.exporters import ParquetItemExporter, WarcWriter
from focusspider.middleware import FocusMiddleware
from focusspider.pipelines import ItemJournal
from focusspider.replay.handler import ReplayDownloadHandler
from focusspider.replay.spec import open_archive
from focusspider.retryafter import RetryAfterMiddleware
from focusspider.robots import RobotsDelayMiddleware
from focusspider.session import Session
from focusspider.topic import Topic

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

__all__ = ["FocusAddon"]

#: Next to the spider, so that links and scores are ours before Scrapy's own middlewares
#: see the Requests (the nearest of those, depth, is at 900).
_MIDDLEWARE_ORDER = 950
#: Behind Scrapy's robots.txt, at 100, and nearer to the downloader than its retries, at 550.
_DOWNLOADER_MIDDLEWARES = {RobotsDelayMiddleware: 110, RetryAfterMiddleware: 560}
#: Behind the user's pipelines, which may drop or change items.
_PIPELINE_ORDER = 950


class FocusAddon:
    """Puts frontier, middleware and run folder into a crawl.

    What the user has set wins: everything is set at the priority of add-ons, which is
    below that of a project's settings. A crawl with neither ``FOCUS_TOPIC`` nor the
    spider's arguments has no session: it is given the frontier, and nothing is scored.
    """

    session: Session | None = None

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FocusAddon:
        """Build the add-on of a crawl, whose spider exists already."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Check the input, and set the components."""
        onemessage.install()
        config = FocusConfig.from_settings(settings)
        settings.set("SCHEDULER", "focusspider.scheduler.FocusScheduler", priority="addon")
        # a hundred workers for each response is Scrapy's default, and a quarter of the CPU
        settings.set("CONCURRENT_ITEMS", 4, priority="addon")
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", FocusMiddleware, _MIDDLEWARE_ORDER
        )
        for middleware, order in _DOWNLOADER_MIDDLEWARES.items():
            settings.setdefault_in_component_priority_dict(
                "DOWNLOADER_MIDDLEWARES", middleware, order
            )
        settings.setdefault_in_component_priority_dict(
            "ITEM_PIPELINES", ItemJournal, _PIPELINE_ORDER
        )
        settings.setdefault_in_component_priority_dict("EXTENSIONS", WarcWriter, 0)
        _add(settings, "FEED_EXPORTERS", {"parquet": ParquetItemExporter})
        if config.replay:
            self._archive = open_archive(config.replay)  # wrong input stops here
            _add(
                settings,
                "DOWNLOAD_HANDLERS",
                dict.fromkeys(("http", "https"), ReplayDownloadHandler),
            )
        topic, job = self._topic(config)
        if topic is None:
            return
        self.session = Session(topic=topic, config=config, settings=settings, run=job)
        if config.export_parquet:
            _add(settings, "FEEDS", {str(self.session.folder.parquet): {"format": "parquet"}})

    def _topic(self, config: FocusConfig) -> tuple[Topic | None, str | None]:
        """Return the topic of the arguments or the settings, checked, and Scrapyd's job."""
        spider = self._crawler.spider
        arguments: dict[str, Any] | None = getattr(spider, "focus_arguments", None)
        if arguments is None:  # a spider that knows nothing of us
            name = config.topic or getattr(spider, "topic", None)
            topic = Topic.load(name, config.topics_dir) if isinstance(name, str) else None
            return topic, getattr(spider, "_job", None)
        given = {key: value for key, value in arguments.items() if not key.startswith("_")}
        name = given.pop("topic", None) or config.topic
        if name is not None:
            topic = Topic.load(name, config.topics_dir, given)
        elif given:
            topic = Topic.from_arguments(**given)
        else:
            raise TopicError(
                'no topic; give -a topic=FILE, or -a keywords="…" -a seeds="…", or set FOCUS_TOPIC'
            )
        return topic, arguments.get("_job")


def _add(settings: BaseSettings, name: str, entries: dict[str, Any]) -> None:
    """Add entries to a dictionary among the settings, whoever set it; theirs win."""
    priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["addon"])
    settings.set(name, {**entries, **settings.getdict(name)}, priority=priority)
