"""Crawls in a real Chromium: what a person could reach is found, and nothing is sent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.crawls import Crawl, crawl
from tests.render.menus import ENDLESS, REACHED, site
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


def test_a_page_keeps_to_its_budgets(tmp_path: Path) -> None:
    asks = "".join(f"fetch('/data/{n}');" for n in range(5))
    page = f"<img src=/image><link rel=stylesheet href=/style><script>{asks}</script>"
    web = {
        "/": "<a href=/1>1</a><a href=/2>2</a><a href=/endless>clock</a>",
        "/1": page,
        "/2": page,
        "/endless": ENDLESS,
    }
    settings = {
        "FOCUS_RENDER_PAGES": 1,
        "FOCUS_RENDER_REQUESTS": 4,
        "FOCUS_RENDER_BLOCK": "stylesheet",
        "FOCUS_RENDER_ACTIONS": 7,
    }
    with Site(web) as site:
        done = rendered(tmp_path, site, "render=auto", "depth=1", **settings)
    asked = Counter(hit.path.rpartition("/")[0] or hit.path for hit in site.hits)
    assert asked["/data"] + asked["/image"] == 2 * 4
    assert asked["/style"] == 0
    stats = done.stats
    assert stats["focus/render/refused/requests"] == 2 * 2
    assert stats["focus/render/refused/type"] == 2
    assert stats["playwright/page_count/max_concurrent"] == 1
    assert stats["focus/render/page"] == 3
    assert stats["focus/render/action"] == 7
    assert stats["focus/render/stopped/actions"] == 1
    assert stats["focus/link/refused/depth"] == 8  # of the endless page: one at first, one a press
    assert stats["focus/render/open"] == 0
