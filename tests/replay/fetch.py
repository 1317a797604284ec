"""Fetch URLs with a real Scrapy crawler, and print what came back as JSON.

Run as a script: ``python fetch.py '{"settings": {...}, "requests": [{"url": ...}, ...]}'``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import AsyncCrawlerProcess

QUIET = {
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True,
}


class Fetcher(scrapy.Spider):
    """Asks for each URL, and keeps what it gets, or how it failed."""

    name = "fetcher"

    def __init__(self, requests: list[dict[str, Any]], got: list[dict[str, Any]]) -> None:
        super().__init__()
        self.requests = requests
        self.got = got

    async def start(self):
        for request in self.requests:
            yield scrapy.Request(
                **request,
                callback=self.parse,
                errback=self.failed,
                dont_filter=True,
                cb_kwargs={"asked": request["url"]},
            )

    async def parse(self, response, asked):
        self.got.append(
            {
                "asked": asked,
                "url": response.url,
                "status": response.status,
                "type": type(response).__name__,
                "headers": {
                    name.decode(): [value.decode("latin-1") for value in values]
                    for name, values in response.headers.items()
                },
                "body": response.body.decode("latin-1"),
                "text": getattr(response, "text", None) if response.body else "",
                "redirects": response.meta.get("redirect_urls", []),
                "latency": response.meta.get("download_latency"),
                "time": time.monotonic(),
            }
        )

    async def failed(self, failure):
        self.got.append(
            {
                "asked": failure.request.cb_kwargs["asked"],
                "error": failure.type.__name__,
                "message": str(failure.value),
            }
        )


def fetch(settings: dict[str, Any], *requests: str | dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a crawl in a process of its own got, by URL asked for, and its stats."""
    wanted = [one if isinstance(one, dict) else {"url": one} for one in requests]
    job = json.dumps({"settings": settings, "requests": wanted})
    done = subprocess.run(
        [sys.executable, "-W", "error", __file__, job],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    by_url = {one["asked"]: one for one in result["got"]}
    return {**by_url, "stats": result["stats"], "log": {"text": done.stderr}}


def main() -> None:
    job = json.loads(sys.argv[1])
    got: list[dict[str, Any]] = []
    process = AsyncCrawlerProcess({**QUIET, **job["settings"]})
    crawler = process.create_crawler(Fetcher)
    process.crawl(crawler, requests=job["requests"], got=got)
    process.start()
    stats = crawler.stats.get_stats()
    print(json.dumps({"got": got, "stats": stats}, default=str))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
