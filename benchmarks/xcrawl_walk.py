"""Measure what xcrawl's walk costs a page: the weights of a site of 10,000 pages.

A site is made up: pages of 30 links, half of them to pages near by, a quarter to the first hundred
(menus), and a quarter to any page; every tenth page is an authority. It is walked over as a crawl
does it, page by page, with what waits in a real frontier; times are of the CPU.

Run it as ``python benchmarks/xcrawl_walk.py``; it takes some minutes.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from focusspider.outline import Outline
from focusspider.strategies.sitegraph import VARIANTS, SiteGraph
from focusspider.strategies.sitewalk import Asked, SiteWalk

LINKS_PER_PAGE = 30
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Waiting:
    """A frontier in which all that is not fetched waits."""

    leased = np.zeros(0, dtype=np.uint64)

    def __init__(self, n_pages: int) -> None:
        self.all = (np.arange(n_pages, dtype=np.uint64) + np.uint64(1)) * _ODD
        self.left = np.ones(n_pages, dtype=np.bool_)
        self.number = {key: page for page, key in enumerate(self.all.tolist())}

    @property
    def keys(self) -> np.ndarray:
        """The keys of what waits, (n_waiting,)."""
        return self.all[self.left]


def links_of(page: int, n_pages: int, rng: np.random.Generator) -> np.ndarray:
    """Return the pages that a page links to, (30,)."""
    near = (page + rng.integers(1, 200, LINKS_PER_PAGE // 2)) % n_pages
    menu = rng.integers(0, min(100, n_pages), LINKS_PER_PAGE // 4)
    rest = rng.integers(0, n_pages, LINKS_PER_PAGE - len(near) - len(menu))
    return np.concatenate([near, menu, rest])


def main() -> None:
    """Walk over the site, and print what a page costs as it grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    arguments = parser.parse_args()
    n_pages: int = arguments.pages
    for variant in VARIANTS:
        rng = np.random.default_rng(0)
        graph = SiteGraph(variant=variant, c=0.85, min_authorities=2, hub_share=0.2, max_iter=10)
        walk = SiteWalk(
            "site", graph, restart=0.15, max_iterations=50, early=False, stop=False,
            random_state=np.random.default_rng(1),
        )  # fmt: skip
        waiting = Waiting(n_pages)
        none = Outline(np.zeros(1, dtype=np.int32) - 1, np.zeros(LINKS_PER_PAGE, dtype=np.int32))
        spent: list[float] = []
        page = 0
        while True:
            waiting.left[page] = False
            targets = waiting.all[links_of(page, n_pages, rng)]
            begun = time.process_time()
            walk.add_page(
                int(waiting.all[page]), targets, np.ones(LINKS_PER_PAGE, dtype=np.bool_), none,
                accepted=page % 10 == 0, moved_from=(),
            )  # fmt: skip
            wanted = walk.advance(Asked(waiting))
            spent.append(time.process_time() - begun)
            if not wanted:
                break
            best = max(wanted, key=lambda node: (wanted[node], -node))
            page = waiting.number[int(graph.links.keys[best])]
        fetched = len(spent)
        means = [
            f"{1000 * np.mean(spent[start : start + fetched // 5]):.1f}"
            for start in range(0, fetched - fetched // 5 + 1, max(fetched // 5, 1))
        ]
        print(
            f"{variant:16} {fetched:,} pages, {graph.links.n_links:,} links, {len(graph.hubs):,} "
            f"hubs, {walk.iterations:,} walks: {1000 * np.mean(spent):.1f} ms a page, by fifths "
            f"{', '.join(means)}; 99 % within {1000 * np.quantile(spent, 0.99):.1f} ms",
            flush=True,
        )


if __name__ == "__main__":
    main()
