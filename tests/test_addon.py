"""What the one line sets, and that what the user has set wins, wherever it was set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import scrapy
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.conf import build_component_list

from focusspider.errors import SettingError, TopicError, UnknownNameError
from focusspider.exporters import WarcWriter
from focusspider.middleware import FocusMiddleware
from focusspider.monitor import Monitor
from focusspider.pipelines import ItemJournal
from focusspider.retryafter import RetryAfterMiddleware
from focusspider.robots import RobotsDelayMiddleware
from focusspider.session import Session
from focusspider.spiders.focus import FocusSpider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from focusspider.addon import FocusAddon

OURS = "focusspider.scheduler.FocusScheduler"
SCRAPYS = "scrapy.core.scheduler.Scheduler"
TABLE = {"keywords": ["clock"]}


def load(
    tmp_path: Path,
    settings: Mapping[str, Any] | None = None,
    *,
    priority: str = "project",
    spider: type[scrapy.Spider] = scrapy.Spider,
    **arguments: Any,
) -> Crawler:
    """Let the add-on set up a crawl, as Scrapy does before it starts."""
    given = {
        "ADDONS": {"focusspider.FocusAddon": 500},
        "FOCUS_EXPORTS_DIR": tmp_path / "exports",
        "FOCUS_TOPICS_DIR": tmp_path / "topics",
    }
    made = Settings(given, priority="project")
    own = dict(settings or {})
    if priority == "spider":
        spider = type("Own", (spider,), {"custom_settings": own})
    else:
        made.update(own, priority=priority)
    crawler = Crawler(spider, made)
    crawler.spider = spider.from_crawler(
        crawler, **({} if spider is FocusSpider else {"name": "any"}), **arguments
    )
    crawler.addons.load_settings(crawler.settings)
    made_crawlers.append(crawler)
    return crawler


made_crawlers: list[Crawler] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Close the run folders of the crawls that a test set up and never ran."""
    yield
    while made_crawlers:
        session = Session.of(made_crawlers.pop())
        if session is not None and session.folder is not None:
            session.folder.close()


def components(crawler: Crawler, name: str) -> list[type]:
    return build_component_list(crawler.settings.getwithbase(name))


def addon(crawler: Crawler) -> FocusAddon:
    (found,) = crawler.addons.addons
    return found


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    folder = tmp_path / "topics"
    folder.mkdir()
    (folder / "clocks.toml").write_text('keywords = ["clock"]\n')
    (folder / "soaps.toml").write_text('keywords = ["soap"]\n')
    return tmp_path


class TestWhatItSets:
    def test_the_frontier_alone_without_a_topic(self, tmp_path: Path) -> None:
        crawler = load(tmp_path)
        assert crawler.settings["SCHEDULER"] == OURS
        assert Session.of(crawler) is None
        assert FocusMiddleware not in components(crawler, "SPIDER_MIDDLEWARES")
        assert not {ItemJournal, WarcWriter} & set(components(crawler, "EXTENSIONS"))
        assert not (tmp_path / "exports").exists()

    def test_all_of_it_with_a_topic(self, topics: Path) -> None:
        crawler = load(topics, {"FOCUS_TOPIC": "clocks"})
        session = Session.of(crawler)
        assert session is not None
        assert session.topic.keywords == ("clock",)
        assert session.folder is not None
        assert session.folder.path.parent == topics / "exports/clocks"
        order = components(crawler, "SPIDER_MIDDLEWARES")
        assert [c for c in order if c is FocusMiddleware] == [FocusMiddleware]
        assert {ItemJournal, WarcWriter} <= set(components(crawler, "EXTENSIONS"))
        downloader = components(crawler, "DOWNLOADER_MIDDLEWARES")
        assert {RobotsDelayMiddleware, RetryAfterMiddleware} <= set(downloader)

    def test_nothing_but_what_it_says(self, topics: Path) -> None:
        plain, ours = Settings(), load(topics, {"FOCUS_TOPIC": "clocks"}).settings

        def values(settings: Settings) -> dict[str, str]:
            found = {name: attribute.value for name, attribute in settings.attributes.items()}
            return {
                name: str(value.copy_to_dict() if isinstance(value, BaseSettings) else value)
                for name, value in found.items()
                if not name.startswith("FOCUS_")
            }

        changed = {name for name, _ in values(ours).items() ^ values(plain).items()}
        assert changed == {
            "ADDONS", "SCHEDULER", "SPIDER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES",
            "EXTENSIONS", "FEED_EXPORTERS",
        }  # fmt: skip


PRIORITIES = ["project", "spider", "cmdline"]


@pytest.mark.parametrize("priority", PRIORITIES)
class TestUserSettingsWin:
    def test_scheduler(self, topics: Path, priority: str) -> None:
        given = {"SCHEDULER": SCRAPYS, "FOCUS_TOPIC": "clocks"}
        crawler = load(topics, given, priority=priority)
        assert crawler.settings["SCHEDULER"] == SCRAPYS
        assert Session.of(crawler) is not None, "it still scores"

    @pytest.mark.parametrize("name", ["focusspider.middleware.FocusMiddleware", FocusMiddleware])
    def test_the_middleware_switched_off_is_scoring_switched_off(
        self, topics: Path, priority: str, name: Any
    ) -> None:
        given = {"SPIDER_MIDDLEWARES": {name: None}, "FOCUS_TOPIC": "clocks"}
        crawler = load(topics, given, priority=priority)
        assert FocusMiddleware not in components(crawler, "SPIDER_MIDDLEWARES")
        assert Session.of(crawler) is None
        assert not (topics / "exports").exists()

    @pytest.mark.parametrize(
        ("setting", "component"),
        [
            ("SPIDER_MIDDLEWARES", FocusMiddleware),
            ("EXTENSIONS", ItemJournal),
            ("EXTENSIONS", WarcWriter),
            ("EXTENSIONS", Monitor),
            ("DOWNLOADER_MIDDLEWARES", RetryAfterMiddleware),
            ("DOWNLOADER_MIDDLEWARES", RobotsDelayMiddleware),
        ],
    )
    def test_the_order_of_a_component(
        self, topics: Path, priority: str, setting: str, component: type
    ) -> None:
        path = f"{component.__module__}.{component.__qualname__}"
        given = {setting: {path: 1}, "FOCUS_TOPIC": "clocks"}
        crawler = load(topics, given, priority=priority)
        assert crawler.settings.getdict(setting).get(path) == 1
        assert component not in crawler.settings.getdict(setting)

    @pytest.mark.parametrize(
        ("setting", "component"),
        [
            ("EXTENSIONS", ItemJournal),
            ("EXTENSIONS", WarcWriter),
            ("EXTENSIONS", Monitor),
            ("DOWNLOADER_MIDDLEWARES", RetryAfterMiddleware),
            ("DOWNLOADER_MIDDLEWARES", RobotsDelayMiddleware),
        ],
    )
    def test_a_component_switched_off(
        self, topics: Path, priority: str, setting: str, component: type
    ) -> None:
        path = f"{component.__module__}.{component.__qualname__}"
        crawler = load(topics, {setting: {path: None}, "FOCUS_TOPIC": "clocks"}, priority=priority)
        assert component not in components(crawler, setting)

    def test_a_feed_exporter_and_feeds(self, topics: Path, priority: str) -> None:
        given = {
            "FEED_EXPORTERS": {"parquet": "mine.Exporter"},
            "FEEDS": {"mine.csv": {"format": "csv"}},
            "FOCUS_TOPIC": "clocks",
            "FOCUS_EXPORT_PARQUET": True,
        }
        settings = load(topics, given, priority=priority).settings
        assert settings["FEED_EXPORTERS"]["parquet"] == "mine.Exporter"
        assert set(map(Path, settings.getdict("FEEDS"))) >= {Path("mine.csv")}
        assert len(settings.getdict("FEEDS")) == 2

    def test_a_download_handler(self, topics: Path, priority: str) -> None:
        given = {"DOWNLOAD_HANDLERS": {"https": "mine.Handler"}, "FOCUS_REPLAY": "sample"}
        handlers = load(topics, given, priority=priority).settings["DOWNLOAD_HANDLERS"]
        assert handlers["https"] == "mine.Handler"
        assert handlers["http"].__name__ == "ReplayDownloadHandler"

    def test_scoring_off_and_no_folder(self, topics: Path, priority: str) -> None:
        given = {"FOCUS_TOPIC": "clocks", "FOCUS_SCORING": False}
        assert Session.of(load(topics, given, priority=priority)) is None
        given = {"FOCUS_TOPIC": "clocks", "FOCUS_RUN_FOLDER": False}
        session = Session.of(load(topics, given, priority=priority))
        assert session is not None
        assert session.folder is None
        assert not (topics / "exports").exists()


class WithTopic(scrapy.Spider):
    topic: Any = "clocks"


class WithTable(scrapy.Spider):
    topic: Any = TABLE


class TestWhereTheTopicComesFrom:
    @pytest.mark.parametrize(
        ("spider", "setting", "argument", "keyword"),
        [
            (WithTopic, None, None, "clock"),
            (WithTable, None, None, "clock"),
            (WithTopic, "soaps", None, "soap"),
            (WithTopic, None, "soaps", "soap"),
            (scrapy.Spider, "soaps", None, "soap"),
            (scrapy.Spider, "soaps", "clocks", "clock"),
            (scrapy.Spider, None, None, None),
        ],
    )
    def test_argument_then_setting_then_class(
        self,
        topics: Path,
        spider: type[scrapy.Spider],
        setting: str | None,
        argument: str | None,
        keyword: str | None,
    ) -> None:
        arguments = {} if argument is None else {"topic": argument}
        session = Session.of(load(topics, {"FOCUS_TOPIC": setting}, spider=spider, **arguments))
        assert (session and session.topic.keywords) == (keyword and (keyword,))

    def test_a_table_is_named_after_its_spider(self, tmp_path: Path) -> None:
        session = Session.of(load(tmp_path, spider=WithTable))
        assert session is not None
        assert session.topic.name == "any"

    @pytest.mark.parametrize("value", ["orders.v1", 5, ["a"], object()])
    def test_an_attribute_that_means_something_else(self, topics: Path, value: Any) -> None:
        spider = type("Kafka", (scrapy.Spider,), {"topic": value})
        with pytest.raises(TopicError, match="attribute topic of the spider 'any'") as caught:
            load(topics, spider=spider)
        assert "FOCUS_SCORING = False" in str(caught.value)
        assert Session.of(load(topics, {"FOCUS_SCORING": False}, spider=spider)) is None

    def test_a_run_is_named_after_scrapyds_job(self, topics: Path) -> None:
        session = Session.of(load(topics, {"FOCUS_TOPIC": "clocks"}, _job="6487ec79"))
        assert session is not None
        assert session.folder is not None
        assert session.folder.path.name == "6487ec79"

    def test_without_a_spider_there_is_the_frontier(self, topics: Path) -> None:
        settings = Settings({"ADDONS": {"focusspider.FocusAddon": 500}, "FOCUS_TOPIC": "clocks"})
        crawler = Crawler(scrapy.Spider, settings)
        crawler.addons.load_settings(crawler.settings)
        assert crawler.settings["SCHEDULER"] == OURS
        assert addon(crawler).session is None


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"FOCUS_TOPIC": "clock"}, TopicError, "did you mean 'clocks'"),
        (
            {"FOCUS_RUN_FOLDER": False, "FOCUS_EXPORT_WARC": True},
            SettingError,
            "FOCUS_EXPORT_WARC = True needs the run's folder",
        ),
        (
            {"FOCUS_RUN_FOLDER": False, "FOCUS_EXPORT_PARQUET": True},
            SettingError,
            "FOCUS_EXPORT_PARQUET = True needs the run's folder",
        ),
        ({"FOCUS_ITEM_FIELDS": "why,relevnt"}, UnknownNameError, "did you mean 'relevant'"),
        ({"FOCUS_SCORING": "perhaps"}, SettingError, "FOCUS_SCORING = 'perhaps'"),
    ],
)
def test_what_does_not_go_together(
    topics: Path, settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        load(topics, {"FOCUS_TOPIC": "clocks", **settings})
    assert not (topics / "exports").exists()


def test_a_parquet_file_that_is_there_is_found_whatever_its_feed_is_called(
    tmp_path: Path,
) -> None:
    (tmp_path / "any.parquet").write_bytes(b"content")
    for path in (tmp_path / "%(name)s.parquet", f"file://{tmp_path}/any.parquet"):
        with pytest.raises(SettingError, match="there already"):
            load(tmp_path, {"FEEDS": {str(path): {"format": "parquet"}}})
    load(tmp_path, {"FEEDS": {str(tmp_path / "%(time)s.parquet"): {"format": "parquet"}}})


def test_the_generic_spider_is_nothing_without_scoring(topics: Path) -> None:
    with pytest.raises(SettingError, match="the spider 'focus' does nothing else"):
        load(topics, {"FOCUS_SCORING": False}, spider=FocusSpider, topic="clocks")
