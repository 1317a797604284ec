"""A session by itself: what it says when a crawl is idle, and when it is gone on with."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from focusspider.config import FocusConfig
from focusspider.session import Session
from focusspider.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def session(exports: Path, saved: dict[str, Any] | None = None, **given: Any) -> Session:
    settings = Settings({"FOCUS_EXPORTS_DIR": str(exports), **given})
    topic = Topic.from_arguments(name="clocks", keywords="clock", seeds="http://a.example/")
    built = Session(
        topic=topic, config=FocusConfig.from_settings(settings), settings=settings, saved=saved
    )
    built.stats = MemoryStatsCollector(get_crawler())
    return built


def test_a_spider_that_waits_for_work_is_told_once_that_it_has_no_page(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = session(tmp_path)
    assert [waiting.stop_reason() for _ in range(3)] == ["no_page"] * 3
    waiting.close("no_page")
    assert caplog.text.count("No page could be fetched") == 1


def test_a_crawl_that_goes_on_keeps_its_folder_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = session(tmp_path, FOCUS_RUN="first")
    saved = json.loads(json.dumps(first.state()))
    first.close("shutdown")
    for name, said in (("first", 0), ("second", 1)):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            again = session(tmp_path, saved, FOCUS_RUN=name)
        again.close("shutdown")
        assert again.folder is not None
        assert again.folder.path.name == "first"
        assert caplog.text.count("FOCUS_RUN = 'second' has no effect") == said
