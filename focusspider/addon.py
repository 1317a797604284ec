"""The one line that makes a project's crawls focused ones.

``ADDONS = {"focusspider.FocusAddon": 500}`` in the settings of any Scrapy project.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object
from w3lib.url import file_uri_to_path

from focusspider import onemessage
from focusspider.checkpoint import Saved
from focusspider.config import FocusConfig, is_folder_name
from focusspider.errors import SettingError, TopicError, UnknownNameError
from focusspider.exporters import ParquetItemExporter, WarcWriter, load_arrow, load_warcio
from focusspider.fleet import Fleet
from focusspider.frontier.opening import open_job
from focusspider.items import PageItem
from focusspider.metricsport import MetricsPort
from focusspider.middleware import FocusMiddleware
from focusspider.monitor import Monitor
from focusspider.pipelines import ItemJournal
from focusspider.render.wiring import add_rendering
from focusspider.replay.handler import ReplayDownloadHandler
from focusspider.replay.holdings import Holdings
from focusspider.replay.spec import open_archive
from focusspider.retryafter import RetryAfterMiddleware
from focusspider.robots import RobotsDelayMiddleware
from focusspider.session import Session
from focusspider.topic import Topic

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

__all__ = ["FocusAddon"]

_SCHEDULER = "focusspider.scheduler.FocusScheduler"
#: Next to the spider, so that links and scores are ours before Scrapy's own middlewares
#: see the Requests (the nearest of those, depth, is at 900).
_MIDDLEWARE_ORDER = 950
#: Behind Scrapy's robots.txt, at 100, and nearer to the downloader than its retries, at 550.
_DOWNLOADER_MIDDLEWARES = {RobotsDelayMiddleware: 110, RetryAfterMiddleware: 560}


class FocusAddon:
    """Puts frontier, scoring and run folder into a crawl.

    What the user has set wins: everything is set at the priority of add-ons, which is
    below that of a project's settings, and a component that the user has set to None stays
    out. Without a topic the crawl is given the frontier, and nothing is scored. Nor is it
    by commands that fetch single pages: ``scrapy fetch``, ``parse``, ``shell``, ``check``.
    """

    session: Session | None = None
    #: whether it serves a crawl, and not a command that fetches single pages
    is_crawl = False

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
        settings.set("SCHEDULER", _SCHEDULER, priority="addon")
        for middleware, order in _DOWNLOADER_MIDDLEWARES.items():
            settings.setdefault_in_component_priority_dict(
                "DOWNLOADER_MIDDLEWARES", middleware, order
            )
        _add(settings, "FEED_EXPORTERS", {"parquet": ParquetItemExporter})
        if config.replay:
            self._archive = open_archive(config.replay)  # wrong input stops here
            handlers = dict.fromkeys(("http", "https"), ReplayDownloadHandler)
            _add(settings, "DOWNLOAD_HANDLERS", handlers)
        spider = self._crawler.spider
        scoring = config.scoring and not _is_off(settings, "SPIDER_MIDDLEWARES", FocusMiddleware)
        if spider is None or _is_command(spider):
            add_rendering(settings, config, None)
            return
        self.is_crawl = True
        if config.frontier and settings["SCHEDULER"] != _SCHEDULER:
            raise SettingError(
                f"FOCUS_FRONTIER needs focusspider's scheduler, and SCHEDULER is "
                f"{settings['SCHEDULER']!r}; leave one of them out"
            )
        settings.setdefault_in_component_priority_dict("EXTENSIONS", Monitor, 0)
        if config.metrics_port is not None:
            if not settings.getbool("TWISTED_REACTOR_ENABLED", True):
                raise SettingError(
                    "FOCUS_METRICS_PORT needs Twisted's reactor, and TWISTED_REACTOR_ENABLED = "
                    "False; leave one of them out"
                )
            settings.setdefault_in_component_priority_dict("EXTENSIONS", MetricsPort, 0)
        _check_feeds(settings, spider)
        if not scoring:
            _check_needless(spider)
            add_rendering(settings, config, None)
            return
        topic, job = _topic(spider, config)
        add_rendering(settings, config, topic)
        if topic is not None:
            self._add_session(spider, topic, job, config, settings)

    def _add_session(
        self,
        spider: Spider,
        topic: Topic,
        job: str | None,
        config: FocusConfig,
        settings: BaseSettings,
    ) -> None:
        """Set the components of a crawl that has a topic."""
        for field in config.item_fields:
            if field not in PageItem.fields:
                raise UnknownNameError(
                    "field of a page", field, PageItem.fields, where="FOCUS_ITEM_FIELDS"
                )
        if not config.run_folder and (config.export_parquet or config.export_warc):
            name = "FOCUS_EXPORT_PARQUET" if config.export_parquet else "FOCUS_EXPORT_WARC"
            raise SettingError(
                f"{name} = True needs the run's folder, and FOCUS_RUN_FOLDER = False; "
                "leave one of them out"
            )
        if config.export_parquet:
            load_arrow()
        if config.export_warc:
            load_warcio()
        frontier = join = None
        if config.frontier:
            join = partial(Fleet.join, config, settings, spider=spider.name, topic=topic, job=job)
        elif settings["JOBDIR"] and settings["SCHEDULER"] == _SCHEDULER:
            frontier = open_job(settings["JOBDIR"], config, spider=spider.name)
        saved = Saved.of(frontier, topic) if frontier else None
        self.session = Session(
            topic=topic,
            config=config,
            settings=settings,
            scrapyd_job=job,
            saved=saved.session if saved else None,
            memory=saved.memory if saved else None,
            job=frontier,
            join=join,
        )
        if config.replay and config.replay_missing == "refuse":
            self.session.stored = Holdings(self._archive)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", FocusMiddleware, _MIDDLEWARE_ORDER
        )
        for extension in (ItemJournal, WarcWriter):
            settings.setdefault_in_component_priority_dict("EXTENSIONS", extension, 0)
        if config.export_parquet and self.session.folder is not None:
            path = self.session.folder.free("items", ".parquet")
            _add(settings, "FEEDS", {str(path): {"format": "parquet"}})


def _is_command(spider: Spider) -> bool:
    """Return whether a command has put its own start into the spider, for a page or two."""
    return type(spider).start.__module__.startswith("scrapy.commands.")


def _is_off(settings: BaseSettings, name: str, component: type) -> bool:
    """Return whether the user has switched a component off."""
    return any(
        order is None and load_object(path) is component
        for path, order in settings.getdict(name).items()
    )


def _check_feeds(settings: BaseSettings, spider: Spider) -> None:
    """Stop before the first request where a feed is Parquet and can't be written."""
    for path, options in settings.getdict("FEEDS").items():
        if options.get("format") != "parquet":
            continue
        load_arrow()
        file = _feed_file(str(path), spider)
        if not options.get("overwrite") and file.is_file() and file.stat().st_size:
            raise SettingError(
                f"FEEDS: {path} is there already, and a Parquet file can't be appended to; "
                'give the feed "overwrite": True (-O), or another path'
            )


def _feed_file(path: str, spider: Spider) -> Path:
    """Return the file that a feed will be written to, if it is one, as Scrapy finds its name."""
    given = {name: getattr(spider, name) for name in dir(spider)} if "%(" in path else {}
    try:
        named = path % given if given else path
    except (KeyError, ValueError):  # the time is in it, so it is a new file, or it is no name
        named = path
    return Path(file_uri_to_path(named) if named.startswith("file://") else named)


def _check_needless(spider: Spider) -> None:
    if hasattr(spider, "focus_arguments"):
        raise SettingError(
            f"FOCUS_SCORING = False, or FocusMiddleware switched off: the spider {spider.name!r} "
            "does nothing else; leave it out"
        )


def _topic(spider: Spider, config: FocusConfig) -> tuple[Topic | None, str | None]:
    """Return the topic of the arguments or the settings, checked, and Scrapyd's job."""
    arguments: dict[str, Any] | None = getattr(spider, "focus_arguments", None)
    if arguments is None:
        return _topic_of_any(spider, config), getattr(spider, "_job", None)
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


def _topic_of_any(spider: Spider, config: FocusConfig) -> Topic | None:
    """Return the topic for a spider that knows nothing of us, and where to start.

    ``-a topic=`` comes first, then ``FOCUS_TOPIC``, then the class's attribute ``topic``.
    """
    topic = vars(spider).get("topic") or config.topic
    if topic is not None and isinstance(topic, str):
        return Topic.load(topic, config.topics_dir, needs_seeds=False)
    topic = topic or getattr(spider, "topic", None)
    if topic is None:
        return None
    where = f"attribute topic of the spider {spider.name!r}"
    if isinstance(topic, Mapping):
        name = {"name": spider.name} if is_folder_name(spider.name) else {}
        return Topic.from_table({**name, **topic}, source=where, needs_seeds=False)
    try:
        return Topic.load(topic, config.topics_dir, needs_seeds=False)
    except (TopicError, TypeError) as error:
        raise TopicError(
            f"{where}: {error}. If it means something else, set FOCUS_TOPIC, "
            "or FOCUS_SCORING = False"
        ) from error


def _add(settings: BaseSettings, name: str, entries: dict[str, Any]) -> None:
    """Add entries to a dictionary among the settings, whoever set it; theirs win."""
    priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["addon"])
    settings.set(name, {**entries, **settings.getdict(name)}, priority=priority)
