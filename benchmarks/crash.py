"""Kill a crawl at random moments, go on with it, and compare with one that was left alone.

    python benchmarks/crash.py --kills 200

Each crawl of the sample web is killed with SIGKILL again and again, resumed from its JOBDIR,
and left to finish. No page may be lost, none may be logged or counted twice, and no item may be
lost, or exported or counted twice. Exit status 1 where one is.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Outcome(NamedTuple):
    """What a crawl left behind, by URL."""

    pages: Counter[str]
    items: Counter[str]


class Report(NamedTuple):
    """How often crawls were killed, and what went wrong in any of them."""

    kills: int
    crawls: int
    faults: list[str]


def command(folder: Path, job: str) -> list[str]:
    """Return the command of a crawl of the whole sample web, slowed down to be killed."""
    settings = {
        "FOCUS_REPLAY": "sample",
        "FOCUS_EXPORTS_DIR": folder / job,
        "JOBDIR": folder / f"{job}.job",
        "LOG_LEVEL": "ERROR",
        "CONCURRENT_REQUESTS": 8,
        "DOWNLOAD_DELAY": 0.02,
        "DOWNLOAD_DELAY_JITTER": 0,
    }
    words = [sys.executable, "-m", "scrapy", "crawl", "focus"]
    for argument in ("topic=topics/sample.toml", "pages=", "deny=re:/calendar/"):
        words += ["-a", argument]
    for name, value in settings.items():
        words += ["-s", f"{name}={value}"]
    return words


def outcome(folder: Path, job: str) -> Outcome:
    """Return what a crawl left behind, in the one run folder that it may have."""
    (run,) = (folder / job).glob("*/*/run.json")

    def urls(name: str) -> Counter[str]:
        lines = (run.parent / name).read_text(encoding="utf-8").splitlines()
        return Counter(json.loads(line)["url"] for line in lines)

    return Outcome(urls("crawl.jsonl"), urls("items.jsonl"))


def miscounts(folder: Path, job: str) -> list[str]:
    """Return the statistics of a crawl that are not what its files hold."""
    (run,) = (folder / job).glob("*/*/run.json")
    counted = json.loads(run.read_text(encoding="utf-8"))["stats"]
    faults = []
    for name, key in (("crawl", "focus/page/fetched"), ("items", "focus/item/exported")):
        lines = (run.parent / f"{name}.jsonl").read_text(encoding="utf-8").count("\n")
        if counted[key] != lines:
            faults.append(f"{key} is {counted[key]}, and {name}.jsonl has {lines} lines")
    return faults


def crash(kills: int, seed: int, folder: Path) -> Report:
    """Kill crawls so often, at moments that the seed decides."""
    moments = random.Random(seed)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    started = time.monotonic()
    subprocess.run(command(folder, "left-alone"), cwd=ROOT, env=environment, check=True)
    duration = time.monotonic() - started
    expected = outcome(folder, "left-alone")
    done, crawls, faults = 0, 0, []
    while done < kills:
        job = f"killed-{crawls}"
        crawls += 1
        for _ in range(kills + 1):
            process = subprocess.Popen(command(folder, job), cwd=ROOT, env=environment)
            try:
                process.wait(moments.uniform(0.2, 0.9) * duration if done < kills else None)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                done += 1
                continue
            if process.returncode:
                faults.append(f"{job}: exit status {process.returncode}")
            break
        found = outcome(folder, job)
        faults += [f"{job}: {fault}" for fault in miscounts(folder, job)]
        faults += [f"{job}: page lost: {url}" for url in expected.pages - found.pages]
        faults += [f"{job}: page twice: {url}" for url in found.pages - expected.pages]
        faults += [f"{job}: item lost: {url}" for url in expected.items - found.items]
        faults += [f"{job}: item twice: {url}" for url in found.items - expected.items]
    return Report(done, crawls, faults)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20, help="how many times to kill (20)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = crash(options.kills, options.seed, Path(folder))
    print(f"{report.kills} kills in {report.crawls} crawls, {len(report.faults)} faults")
    print("\n".join(report.faults[:20]))
    return bool(report.faults)


if __name__ == "__main__":
    sys.exit(main())
