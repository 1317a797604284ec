"""A session by itself: what it says when a crawl is idle, and when it is gone on with."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from focusspider.config import FocusConfig
from focusspider.relevance.base import Judgement
from focusspider.session import Session
from focusspider.topic import Topic
from tests.pages import page

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def session(
    exports: Path,
    saved: dict[str, Any] | None = None,
    memory: Mapping[str, Any] | None = None,
    **given: Any,
) -> Session:
    settings = Settings({"FOCUS_EXPORTS_DIR": str(exports), **given})
    topic = Topic.from_arguments(name="clocks", keywords="clock", seeds="http://a.example/")
    config = FocusConfig.from_settings(settings)
    built = Session(topic=topic, config=config, settings=settings, saved=saved, memory=memory)
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


@pytest.mark.parametrize("strategy", ["auto", "pagerank", "hcla", "plsi-phits", "apprentice"])
def test_a_memory_of_another_version_costs_what_was_learnt_and_nothing_else(
    strategy: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    at = page("<a href='/b'>a clock</a>", "http://a.example/")
    first = session(tmp_path, FOCUS_STRATEGY=strategy, FOCUS_RUN_FOLDER=False)
    empty = {name: array.tolist() for name, array in (first.memory() or {}).items()}
    first.strategy.observe(at, Judgement(1.0, True, "test"))
    memory = dict(first.memory() or {})
    missing, *others = memory
    left = {name: memory[name] for name in others}
    again = session(tmp_path, memory=left, FOCUS_STRATEGY=strategy, FOCUS_RUN_FOLDER=False)
    assert caplog.text.count("It learns anew") == 1
    assert f"{strategy!r}" in caplog.text
    assert missing.rpartition("/")[2] in caplog.text
    learnt = {name: array.tolist() for name, array in (again.memory() or {}).items()}
    assert learnt == empty
    caplog.clear()
    session(tmp_path, memory=memory, FOCUS_STRATEGY=strategy, FOCUS_RUN_FOLDER=False)
    assert not caplog.text
