"""Measure the frontiers beside Scrapy's default queue: time and memory, by size and hosts.

Each row is measured in a process of its own: ``size`` URLs at ``hosts`` hosts are pushed,
25 at a time as a page brings them, and then 20,000 of them once more; 20,000 are leased
one by one and settled; 100,000 get new priorities, in one call and in slices; and a
frontier on disk is closed and opened again. Times are CPU seconds of the process, but a
commit (of what 300 pages brought) is by the clock. Memory is what the resident set grew
by, for each waiting URL, with payloads of 100 bytes.

For Scrapy it is the scheduler with its default priority queue
(``DownloaderAwarePriorityQueue``) and duplicate filter, in memory and with JOBDIR, at 64
distinct priorities: it keeps a queue for each. It has no rerank.

Run ``python benchmarks/frontier.py``: about half an hour, and 2 GB of memory for Scrapy
at a million URLs. ``--sizes 10000 100000`` takes less than ten minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import itertools
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scrapy import Request, Spider
from scrapy.core.scheduler import Scheduler
from scrapy.utils.test import get_crawler

from focusspider.frontier import RERANK_SLICE, Entry, Outcome
from focusspider.frontier.memory import MemoryFrontier
from focusspider.frontier.sqlite import FILE_NAME, SqliteFrontier
from focusspider.priority import PRIORITY_MAX, to_level
from focusspider.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OURS = ("memory", "sqlite")
THEIRS = {"scrapy": "memory", "scrapy-jobdir": "sqlite"}
FRONTIERS = (*OURS, *THEIRS)
LINKS_A_PAGE = 25
LEASES = 20_000
RERANKED = 100_000
#: A commit a second, at the 300 pages a second that Scrapy can fetch at most.
PAGES_A_COMMIT = 300
#: Leases that would take longer are measured on fewer of them.
PATIENCE_S = 20.0
ROW_TIMEOUT_S = 300.0
COLUMNS = {
    "push_us": "push µs",
    "known_us": "known µs",
    "lease_us": "lease µs",
    "settle_us": "settle µs",
    "rerank_s": "rerank s",
    "stretch_ms": "longest stretch ms",
    "bytes": "bytes a URL",
    "commit_ms": "longest commit ms",
    "resume_s": "resume s",
    "disk_bytes": "disk bytes a URL",
    "files": "files",
}


class Everyone:
    """A host filter that lets everything through."""

    def ready(self, host: str) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def woken(self) -> tuple[str, ...]:
        """Return nothing: nobody was refused."""
        return ()


def urls(size: int, hosts: int) -> Iterator[tuple[str, int]]:
    """Return URLs in pages of links, each with a priority; the same ones each time."""
    rng = random.Random(0)
    for number in range(size):
        url = f"http://host{rng.randrange(hosts)}.example/path/page-{number}.html"
        yield url, rng.randrange(PRIORITY_MAX)


def pages(size: int, hosts: int, make: Callable[[str, int], Any]) -> Iterator[list[Any]]:
    """Return what ``make`` makes of the URLs, a page of links at a time."""
    source = urls(size, hosts)
    while batch := list(itertools.islice(source, LINKS_A_PAGE)):
        yield [make(url, priority) for url, priority in batch]


def entry(url: str, priority: int) -> Entry:
    """Return a link as it waits, with a payload of 100 bytes."""
    payload = url.encode().ljust(100, b" ")
    return Entry(hashlib.sha1(payload).digest(), host_of(url), priority, payload)  # noqa: S324


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and what it returned."""
    begun = time.process_time()
    result = call(*arguments)
    return time.process_time() - begun, result


def mean_us(times: list[float], each: int = 1) -> float:
    """Return microseconds for one, of calls that did ``each``."""
    return sum(times) / (len(times) * each) * 1e6


def patiently(calls: Iterator[tuple[float, Any]]) -> tuple[list[float], list[Any]]:
    """Return the times and results of these calls, as far as patience goes."""
    times: list[float] = []
    results: list[Any] = []
    spent = 0.0
    for seconds, result in calls:
        times.append(seconds)
        results.append(result)
        spent += seconds
        if spent > PATIENCE_S:
            break
    return times, results


def resident() -> int:
    """Return the bytes of this process that are in RAM."""
    gc.collect()
    in_ram = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return in_ram * resource.getpagesize()


def fill(batches: Iterator[list[Any]], push: Callable[[list[Any]], Any]) -> list[float]:
    """Push everything, and return the time of each page."""
    times = deque[float]()
    for batch in batches:
        times.append(timed(push, batch)[0])
    return list(times)


def measure_ours(kind: str, size: int, hosts: int, folder: Path) -> dict[str, float]:
    """Measure one of our frontiers."""

    def make() -> MemoryFrontier | SqliteFrontier:
        if kind == "memory":
            return MemoryFrontier(max_size=size)
        return SqliteFrontier(folder / FILE_NAME, max_size=size)

    def push(entries: list[Entry]) -> None:
        frontier.push(entries)
        if isinstance(frontier, SqliteFrontier) and next(turns) % PAGES_A_COMMIT == 0:
            begun = time.perf_counter()
            frontier.flush()
            commits.append(time.perf_counter() - begun)

    turns = itertools.count(1)
    commits: list[float] = []
    frontier = make()
    before = resident()
    pushes = fill(pages(size, hosts, entry), push)
    measured = {"push_us": mean_us(pushes, LINKS_A_PAGE)}
    measured["bytes"] = (resident() - before) / size
    known = fill(pages(min(size, LEASES), hosts, entry), push)
    measured["known_us"] = mean_us(known, LINKS_A_PAGE)
    if commits:
        measured["commit_ms"] = max(commits) * 1e3

    everyone = Everyone()
    count = min(LEASES, size // 2)
    leases, leased = patiently(timed(frontier.lease, 1, everyone) for _ in range(count))
    measured["lease_us"] = mean_us(leases)
    settles = [timed(frontier.settle, given.fingerprint, Outcome.DONE)[0] for (given,) in leased]
    measured["settle_us"] = mean_us(settles)
    measured |= rerank(frontier)
    if isinstance(frontier, SqliteFrontier):
        frontier.flush()
        frontier.close("shutdown")
        measured["disk_bytes"] = (folder / FILE_NAME).stat().st_size / size
        waiting = frontier.counts.waiting + frontier.counts.leased
        del frontier
        measured["resume_s"], frontier = timed(make)
        assert frontier.counts.waiting == waiting
    frontier.close("finished")
    return measured


def rerank(frontier: MemoryFrontier | SqliteFrontier) -> dict[str, float]:
    """Measure new priorities for 100,000 requests, at once and in slices.

    The longest stretch is that of one slice and the lease after it.
    """
    rng = np.random.default_rng(1)
    ids = frontier.view.ids
    ids = rng.permutation(ids)[:RERANKED]
    everyone = Everyone()

    seconds, _ = timed(frontier.reprioritise, ids, rng.integers(0, PRIORITY_MAX, len(ids)))
    leasing, _ = timed(frontier.lease, 1, everyone)
    stretches = []
    for start in range(0, len(ids), RERANK_SLICE):
        part = ids[start : start + RERANK_SLICE]
        new = rng.integers(0, PRIORITY_MAX, len(part))
        spent, _ = timed(frontier.reprioritise, part, new)
        stretches.append(spent + timed(frontier.lease, 1, everyone)[0])
    return {"rerank_s": seconds + leasing, "stretch_ms": max(stretches) * 1e3}


def measure_scrapy(kind: str, size: int, hosts: int, folder: Path) -> dict[str, float]:
    """Measure Scrapy's own scheduler."""
    settings = {"JOBDIR": str(folder)} if kind == "scrapy-jobdir" else {}
    # its asynchronous parts are not used, but its crawler wants the loop
    asyncio.set_event_loop(asyncio.new_event_loop())
    crawler = get_crawler(Spider, settings)
    crawler.spider = Spider.from_crawler(crawler, name="benchmark")
    downloader = SimpleNamespace(slots={}, get_slot_key=lambda request: host_of(request.url))
    crawler.engine = SimpleNamespace(downloader=downloader)

    def make() -> Scheduler:
        scheduler = Scheduler.from_crawler(crawler)
        scheduler.open(crawler.spider)
        return scheduler

    def push(requests: list[Request]) -> None:
        for request in requests:
            scheduler.enqueue_request(request)

    def request(url: str, priority: int) -> Request:
        return Request(url, priority=to_level(priority), meta={"depth": 1})

    scheduler = make()
    before = resident()
    measured = {"push_us": mean_us(fill(pages(size, hosts, request), push), LINKS_A_PAGE)}
    measured["bytes"] = (resident() - before) / size
    known = fill(pages(min(size, LEASES), hosts, request), push)
    measured["known_us"] = mean_us(known, LINKS_A_PAGE)
    count = min(LEASES, size // 2)
    leases, _ = patiently(timed(scheduler.next_request) for _ in range(count))
    measured["lease_us"] = mean_us(leases)
    if kind == "scrapy-jobdir":
        scheduler.close("shutdown")
        files = [file for file in folder.rglob("*") if file.is_file()]
        measured["disk_bytes"] = sum(file.stat().st_size for file in files) / size
        measured["files"] = len(files)
        measured["resume_s"], scheduler = timed(make)
    scheduler.close("finished")
    return measured


def measure(kind: str, size: int, hosts: int, folder: Path) -> dict[str, Any]:
    """Measure one row in this process."""
    how = measure_ours if kind in OURS else measure_scrapy
    try:
        return how(kind, size, hosts, folder)
    except OSError as error:
        return {"error": f"{error.strerror} ({type(error).__name__})"}


def in_its_own_process(kind: str, size: int, hosts: int) -> dict[str, Any]:
    """Measure one row in a process that has done nothing else."""
    row: dict[str, Any] = {"frontier": kind, "size": size, "hosts": hosts}
    with tempfile.TemporaryDirectory(prefix="frontier-") as folder:
        command = [sys.executable, __file__, "--row", kind, str(size), str(hosts), folder]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=ROW_TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            return row | {"error": f"not done after {ROW_TIMEOUT_S:.0f} s"}
    if done.returncode:
        return row | {"error": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return row | json.loads(done.stdout)


def ratios(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return, for each size and number of hosts, how many times ours is as quick as Scrapy's."""
    found = {(row["frontier"], row["size"], row["hosts"]): row for row in rows}
    result: dict[str, dict[str, float]] = {}
    for (kind, size, hosts), theirs in found.items():
        ours = found.get((THEIRS.get(kind, ""), size, hosts))
        if ours is None:
            continue
        name = f"{THEIRS[kind]} {size} URLs {hosts} hosts"
        shared = [key for key in COLUMNS if key in ours and key in theirs]
        result[name] = {key: round(theirs[key] / ours[key], 2) for key in shared}
    return result


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| frontier | URLs | hosts | " + " | ".join(COLUMNS.values()) + " |",
        "| --- " * 3 + "| ---: " * len(COLUMNS) + "|",
    ]
    for row in rows:
        cells = [row["frontier"], f"{row['size']:,}", f"{row['hosts']:,}"]
        if "error" in row:
            cells += [row["error"]] + [""] * (len(COLUMNS) - 1)
        else:
            cells += [f"{row[key]:,.3g}" if key in row else "" for key in COLUMNS]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure what was asked for, and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10**4, 10**5, 10**6], help="URLs that wait"
    )
    parser.add_argument(
        "--hosts", type=int, nargs="+", default=[10, 1_000, 10_000], help="over how many hosts"
    )
    parser.add_argument(
        "--frontiers", nargs="+", default=list(FRONTIERS), choices=FRONTIERS, help="which ones"
    )
    parser.add_argument("--json", action="store_true", help="print rows and ratios as JSON")
    parser.add_argument("--row", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        kind, size, hosts, folder = arguments.row
        print(json.dumps(measure(kind, int(size), int(hosts), Path(folder))))
        return
    rows = []
    for size, hosts, kind in itertools.product(
        arguments.sizes, arguments.hosts, arguments.frontiers
    ):
        rows.append(in_its_own_process(kind, size, hosts))
        print(f"{kind}, {size:,} URLs, {hosts:,} hosts: measured", file=sys.stderr)
    if arguments.json:
        print(json.dumps({"rows": rows, "ratios": ratios(rows)}, indent=1))
    else:
        print(table(rows))


if __name__ == "__main__":
    main()
