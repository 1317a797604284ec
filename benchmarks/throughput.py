"""Pages a second and CPU a page, beside a plain Scrapy crawl of the same site in the same run.

    python benchmarks/throughput.py --json

A local HTTP server in a process of its own serves pages of about 10 KB with 25 links on 8
loopback addresses. A plain ``CrawlSpider`` with Scrapy's LinkExtractor and queue, and the
spider ``focus`` with each strategy, crawl all of it, in turn, several times: the ratios are
those of medians of one run, since a shared machine's speed drifts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ADDRESSES = [f"127.0.0.{number}" for number in range(11, 19)]
LINKS = 25
SIZE = 10_000
MADE_BEFORE = 10_000  # pages that are made before the first is asked for
STRATEGIES = ("best-first", "dom", "hub-seeking", "shark-search", "breadth-first")
PLAIN = "plain-scrapy"
WORDS = """
    harbour tide current anchor mooring keel rudder sail mast rope knot chart compass beacon
    lighthouse ferry dock pier quay cargo crane pilot tug barge wharf gull storm wind wave swell
    fog bell buoy channel bar sand shoal reef coast cliff island strait cape bay gulf ocean deck
    hull bow stern galley captain mate crew watch log voyage passage port starboard league fathom
""".split()  # noqa: SIM905 - a vocabulary to read


def make_page(number: int, count: int, port: int) -> bytes:
    """Return the HTML of a page, the same each time."""
    chance = random.Random(number)
    targets = [number * LINKS + offset + 1 for offset in range(3)]
    targets += [chance.randrange(count) for _ in range(LINKS - len(targets))]
    paragraphs = []
    for target in targets:
        target %= count
        host = ADDRESSES[target % len(ADDRESSES)]
        words = " ".join(chance.choices(WORDS, k=45))
        anchor = " ".join(chance.choices(WORDS, k=3))
        url = f"http://{host}:{port}/page/{target}.html"
        paragraphs.append(f'<p class="entry">{words} <a href="{url}">{anchor}</a>.</p>')
    title = " ".join(chance.choices(WORDS, k=4))
    body = "\n".join(paragraphs)
    filler = "<!-- " + "x" * max(0, SIZE - len(body) - 300) + " -->"
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title></head>"
        f"<body><h1>{title}</h1><div id=main>{body}</div>{filler}</body></html>"
    ).encode()


async def serve(count: int) -> None:
    """Serve the site until the process is ended; prints the port.

    ``/hits`` says how often which page was asked for, as JSON.
    """
    pages: list[bytes] = []
    hits: Counter[int] = Counter()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1]
                digits = path.rpartition(b"/")[2].removesuffix(b".html")
                number = int(digits) if digits.isdigit() else count
                hits[number] += 1
                if number < len(pages):
                    body = pages[number]
                elif path == b"/hits":
                    body = json.dumps(hits).encode()
                else:  # of a site too large to be made beforehand
                    body = make_page(number, count, port) if number < count else b""
                status = b"200 OK" if body else b"404 Not Found"
                writer.write(
                    b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (status, len(body), body)
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    first = await asyncio.start_server(answer, ADDRESSES[0], 0)
    port = first.sockets[0].getsockname()[1]
    servers = [first]
    for address in ADDRESSES[1:]:
        servers.append(await asyncio.start_server(answer, address, port))  # noqa: PERF401
    pages += [make_page(number, count, port) for number in range(min(count, MADE_BEFORE))]
    print(port, flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


def worker(name: str, port: int) -> None:
    """Crawl the site once, and print what it took."""
    from scrapy import signals
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spiders import CrawlSpider, Rule

    from focusspider.spiders.focus import FocusSpider

    seed = f"http://{ADDRESSES[0]}:{port}/page/0.html"
    settings: dict[str, Any] = {
        "AUTOTHROTTLE_ENABLED": False,
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "ERROR",
        "REMOTE_CONTROL_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
    }

    class Plain(CrawlSpider):
        name = PLAIN
        start_urls = [seed]  # noqa: RUF012 - Scrapy's own way
        rules = (Rule(LinkExtractor(), follow=True),)

    begun: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as exports:
        arguments: dict[str, str] = {}
        spider: type[Plain | FocusSpider] = Plain
        if name != PLAIN:
            settings |= {
                "ADDONS": {"focusspider.FocusAddon": 500},
                "FOCUS_EXPORTS_DIR": exports,
                "FOCUS_LIVE": False,
            }
            spider = FocusSpider
            keywords = "harbour, lighthouse, anchor, voyage, tide"
            arguments = {"name": "site", "keywords": keywords, "seeds": seed, "strategy": name}
        process = AsyncCrawlerProcess(settings)
        crawler = process.create_crawler(spider)

        def opened() -> None:
            begun.update(wall=time.perf_counter(), cpu=time.process_time())

        def closed() -> None:
            assert crawler.stats is not None
            taken = {
                "pages": crawler.stats.get_value("downloader/response_status_count/200"),
                "wall": time.perf_counter() - begun["wall"],
                "cpu": time.process_time() - begun["cpu"],
            }
            print(json.dumps(taken), flush=True)

        crawler.signals.connect(opened, signals.spider_opened)
        crawler.signals.connect(closed, signals.spider_closed)
        process.crawl(crawler, **arguments)
        process.start()


def measure(names: list[str], port: int, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Crawl with each in turn, so often, and return what each crawl took."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            done = subprocess.run(
                [sys.executable, __file__, "--worker", name, "--port", str(port)],
                env=environment,
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            )
            taken[name].append(json.loads(done.stdout.splitlines()[-1]))
    return taken


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=2000, help="pages of the site (2000)")
    parser.add_argument("--rounds", type=int, default=3, help="crawls with each (3)")
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES), metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.pages))
    elif options.worker:
        worker(options.worker, options.port)
    else:
        _report(options)


def _report(options: argparse.Namespace) -> None:
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", "--pages", str(options.pages)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        taken = measure([PLAIN, *options.strategies], port, options.rounds)
    finally:
        server.kill()
        server.wait()
    rows = {}
    for name, runs in taken.items():
        rows[name] = {
            "pages": int(statistics.median(run["pages"] for run in runs)),
            "pages_per_second": statistics.median(run["pages"] / run["wall"] for run in runs),
            "cpu_ms_per_page": statistics.median(1000 * run["cpu"] / run["pages"] for run in runs),
        }
    plain = rows[PLAIN]["pages_per_second"]
    ratios = {name: rows[name]["pages_per_second"] / plain for name in options.strategies}
    if options.json:
        print(json.dumps({"ratios": ratios, "rows": rows, "rounds": options.rounds}))
        return
    print("| crawl | pages | pages a second | CPU ms a page | pages a second, to plain Scrapy's |")
    print("| --- | --- | --- | --- | --- |")
    for name, row in rows.items():
        ratio = row["pages_per_second"] / plain
        print(
            f"| {name} | {row['pages']} | {row['pages_per_second']:.0f} | "
            f"{row['cpu_ms_per_page']:.2f} | {ratio:.2f} |"
        )


if __name__ == "__main__":
    main()
