"""A crawl in small, the same on every frontier: run it as a script to have it killed.

``python -m tests.frontier.workload FILE SEED`` works on an SQLite frontier for ever, with
a commit after each round, and prints the number of each round that it has committed.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from focusspider.frontier import Outcome
from focusspider.frontier.sqlite import SqliteFrontier
from tests.frontier.model import Gate, ModelFrontier, entry

if TYPE_CHECKING:
    from collections.abc import Iterator

BOUNDS = {"max_size": 200, "host_share": 0.5}


def rounds(frontier: SqliteFrontier | ModelFrontier, seed: int) -> Iterator[int]:
    """Lease, push what the pages link to, settle; yield the number of each round's end."""
    rng = random.Random(seed)
    gate = Gate(default=10**9)
    frontier.push([entry(number, payload=b"seed") for number in range(5)])
    number = 0
    while True:
        for leased in frontier.lease(rng.randrange(4), gate):
            first = rng.randrange(number * 3 + 10)
            frontier.push(
                [
                    entry(
                        link, f"host{link % 7}", rng.randrange(20), b"%d from %d" % (link, number)
                    )
                    for link in range(first, first + rng.randrange(6))
                ]
            )
            outcome = rng.choice([Outcome.DONE, Outcome.DONE, Outcome.DROPPED, Outcome.AGAIN])
            retry = leased._replace(priority=rng.randrange(20), payload=b"again %d" % number)
            replacement = retry if outcome is Outcome.AGAIN else None
            frontier.settle(leased.fingerprint, outcome, replacement)
        yield number
        number += 1


def main(path: str, seed: str) -> None:
    frontier = SqliteFrontier(Path(path), **BOUNDS)
    for number in rounds(frontier, int(seed)):
        frontier.remember("round", b"%d" % number)
        frontier.flush()
        print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
