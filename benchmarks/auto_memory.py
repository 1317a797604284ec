"""What auto remembers of a long crawl, in memory: a million links of made-up pages.

    python benchmarks/auto_memory.py [--pages 40000] [--links 25] [--max-links N] [--strategy auto]

Each page links to pages that are met for the first time and to ones that are known, as on the
web. The frontier holds what waits, and every 2,000 pages it is reranked. What is told is how
much the process has grown at its peak (VmHWM), beside what it was before the first page: the
tables, what finds things in them, and what a rerank needs for a moment. The made-up web itself
grows too: ``--strategy dom``, which remembers nothing, tells by how much.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from focusspider.links import Link
from focusspider.page import Page
from focusspider.profile import TopicProfile
from focusspider.relevance.base import Judgement
from focusspider.strategies import build_strategy
from focusspider.text import Analyzer
from focusspider.topic import Topic


def memory_mb(field: str) -> float:
    """Return VmRSS or VmHWM of this process."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"/proc/self/status has no {field}; run this on Linux")


def main() -> None:
    """Crawl what does not exist, and print a line every tenth of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=40_000)
    parser.add_argument("--links", type=int, default=25)
    parser.add_argument("--max-links", type=int)
    parser.add_argument("--strategy", default="auto")
    options = parser.parse_args()
    params = {"max_links": options.max_links} if options.max_links else {}
    budget = {"budget": 1.0} if options.strategy == "auto" else {}
    strategy = build_strategy(options.strategy, params, **budget)
    topic = Topic.from_arguments(name="t", keywords="clock repair", seeds="http://a.example/")
    analyzer = Analyzer("english")
    strategy.start(TopicProfile(topic, analyzer), np.random.default_rng(0))
    random = np.random.default_rng(1)
    words = [f"{a}{b}ing" for a in "bcdfghklmnprst" for b in ("al", "en", "il", "or", "um")]
    urls = ["http://host0.example/dir0/page0.html"]
    keys: list[int] = []
    waiting: dict[int, int] = {}
    before, begun = memory_mb("VmRSS"), time.process_time()
    print(f"{'pages':>7} {'links':>9} {'grown by, MB':>13} {'at peak':>8} {'CPU ms a page':>14}")
    for number in range(options.pages):
        links = []
        for position in range(options.links):
            if position < 3 or len(urls) < 100:  # three new ones a page
                n = len(urls)
                urls.append(f"http://host{n % 500}.example/dir{n % 5000}/page{n}.html")
            else:
                n = int(random.integers(max(0, len(urls) - 20_000), len(urls)))
            text = " ".join(words[i] for i in random.integers(len(words), size=3))
            path = f"html/body/div.c{position % 5}/ul/li/a"
            links.append(Link(url=urls[n], anchor=text, context=f"{text} {words[n % 70]}",
                              tag_path=path, position=position))  # fmt: skip
        page = Page(urls[number], analyzer=analyzer, source_text="clock tea", links=links)
        relevant = number % 11 == 0
        strategy.observe(page, Judgement(float(relevant), relevant, "made up"))
        strategy.score(page, None)
        waiting.pop(page.key, None)
        waiting |= dict.fromkeys(page.link_keys.tolist(), 0)
        if number % 2_000 == 1_999:
            keys = list(waiting)
            view = SimpleNamespace(
                ids=np.arange(len(keys)),
                keys=np.array(keys, dtype=np.uint64),
                priorities=np.zeros(len(keys), dtype=np.int64),
            )
            work = strategy.rerank(view)
            if callable(work):
                work()
        if (number + 1) % max(1, options.pages // 10) == 0:
            spent = 1000 * (time.process_time() - begun) / (number + 1)
            print(f"{number + 1:>7,} {(number + 1) * options.links:>9,} "
                  f"{memory_mb('VmRSS') - before:>13.0f} {memory_mb('VmHWM') - before:>8.0f} "
                  f"{spent:>14.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
