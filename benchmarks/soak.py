"""Discover a million URLs in one crawl, and watch memory and speed on the way.

    python benchmarks/soak.py

Each page of the generated site brings 25 links that nobody has seen before. The frontier is
bounded, so that what the crawl holds should stop growing once it is full, and the last pages
should come about as fast as the first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.throughput import ADDRESSES, LINKS  # noqa: E402 - the path comes first

_STEPS = 20  # lines of the table


def resident_mb() -> float:
    """Return the memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


class Watch:
    """Prints memory, frontier and speed each time that more URLs have been discovered."""

    def __init__(self, crawler: Crawler, urls: int) -> None:
        self._crawler = crawler
        self._step = urls // _STEPS
        self._next = self._step
        self._last = (0, time.perf_counter())

    def page(self) -> None:
        """Look at the crawl after a page."""
        assert self._crawler.stats is not None
        counts = self._crawler.stats.get_stats()
        discovered = counts.get("focus/link/pushed", 0)
        if discovered < self._next:
            return
        self._next += self._step
        pages, now = counts["focus/page/fetched"], time.perf_counter()
        row = {
            "discovered": discovered,
            "pages": pages,
            "waiting": len(self._crawler.engine.scheduler),  # type: ignore[arg-type, union-attr]
            "resident_mb": round(resident_mb(), 1),
            "pages_per_second": round((pages - self._last[0]) / (now - self._last[1]), 1),
        }
        self._last = pages, now
        print(json.dumps(row), flush=True)


def crawl(port: int, urls: int, frontier_max: int, jobdir: str | None) -> None:
    """Crawl until so many URLs were discovered."""
    from scrapy import signals
    from scrapy.crawler import AsyncCrawlerProcess

    from focusspider.spiders.focus import FocusSpider

    with tempfile.TemporaryDirectory() as exports:
        settings: dict[str, Any] = {
            "ADDONS": {"focusspider.FocusAddon": 500},
            "AUTOTHROTTLE_ENABLED": False,
            "CONCURRENT_REQUESTS": 32,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "DOWNLOAD_DELAY": 0,
            "FOCUS_EXPORTS_DIR": exports,
            "FOCUS_FRONTIER_MAX": frontier_max,
            "JOBDIR": jobdir,
            "LOG_LEVEL": "ERROR",
            "REMOTE_CONTROL_ENABLED": False,
            "ROBOTSTXT_OBEY": False,
            "TELNETCONSOLE_ENABLED": False,
        }
        process = AsyncCrawlerProcess(settings)
        crawler = process.create_crawler(FocusSpider)
        watch = Watch(crawler, urls)
        crawler.signals.connect(watch.page, signals.response_received)
        process.crawl(
            crawler,
            name="soak",
            keywords="harbour, lighthouse, anchor, voyage, tide",
            seeds=f"http://{ADDRESSES[0]}:{port}/page/0.html",
            pages=str(round(urls / LINKS * 1.05)),
        )
        process.start()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=1_000_000, help="to discover (1000000)")
    parser.add_argument("--frontier-max", type=int, default=200_000, help="bound (200000)")
    parser.add_argument("--jobdir", action="store_true", help="with an SQLite frontier")
    options = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, ROOT / "benchmarks/throughput.py", "--serve", "--pages", str(10**9)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with tempfile.TemporaryDirectory() as jobdir:
            crawl(port, options.urls, options.frontier_max, jobdir if options.jobdir else None)
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
