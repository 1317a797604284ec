"""What the frontier in Redis costs: bytes an entry, a push, a lease, a settlement, a reordering.

    python benchmarks/redis_frontier.py --size 1000000 --hosts 10000

A redis-server of its own is filled with so many waiting URLs by four processes that push at
once, 500 at a time, as workers do (payloads of about 150 bytes: URL, depth, parent, anchor,
state). Then one process pushes them a second time, which are known; leases one by one, and
100 at a time; settles; and gives new priorities. Times are by the clock, of whole round
trips. ``--size 2000000`` says what two million take.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from focusspider.frontier import Entry, Outcome
from focusspider.frontier.rediscalls import Bounds, Calls, Settled, join
from focusspider.frontier.redisclient import RedisClient
from focusspider.frontier.redisview import changes_of, read_view
from focusspider.priority import PRIORITY_MAX
from tests.redisserver import RedisServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis

PUSHERS = 4
PUSHED_AT_ONCE = 500
LEASES = 5_000
RERANKED = 100_000


def entries(first: int, size: int, hosts: int) -> Iterator[list[Entry]]:
    """Return URLs as they wait, some at a time; the same each time."""
    chance = random.Random(first)
    for start in range(first, first + size, PUSHED_AT_ONCE):
        batch = []
        for number in range(start, min(start + PUSHED_AT_ONCE, first + size)):
            host = f"www.host{chance.randrange(hosts)}.example"
            url = f"http://{host}/section/{number % 97}/page-{number}.html"
            waiting = [url, 7, number << 16 | 1, "an anchor of some length", [0.25, 0.5], None]
            payload = json.dumps(waiting, separators=(",", ":")).encode()
            fingerprint = hashlib.sha1(url.encode()).digest()  # noqa: S324
            batch.append(Entry(fingerprint, host, chance.randrange(PRIORITY_MAX), payload))
        yield batch


def worker(url: str) -> tuple[RedisClient, Calls]:
    """Join the crawl."""
    client = RedisClient(url, "benchmark")
    name, _ = join(client, run="run", what={}, common={})
    return client, Calls(name, Bounds(100_000_000, 100_000_000))


def push(url: str, first: int, size: int, hosts: int) -> None:
    """Push a share; what is pushed is made before, and the seconds are printed."""
    client, calls = worker(url)
    batches = list(entries(first, size, hosts))
    print("ready", flush=True)
    sys.stdin.readline()
    begun = time.perf_counter()
    for batch in batches:
        client.run(calls.push(batch))
    print(time.perf_counter() - begun, flush=True)


def fill(url: str, size: int, hosts: int) -> float:
    """Push everything by several processes at once, and return the seconds that it took."""
    share = size // PUSHERS
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, "--push", url, "--first", str(n * share),
             "--size", str(share), "--hosts", str(hosts)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for n in range(PUSHERS)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    begun = time.perf_counter()
    for process in processes:
        process.communicate("go\n")
    return time.perf_counter() - begun


def spent(redis: Redis) -> float:
    """Return the CPU seconds that Redis has taken."""
    cpu = redis.info("cpu")
    return float(cpu["used_cpu_user"] + cpu["used_cpu_sys"])


def measure(size: int, hosts: int) -> dict[str, float]:
    """Fill a Redis, and measure."""
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as server:
        client, calls = worker(server.url)
        redis = client.redis
        empty = redis.info("memory")["used_memory"]
        begun = spent(redis)
        seconds = fill(server.url, size, hosts)
        cpu = spent(redis) - begun
        used = redis.info("memory")
        row: dict[str, float] = {
            "size": size,
            "hosts": hosts,
            "push_per_second": size / seconds,
            "push_per_second_of_redis_cpu": size / cpu,
            "redis_mb": used["used_memory"] / 1e6,
            "redis_rss_mb": used["used_memory_rss"] / 1e6,
            "bytes_each": (used["used_memory"] - empty) / size,
        }
        while redis.scard(client.key("orphans")) or redis.zcard(client.key("w")) > 1:
            others = [n.decode() for n in redis.zrange(client.key("w"), 0, -1)]
            gone = [name for name in others if name != calls.worker]
            client.run(calls.beat(patience_ms=600_000, gone=gone))
        known = [batch for batch, _ in zip(entries(0, 50_000, hosts), range(100), strict=False)]
        begun = time.perf_counter()
        for batch in known:
            client.run(calls.push(batch))
        row["push_known_per_second"] = sum(map(len, known)) / (time.perf_counter() - begun)
        times, leased = [], []
        before_cpu = spent(redis)
        for _ in range(LEASES):
            begun = time.perf_counter()
            answer = client.run(calls.lease(1, a_host=1))[0]
            times.append(1e3 * (time.perf_counter() - begun))
            leased += calls.leased(answer)
        row["lease_redis_cpu_ms"] = 1e3 * (spent(redis) - before_cpu) / LEASES
        row["lease_ms_median"] = statistics.median(times)
        row["lease_ms_p99"] = float(np.percentile(times, 99))
        begun = time.perf_counter()
        more = [one for _ in range(50) for one in calls.leased(client.run(calls.lease(100))[0])]
        row["lease_100_ms_each"] = 1e3 * (time.perf_counter() - begun) / len(more)
        done = [Settled(one.entry.fingerprint, Outcome.DONE, True) for one in leased]
        begun = time.perf_counter()
        for start in range(0, len(done), 100):
            client.run(calls.settle(done[start : start + 100]))
        row["settle_ms_each"] = 1e3 * (time.perf_counter() - begun) / len(done)
        begun = time.perf_counter()
        cpu = time.process_time()
        view = read_view(client, calls.worker)
        row["view_s"] = time.perf_counter() - begun
        row["view_cpu_s"] = time.process_time() - cpu
        chance = np.random.default_rng(0)
        ids = view.ids[:RERANKED]
        begun = time.perf_counter()
        longest, before_cpu = 0.0, spent(redis)
        for changes in changes_of(view, ids, chance.integers(0, PRIORITY_MAX, len(ids))):
            before = time.perf_counter()
            client.run(calls.reprioritise(changes))
            longest = max(longest, time.perf_counter() - before)
        row["rerank_100k_s"] = time.perf_counter() - begun
        row["rerank_100k_redis_cpu_s"] = spent(redis) - before_cpu
        row["rerank_longest_ms"] = 1e3 * longest
        return row


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=1_000_000, help="URLs (1000000)")
    parser.add_argument("--hosts", type=int, default=10_000, help="their hosts (10000)")
    parser.add_argument("--push", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.push:
        push(options.push, options.first, options.size, options.hosts)
    else:
        print(json.dumps(measure(options.size, options.hosts), indent=2))


if __name__ == "__main__":
    main()
