from __future__ import annotations

import re
from pathlib import Path

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from focusspider.errors import SettingError
from focusspider.spiders.focus import FocusSpider

DOC = Path(__file__).resolve().parents[1] / "docs/politeness.md"


def defaults(**given: object) -> dict[str, object]:
    """Return what the spider sets where the project sets something."""
    settings = Settings(given)
    FocusSpider.update_settings(settings)
    return {
        name: settings[name]
        for name in settings
        if settings.getpriority(name) == 15 and name not in given
    }


def test_the_defaults_are_documented() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| `(.+?)` \|", DOC.read_text("utf-8"), re.MULTILINE)
    assert dict(rows) == {name: repr(value) for name, value in defaults().items()}


def test_the_projects_settings_win() -> None:
    assert "DOWNLOAD_DELAY" not in defaults(DOWNLOAD_DELAY=3)
    settings = Settings({"DOWNLOAD_DELAY": 3})
    FocusSpider.update_settings(settings)
    assert settings["DOWNLOAD_DELAY"] == 3


def test_a_replay_is_quick_and_the_same_each_time() -> None:
    replayed = defaults(FOCUS_REPLAY="sample")
    assert replayed["CONCURRENT_REQUESTS"] == 1
    assert "DOWNLOAD_DELAY" not in replayed
    assert "AUTOTHROTTLE_ENABLED" not in replayed


def test_without_a_crawl_it_says_what_it_needs() -> None:
    spider = FocusSpider.from_crawler(get_crawler(FocusSpider))
    with pytest.raises(SettingError, match=r"needs the add-on: set ADDONS = .*scrapy parse and"):
        list(spider.parse(HtmlResponse("http://a.example/")))
