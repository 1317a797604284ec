"""What a slow host and a host with a delay cost the others, when the best links lead to them.

    python benchmarks/politeness.py [--seconds 12] [--rounds 3] [--json]

An endless web of eight hosts on this machine, served by a process of its own: one host
takes 2 s to answer, one has a delay of 1 s, the other six answer in 0.2 s. Every page links
to all of them, and the links to the two are the best by far. It is crawled for some seconds
with the two and without them, by focusspider's scheduler and by Scrapy's own, in turn; all
four crawls score links alike. What is counted is what the server saw:

- the pages a second of the six quick hosts; the ratio is with the two by without them;
- the pages of the two;
- the most requests that a host had at a time, and the shortest time between two at the
  host with the delay;
- inversions: the share of requests that left although a better link had been known for a
  while whose host could have been asked.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.site import Hit, Reply, Site, most_at_once  # noqa: E402 - needs the path above

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

QUICK = tuple(f"127.0.0.{n}" for n in range(1, 7))
SLOW, DELAYED = "127.0.0.7", "127.0.0.8"
LATENCY, SLOW_LATENCY, DELAY = 0.2, 2.0, 1.0  # seconds
SLACK = 0.1  # seconds that a scheduler's view may be behind the server's
CHILDREN = 3  # numbers that a page links to, each at every host
SCHEDULERS = {
    "focusspider": "focusspider.scheduler.FocusScheduler",
    "scrapy": "scrapy.core.scheduler.Scheduler",
}
SAND = "<p>sand and stones and shells on the shore</p>" * 200


def main() -> None:
    """Run the crawls, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=12, help="of each crawl (12)")
    parser.add_argument("--rounds", type=int, default=3, help="of the four crawls (3)")
    parser.add_argument("--concurrency", type=int, default=16, help="requests in all (16)")
    parser.add_argument("--per-host", type=int, default=2, help="requests at a host (2)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    runs: dict[str, list[dict[str, float]]] = {}
    for _, name, both in itertools.product(range(options.rounds), SCHEDULERS, (True, False)):
        run = measured(SCHEDULERS[name], both=both, options=options)
        runs.setdefault(f"{name}, {'with' if both else 'without'} the two", []).append(run)
    medians = {
        name: {key: statistics.median(run[key] for run in rounds) for key in rounds[0]}
        for name, rounds in runs.items()
    }
    ratios = {
        name: medians[f"{name}, with the two"]["quick"]
        / medians[f"{name}, without the two"]["quick"]
        for name in SCHEDULERS
    }
    if options.json:
        print(json.dumps({"ratios": ratios, "medians": medians, "runs": runs}, indent=2))
        return
    print("| crawl | quick, pages/s | slow | delayed | at a time | shortest gap | inversions |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, run in medians.items():
        print(
            f"| {name} | {run['quick']:.1f} | {run['slow']:.0f} | {run['delayed']:.0f} "
            f"| {run['most']:.0f} | {run['gap']:.2f} s | {run['inversions']:.1%} |"
        )
    for name, ratio in ratios.items():
        print(f"{name}: the quick hosts keep {ratio:.0%}")


def measured(scheduler: str, *, both: bool, options: argparse.Namespace) -> dict[str, float]:
    """Crawl once, and return what the server saw until the time was up."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs, both))
    server.start()
    try:
        crawl(ours.recv(), scheduler, options)
        ours.send("stop")
        seen: list[Hit] = ours.recv()
    finally:
        server.terminate()
        server.join()
    end = seen[0].start + options.seconds
    seen = [hit for hit in seen if hit.start < end]
    hits = [hit for hit in seen if hit.path != "/robots.txt"]
    at = {host: [hit for hit in hits if hit.host == host] for host in (*QUICK, SLOW, DELAYED)}
    starts = [hit.start for hit in at[DELAYED]]
    return {
        "quick": sum(len(at[host]) for host in QUICK) / options.seconds,
        "slow": len(at[SLOW]),
        "delayed": len(at[DELAYED]),
        "most": max(map(most_at_once, at.values())),
        "gap": min((b - a for a, b in itertools.pairwise(starts)), default=np.inf),
        "inversions": inversions(seen, options.per_host) / len(hits),
    }


def serve(pipe: Connection, both: bool) -> None:
    """Serve the web until told to stop, and send what was asked of it."""
    hosts = (*QUICK, SLOW, DELAYED) if both else QUICK

    def page(host: str, path: str) -> Reply | None:
        if path == "/robots.txt":
            return None
        links = [
            f"<p>{'tide ' * quality(h, n)}{'sand ' * (9 - quality(h, n))}"
            f"<a href='{site.url(f'/{n}', h)}'>go</a></p>"
            for n in children(number(path))
            for h in hosts
        ]
        return Reply(SAND + "".join(links), delay=SLOW_LATENCY if host == SLOW else LATENCY)

    with Site(page, hosts) as site:
        pipe.send(site.url("/"))
        pipe.recv()
    pipe.send(site.hits)


def number(path: str) -> int:
    """Return the number of a page."""
    return int(path.strip("/") or 0)


def children(n: int) -> range:
    """Return the numbers of the pages that page n links to."""
    return range(CHILDREN * n + 1, CHILDREN * n + 1 + CHILDREN)


def quality(host: str, n: int) -> int:
    """Return how many of the nine words around a link are the topic's."""
    return 8 if host in (SLOW, DELAYED) else n % 5


def crawl(seed: str, scheduler: str, options: argparse.Namespace) -> None:
    """Crawl for a little longer than what is counted."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "SCHEDULER": scheduler,
            "CLOSESPIDER_TIMEOUT": options.seconds + 1,
            "CONCURRENT_REQUESTS": options.concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": options.per_host,
            "DOWNLOAD_DELAY": 0,
            "DOWNLOAD_SLOTS": json.dumps({DELAYED: {"delay": DELAY}}),
            "AUTOTHROTTLE_ENABLED": False,
            "FOCUS_EXPORTS_DIR": folder,
            "LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "focus"]
        for argument in ("keywords=tide", f"seeds={seed}", "strategy=dom"):
            command += ["-a", argument]
        for name, value in settings.items():
            command += ["-s", f"{name}={value}"]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


def inversions(seen: Sequence[Hit], per_host: int) -> int:
    """Count the requests that left while a better link waited for a host that was ready.

    A link is known when the first page with it has been answered, and a host is ready
    where it has had fewer requests than its limit for a while, and its delay is over.
    """
    hits = [hit for hit in seen if hit.path != "/robots.txt"]
    known: dict[int, float] = {}
    for hit in hits:
        for child in children(number(hit.path)):
            known[child] = min(known.get(child, np.inf), hit.end)
    numbers = list(known)
    since = np.array([known[n] for n in numbers])  # (links,), the same at every host
    found = 0
    hosts = {hit.host for hit in hits}
    asked = {
        host: _times({number(hit.path): hit.start for hit in hits if hit.host == host}, numbers)
        for host in hosts
    }
    worth = {host: np.array([quality(host, n) for n in numbers]) for host in hosts}
    for hit in hits:
        better = quality(hit.host, number(hit.path))
        found += any(
            _is_ready(seen, host, hit.start, per_host)
            and (
                (worth[host] > better)
                & (since < hit.start - SLACK)
                & (asked[host] > hit.start + SLACK)
            ).any()
            for host in hosts - {hit.host}
        )
    return found


def _times(times: dict[int, float], numbers: Sequence[int]) -> np.ndarray:
    return np.array([times.get(n, np.inf) for n in numbers])


def _is_ready(seen: Sequence[Hit], host: str, now: float, per_host: int) -> bool:
    busy = 0
    for hit in seen:
        if hit.host == host and hit.start <= now + SLACK:
            busy += hit.end > now - SLACK
            if host == DELAYED and hit.start > now - DELAY - SLACK:
                return False
    return busy < per_host


if __name__ == "__main__":
    main()
