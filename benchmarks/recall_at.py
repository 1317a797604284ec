"""Print the recall of an evaluation's crawls after the same number of pages, a table a place.

    python benchmarks/recall_at.py exports/evaluations/xcrawl --stop xcrawl

Places are shares of the pages that can be reached, and where a strategy has stopped by itself: what
the others have found after as many pages (Shchekotykhin, Jannach and Friedrich, figures 4 to 8).
Seeds of a strategy count as one crawl.
"""

from __future__ import annotations

import argparse
import json
from bisect import bisect_right
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

SHARES = (0.1, 0.25, 0.5)


def recall(curve: dict[str, Any], pages: float) -> float:
    """Return the share of the targets that are found after so many pages."""
    return bisect_right(curve["found_at"], pages) / curve["targets"]


def table(name: str, rows: dict[str, dict[str, float]], crawls: list[str]) -> None:
    """Print strategies by crawls, with the mean of each strategy."""
    print(f"\n{name}\n\n| strategy | {' | '.join(crawls)} | mean |")
    print(f"| --- |{' ---: |' * (len(crawls) + 1)}")
    for strategy, row in rows.items():
        cells = [f"{row[crawl]:.3f}" if crawl in row else "–" for crawl in crawls]
        print(f"| {strategy} | {' | '.join(cells)} | {fmean(row.values()):.3f} |")


def main() -> None:
    """Read the curves, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the evaluation is")
    parser.add_argument("--stop", default="xcrawl", help="the strategy that stops by itself")
    options = parser.parse_args()
    curves = json.loads((options.folder / "curves.json").read_text(encoding="utf-8"))
    crawls = list(
        dict.fromkeys(curve["crawl"] for curve in curves if curve["strategy"] == options.stop)
    )
    if not crawls:
        parser.error(f"{options.folder}: no crawl by {options.stop!r}; give --stop")
    curves = [curve for curve in curves if curve["crawl"] in crawls]
    stops = {
        crawl: fmean(
            curve["fetched"]
            for curve in curves
            if (curve["crawl"], curve["strategy"]) == (crawl, options.stop)
        )
        for crawl in crawls
    }
    places = {f"after {share:.0%} of the pages": share for share in SHARES}
    for name, share in {f"where {options.stop} stops": None, **places}.items():
        found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for curve in curves:
            pages = stops[curve["crawl"]] if share is None else share * curve["reachable"]
            found[curve["strategy"]][curve["crawl"]].append(recall(curve, pages))
        means = {
            strategy: {crawl: fmean(values) for crawl, values in row.items()}
            for strategy, row in found.items()
        }
        table(name, means, crawls)
    reachable = {curve["crawl"]: curve["reachable"] for curve in curves}
    shares = ", ".join(f"{crawl} {stops[crawl] / reachable[crawl]:.0%}" for crawl in crawls)
    print(f"\n{options.stop} stops after these shares of the pages: {shares}")


if __name__ == "__main__":
    main()
