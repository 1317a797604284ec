"""Real crawls by several workers over a real Redis, one of them killed, or Redis, or the line."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from scrapy.settings import Settings

from focusspider.config import FocusConfig
from focusspider.errors import FrontierError, SettingError
from focusspider.fleet import Fleet
from tests.crawls import ROOT, crawl
from tests.fleet import make_project
from tests.redisserver import MISSING, Cut, RedisServer, find_redis
from tests.site import Reply, Site, links

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOSTS = [f"127.0.0.{n}" for n in range(1, 9)]
PAGES_A_HOST = 12
KEYWORDS = "-akeywords=clock"
_names = itertools.count()

pytestmark = pytest.mark.skipif(find_redis() is None, reason=MISSING)


class Worker:
    """A ``scrapy crawl`` that works beside others."""

    def __init__(self, exports: Path, redis: str, *arguments: str, **settings: Any) -> None:
        self.log = exports.parent / f"worker-{next(_names)}.log"
        options = {
            "FOCUS_EXPORTS_DIR": exports,
            "FOCUS_FRONTIER": redis,
            "FOCUS_WORKER_TIMEOUT": 2,
            "FOCUS_EXPORT": "all",
            "AUTOTHROTTLE_ENABLED": False,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            **settings,
        }
        command = [sys.executable, "-W", "error", "-m", "scrapy", "crawl"]
        for name, value in options.items():
            command += ["-s", f"{name}={value}"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *(arguments or ("focus",))],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait(self) -> str:
        self.process.wait(timeout=100)
        return self.log.read_text()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Web:
    """Eight hosts of twelve pages; each page leads on at its host, and to the next host.

    The seed is not answered before ``ready``.
    """

    def __init__(self, ready: Callable[[], bool] = lambda: True, delay: float = 0.0) -> None:
        self.ready = ready
        self.delay = delay
        self.site: Site | None = None

    def __call__(self, host: str, url: str) -> Reply | None:
        if not url.startswith("/page/"):
            return None
        n = int(url.rpartition("/")[2])
        if n >= PAGES_A_HOST:
            return None
        deadline = time.monotonic() + 30
        while n == 0 and host == HOSTS[0] and not self.ready() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert self.site is not None
        after = HOSTS[(HOSTS.index(host) + 1) % len(HOSTS)]
        found = [
            self.site.url(f"/page/{to}", at) + " clock"
            for at, to in ((host, 2 * n + 1), (host, 2 * n + 2), (after, n))
            if to < PAGES_A_HOST
        ]
        return Reply(links(*found, title="clock", text=f"clock {host} {n}"), delay=self.delay)


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    return tmp_path / "exports"


def merged(exports: Path, name: str) -> Counter[str]:
    return Counter(
        json.loads(line)["url"]
        for file in exports.glob(f"*/*/worker-*/{name}")
        for line in file.read_text(encoding="utf-8").splitlines()
    )


def reasons(exports: Path) -> list[str | None]:
    runs = sorted(exports.glob("*/*/worker-*/run.json"))
    return [json.loads(run.read_text(encoding="utf-8"))["stop_reason"] for run in runs]


def workers_of(server: RedisServer, crawl: str) -> int:
    import redis

    with redis.Redis(port=server.port, password=server.password or None) as client:
        return int(client.zcard(f"focus:{{{crawl}}}:w"))


def seeds(site: Site) -> str:
    return "-aseeds=" + site.url("/page/0")


def test_two_workers_fetch_each_page_once(redis_server: RedisServer, exports: Path) -> None:
    name = f"workers-{next(_names)}"
    web = Web(lambda: workers_of(redis_server, name) == 2, delay=0.02)
    with Site(web, HOSTS) as web.site:
        several = [
            Worker(exports, redis_server.url, "focus", KEYWORDS, seeds(web.site), FOCUS_CRAWL=name)
            for _ in range(2)
        ]
        logs = [worker.wait() for worker in several]
        hits = Counter((hit.host, hit.path) for hit in web.site.hits)
    assert set(hits.values()) == {1}
    assert len(hits) == len(HOSTS) * PAGES_A_HOST
    for name in ("crawl.jsonl", "items.jsonl"):
        assert merged(exports, name).total() == len(merged(exports, name)) == len(hits)
    assert reasons(exports) == ["finished", "finished"], logs
    by_worker = [
        [json.loads(line) for line in file.read_text().splitlines()]
        for file in sorted(exports.glob("*/*/worker-*/crawl.jsonl"))
    ]
    assert all(by_worker), "none had nothing to do"
    # a page whose link another worker found knows its parent, and an item its whole path
    parents = {line["url"]: line["parent"] for lines in by_worker for line in lines}
    assert [url for url, parent in parents.items() if parent is None] == [web.site.url("/page/0")]
    for file in exports.glob("*/*/worker-*/items.jsonl"):
        for item in map(json.loads, file.read_text().splitlines()):
            path, at = [], parents[item["url"]]
            while at is not None:
                path.append(at)
                at = parents[at]
            assert item["path"] == path[::-1]


@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"pages": 25}, "page_limit"), ({"pages_per_host": 2, "hosts": 5}, "finished")],
)
def test_limits_are_the_crawls(
    redis_server: RedisServer, exports: Path, limit: dict[str, int], reason: str
) -> None:
    name = f"workers-{next(_names)}"
    web = Web(lambda: workers_of(redis_server, name) == 2, delay=0.02)
    given = [f"-a{name}={value}" for name, value in limit.items()]
    with Site(web, HOSTS) as web.site:
        arguments = ("focus", KEYWORDS, seeds(web.site), *given)
        several = [
            Worker(exports, redis_server.url, *arguments, FOCUS_CRAWL=name) for _ in range(2)
        ]
        logs = [worker.wait() for worker in several]
    pages = merged(exports, "crawl.jsonl")
    hosts = Counter(urlsplit(url).hostname for url in pages)
    assert reasons(exports) == [reason, reason], logs
    if "pages" in limit:
        assert pages.total() == len(pages) == limit["pages"]
    else:
        assert hosts.total() == 10
        assert len(hosts) == 5
        assert set(hosts.values()) == {2}


def test_a_worker_that_is_killed_loses_nothing(redis_server: RedisServer, exports: Path) -> None:
    name = f"workers-{next(_names)}"
    web = Web(lambda: workers_of(redis_server, name) == 2, delay=0.05)
    with Site(web, HOSTS) as web.site:
        arguments = ("focus", KEYWORDS, seeds(web.site))
        options = {"FOCUS_CRAWL": name, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        one, other = (Worker(exports, redis_server.url, *arguments, **options) for _ in range(2))
        deadline = time.monotonic() + 60
        while len(web.site.hits) < 25 and time.monotonic() < deadline:
            time.sleep(0.01)
        one.kill()
        log = other.wait()
        hits = Counter((hit.host, hit.path) for hit in web.site.hits)
    assert len(hits) == len(HOSTS) * PAGES_A_HOST
    assert "is gone: what it had is fetched by others" in log
    assert hits.total() - len(hits) <= 16, "only what the dead one had at that moment"
    for name in ("crawl.jsonl", "items.jsonl"):
        assert merged(exports, name) == Counter(
            {web.site.url(path, host): 1 for host, path in hits}
        )
    assert sorted(map(str, reasons(exports))) == ["None", "finished"]


def test_redis_is_started_anew_and_the_line_is_cut(tmp_path: Path, exports: Path) -> None:
    (tmp_path / "redis").mkdir()
    web = Web(delay=0.05)
    with (
        RedisServer(tmp_path / "redis", durable=True, password="hunter2") as server,
        Cut(server.port) as cut,
        Site(web, HOSTS) as web.site,
    ):
        url = f"redis://:hunter2@127.0.0.1:{cut.port}/0"
        options = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "LOG_LEVEL": "DEBUG"}
        worker = Worker(exports, url, "focus", KEYWORDS, seeds(web.site), **options)
        for pages, trouble in ((20, server), (50, cut)):
            deadline = time.monotonic() + 60
            while len(web.site.hits) < pages and time.monotonic() < deadline:
                time.sleep(0.01)
            if trouble is server:
                server.kill()
                time.sleep(0.5)
                server.start()
            else:
                cut.cut()
                time.sleep(1)
                cut.mend()
        log = worker.wait()
        hits = Counter((hit.host, hit.path) for hit in web.site.hits)
    assert hits == Counter({(host, f"/page/{n}"): 1 for host in HOSTS for n in range(PAGES_A_HOST)})
    assert reasons(exports) == ["finished"], log
    assert "The crawl waits for it, up to 300 seconds" in log
    assert "Redis is back after" in log
    assert "Traceback" not in log
    for file in (worker.log, *exports.rglob("*.json*")):
        assert "hunter2" not in file.read_text(), file


def test_redis_is_gone_for_good(tmp_path: Path, exports: Path) -> None:
    (tmp_path / "redis").mkdir()
    web = Web(delay=0.05)
    with RedisServer(tmp_path / "redis") as server, Site(web, HOSTS) as web.site:
        worker = Worker(
            exports, server.url, "focus", KEYWORDS, seeds(web.site), FOCUS_FRONTIER_PATIENCE=1
        )
        deadline = time.monotonic() + 60
        while len(web.site.hits) < 30 and time.monotonic() < deadline:
            time.sleep(0.01)
        server.kill()
        log = worker.wait()
    assert "for 1 seconds (FOCUS_FRONTIER_PATIENCE); what Redis was told is safe" in log
    assert "Traceback" not in log
    assert reasons(exports) == ["frontier_error"]
    pages, items = merged(exports, "crawl.jsonl"), merged(exports, "items.jsonl")
    assert pages == items, "what Redis was not told of is in neither"
    assert 0 < pages.total() <= len(web.site.hits)


def test_a_foreign_spider_starts_once_and_goes_on(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    pages = {"/": links("/a", "/b"), "/a": links("/b"), "/b": links("/a")}
    with Site(pages, ["127.0.0.1"]) as site:
        folder = make_project(
            tmp_path / "project",
            f"http://127.0.0.1:{site.port}",
            f"""
ADDONS = {{"focusspider.FocusAddon": 500}}
FOCUS_FRONTIER = {redis_server.url!r}
FOCUS_CRAWL = "foreign-{next(_names)}"
ROBOTSTXT_OBEY = False
""",
        )
        (folder / "shop/spiders.py").write_text(
            "from scrapy.linkextractors import LinkExtractor\n"
            "from scrapy.spiders import CrawlSpider, Rule\n"
            "class Plain(CrawlSpider):\n"
            f"    name = 'plain'\n    start_urls = ['http://127.0.0.1:{site.port}/']\n"
            "    rules = (Rule(LinkExtractor(), follow=True),)\n"
        )
        for pages_of_it in (3, 0):
            done = subprocess.run(
                [sys.executable, "-W", "error", "-m", "scrapy", "crawl", "plain"],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
            assert "ERROR" not in done.stderr
            assert "'finish_reason': 'finished'" in done.stderr
            assert f"Crawl ended (finished): {pages_of_it} pages in" in done.stderr
        assert sorted(hit.path for hit in site.hits) == ["/", "/a", "/b"]


def test_a_job_directory_beside_it(redis_server: RedisServer) -> None:
    config = FocusConfig(frontier=redis_server.url)
    with pytest.raises(SettingError, match=r"JOBDIR='jobs'.*leave JOBDIR out"):
        Fleet.join(config, Settings({"JOBDIR": "jobs"}), spider="s")


def test_redis_that_is_not_there(exports: Path) -> None:
    url = "redis://:hunter2@127.0.0.1:9/0"
    arguments = ("focus", KEYWORDS, "-aseeds=http://127.0.0.1/")
    log = Worker(exports, url, *arguments, FOCUS_FRONTIER_PATIENCE=1).wait()
    assert log.count("redis://127.0.0.1:9/0 cannot be reached") == 2
    assert "Connection refused. The worker waits for it, up to 1 seconds." in log
    assert "for 1 seconds; start Redis, or mend FOCUS_FRONTIER" in log
    assert "Traceback" not in log
    assert "hunter2" not in log
    assert not exports.exists()
    with Site({"/": links("/a")}) as site:  # what fetches single pages joins no crawl
        command = [sys.executable, "-m", "scrapy", "fetch", site.url("/")]
        done = subprocess.run(
            [*command, "-s", f"FOCUS_FRONTIER={url}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    assert "href='/a'" in done.stdout


def test_redis_is_started_after_its_worker(tmp_path: Path, exports: Path) -> None:
    server = RedisServer(tmp_path, password="hunter2")
    with Site({"/": links("/a"), "/a": links("/")}) as site:
        worker = Worker(exports, server.url, "focus", KEYWORDS, "-aseeds=" + site.url("/"))
        deadline = time.monotonic() + 60
        while "The worker waits for it" not in worker.log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(1)
        with server:
            log = worker.wait()
    assert reasons(exports) == ["finished"], log
    assert log.count("cannot be reached") == 1
    assert "up to 30 seconds" in log
    assert "hunter2" not in log
    assert merged(exports, "crawl.jsonl").total() == 2


def test_a_signal_does_not_wait_for_a_redis_that_is_away(tmp_path: Path, exports: Path) -> None:
    web = {f"/{n}": links(f"/{n + 1}") for n in range(1000)}
    with Site(web) as site:
        with RedisServer(tmp_path) as server:
            worker = Worker(exports, server.url, "focus", KEYWORDS, "-aseeds=" + site.url("/0"),
                            DOWNLOAD_DELAY=0.05, FOCUS_FRONTIER_PATIENCE=90)  # fmt: skip
            deadline = time.monotonic() + 60
            while not merged(exports, "crawl.jsonl"):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        while "The crawl waits for it" not in worker.log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        worker.process.send_signal(signal.SIGINT)
        began = time.monotonic()
        log = worker.wait()
    assert time.monotonic() - began < 45, log
    assert "what Redis was told is safe" in log


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("redis://:wrong@127.0.0.1:{port}/0", "refuses this user or password"),
        ("redis://:hunter2@127.0.0.1:{port}/99", "DB index is out of range"),
        ("redis://:hunter2@127.0.0.1:none/{port}", "is no URL of Redis"),
    ],
)
def test_redis_that_refuses_is_not_waited_for(
    tmp_path: Path, url: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    with RedisServer(tmp_path, password="hunter2") as server:
        config = FocusConfig(frontier=url.format(port=server.port))
        with pytest.raises(FrontierError, match=says):
            Fleet.join(config, Settings(), spider="s")
    assert "waits for it" not in caplog.text


def test_a_start_that_fails_its_checks_leaves_the_crawl_to_others(
    redis_server: RedisServer, exports: Path
) -> None:
    arguments = ("focus", "-atopic=sample", "-apages=3", "-sFOCUS_REPLAY=sample")
    failed = Worker(exports, redis_server.url, *arguments, "-astrategy=crf",
                    FOCUS_MODELS_DIR=exports / "none", FOCUS_CRAWL="mended")  # fmt: skip
    assert "there is no" in failed.wait()
    log = Worker(exports, redis_server.url, *arguments, FOCUS_CRAWL="mended").wait()
    assert reasons(exports) == ["page_limit"], log


def test_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "redis.sock"
    with RedisServer(tmp_path, socket=path):
        config = FocusConfig(frontier=f"unix://{path}")
        fleet = Fleet.join(config, Settings(), spider="s")
        assert fleet.worker == "1"
        fleet.client.close()


def test_another_scheduler(redis_server: RedisServer, exports: Path) -> None:
    scheduler = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}
    arguments = ("focus", KEYWORDS, "-aseeds=http://127.0.0.1/")
    log = Worker(exports, redis_server.url, *arguments, **scheduler).wait()
    assert "FOCUS_FRONTIER needs focusspider's scheduler, and SCHEDULER is 'scrapy.core" in log
    assert "Traceback" not in log


def test_status_says_how_it_goes(redis_server: RedisServer, exports: Path) -> None:
    with Site({"/": links("/a"), "/a": links("/")}) as site:
        arguments = ("focus", KEYWORDS, "-aseeds=" + site.url("/"))
        Worker(exports, redis_server.url, *arguments, FOCUS_CRAWL="status").wait()
    command = [sys.executable, "-W", "error", "-m", "scrapy", "focus-status"]
    port = redis_server.port
    outputs = []
    for options in (
        ["--json", "--crawl", "status", redis_server.url],
        ["--crawl", "none", f"redis://:hunter2@127.0.0.1:{port}/0"],
    ):
        done = subprocess.run(
            [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False
        )
        outputs.append((done.returncode, done.stdout, done.stderr))
    [status] = json.loads(outputs[0][1])
    assert (status["pages"], status["done"], status["waiting"]) == (2, 2, 0)
    assert status["workers"] == []
    code, _, error = outputs[1]
    assert code == 1
    assert "hunter2" not in error
    assert len(error.splitlines()) == 1


def test_what_a_path_tells_is_the_same_with_two_workers(
    redis_server: RedisServer, exports: Path
) -> None:
    """The state that a request carries needs no shared memory: shark-search's inheritance."""
    arguments = ["focus", "-atopic=topics/sample.toml", "-astrategy=shark-search", "-apages=200"]
    options = {"FOCUS_CRAWL": f"workers-{next(_names)}", "FOCUS_REPLAY": "sample"}
    several = [Worker(exports, redis_server.url, *arguments, **options) for _ in range(2)]
    for worker in several:
        worker.wait()
    alone = crawl(
        exports.with_name("alone"), *(a.removeprefix("-a") for a in arguments[1:]),
        FOCUS_REPLAY="sample",
    )  # fmt: skip
    together = [
        json.loads(line)
        for file in exports.glob("*/*/worker-*/crawl.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert len(together) == 200
    scores = {(page["parent"], page["url"]): page["priority"] for page in alone.pages}
    met = [page for page in together if (page["parent"], page["url"]) in scores]
    assert len(met) > 40
    for page in met:
        assert page["priority"] == scores[page["parent"], page["url"]]


@pytest.mark.parametrize("strategy", ["auto", "xcrawl"])
def test_one_worker_goes_in_the_order_of_one_process(
    redis_server: RedisServer, exports: Path, strategy: str
) -> None:
    """One page at a time, and what waits reordered as often: the same crawl."""
    arguments = ["topic=topics/sample.toml", f"strategy={strategy}", "pages=120"]
    options = {
        "FOCUS_REPLAY": "sample",
        "FOCUS_MODELS_DIR": exports.with_name("models"),  # which there are none in
        "CONCURRENT_REQUESTS": 1,
        "ROBOTSTXT_OBEY": True,
    }
    given = [f"-a{argument}" for argument in arguments]
    name = f"workers-{next(_names)}"
    Worker(exports, redis_server.url, "focus", *given, FOCUS_CRAWL=name, **options).wait()
    alone = crawl(exports.with_name("alone"), *arguments, **options)
    [file] = exports.glob("*/*/worker-*/crawl.jsonl")
    pages = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    told = ("url", "parent", "priority", "relevant")
    assert [[page[key] for key in told] for page in pages] == [
        [page[key] for key in told] for page in alone.pages
    ]


def test_links_that_are_held_are_raised_in_redis_too(
    redis_server: RedisServer, exports: Path
) -> None:
    arguments = ["focus", "-atopic=topics/sample.toml", "-astrategy=xcrawl", "-apages=1000"]
    options = {"FOCUS_CRAWL": f"workers-{next(_names)}", "FOCUS_REPLAY": "sample"}
    log = Worker(exports, redis_server.url, *arguments, **options).wait()
    assert reasons(exports) == ["strategy_done"], log
    pages = merged(exports, "crawl.jsonl")
    assert 100 < pages.total() == len(pages) < 1000
    assert "the strategy 'xcrawl' learns from the pages of this worker alone" in log
