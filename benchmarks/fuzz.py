"""Parse mutated pages, more of them than the tests do.

    python benchmarks/fuzz.py --count 20000 crawl.warc.gz
    python benchmarks/fuzz.py sample

Each page of an archive, or of the sample web, is damaged as the tests damage theirs: flipped
bytes, parts that are gone, repeated or strange. The parser may say that it is no page; whatever
else it raises ends the run with the seed that shows it again.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from focusspider.errors import NotAPageError
from focusspider.replay.spec import open_archive
from tests.test_page import PARSER, exercise, mutated


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("archive", nargs="?", default="sample", help="as FOCUS_REPLAY (sample)")
    parser.add_argument("--count", type=int, default=20_000, help="mutated pages (20000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first one (0)")
    options = parser.parse_args()
    archive = open_archive(options.archive)
    urls = sorted(archive.urls())
    pages, slowest = 0, 0.0
    for seed in range(options.seed, options.seed + options.count):
        pick = random.Random(seed)
        stored = archive.get(pick.choice(urls))
        assert stored is not None
        headers = Headers(dict(stored.headers))
        kind = responsetypes.from_args(headers=headers, url=stored.url, body=stored.body)
        begun = time.process_time()
        try:
            body = mutated(stored.body, pick)
            exercise(PARSER.parse(kind(stored.url, headers=headers, body=body)))
            pages += 1
        except NotAPageError:
            pass
        except Exception:
            print(f"seed {seed}: {stored.url}")
            raise
        slowest = max(slowest, time.process_time() - begun)
    print(f"{options.count} mutated, {pages} read as pages, the slowest in {slowest:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
