"""xCrawl in real crawls: sites with a trap, sites that ban, and crawls that are killed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from focusspider import stats
from tests.crawls import ROOT, Crawl, crawl
from tests.site import Hit, Reply, Site, links

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRAP, STRICT, BUSY = "127.0.0.2", "127.0.0.3", "127.0.0.4"
HOSTS = (TRAP, STRICT, BUSY)
TARGETS = 12
#: The ban: after so many pages none for so many seconds. (A slow machine is banned too.)
MOST, BANNED = 15, 1.0
#: Few walks, so that the calendar costs little time.
FEW = 'strategy={"name": "xcrawl", "max_iterations": 12}'


class Sites:
    """Three sites with a list of targets: one has an endless calendar, two ban."""

    def __init__(self) -> None:
        self.had: Counter[str] = Counter()
        self.banned: dict[str, float] = {}

    def __call__(self, host: str, path: str) -> Reply | str | None:
        if path == "/robots.txt":
            return None
        if host != TRAP and self._is_banned(host):
            if host == STRICT:
                return Reply("slower", status=429, headers={"Retry-After": "1"})
            return Reply("forbidden", status=403)
        return _page(path)

    def _is_banned(self, host: str) -> bool:
        now = time.monotonic()
        if self.had[host] < MOST:
            self.had[host] += 1
            return False
        if now < self.banned.setdefault(host, now + BANNED):
            return True
        self.had[host] = 1
        del self.banned[host]
        return False


def _page(path: str) -> str | None:
    if path.startswith("/day"):
        day = int(path[4:])
        return links(*(f"/day{day + n}" for n in range(1, 6)))
    if path.startswith("/t"):
        return "<p>tide</p>" + links("/list", "/day0")
    return {"/list": links("/day0", *(f"/t{n}" for n in range(TARGETS)))}.get(path)


def xcrawl(tmp_path: Path, site: Site, *hosts: str, **settings: Any) -> Crawl:
    """Walk over sites from one target each, without the spider's own caution."""
    seeds = ",".join(site.url("/t0", host) for host in hosts)
    given = {
        "AUTOTHROTTLE_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "FOCUS_EXPORT": "all",
        "LOG_LEVEL": "INFO",
        **settings,
    }
    done = crawl(
        tmp_path, "keywords=tide", f"seeds={seeds}", "relevance=keywords", FEW, spider="xcrawl",
        **given,
    )  # fmt: skip
    assert done.code == 0, done.log
    assert stats.unequal_sums(done.stats) == []
    return done


def targets(hits: list[Hit], host: str) -> set[str]:
    return {
        hit.path for hit in hits if hit.host == host and hit.status == 200 and hit.path[:2] == "/t"
    }


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Crawl]]:
    with Site(Sites(), hosts=HOSTS) as site:
        yield site, xcrawl(tmp_path_factory.mktemp("sites"), site, TRAP, STRICT, RETRY_TIMES=10)


class TestSites:
    def test_the_crawl_ends_when_every_site_is_done(self, walked: tuple[Site, Crawl]) -> None:
        _, done = walked
        assert done.run["strategy"] == "xcrawl"
        assert done.run["stop_reason"] == done.stats["finish_reason"] == "strategy_done"
        assert done.stats[stats.FRONTIER_WAITING] > 0
        assert f"{TRAP}: " in done.log

    def test_the_trap_is_left(self, walked: tuple[Site, Crawl]) -> None:
        site, _ = walked
        days = [hit for hit in site.hits if hit.host == TRAP and hit.path.startswith("/day")]
        assert len(targets(site.hits, TRAP)) == TARGETS
        assert 0 < len(days) < 200

    def test_a_site_that_bans_for_a_while_is_given_time(self, walked: tuple[Site, Crawl]) -> None:
        site, done = walked
        assert len(targets(site.hits, STRICT)) == TARGETS
        banned = [hit for hit in site.hits if hit.host == STRICT and hit.status == 429]
        assert banned, "it was asked too fast at first"
        assert done.stats[stats.HOST_HELD] == len(banned)
        for hit in banned:
            later = [next_.start for next_ in site.hits
                     if next_.host == STRICT and next_.start > hit.end]  # fmt: skip
            assert min(later, default=hit.end + 1) - hit.end > BANNED / 2

    def test_walks_have_one_page_on_its_way(self, walked: tuple[Site, Crawl]) -> None:
        site, _ = walked
        hits = [hit for hit in site.hits if hit.host == TRAP and hit.path != "/robots.txt"]
        walked_to = [hit for hit in hits if hit.path.startswith("/day") and hit.path != "/day0"]
        for one in walked_to:  # no hub lists them
            assert [hit for hit in hits if hit.start <= one.start < hit.end] == [one]


def test_a_site_that_forbids_without_saying_for_how_long_is_given_time(tmp_path: Path) -> None:
    with Site(Sites(), hosts=HOSTS) as site:
        done = xcrawl(tmp_path, site, BUSY)
    assert done.run["stop_reason"] == "strategy_done"
    refused = [hit for hit in site.hits if hit.status == 403]
    assert refused
    assert done.stats[f"{stats.PAGE_FAILED}/http"] == len(refused)
    assert max(Counter(hit.path for hit in refused).values()) == 1, "nothing is asked for twice"
    assert done.stats[stats.HOST_BACKED_OFF] >= 1
    # of twelve targets and a list, a ban costs the few that were asked for before the pause
    assert len(targets(site.hits, BUSY)) > TARGETS / 2


SAMPLE = {"FOCUS_REPLAY": "sample", "FOCUS_CRAWL_LOG_TIMES": False, "LOG_LEVEL": "INFO"}


@pytest.mark.parametrize("strategy", ["xcrawl", "apprentice"])
def test_a_crawl_is_the_same_each_time(tmp_path: Path, strategy: str) -> None:
    logs = []
    for n in range(2):
        done = crawl(
            tmp_path / str(n), "topic=topics/sample.toml", f"strategy={strategy}", "pages=60",
            **SAMPLE,
        )  # fmt: skip
        assert done.code == 0, done.log
        assert done.folder is not None
        logs.append((done.folder / "crawl.jsonl").read_bytes())
    assert logs[0] == logs[1]
    assert len(logs[0].splitlines()) == 60


def test_the_spider_also_begins_at_the_targets(tmp_path: Path) -> None:
    target = "http://www.dalemuseum.example/"
    done = crawl(
        tmp_path, "topic=topics/sample.toml", f"targets={target}", "pages=6",
        "seeds=http://www.thornby.example/", spider="xcrawl", FOCUS_EXPLAIN=True, **SAMPLE,
    )  # fmt: skip
    assert done.code == 0, done.log
    assert done.run["strategy"] == "xcrawl"
    assert target in [page["url"] for page in done.pages[:3]]


def test_a_killed_crawl_goes_on_with_its_walks(tmp_path: Path) -> None:
    """What was on its way, and what was raised since, is asked for again; nothing is lost."""
    job, moments = tmp_path / "job", random.Random(3)
    command = [sys.executable, "-W", "error", "-m", "scrapy", "crawl", "xcrawl"]
    for argument in ("topic=topics/sample.toml", "pages=", "deny=re:/calendar/"):
        command += ["-a", argument]
    settings = {"FOCUS_REPLAY": "sample", "FOCUS_EXPORTS_DIR": tmp_path, "JOBDIR": job,
                "DOWNLOAD_DELAY": 0.03, "DOWNLOAD_DELAY_JITTER": 0, "LOG_LEVEL": "ERROR",
                "CONCURRENT_REQUESTS": 8}  # fmt: skip
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    killed = 0
    for _ in range(3):
        process = subprocess.Popen(command, cwd=ROOT, env=environment)
        try:
            _wait_for_pages(tmp_path, process, 10 * (killed + 1))
            process.wait(moments.uniform(0.1, 0.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
    assert killed == 3
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=120)
    (run,) = tmp_path.glob("*/*/run.json")
    assert json.loads(run.read_text())["stop_reason"] == "strategy_done"
    log = (run.parent / "crawl.jsonl").read_text(encoding="utf-8")
    urls = [json.loads(line)["url"] for line in log.splitlines()]
    assert len(urls) == len(set(urls)) > 40


def _wait_for_pages(folder: Path, process: subprocess.Popen[bytes], count: int) -> None:
    """Wait until a crawl's log has so many lines, or its process has ended."""
    for _ in range(1200):
        logs = list(folder.glob("*/*/crawl.jsonl"))
        if (logs and len(logs[0].read_bytes().splitlines()) >= count) or process.poll() is not None:
            return
        time.sleep(0.05)
