"""Measure the crawled graph: a million nodes, ten million links, time and memory.

Run it as ``python benchmarks/linkgraph.py``; it takes about a minute.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np

from focusspider.linkgraph import LinkGraph

LINKS_PER_PAGE = 25
_ODD = np.uint64(0x9E3779B97F4A7C15)


def resident_mb() -> float:
    """Return the memory of this process that is in RAM, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def peak_mb() -> float:
    """Return the most memory that this process ever had in RAM, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Build the graph, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    arguments = parser.parse_args()
    pages = arguments.links // LINKS_PER_PAGE
    rng = np.random.default_rng(0)

    graph = LinkGraph()
    graph.add_page(0, [])
    graph.csr()  # imports scipy before memory is measured
    before = resident_mb()
    spent = 0.0
    for page in range(pages):
        # Half of the links go to any page, half to the first ones, as on the web.
        shares = rng.random(LINKS_PER_PAGE)
        shares[::2] **= 3
        targets = (shares * arguments.nodes).astype(np.uint64) * _ODD
        key = int(np.uint64(page + 1) * _ODD)
        begun = time.perf_counter()
        graph.add_page(key, targets)
        spent += time.perf_counter() - begun
    built = resident_mb()
    print(f"{len(graph):,} nodes, {graph.n_fetched:,} fetched, {graph.n_links:,} links")
    print(f"add_page: {spent / pages * 1e6:.0f} µs a page of {LINKS_PER_PAGE} links")

    begun = time.perf_counter()
    graph.csr()
    first = time.perf_counter() - begun
    with_matrix = resident_mb()
    graph.add_page(2**64 - 1, [1, 2, 3])
    begun = time.perf_counter()
    graph.csr()
    again = time.perf_counter() - begun
    print(f"csr: {first * 1e3:.1f} ms at first, {again * 1e3:.2f} ms after one page more")
    print(
        f"memory: {built - before:.0f} MB, {with_matrix - before:.0f} MB with the matrix, "
        f"{peak_mb() - before:.0f} MB at the most"
    )


if __name__ == "__main__":
    np.seterr(over="ignore")
    main()
