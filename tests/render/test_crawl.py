"""Crawls in a real Chromium: what a person could reach is found, and nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.crawls import Crawl, crawl
from tests.render.menus import REACHED, endless, site
from tests.site import Site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("chromium")

QUICK = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}


def rendered(tmp_path: Path, web: Site, *arguments: str, **settings: Any) -> Crawl:
    given = ("keywords=clock", f"seeds={web.url('/')}", *arguments)
    return crawl(tmp_path, *given, **{**QUICK, "FOCUS_EXPORT": "all", **settings})


def paths(done: Crawl) -> list[str]:
    return [urlsplit(page["url"]).path for page in done.pages]


def test_a_person_could_not_reach_more_and_nothing_is_sent(tmp_path: Path) -> None:
    with Site(site) as web:
        done = rendered(tmp_path, web, FOCUS_RENDER="auto", FOCUS_RENDER_ACTIONS=200,
                        FOCUS_RENDER_SECONDS=60, FOCUS_EXPORT_WARC=True)  # fmt: skip
    assert done.code == 0, done.log
    assert set(paths(done)) == {"/", *REACHED}
    assert len(paths(done)) == len(REACHED) + 1  # each once
    assert {hit.method for hit in web.hits} == {"GET"}
    beside = {hit.path for hit in web.hits} - {"/", *REACHED}
    assert beside == {"/robots.txt", "/menu.json"}
    stats = done.stats
    assert stats["focus/render/page"] == 1  # the others have no scripts
    assert stats["focus/render/open"] == 0
    assert "focus/render/failed" not in stats
    assert "focus/render/stopped" not in stats
    assert done.folder is not None
    again = rendered(tmp_path, web, FOCUS_REPLAY=done.folder / "pages.warc.gz")
    assert set(paths(again)) == {"/", *REACHED}  # without a browser


def test_a_page_without_end_ends_with_its_budget(tmp_path: Path) -> None:
    with Site(endless) as web:
        done = rendered(tmp_path, web, "render=always", "pages=1", FOCUS_RENDER_ACTIONS=7)
    assert done.stats["focus/render/action"] == 7
    assert done.stats["focus/render/stopped/actions"] == 1
    assert done.stats["focus/link/pushed"] == 8
    assert done.stats["focus/render/open"] == 0
