"""What a bandit brings to ``auto`` where links say nothing but by their place in the page.

    python benchmarks/silent.py --webs 32

Each made web is one host. Its links have the same anchor, addresses are hashes, and pages hold
no words. Which share of the pages is relevant differs by the tag path of the links that lead to
them: ``best`` behind one path, ``second`` behind another, ``rest`` behind all others. The same
webs are crawled with the bandit and without it.
"""

from __future__ import annotations

import argparse
from hashlib import blake2b
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from scrapy.settings import Settings

from focusspider.page import Page
from focusspider.parsing import parser_of
from focusspider.profile import TopicProfile
from focusspider.relevance.base import Judgement
from focusspider.strategies import linkorder
from focusspider.strategies.auto import Auto
from focusspider.topic import Topic

_HOST = "http://silent.example"
_TOPIC = Topic.from_arguments(name="silent", keywords="robot", seeds=f"{_HOST}/")
_PARSER = parser_of("english", Settings())


class Kind(NamedTuple):
    """How the pages of a web are relevant."""

    best: float
    second: float
    rest: float
    pages: int
    paths: int
    links: int = 10


KINDS = (
    Kind(0.25, 0.10, 0.05, 6000, 10),
    Kind(0.50, 0.10, 0.05, 6000, 10),
    Kind(0.50, 0.15, 0.05, 9000, 30),
    Kind(0.50, 0.20, 0.00, 9000, 30, links=5),
)


class SilentWeb:
    """Pages whose links can only be told apart by their tag paths."""

    def __init__(self, kind: Kind, seed: int) -> None:
        rng = np.random.default_rng(seed)
        path = rng.integers(0, kind.paths, kind.pages)
        shares = np.full(kind.paths, kind.rest)
        shares[0], shares[rng.integers(1, kind.paths)] = kind.second, kind.best
        self.relevant = rng.random(kind.pages) < shares[path]
        names = (blake2b(f"{seed}.{i}".encode(), digest_size=5) for i in range(kind.pages))
        self.urls = [f"{_HOST}/{name.hexdigest()}" for name in names]
        self._path = path
        self._links = rng.integers(0, kind.pages, (kind.pages, kind.links))

    def page(self, number: int) -> Page:
        """Return a page, with the links that it always has."""
        html = "".join(
            f"<div class='p{self._path[to]}'><a href='{self.urls[to]}'>item</a></div>"
            for to in self._links[number].tolist()
        )
        return _PARSER.parse_html(html.encode(), self.urls[number])


def found(web: SilentWeb, pages: int, seed: int) -> int:
    """Return how many relevant pages ``auto`` finds, one request at a time."""
    auto = Auto()
    auto.start(TopicProfile(_TOPIC, _PARSER.analyzer), np.random.default_rng(seed))
    numbers = {Page(url, analyzer=_PARSER.analyzer).key: n for n, url in enumerate(web.urls)}
    keys = {number: key for key, number in numbers.items()}
    waiting, met, relevant, last = {0: 0}, [0], 0, 0
    seen = {0}
    for n in range(1, pages + 1):
        if not waiting:
            break
        number = max(met, key=lambda one: waiting.get(one, -1))
        del waiting[number]
        met.remove(number)
        page, good = web.page(number), bool(web.relevant[number])
        page.pointing = None if n == 1 else "item"
        relevant += good
        auto.observe(page, Judgement(float(good), good, "made"))
        priorities = auto.score(page, None).priorities.tolist()
        for key, priority in zip(page.link_keys.tolist(), priorities, strict=True):
            if numbers[key] not in seen:
                seen.add(numbers[key])
                met.append(numbers[key])
                waiting[numbers[key]] = priority
        if n - last >= max(auto.rerank_every, auto.rerank_growth * last):
            view = SimpleNamespace(
                ids=np.array(met),
                keys=np.array([keys[one] for one in met], dtype=np.uint64),
                priorities=np.array([waiting[one] for one in met]),
            )
            work, last = auto.rerank(view), n
            reranking = work() if work is not None else linkorder.NO_RERANKING
            pairs = zip(reranking.ids.tolist(), reranking.priorities.tolist(), strict=True)
            waiting.update(pairs)
    return relevant


def main() -> None:
    """Compare, and print a line for each kind of web."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--webs", type=int, default=32, help="of each kind")
    parser.add_argument("--pages", type=int, default=300, help="that each crawl fetches")
    options = parser.parse_args()
    print("best second rest  pages paths links | with, without: difference (standard error)")
    for kind in KINDS:
        counts = []
        for seed in range(options.webs):
            web = SilentWeb(kind, seed)
            with patch.object(linkorder, "wordless", lambda _: 0.0):
                without = found(web, options.pages, seed)
            counts.append((found(web, options.pages, seed), without))
        both = np.array(counts, dtype=np.float64)
        apart = both[:, 0] - both[:, 1]
        error = apart.std(ddof=1) / len(apart) ** 0.5 if len(apart) > 1 else float("nan")
        means = both.mean(axis=0)
        print(
            f"{kind.best:4.2f} {kind.second:6.2f} {kind.rest:4.2f} {kind.pages:6} {kind.paths:5} "
            f"{kind.links:5} | {means[0]:.1f}, {means[1]:.1f}: {apart.mean():+.1f} ({error:.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
