"""One worker among the several that crawl together, over a frontier in Redis.

Hosts belong to one live worker at a time: to the one whose number and the host's name have
the largest hash together (rendezvous hashing), until that worker is gone, or another has
nothing to ask for and is given some. So each host is asked politely without a word between
workers, and what a strategy learns of a site is in one place.

Run folder contents
-------------------
All workers of a crawl write below ``exports/TOPIC/RUN/``, each into a folder ``worker-N`` of
its own, which is what the folder of a run is elsewhere; see :mod:`focusspider.runfolder`.
"""

from __future__ import annotations

import json
import logging
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.config import DEFAULT_STRATEGY, is_folder_name
from focusspider.errors import FrontierError, SettingError
from focusspider.frontier.checks import check_bounds
from focusspider.frontier.exchange import Exchange
from focusspider.frontier.rediscalls import Bounds, Calls, join
from focusspider.frontier.redisclient import RedisClient
from focusspider.frontier.shared import SharedFrontier
from focusspider.payload import parent_of
from focusspider.runfolder import RunFolder, utc_stamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from focusspider.config import FocusConfig
    from focusspider.frontier.rediscalls import Lost
    from focusspider.record import CrawlRecord
    from focusspider.topic import Topic
    from focusspider.visits import Visit

__all__ = ["Fleet", "crawl_name"]

logger = logging.getLogger(__name__)

#: A page's number in the crawl is its number at its worker, and the worker's in these bits.
_WORKER_BITS = 20
#: Seconds that Redis, which may be starting too, is waited for before a crawl begins.
_START_S = 30


class Fleet:
    """A worker: its place in the crawl, its frontier, and what it knows of the whole.

    Parameters
    ----------
    client, worker, run
        the connection, the worker's number, and the name of the crawl's run
    frontier
        its side of the shared one
    """

    def __init__(
        self, client: RedisClient, worker: str, run: str, frontier: SharedFrontier
    ) -> None:
        self.client = client
        self.worker = worker
        self.run = run
        self.frontier = frontier
        #: why the crawl is over, or nothing
        self.over = ""
        #: pages of the whole crawl at the last beat, and of them this worker's
        self.pages = self.own_pages = 0
        self._number = int(worker)
        self._apart = 0

    @classmethod
    def join(
        cls,
        config: FocusConfig,
        settings: BaseSettings,
        *,
        spider: str,
        topic: Topic | None = None,
        job: str | None = None,
    ) -> Fleet:
        """Join the crawl of this name, or begin it.

        Raises :class:`FrontierError` where Redis cannot be used or another crawl has the
        name, and :class:`SettingError` where two settings contradict each other.
        """
        assert config.frontier is not None
        # Scrapyd's jobs_dir gives every job one, named after it
        if settings["JOBDIR"] and not (job and Path(settings["JOBDIR"]).name == job):
            raise SettingError(
                f"JOBDIR={settings['JOBDIR']!r} and FOCUS_FRONTIER: the frontier is in Redis, "
                "which keeps it; leave JOBDIR out"
            )
        check_bounds(config.frontier_max, config.frontier_host_share)
        client = RedisClient.reached(
            config.frontier,
            crawl_name(config, topic, spider),
            patience=min(config.frontier_patience, _START_S),
        )
        if client.forgets:
            logger.warning(
                "%s throws away what it has when its memory is full (maxmemory-policy), and URLs "
                "would be lost: set that to noeviction",
                client.url,
            )
        joined = join(
            client,
            run=config.run or job or utc_stamp(),
            what=_process(),
            common={"spider": spider, **_identity(topic, config)},
        )
        if not is_folder_name(joined.run):
            raise FrontierError(
                f"{client.url} says that the run is {joined.run!r}, which is no name for a "
                "folder: was it changed by another program?"
            )
        limits = topic.limits if topic else None
        share = int(config.frontier_max * config.frontier_host_share)
        capacity = max(1, settings.getint("CONCURRENT_REQUESTS"))
        polite = settings.getfloat("DOWNLOAD_DELAY") or settings.getbool("AUTOTHROTTLE_ENABLED")
        of_host = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") or capacity
        exchange = Exchange(
            client,
            Calls(joined.worker, Bounds(config.frontier_max, max(1, share))),
            a_host=1 if polite else max(1, min(of_host, capacity)),
            pages=limits.pages if limits else None,
            hosts=limits.hosts if limits else None,
            pages_by_host=bool(limits and limits.pages_per_host),
            parent_of=parent_of,
        )
        frontier = SharedFrontier(exchange, capacity=capacity)
        return cls(client, joined.worker, joined.run, frontier)

    def folder(self, exports: Path, topic: str) -> RunFolder:
        """Make this worker's folder."""
        return RunFolder.make_part(exports / topic / self.run, f"worker-{self.worker}")

    # -- pages by their number in the crawl --------------------------------------------

    def outward(self, n: int) -> int:
        """Return the number in the crawl of a page that has this number here."""
        return n << _WORKER_BITS | self._number if n > 0 else -n

    def inward(self, number: int) -> int:
        """Return the number here of a page of the crawl: less than 0 if another worker's."""
        if not number:
            return 0
        if number & (1 << _WORKER_BITS) - 1 == self._number:
            return number >> _WORKER_BITS
        return -number

    def learn(self, parents: Mapping[int, str], record: CrawlRecord) -> None:
        """Take in the pages of other workers that led to what is leased here."""
        for number, line in parents.items():
            parent, _, url = line.partition(" ")
            if self.inward(number) < 0:
                record.learn(self.inward(number), url, self.inward(int(parent)))

    def brought(self, fingerprint: bytes, visit: Visit) -> None:
        """Note the page that a leased request has brought."""
        line = f"{self.outward(visit.parent)} {visit.url}"
        page = (self.outward(visit.n), line)
        self.frontier.brought(fingerprint, visit.judgement.relevant, page)

    def arrived(self, focus: dict[str, Any]) -> None:
        """Put the number here of the page that led to a leased request into its meta."""
        if "parent" in focus:
            focus["parent"] = self.inward(int(focus["parent"]))

    def next_apart(self) -> int:
        """Return a number that no other request of the crawl has."""
        self._apart += 1
        return self.outward(self._apart)

    # -- workers that are gone ---------------------------------------------------------

    def dead(self) -> list[str]:
        """Return the workers on this machine whose process has ended; for a thread."""
        own = _process()
        if not own["machine"]:
            return []
        redis, key = self.client.redis, self.client.key
        gone = []
        with self.client.explained():
            for name in redis.zrange(key("w"), 0, -1):
                worker = name.decode()
                what = json.loads(redis.hget(key(f"i:{worker}"), "what") or b"{}")
                if what.get("machine") == own["machine"] and not _is_running(what):
                    gone.append(worker)
        return gone

    @staticmethod
    def tidy(lost: Lost) -> bool:
        """Cut the files of a worker that is gone back to what it had committed; for a thread.

        What it wrote afterwards is fetched again by others. False: its process runs yet.
        """
        if _is_running(lost.what):
            return False
        folder = lost.note.get("folder")
        if folder and Path(folder).is_dir():
            RunFolder.cut(Path(folder), lost.note.get("marks") or {})
        return True


def crawl_name(config: FocusConfig, topic: Topic | None, spider: str) -> str:
    """Return the name of the crawl: ``FOCUS_CRAWL``, else the topic's, else the spider's."""
    return config.crawl or (topic.name if topic else spider)


def _identity(topic: Topic | None, config: FocusConfig) -> dict[str, str]:
    """Return what makes a crawl the same crawl."""
    if topic is None:
        return {"topic": ""}
    strategy = topic.strategy or config.strategy or DEFAULT_STRATEGY
    return {"topic": topic.identity(), "strategy": strategy}


def _process() -> dict[str, Any]:
    """Return what tells this process from every other one."""
    return {
        "host": platform.node(),
        "machine": _machine(),
        "pid": os.getpid(),
        "began": _began(os.getpid()),
    }


def _machine() -> str:
    """Return what is the same for processes that can see each other, or nothing."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def _began(pid: int) -> str:
    """Return when a process began, in the kernel's ticks; nothing if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]


def _is_running(what: Mapping[str, Any]) -> bool:
    began = what.get("began")
    return bool(began) and _began(int(what.get("pid", 0))) == began
