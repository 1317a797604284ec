"""How the crawls of a Redis go, for who looks on: nothing is changed."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from focusspider.frontier.redisclient import RedisClient

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CrawlStatus", "WorkerStatus", "crawls_of", "read_status"]

#: Over how many seconds pages a second are counted, at most.
_WINDOW_S = 60.0


@dataclass(frozen=True, kw_only=True)
class WorkerStatus:
    """One worker: ``hosts`` are those where something waits, ``heard`` is seconds ago."""

    worker: str
    host: str
    pid: int | None
    pages: int
    relevant: int
    hosts: int
    leased: int
    heard: float


@dataclass(frozen=True, kw_only=True)
class CrawlStatus:
    """A crawl as a whole.

    ``hosts`` are all that were met. ``pages_per_second`` is of the last minute, and None
    while nobody works; ``harvest_rate`` is relevant pages by pages, None without a page.
    """

    crawl: str
    spider: str
    topic: str | None
    strategy: str | None
    run: str
    workers: tuple[WorkerStatus, ...]
    hosts: int
    waiting: int
    leased: int
    done: int
    dropped: int
    evicted: int
    pages: int
    relevant: int
    lost_workers: int
    pages_per_second: float | None
    harvest_rate: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return it JSON-safe."""
        return asdict(self)


def crawls_of(url: str) -> list[str]:
    """Return the names of the crawls that a Redis holds, in order."""
    client = RedisClient(url, "")
    try:
        with client.explained():
            keys = [key.decode() for key in client.redis.scan_iter("focus:{*}:n", count=1000)]
    finally:
        client.close()
    return sorted(found[1] for key in keys if (found := re.fullmatch(r"focus:\{(.+)\}:n", key)))


def read_status(url: str, crawl: str) -> CrawlStatus | None:
    """Return how a crawl goes, or None where there is none of this name."""
    client = RedisClient(url, crawl)
    redis, key = client.redis, client.key
    try:
        with client.explained():
            notes = {
                name.decode(): value.decode() for name, value in redis.hgetall(key("n")).items()
            }
            if not notes:
                return None
            seconds, micros = redis.time()
            now = seconds + micros / 1e6
            workers = tuple(
                _worker(client, name.decode(), now - heard / 1000)
                for name, heard in sorted(
                    redis.zrange(key("w"), 0, -1, withscores=True), key=lambda one: int(one[0])
                )
            )
            hosts = redis.hlen(key("own"))
            samples = [sample.decode().split() for sample in redis.lrange(key("rate"), 0, -1)]
    finally:
        client.close()
    pages, relevant = _number(notes, "pages"), _number(notes, "relevant")
    return CrawlStatus(
        crawl=crawl,
        spider=notes.get("spider", ""),
        topic=notes.get("topic", "").rpartition(" (")[0] or None,
        strategy=notes.get("strategy"),
        run=notes.get("run", ""),
        workers=workers,
        hosts=hosts,
        **{
            name: _number(notes, name)
            for name in ("waiting", "leased", "done", "dropped", "evicted")
        },
        pages=pages,
        relevant=relevant,
        lost_workers=_number(notes, "lost"),
        pages_per_second=_rate(samples, now, pages) if workers else None,
        harvest_rate=round(relevant / pages, 6) if pages else None,
    )


def _worker(client: RedisClient, worker: str, heard: float) -> WorkerStatus:
    redis, key = client.redis, client.key
    kept = {name.decode(): value for name, value in redis.hgetall(key(f"i:{worker}")).items()}
    what = json.loads(kept.get("what", b"{}"))
    return WorkerStatus(
        worker=worker,
        host=str(what.get("host", "?")),
        pid=what.get("pid"),
        pages=int(kept.get("pages", 0)),
        relevant=int(kept.get("relevant", 0)),
        hosts=redis.zcard(key(f"q:{worker}")) + redis.scard(key(f"k:{worker}")),
        leased=redis.hlen(key(f"l:{worker}")),
        heard=round(max(0.0, heard), 1),
    )


def _rate(samples: list[list[str]], now: float, pages: int) -> float | None:
    """Return pages a second since the oldest sample of the last minute."""
    for time_ms, before in samples:
        since = now - float(time_ms) / 1000
        if 1 <= since <= _WINDOW_S + 5:
            return round((pages - float(before)) / since, 2)
    return None


def _number(notes: Mapping[str, str], name: str) -> int:
    return int(notes.get(name, 0))
