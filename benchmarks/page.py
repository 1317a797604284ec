"""Measure what reading a page costs, stage by stage, beside Scrapy's LinkExtractor.

The pages are generated, 10 KB with 25 links each, and, where the corpora are beside the
checkout, real ones. Every stage is timed over all pages of a set, in CPU time, and the
stages take turns; the figure is the best of several rounds, a page. ``ours`` is all that
a content method asks of a page: parse, terms, terms of contexts and anchors, and the
fingerprints of its links. The ratio is LinkExtractor's time over that. Both get a response
that nobody has decoded before.

Hostile sources are parsed once each, in seconds.

Run it as ``python benchmarks/page.py``; it takes about a minute.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.http import Headers, HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import RequestFingerprinter
from selectolax.lexbor import LexborHTMLParser

from focusspider.markup import prepared
from focusspider.page import Page, PageParser
from focusspider.text import Analyzer
from focusspider.urls import Fingerprinter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
STAGES = (
    "prepare",
    "tree",
    "parse",
    "terms",
    "link terms",
    "fingerprints",
    "ours",
    "LinkExtractor",
)
HOSTILE = {
    "200,000 links": lambda: "".join(f"<a href={n}>{n}</a>" for n in range(200_000)),
    "5 MB on a line": lambda: "word " * 1_000_000,
    "100,000 deep": lambda: "<div>" * 100_000 + "<a href=x>y",
    "100,000 open fonts": lambda: "".join(f"<p><font color={n}>x" for n in range(100_000)),
    "100,000 attributes": lambda: "<a " + " ".join(f"x{n}=1" for n in range(100_000)) + ">",
    "20,000 nested links": lambda: "".join(f"<table><td><a href={n}>x" for n in range(20_000)),
}


def generated(count: int) -> Iterator[HtmlResponse]:
    """Yield pages of about 10 KB, with 25 links: a menu of 12, and 13 in the text."""
    pick = random.Random(0)
    words = ["".join(pick.choices("aeioulnrstdcm", k=pick.randint(2, 10))) for _ in range(5_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]

    def text(n: int) -> str:
        return " ".join(pick.choices(words, weights, k=n))

    for page in range(count):
        menu = "".join(f'<li class="item"><a href="/{n}/">{text(2)}</a></li>' for n in range(12))
        prose = "".join(
            f'<p>{text(45)} <a href="{pick.randrange(10**6)}.html">{text(3)}</a> {text(45)}</p>\n'
            for _ in range(13)
        )
        html = (
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{text(5)}</title>'
            f'</head><body><nav class="menu main"><ul>{menu}</ul></nav><div id="content">'
            f"<h1>{text(4)}</h1>{prose}</div></body></html>"
        )
        yield HtmlResponse(
            f"http://site{page % 8}.example/d/{page}.html",
            body=html.encode(),
            headers={"Content-Type": "text/html; charset=utf-8"},
        )


def real(name: str, count: int) -> Iterator[HtmlResponse]:
    """Yield HTML pages of a corpus, spread over it."""
    from warcio.archiveiterator import ArchiveIterator

    with (CORPORA / name / f"{name}.warc.gz").open("rb") as file:
        for record in itertools.islice(ArchiveIterator(file), 0, 20 * count, 20):
            headers = Headers(record.http_headers.headers)
            body = record.content_stream().read()
            if b"html" in headers.get("Content-Type", b"html"):
                url = record.rec_headers.get_header("WARC-Target-URI")
                yield HtmlResponse(url, body=body, headers=headers)


def stages(
    responses: Sequence[HtmlResponse], parser: PageParser
) -> dict[str, tuple[Callable[[Any], object], Sequence[Any]]]:
    """Return what each stage does, and to what."""
    texts = [response.text for response in responses]
    sources = [prepared(text).page.encode("utf-8", "replace") for text in texts]
    pages = [parser.parse(response) for response in responses]
    extractor = LinkExtractor()

    def terms(page: Page) -> None:
        page.__dict__.pop("terms", None)
        assert page.terms is not None

    def link_terms(page: Page) -> None:
        page._terms.clear()
        for link in page.links:
            page.context_terms(link)
            page.anchor_terms(link)

    def fingerprints(page: Page) -> None:
        fingerprinter = Fingerprinter(RequestFingerprinter())  # remembers nothing yet
        for link in page.links:
            fingerprinter.of_url(link.url)

    def ours(response: HtmlResponse) -> None:
        page = parser.parse(response.replace())
        terms(page)
        link_terms(page)
        fingerprints(page)

    return {
        "prepare": (prepared, texts),
        "tree": (LexborHTMLParser, sources),
        "parse": (lambda r: parser.parse(r.replace()), responses),
        "terms": (terms, pages),
        "link terms": (link_terms, pages),
        "fingerprints": (fingerprints, pages),
        "ours": (ours, responses),
        "LinkExtractor": (lambda r: extractor.extract_links(r.replace()), responses),
    }


def measured(
    responses: Sequence[HtmlResponse], parser: PageParser, rounds: int
) -> dict[str, float]:
    """Return the CPU milliseconds a page of each stage, the best of the rounds."""
    best = dict.fromkeys(STAGES, float("inf"))
    work = stages(responses, parser)
    for _, (name, (function, items)) in itertools.product(range(rounds), work.items()):
        begun = time.process_time()
        for item in items:
            function(item)
        best[name] = min(best[name], (time.process_time() - begun) / len(items) * 1e3)
    return best


def main() -> None:
    """Measure, and print a table or JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=150, help="pages of each set")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", action="store_true")
    arguments = options.parse_args()
    sets = {"generated": list(generated(arguments.pages))}
    for name in ("webkb", "uci", "manuals", "wikispeedia"):
        if (CORPORA / name).is_dir():
            sets[name] = list(real(name, arguments.pages))
    rows: dict[str, dict[str, float]] = {}
    for name, responses in sets.items():
        parser = PageParser(analyzer=Analyzer("english"))
        links = [len(parser.parse(response).links) for response in responses]
        times = measured(responses, parser, arguments.rounds)
        rows[name] = {
            "kB": sum(len(response.body) for response in responses) / len(responses) / 1e3,
            "links": sum(links) / len(links),
            **times,
            "ratio": times["LinkExtractor"] / times["ours"],
        }
    hostile = {}
    for name, make in HOSTILE.items():
        source = make()
        begun = time.process_time()
        PageParser(analyzer=Analyzer("english")).parse_html(source, "http://a.example/")
        hostile[name] = time.process_time() - begun
    if arguments.json:
        print(json.dumps({"ms_a_page": rows, "hostile_s": hostile}))
        return
    columns = ("kB", "links", *STAGES, "ratio")
    print("| pages |", " | ".join(columns), "|")
    print("| --- |", " --- |" * len(columns))
    for name, row in rows.items():
        print(f"| {name} |", " | ".join(f"{row[column]:.3g}" for column in columns), "|")
    print("\nHostile sources, in seconds:")
    for name, seconds in hostile.items():
        print(f"{name}: {seconds:.2f}")


if __name__ == "__main__":
    main()
