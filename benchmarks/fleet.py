"""Workers that share a frontier: pages a second, and what is lost when they are killed.

    python benchmarks/fleet.py --workers 1 2 4 --scrapy-redis
    python benchmarks/fleet.py --kills 20
    python benchmarks/fleet.py --curves --pages 300 --strategies auto --times 5

Both crawl the whole site of ``throughput.py`` (8 loopback addresses, each a host) with the
spider ``focus`` and a redis-server of their own on a free port. The first gives, for each
number of workers, how many pages were fetched, how many of them twice, and pages a second
from the first request to the last; ``--scrapy-redis`` puts a plain ``CrawlSpider`` with its
scheduler beside them, on the same site in the same run (it is installed into a folder that is
removed again).

``--kills`` kills workers that are at work, at random moments, each of which is replaced. In the
middle Redis is killed too, and started again from its append-only file; later the workers'
connection is cut for ten seconds. It says what is missing in the end, in the frontier and in
the items, and what was fetched twice.

``--curves`` crawls the sample web with one process, one worker, and four that share what they
learn or do not, and says how many relevant pages were found after each 50 pages, all workers'
pages by their times: the mean of ``--times`` crawls; and how many of those that the last one
found the one process had found. They fetch one page at a time, each of which takes
``--latency`` seconds, so that a crawl lasts long enough for something to be shared every
``--share`` seconds, and what is fetched next is the strategy's choice and not politeness's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from throughput import ADDRESSES, ROOT

sys.path.insert(0, str(ROOT))

from focusspider.engine import pause
from focusspider.frontier.redisstatus import read_status
from tests.redisserver import Cut, RedisServer

if TYPE_CHECKING:
    from scrapy import Request

SCRAPY_REDIS = "scrapy-redis"
KEYWORDS = "harbour, lighthouse, anchor, voyage, tide"


def worker(kind: str, port: int, redis: str, exports: str, delay: float) -> None:
    """Crawl the site as one worker of several, and print what it took."""
    from scrapy import Request, signals
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.exceptions import DontCloseSpider
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spiders import CrawlSpider, Rule

    from focusspider.spiders.focus import FocusSpider

    seed = f"http://{ADDRESSES[0]}:{port}/page/0.html"
    settings: dict[str, Any] = {
        "AUTOTHROTTLE_ENABLED": False,
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "DOWNLOAD_DELAY": delay,
        "LOG_LEVEL": "WARNING",
        "REMOTE_CONTROL_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
    }

    class Plain(CrawlSpider):
        name = "plain"
        rules = (Rule(LinkExtractor(), follow=True),)

        async def start(self) -> Any:
            yield Request(seed)  # not with dont_filter, or each worker would fetch it

    arguments: dict[str, str] = {}
    spider: type[Plain | FocusSpider] = Plain
    if kind == SCRAPY_REDIS:
        settings |= {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_PERSIST": True,
            "REDIS_URL": redis,
        }
    else:
        settings |= {
            "ADDONS": {"focusspider.FocusAddon": 500},
            "FOCUS_EXPORTS_DIR": exports,
            "FOCUS_EXPORT": "all",
            "FOCUS_FRONTIER": redis,
            "FOCUS_RUN": "run",
            "FOCUS_LIVE": False,
            "FOCUS_WORKER_TIMEOUT": 3,
        }
        spider = FocusSpider
        arguments = {"name": "site", "keywords": KEYWORDS, "seeds": seed, "strategy": kind}
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    times: list[float] = []
    begun: dict[str, float] = {}

    def idle() -> None:
        if kind == SCRAPY_REDIS and (not times or time.time() - times[-1] < 3):
            raise DontCloseSpider  # it does not know whether others still find something

    def opened() -> None:
        begun["cpu"] = time.process_time()

    def closed(reason: str) -> None:
        assert crawler.stats is not None
        taken = {
            "pages": crawler.stats.get_value("downloader/response_status_count/200", 0),
            "cpu": time.process_time() - begun["cpu"],
            "first": times[0] if times else None,
            "last": times[-1] if times else None,
            "reason": reason,
        }
        print(json.dumps(taken), flush=True)

    crawler.signals.connect(idle, signals.spider_idle)
    crawler.signals.connect(
        lambda: times.append(time.time()), signals.response_received, weak=False
    )
    crawler.signals.connect(opened, signals.spider_opened)
    crawler.signals.connect(closed, signals.spider_closed)
    process.crawl(crawler, **arguments)
    process.start()


class Site:
    """The site of ``throughput.py``, in a process of its own."""

    def __init__(self, pages: int) -> None:
        script = str(Path(__file__).with_name("throughput.py"))
        self._server = subprocess.Popen(
            [sys.executable, script, "--serve", "--pages", str(pages)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._server.stdout is not None
        self.port = int(self._server.stdout.readline())
        self.pages = pages

    def hits(self) -> Counter[int]:
        """Return how often each page was asked for."""
        url = f"http://{ADDRESSES[0]}:{self.port}/hits"
        with urllib.request.urlopen(url) as answer:
            counted = {int(number): hits for number, hits in json.load(answer).items()}
        return Counter({n: hits for n, hits in counted.items() if n < self.pages})

    def close(self) -> None:
        """End it."""
        self._server.kill()
        self._server.wait()


def start(kind: str, site: Site, redis: str, folder: Path, options: Any) -> subprocess.Popen[str]:
    """Start a worker; its log goes into the folder."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(folder / "lib")])
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, __file__, "--worker", kind, "--port", str(site.port), "--redis",
             redis, "--exports", str(folder / "exports"), "--delay", str(options.delay)],
            env=environment, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip


def outcome(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for a worker, and return what it said."""
    printed, _ = process.communicate()
    lines = printed.splitlines()
    return json.loads(lines[-1]) if lines else {"pages": 0, "reason": f"exit {process.returncode}"}


def throughput(kind: str, workers: int, options: Any) -> dict[str, Any]:
    """Crawl the site with so many workers."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if kind == SCRAPY_REDIS:
            subprocess.run(
                [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target",
                 str(folder / "lib"), "scrapy-redis==0.9.1"],
                check=True,
            )  # fmt: skip
        site = Site(options.pages)
        try:
            with RedisServer(folder) as redis:
                processes = [start(kind, site, redis.url, folder, options) for _ in range(workers)]
                said = [outcome(process) for process in processes]
            hits = site.hits()
        finally:
            site.close()
        log = (folder / "log").read_text()
        if log.strip() or options.verbose:
            print(log[-2000:], file=sys.stderr)
    busy = [one for one in said if one.get("first")]
    wall = max(one["last"] for one in busy) - min(one["first"] for one in busy)
    return {
        "crawl": kind,
        "workers": workers,
        "pages": len(hits),
        "twice": sum(hits.values()) - len(hits),
        "pages_per_second": len(hits) / wall,
        "cpu_ms_per_page": 1000 * sum(one["cpu"] for one in busy) / max(1, len(hits)),
        "each": [one["pages"] for one in said],
        "reasons": sorted({one["reason"] for one in said}),
    }


def kills(options: Any) -> dict[str, Any]:
    """Crawl the site with workers that are killed, and say what is missing."""
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        site = Site(options.pages)
        try:
            with RedisServer(folder, durable=True) as redis, Cut(redis.port) as cut:
                url = f"redis://127.0.0.1:{cut.port}/0"
                kind = options.strategies[0]
                alive = {}
                for _ in range(4):
                    process = start(kind, site, url, folder, options)
                    alive[process.pid] = process
                killed = 0
                while killed < options.kills and len(site.hits()) < site.pages:
                    time.sleep(chance.uniform(0.2, 2.0))
                    status = read_status(redis.url, "site")
                    at_work = sorted(
                        worker.pid
                        for worker in (status.workers if status else ())
                        if worker.pages and worker.pid in alive
                    )
                    if not at_work:
                        continue
                    victim = alive.pop(chance.choice(at_work))
                    victim.send_signal(signal.SIGKILL)
                    victim.communicate()
                    killed += 1
                    process = start(kind, site, url, folder, options)
                    alive[process.pid] = process
                    if killed == options.kills // 2:
                        redis.kill()
                        time.sleep(2)
                        redis.start()
                    if killed == options.kills * 3 // 4:
                        cut.cut()
                        time.sleep(10)
                        cut.mend()
                said = [outcome(process) for process in alive.values()]
            hits = site.hits()
        finally:
            site.close()
        pages = lines(folder / "exports", "crawl.jsonl")
        items = lines(folder / "exports", "items.jsonl")
        log = (folder / "log").read_text()
    if options.verbose:
        print(log[-6000:], file=sys.stderr)
    return {
        "killed": killed,
        "pages": site.pages,
        "never_fetched": site.pages - len(hits),
        "fetched_again": sum(hits.values()) - len(hits),
        "not_in_crawl_jsonl": site.pages - len(pages),
        "twice_in_crawl_jsonl": pages.total() - len(pages),
        "not_in_items_jsonl": site.pages - len(items),
        "twice_in_items_jsonl": items.total() - len(items),
        "errors": log.count("ERROR"),
        "reasons": sorted({one["reason"] for one in said}),
    }


def curves(strategy: str, options: Any) -> None:
    """Crawl the sample web with one process, one worker and four; the relevant pages by then."""
    crawls: list[tuple[str, int, list[str]]] = [
        ("one process", 0, []),
        ("1 worker", 1, []),
        ("4 workers, on their own", 4, ["FOCUS_SHARE_SECONDS=0"]),
        ("4 workers", 4, [f"FOCUS_SHARE_SECONDS={options.share}"]),
    ]
    steps = range(50, options.pages + 1, 50)
    alone: set[str] = set()
    for name, workers, settings in crawls:
        times = options.times if workers > 1 else 1  # the others crawl the same each time
        sums = dict.fromkeys(steps, 0)
        for _ in range(times):
            pages = sample_crawl(strategy, workers, settings, options)
            for n in steps:
                sums[n] += sum(page["relevant"] for page in pages[:n])
        found = {page["url"] for page in pages if page["relevant"]}
        alone = alone or found
        row: dict[str, Any] = {"strategy": strategy, "crawl": name, "pages": len(pages)}
        row |= {str(n): round(total / times, 1) for n, total in sums.items()}
        row |= {"found": len(found), "of these by one process": len(found & alone)}
        print(json.dumps(row), flush=True)


class Slow:
    """A downloader middleware that makes each page take a while."""

    async def process_request(self, request: Request) -> None:  # noqa: ARG002 - Scrapy names it
        """Wait."""
        await pause(float(os.environ["LATENCY"]))


def sample_crawl(
    strategy: str, workers: int, settings: list[str], options: Any
) -> list[dict[str, Any]]:
    """Crawl the sample web with so many workers (0: without Redis), and return its pages."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with RedisServer(folder) as redis, (folder / "log").open("w") as log:
            command = [sys.executable, "-m", "scrapy", "crawl", "focus", "-a"]
            command += ["topic=topics/sample.toml", "-a", f"strategy={strategy}"]
            command += ["-a", f"pages={options.pages}"]
            given = ["FOCUS_REPLAY=sample", f"FOCUS_EXPORTS_DIR={folder / 'exports'}", *settings]
            given += [f"DOWNLOAD_DELAY={options.delay}", "AUTOTHROTTLE_ENABLED=False"]
            given += ["CONCURRENT_REQUESTS=1", 'DOWNLOADER_MIDDLEWARES={"fleet.Slow": 1}']
            given += ["FOCUS_MODELS_DIR=none"]
            environment = {**os.environ, "LATENCY": str(options.latency)}
            environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "benchmarks")])
            if workers:
                given.append(f"FOCUS_FRONTIER={redis.url}")
            for setting in given:
                command += ["-s", setting]
            started = [
                subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
                for _ in range(workers or 1)
            ]
            for process in started:
                process.wait()
        if options.verbose:
            print((folder / "log").read_text()[-6000:], file=sys.stderr)
        pages = [
            json.loads(line)
            for path in folder.glob("exports/*/*/**/crawl.jsonl")
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
    pages.sort(key=lambda page: page["time"])
    return pages


def lines(exports: Path, name: str) -> Counter[str]:
    """Return how often each URL is in the files of this name."""
    return Counter(
        json.loads(line)["url"]
        for path in exports.glob(f"*/*/worker-*/{name}")
        for line in path.read_text(encoding="utf-8").splitlines()
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=4000, help="pages of the site (4000)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], metavar="N")
    parser.add_argument("--strategies", nargs="+", default=["best-first"], metavar="NAME")
    parser.add_argument("--scrapy-redis", action="store_true", help="measure it too")
    parser.add_argument("--kills", type=int, default=0, help="kill so many workers instead")
    parser.add_argument("--curves", action="store_true", help="compare what 1 and 4 find")
    parser.add_argument("--share", type=int, default=1, help="FOCUS_SHARE_SECONDS of them (1)")
    parser.add_argument("--times", type=int, default=1, help="crawls of which the mean is told")
    parser.add_argument("--latency", type=float, default=0.15, help="seconds a page takes (0.15)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of kills (0)")
    parser.add_argument("--delay", type=float, default=0.0, help="DOWNLOAD_DELAY (0)")
    parser.add_argument("--verbose", action="store_true", help="show the workers' logs")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--redis", help=argparse.SUPPRESS)
    parser.add_argument("--exports", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.port, options.redis, options.exports, options.delay)
    elif options.curves:
        for strategy in options.strategies:
            curves(strategy, options)
    elif options.kills:
        print(json.dumps(kills(options), indent=2))
    else:
        kinds = [*options.strategies, *([SCRAPY_REDIS] if options.scrapy_redis else [])]
        for count in options.workers:
            for kind in kinds:
                print(json.dumps(throughput(kind, count, options)), flush=True)


if __name__ == "__main__":
    main()
