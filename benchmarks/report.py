"""Measure the page of a large crawl: time, memory and size, without the script that draws.

The crawl is made up: pages on 5,000 hosts, three in ten relevant, each linked from one of the
500 before it. Times are CPU times.

Run it as ``python benchmarks/report.py``; it takes a few seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from focusspider.report.crawlpage import crawl_page
from focusspider.report.runlog import read_run


def line(n: int, parent: int | None, *, relevant: bool) -> dict[str, Any]:
    """Return a line of ``crawl.jsonl``."""
    return {
        "n": n,
        "url": _url(n),
        "parent": parent and _url(parent),
        "anchor": "word " * 20,
        "depth": 0,
        "priority": None,
        "relevance": 0.25,
        "relevant": relevant,
        "status": 200,
        "digest": f"{n:016x}",
        "time": f"2026-11-28T{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}.000+00:00",
    }


def _url(n: int) -> str:
    return f"http://h{n % 5000}.example/{n}"


def write_run(folder: Path, pages: int) -> None:
    """Write the folder of a crawl that was killed: its log, and nothing else."""
    chance = random.Random(0)
    with (folder / "crawl.jsonl").open("w", encoding="utf-8") as log:
        for n in range(1, pages + 1):
            parent = chance.randint(max(1, n - 500), n - 1) if n > 5 else None
            log.write(json.dumps(line(n, parent, relevant=chance.random() < 0.3)) + "\n")


def main() -> None:
    """Make the page, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_run(folder, arguments.pages)
        begun = time.process_time()
        log = read_run(folder)
        read = time.process_time()
        page = crawl_page(log, "")
        made = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"{len(log.pages):,} pages: read in {read - begun:.1f} s, shown in {made - read:.1f} s")
    print(f"{len(page.encode()) / 1e6:.2f} MB of HTML, {peak:.0f} MB of memory at the most")


if __name__ == "__main__":
    main()
