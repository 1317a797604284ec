"""Strategies that reorder what waits, in real crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls import Crawl, crawl
from tests.site import Reply, Site, links

if TYPE_CHECKING:
    from pathlib import Path

RERANKING = ("backlink", "pagerank", "hcla", "plsi-phits")


def backlink_crawl(tmp_path: Path, pages: dict[str, str | Reply], *, every: int = 1) -> list[str]:
    """Crawl a site by backlinks, one page at a time, and return the paths in their order."""
    with Site(pages) as site:
        done = crawl(
            tmp_path,
            "name=test",
            "keywords=robot",
            f"seeds={site.url('/')}",
            f'strategy={{"name": "backlink", "rerank_every": {every}}}',
            CONCURRENT_REQUESTS=1,
            DOWNLOAD_DELAY=0,
            ROBOTSTXT_OBEY=False,
        )
        assert done.code == 0, done.log
        assert "ERROR" not in done.log, done.log
        return [page["url"].removeprefix(site.url("/")) for page in done.pages]


def test_the_frontier_and_the_graph_mean_the_same_pages(tmp_path: Path) -> None:
    # Two pages link to c, in two spellings that are one request.
    order = backlink_crawl(
        tmp_path,
        {
            "/": links("/a", "/b", "/c?x=1&y=2"),
            "/a": links("/c?y=2&x=1", "/d"),
            "/b": links("/e"),
            **dict.fromkeys(("/c?x=1&y=2", "/c?y=2&x=1", "/d", "/e"), "c"),
        },
    )
    assert [path.partition("?")[0] for path in order] == ["", "a", "c", "b", "d", "e"]


def test_before_the_first_rerank_links_come_in_their_order(tmp_path: Path) -> None:
    pages: dict[str, str | Reply] = {
        "/": links("/a", "/b", "/c"),
        "/a": links("/c", "/d"),
        "/b": links("/e"),
        **dict.fromkeys(("/c", "/d", "/e"), "x"),
    }
    assert backlink_crawl(tmp_path, pages, every=50) == ["", "a", "b", "c", "d", "e"]


def test_links_to_what_redirects_count_for_where_it_leads(tmp_path: Path) -> None:
    # /old has two backlinks, and its turn is that of /new, which nobody links to. Then /new
    # links to /y as /old did to nothing: /y and /x have one backlink each, and /x is older.
    order = backlink_crawl(
        tmp_path,
        {
            "/": links("/a", "/x", "/old"),
            "/a": links("/old"),
            "/old": Reply(status=301, headers={"Location": "/new"}),
            "/new": links("/y"),
            **dict.fromkeys(("/x", "/y"), "x"),
        },
    )
    assert order == ["", "a", "new", "x", "y"]


def sample(tmp_path: Path, name: str, **settings: object) -> Crawl:
    done = crawl(
        tmp_path,
        "topic=topics/sample.toml",
        f'strategy={{"name": "{name}", "rerank_every": 10}}',
        FOCUS_REPLAY="sample",
        FOCUS_CRAWL_LOG_TIMES=False,
        **settings,
    )
    assert done.code == 0, done.log
    assert "ERROR" not in done.log, done.log
    assert "Traceback" not in done.log, done.log
    assert done.run["fetched"] == 150
    return done


@pytest.mark.parametrize("name", RERANKING)
def test_one_request_at_a_time_gives_the_same_crawl_to_the_byte(tmp_path: Path, name: str) -> None:
    runs = [sample(tmp_path / run, name) for run in ("1", "2")]
    one, other = ((run.folder / "crawl.jsonl").read_bytes() for run in runs if run.folder)
    assert one == other
    # every 10 pages, but for the last ten
    assert runs[0].stats["focus/strategy/rerank"] == 14


@pytest.mark.parametrize("name", RERANKING)
def test_many_requests_at_a_time(tmp_path: Path, name: str) -> None:
    # slow enough that a rerank in a thread ends before the crawl does, on any machine
    run = sample(tmp_path, name, CONCURRENT_REQUESTS=16, DOWNLOAD_DELAY=0.1)
    assert 1 <= run.stats["focus/strategy/rerank"] <= 14


def test_scrapys_own_scheduler_is_warned_of(tmp_path: Path) -> None:
    run = sample(tmp_path, "backlink", SCHEDULER="scrapy.core.scheduler.Scheduler")
    assert run.log.count("'backlink' reorders what waits") == 1
    assert "focus/strategy/rerank" not in run.stats
