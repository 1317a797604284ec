"""Politeness in real crawls: the server's record says what each host was asked, and when.

Each bound on a time is one that only a crawl that is wrong passes, on a machine that is
ten times too slow as well. A server sees requests a little before or after the moment at
which they left, so half of a delay stands for all of it: without the delay it is nothing.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import signals
from scrapy.core.engine import ExecutionEngine

from focusspider import engine, scheduler, stats
from tests.crawls import Crawl, crawl
from tests.site import Hit, Reply, Site, links

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: When Scrapy's engine asks again by itself, and what its AutoThrottle gives a new host.
HEARTBEAT = START_DELAY = 5.0
REPORTED = pytest.mark.skipif(
    not hasattr(signals, "robots_parsed"), reason="Scrapy reports a Crawl-delay since 2.18"
)


def focus(tmp_path: Path, site: Site, *arguments: str, **settings: Any) -> Crawl:
    """Crawl a site from its first host's front page, without the spider's own caution."""
    given = {
        "AUTOTHROTTLE_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "FOCUS_EXPORT": "all",
        "LOG_LEVEL": "INFO",
        **settings,
    }
    done = crawl(tmp_path, "keywords=tide", f"seeds={site.url('/')}", *arguments, **given)
    assert done.code == 0, done.log
    assert stats.unequal_sums(done.stats) == []
    return done


def pages_of(hits: list[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.status == 200 and hit.path != "/robots.txt"]


ASKS_DELAY, ASKS_TOO_MUCH, IS_BUSY, IS_AWAY, IS_SLOW, IS_QUICK = (
    f"127.0.0.{n}" for n in range(2, 8)
)


class Manners:
    """Hosts that ask for something, and one that does not."""

    site: Site

    def __init__(self) -> None:
        self.refused: set[str] = set()

    def __call__(self, host: str, path: str) -> Reply | str | None:
        if path == "/robots.txt":
            delay = {ASKS_DELAY: "0.7", ASKS_TOO_MUCH: "1000000"}.get(host)
            return Reply(f"User-agent: *\nCrawl-delay: {delay}\n") if delay else None
        if path == "/":
            few = [
                self.site.url(f"/{n}", host)
                for n in range(4)
                for host in (ASKS_DELAY, ASKS_TOO_MUCH, IS_BUSY, IS_AWAY, IS_SLOW)
            ]
            return links(*few, *(self.site.url(f"/{n}", IS_QUICK) for n in range(40)))
        if host in (IS_BUSY, IS_AWAY) and host not in self.refused:
            self.refused.add(host)
            if host == IS_BUSY:
                return Reply(status=429, headers={"Retry-After": "1"})
            date = datetime.now(UTC) + timedelta(seconds=2)  # whole seconds: at least 1
            when = date.strftime("%a, %d %b %Y %H:%M:%S GMT")
            return Reply(status=503, headers={"Retry-After": when})
        return Reply(f"tide {host} {path}", delay=0.3 if host == IS_SLOW else 0.0)


@pytest.fixture(scope="module")
def manners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Crawl]]:
    pages = Manners()
    with Site(pages) as site:
        pages.site = site
        folder = tmp_path_factory.mktemp("manners")
        yield (
            site,
            focus(
                folder,
                site,
                CONCURRENT_REQUESTS_PER_DOMAIN=2,
                FOCUS_MAX_CRAWL_DELAY=1,
                LOG_LEVEL="WARNING",
            ),
        )


class TestManners:
    def test_every_page_is_had_in_the_end(self, manners: tuple[Site, Crawl]) -> None:
        site, done = manners
        assert done.run["stop_reason"] == "finished"
        assert done.run["fetched"] == len(pages_of(site.hits)) == 1 + 5 * 4 + 40
        assert done.log == ""

    @REPORTED
    def test_a_crawl_delay_is_kept_after_robots_txt_too(self, manners: tuple[Site, Crawl]) -> None:
        gaps = manners[0].gaps(ASKS_DELAY, robots=True)
        assert len(gaps) == 4
        assert min(gaps) > 0.7 / 2

    @REPORTED
    def test_the_engine_is_woken_when_a_host_is_due(self, manners: tuple[Site, Crawl]) -> None:
        assert max(manners[0].gaps(ASKS_DELAY, robots=True)) < HEARTBEAT - 1.0

    @REPORTED
    def test_a_crawl_delay_is_capped_and_counted(self, manners: tuple[Site, Crawl]) -> None:
        site, done = manners
        gaps = site.gaps(ASKS_TOO_MUCH, robots=True)
        assert min(gaps) > 1.0 / 2
        assert max(gaps) < HEARTBEAT - 1.0
        assert done.stats[stats.HOST_CRAWL_DELAY] == 2
        assert done.stats[f"{stats.HOST_CAPPED}/crawl_delay"] == 1

    @pytest.mark.parametrize("host", [IS_BUSY, IS_AWAY])
    def test_retry_after_holds_the_host_and_the_page_is_had(
        self, host: str, manners: tuple[Site, Crawl]
    ) -> None:
        site, done = manners
        hits = site.at(host)
        refusal = next(hit for hit in hits if hit.status in (429, 503))
        waits = [hit.start - refusal.end for hit in hits if hit.start > refusal.end]
        assert len(hits) == 5
        # one more request may have been on its way when the host refused
        assert sum(seconds < 1.0 / 2 for seconds in waits) <= 1
        assert len(waits) >= 3
        assert max(waits) < HEARTBEAT - 1.0
        assert refusal.path in [hit.path for hit in pages_of(hits)]
        assert done.stats[stats.HOST_HELD] == 2
        assert done.stats[stats.FRONTIER_RETRIED] == 2

    def test_no_host_is_asked_for_more_at_once_than_its_slot_takes(
        self, manners: tuple[Site, Crawl]
    ) -> None:
        site, _ = manners
        assert site.most_at_once(IS_SLOW) == 2
        assert all(site.most_at_once(host) <= 2 for host in site.hosts)

    @REPORTED
    def test_the_others_do_not_wait_for_those_that_do(self, manners: tuple[Site, Crawl]) -> None:
        """The 40 pages of the quick host are the last on the front page, and the first had."""
        site, _ = manners
        order = [hit.host for hit in pages_of(site.hits)]
        last = len(order) - order[::-1].index(IS_QUICK)
        assert order[last:].count(ASKS_DELAY) >= 2
        assert order[last:].count(ASKS_TOO_MUCH) >= 2

    def test_robots_txt_is_asked_for_once_and_first(self, manners: tuple[Site, Crawl]) -> None:
        site, _ = manners
        for host in site.hosts[:7]:
            paths = [hit.path for hit in site.at(host, robots=True)]
            assert paths.index("/robots.txt") == 0
            assert paths.count("/robots.txt") == 1


def test_a_retry_after_that_asks_for_no_time_is_a_reason_to_wait_all_the_same(
    tmp_path: Path,
) -> None:
    refused: set[str] = set()

    def answer(host: str, path: str) -> Reply | str | None:
        if path == "/robots.txt":
            return None
        if path == "/1" and not refused:
            refused.add(path)
            return Reply(status=429, headers={"Retry-After": "0"})
        return links("/1", "/2", "/3") if path == "/" else "tide"

    with Site(answer) as site:
        done = focus(tmp_path, site, CONCURRENT_REQUESTS_PER_DOMAIN=1, FOCUS_BACKOFF=1)
    assert len(pages_of(site.hits)) == done.run["fetched"] == 4
    refusal = next(hit for hit in site.hits if hit.status == 429)
    after = min(hit.start for hit in site.hits if hit.start > refusal.end)
    assert after - refusal.end > 1.0 / 2
    assert done.stats[stats.HOST_BACKED_OFF] == 1
    assert stats.HOST_HELD not in done.stats


def test_each_host_is_asked_for_its_best_pages_first(tmp_path: Path) -> None:
    words = ["tide " * n + "sand " * (9 - n) for n in (3, 8, 1, 9, 5, 7, 2)]
    with Site({}) as site:
        hosts = site.hosts[1:5]
        site.pages = {
            "/": links(
                *(site.url(f"/{n} {text}", h) for n, text in enumerate(words) for h in hosts)
            ),
            **{f"/{n}": Reply("tide", delay=0.02) for n in range(len(words))},
        }
        done = focus(
            tmp_path, site, "strategy=dom", CONCURRENT_REQUESTS_PER_DOMAIN=1, DOWNLOAD_DELAY=0.1
        )
        assert done.run["fetched"] == 1 + 4 * len(words)
        for host in hosts:
            assert site.paths(host) == ["/3", "/1", "/5", "/4", "/0", "/6", "/2"]


def test_autothrottle_keeps_working_and_a_new_host_need_not_wait_for_its_start(
    tmp_path: Path,
) -> None:
    slow, quick = "127.0.0.2", "127.0.0.3"
    with Site({}) as site:
        site.pages = {
            "/": links(*(site.url(f"/{n}", host) for n in range(3) for host in (slow, quick))),
            **{f"{slow}/{n}": Reply("tide", delay=0.8) for n in range(3)},
            **{f"{quick}/{n}": "tide" for n in range(3)},
        }
        done = focus(tmp_path, site, AUTOTHROTTLE_ENABLED=True, DOWNLOAD_DELAY=0.1)
    assert done.run["fetched"] == 7
    for host in ("127.0.0.1", quick):
        assert max(site.gaps(host, robots=True)) < START_DELAY - 1.0
    # a slot takes two at once: without AutoThrottle the second page leaves 0.1 s after the first
    assert site.gaps(slow)[-1] > 0.6


def test_a_redirect_waits_for_the_host_that_it_leads_to(tmp_path: Path) -> None:
    patient = "127.0.0.2"
    with Site({}) as site:
        site.pages = {
            "127.0.0.1/": links("/0", "/1", "/2"),
            **{
                f"127.0.0.1/{n}": Reply(
                    status=301, headers={"Location": site.url(f"/{n}", patient)}
                )
                for n in range(3)
            },
            **{f"{patient}/{n}": "tide" for n in range(3)},
        }
        done = focus(tmp_path, site, DOWNLOAD_SLOTS=json.dumps({patient: {"delay": 0.5}}))
    assert done.run["fetched"] == 4
    assert len(site.at(patient)) == 3
    assert min(site.gaps(patient, robots=True)) > 0.5 / 2


class TestLimits:
    def test_the_limit_of_pages_is_met_and_never_passed(self, tmp_path: Path) -> None:
        tried: set[str] = set()

        def pages(host: str, path: str) -> Reply | str | None:
            n = int(path.strip("/") or 0) if path != "/robots.txt" else -1
            if n < 0 or n % 5 == 3:
                return None
            if n % 5 == 4 and n < 1000:
                return Reply(status=302, headers={"Location": f"/{n + 1000}"})
            if n % 7 == 1 and host + path not in tried:
                tried.add(host + path)
                return Reply(status=503) if n % 2 else Reply(raw=b"")
            more = [site.url(f"/{2 * n + i}", site.hosts[(n + i) % 8]) for i in (1, 2, 3)]
            return Reply(links(*more, title=f"tide {host} {path}"), delay=0.02)

        with Site(pages) as site:
            done = focus(tmp_path, site, "pages=60", CONCURRENT_REQUESTS=16, LOG_LEVEL="WARNING")
        assert done.run["stop_reason"] == "page_limit"
        assert done.run["fetched"] == len(done.pages) == len(done.items) == 60
        assert len(pages_of(site.hits)) == 60
        assert done.stats[stats.FRONTIER_RETRIED] > 0
        assert done.stats[f"{stats.PAGE_FAILED}/http"] > 0
        assert {hit.status for hit in site.hits} > {200, 302, 404, 503}
        assert done.log == ""

    @pytest.mark.parametrize("job", [None, "job"], ids=["memory", "sqlite"])
    def test_hosts_and_pages_per_host_hold_exactly(self, job: str | None, tmp_path: Path) -> None:
        """What a host fails to bring does not count, and no redirect gets around a limit."""
        tried: set[str] = set()

        def pages(host: str, path: str) -> Reply | str | None:
            if path == "/":
                return links(*(site.url(f"/{n}", h) for n in range(20) for h in site.hosts[:6]))
            if path == "/robots.txt" or path in ("/0", "/3"):
                return None
            elsewhere = Reply(status=301, headers={"Location": site.url("/9", site.hosts[6])})
            if path == "/1":
                return elsewhere
            if path == "/2":  # a retry, which Scrapy lets pass its filters, is redirected
                if host not in tried:
                    tried.add(host)
                    return Reply(status=503)
                return elsewhere
            if path == "/4":
                return Reply(status=302, headers={"Location": "/14"})
            return Reply(f"tide {host} {path}", delay=0.02)

        with Site(pages) as site:
            done = focus(
                tmp_path,
                site,
                "hosts=3",
                "pages_per_host=5",
                CONCURRENT_REQUESTS_PER_DOMAIN=8,
                JOBDIR=tmp_path / job if job else "",
            )
        had = pages_of(site.hits)
        assert {hit.host for hit in site.hits} == set(site.hosts[:3])
        assert {h: sum(hit.host == h for hit in had) for h in site.hosts[:3]} == dict.fromkeys(
            site.hosts[:3], 5
        )
        assert done.run["fetched"] == 15
        assert done.run["stop_reason"] == "finished"
        assert done.stats[f"{stats.LINK_REFUSED}/hosts"] == 3 * 20
        assert done.stats[f"{stats.REQUEST_REFUSED}/hosts"] > 0
        assert done.stats[stats.FRONTIER_HOST_FULL] > 0
        assert done.stats[stats.FRONTIER_WAITING] == 0


class WithoutPrivateNames:
    """A Scrapy extension: the engine shows only what is public; its heart beats faster."""

    def __init__(self) -> None:
        def in_progress(of: Any) -> Any:
            public = SimpleNamespace(scraper=of.scraper, downloader=of.downloader)
            return engine.in_progress(public)  # type: ignore[arg-type]

        scheduler.wake = lambda of: engine.wake(SimpleNamespace())  # type: ignore[arg-type]
        scheduler.in_progress = in_progress
        ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 1.0


def test_without_scrapys_private_names_the_heartbeat_does_it(tmp_path: Path) -> None:
    with Site({"/": links("/1", "/2"), "/1": "a", "/2": "b"}) as site:
        done = focus(
            tmp_path,
            site,
            DOWNLOAD_DELAY=0.3,
            EXTENSIONS=json.dumps({"tests.test_polite_crawl.WithoutPrivateNames": 0}),
        )
        assert done.run["fetched"] == 3
        assert done.stats[stats.FRONTIER_DONE] == 3
        assert min(site.gaps(site.hosts[0], robots=True)) > 0.3 / 2
