"""The sample web is what it says: so many pages, the same always, a fair test of a crawl.

Terms are made here by other means than the package's: a regular expression, a short list of
stop words, and no stems but a plural's.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter, deque
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from parsel import Selector
from protego import Protego

from focusspider.replay.archive import answer, page_key
from focusspider.replay.sample import (
    SAMPLE_KEYWORDS,
    SAMPLE_SEEDS,
    SampleWeb,
    relevant_urls,
    sample_web,
)

ROOT = Path(__file__).resolve().parents[2]
CALENDAR = "http://www.thornby.example/calendar/"
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a about after all also an and any are as at be been before but by can do each for from
        had has have he her his how if in into is it its more must not of off old on once one only
        or other our out over she so than that the their them then there they this to too two until
        up was we were what when where which while who will with you your""",
    )
)


def page(url: str) -> tuple[Selector, str]:
    """Return a page, decoded as its header or itself says, and its base URL."""
    stored = sample_web().get(url)
    said = re.search(r"charset=([\w-]+)", stored.header("Content-Type"))
    charset = said[1] if said else declared(stored.body)
    selector = Selector(stored.body.decode(charset, "replace") or "<html></html>")
    return selector, selector.css("base::attr(href)").get(url)


def declared(body: bytes) -> str:
    found = re.search(rb"charset=[\"']?([\w-]+)", body[:1024])
    return found[1].decode() if found else "utf-8"


def is_page(url: str) -> bool:
    stored = sample_web().get(url)
    return (
        stored is not None
        and stored.status == 200
        and "html" in stored.header("Content-Type")
        and not stored.body.startswith(b"\x89PNG")
    )


def links(url: str) -> list[str]:
    selector, base = page(url)
    found = selector.xpath("//a/@href | //frame/@src").getall()
    refresh = selector.xpath("//meta[@http-equiv='refresh']/@content").re(r"url=(.+)")
    urls = []
    for link in found + refresh:
        try:
            target = urldefrag(urljoin(base, link)).url
            urls.append(page_key(target))
        except ValueError:  # mailto:, javascript:, http://[bad
            continue
    return urls


def terms(text: str) -> Counter[str]:
    words = re.findall(r"[^\W\d_]+", text.lower())
    return Counter(
        word.removesuffix("s") for word in words if len(word) > 1 and word not in STOP_WORDS
    )


def cosine(a: Counter[str], b: Counter[str]) -> float:
    norm = math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
    return sum(n * b[word] for word, n in a.items()) / norm if norm else 0.0


@pytest.fixture(scope="module")
def similarity() -> dict[str, float]:
    """Cosine of each page with the topic's keywords and description."""
    topic = tomllib.loads((ROOT / "topics" / "sample.toml").read_text(encoding="utf-8"))
    query = terms(" ".join(topic["keywords"]) + topic["description"])
    return {
        url: cosine(terms(" ".join(page(url)[0].xpath("//body//text()").getall())), query)
        for url in sample_web().urls()
        if is_page(url)
    }


def test_size() -> None:
    web = sample_web()
    urls = list(web.urls())
    assert 580 <= len(web) == len(urls) == len(set(urls)) <= 620
    assert len({urlsplit(url).netloc for url in urls}) == 12
    assert all(urlsplit(url).netloc.endswith(".example") for url in urls)
    assert all(page_key(url) == url for url in urls)


def test_it_is_the_same_in_every_process() -> None:
    code = (
        "import hashlib; from focusspider.replay.sample import sample_web; web = sample_web(); "
        "print(hashlib.sha256(repr([web.get(url) for url in web.urls()]).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    again = SampleWeb()
    here = hashlib.sha256(repr([again.get(url) for url in again.urls()]).encode()).hexdigest()
    assert digests == {here}


def test_a_tenth_is_on_topic() -> None:
    relevant = relevant_urls()
    assert 0.08 <= len(relevant) / len(sample_web()) <= 0.12
    assert all(is_page(url) for url in relevant)
    assert len({urlsplit(url).netloc for url in relevant}) == 8  # four hosts have none


def test_every_link_leads_somewhere_but_for_the_dead_ones() -> None:
    web = sample_web()
    dead = {
        target
        for url in web.urls()
        if is_page(url)
        for target in links(url)
        if answer(web, target) is None
    }
    assert dead == {"http://www.closed.example/", "http://www.thornby.example/gone/band.html"}


def reachable() -> dict[str, int]:
    """Return how many links each URL is from the nearest seed; the calendar is left out."""
    web = sample_web()
    steps = {page_key(url): 0 for url in SAMPLE_SEEDS}
    queue = deque(steps)
    while queue:
        url = queue.popleft()
        stored = answer(web, url)
        if stored is None:
            continue
        if stored.is_redirect:
            targets = [page_key(urljoin(url, stored.header("Location")))]
        else:
            targets = links(url) if is_page(url) else []
        for target in targets:
            if target not in steps and not target.startswith(CALENDAR):
                steps[target] = steps[url] + 1
                queue.append(target)
    return steps


def test_everything_can_be_reached_from_the_seeds() -> None:
    steps = reachable()
    unlinked = {url for url in sample_web().urls() if url not in steps}
    assert {url.rpartition("/")[2] for url in unlinked} == {"robots.txt", "sitemap.xml", ""}
    assert unlinked & {page_key(url) for url in SAMPLE_SEEDS} == set()
    depths = Counter(steps[url] for url in relevant_urls())
    assert depths[0] == 0  # no seed is on topic
    assert max(depths) >= 4


def test_the_workshop_is_behind_pages_that_are_not_on_topic(similarity: dict[str, float]) -> None:
    """Its 20-odd pages are the largest find, and link lists lead to it."""
    host = "http://www.greendoor.example/"
    leading = {
        url
        for url in similarity
        if not url.startswith(host) and any(target.startswith(host) for target in links(url))
    }
    lists = {url for url in leading if similarity[url] < 0.15 and url not in relevant_urls()}
    assert sum(url.startswith(host) for url in relevant_urls()) > 20
    assert len(lists) >= 3


def test_topic_pages_are_told_by_their_words(similarity: dict[str, float]) -> None:
    on = [similarity[url] for url in relevant_urls()]
    off = [value for url, value in similarity.items() if url not in relevant_urls()]
    assert min(on) > 0.15
    assert sum(value > 0.2 for value in on) / len(on) > 0.95
    assert sum(value < 0.1 for value in off) / len(off) > 0.9
    assert sum(value > 0.2 for value in off) <= 5
    assert sum(0.05 < value < 0.2 for value in off) > 50  # those that share a word or two


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://www.alderton.example/physics/the-simple-pendulum.html", "pendulum"),
        ("http://www.alderton.example/biology/the-clock-in-every-cell.html", "clock"),
        ("http://www.alderton.example/computing/pivot-tables.html", "pivot"),
        ("http://shops.highstreet.example/gifts/the-little-clock-shop.html", "clock"),
        ("http://www.thornby.example/past/the-restoration-of-the-monarchy.html", "restoration"),
    ],
)
def test_decoys(similarity: dict[str, float], url: str, word: str) -> None:
    assert word in page(url)[0].css("title::text").get().lower()
    assert url not in relevant_urls()
    assert similarity[url] < 0.2


def test_the_calendar_has_no_end() -> None:
    url = f"{CALENDAR}2026-11"
    seen = set()
    for _ in range(500):
        seen.add(url)
        url = next(target for target in links(url) if target.startswith(CALENDAR) and target > url)
    assert len(seen) == 500
    assert not seen & set(sample_web().urls())
    for bad in ("2026-13", "2026-00", "26-11", "2026-11-01"):
        assert answer(sample_web(), CALENDAR + bad) is None
    for edge in ("0000-01", "9999-12"):
        assert all(answer(sample_web(), target) for target in links(CALENDAR + edge))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://www.dalemuseum.example/clocks", [301]),
        ("http://shops.highstreet.example/out?1", [302]),
        ("http://www.thornby.example/old/home", [301, 302, 301]),
        ("http://members.freepages.example/cgi-bin/ring?oldoak", [302]),
        ("http://www.thornby.example/old/left", None),
    ],
)
def test_redirects(url: str, path: list[int] | None) -> None:
    statuses = []
    while len(statuses) < 10:
        stored = answer(sample_web(), url)
        if not stored.is_redirect:
            break
        statuses.append(stored.status)
        url = urljoin(url, stored.header("Location"))
    if path is None:
        assert len(statuses) == 10  # a loop
    else:
        assert statuses == path
        assert is_page(url)


@pytest.mark.parametrize(
    ("url", "charset", "word"),
    [
        ("http://www.kitchentable.example/ru/page.html", "koi8-r", "по-домашнему"),
        ("http://www.kitchentable.example/fr/tarte-aux-prunes.html", "iso-8859-1", "noyaux"),
        (
            "http://members.freepages.example/~lantern/facades-and-facon-french-clocks.htm",
            "windows-1252",
            "Façades",
        ),
    ],
)
def test_charsets_that_only_the_page_declares(url: str, charset: str, word: str) -> None:
    stored = sample_web().get(url)
    assert "charset" not in stored.header("Content-Type")
    assert declared(stored.body) == charset
    assert word in stored.body.decode(charset)
    with pytest.raises(UnicodeDecodeError):
        stored.body.decode("utf-8")


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("forum.tinkerers.example", "/print?which-oil"),
        ("en.openwiki.example", "/w/edit?Escapement"),
    ],
)
def test_robots_forbid_what_is_there(host: str, path: str) -> None:
    url = f"http://{host}{path}"
    robots = Protego.parse(sample_web().get(f"http://{host}/robots.txt").body.decode())
    assert sample_web().get(url).status == 200
    assert not robots.can_fetch(url, "focusspider")
    assert robots.can_fetch(f"http://{host}/clocks/which-oil.html", "focusspider")


def test_the_sitemap_lists_pages_that_are_there() -> None:
    robots = Protego.parse(
        sample_web().get("http://www.dailyledger.example/robots.txt").body.decode()
    )
    (sitemap,) = robots.sitemaps
    urls = re.findall(r"<loc>(.+?)</loc>", sample_web().get(sitemap).body.decode())
    assert len(urls) > 50
    assert all(is_page(url) for url in urls)


def test_what_else_a_crawl_meets() -> None:
    web = sample_web()
    bodies = Counter(web.get(url).body for url in web.urls() if is_page(url))
    assert sum(count > 1 for body, count in bodies.items() if body) >= 5  # the same page twice
    assert b"<FRAMESET" in web.get("http://members.freepages.example/~tickover/").body
    assert web.get("http://weather.skywatch.example/radar.html").body.startswith(b"\x89PNG")
    assert web.get("http://weather.skywatch.example/empty.html").body == b""
    broken = "http://shops.highstreet.example/basement.html"
    assert b"<html" not in web.get(broken).body
    assert set(links(broken)) >= {
        "http://shops.highstreet.example/out?1",
        "http://shops.highstreet.example/out?2",
    }
    texts = [page(url)[0] for url in web.urls() if is_page(url)]
    assert {text.xpath("/html/@lang").get("en") for text in texts} == {"en", "fr", "ru"}
    assert sum(bool(text.css("a[rel~=nofollow]")) for text in texts) > 20
    assert sum(bool(text.css("base")) for text in texts) == 1
    dead_ends = [url for url in web.urls() if is_page(url) and not links(url)]
    assert dead_ends


def test_the_topic_file_is_the_samples() -> None:
    topic = tomllib.loads((ROOT / "topics" / "sample.toml").read_text(encoding="utf-8"))
    assert tuple(topic["keywords"]) == SAMPLE_KEYWORDS
    assert tuple(topic["seeds"]) == SAMPLE_SEEDS


def test_breadth_first_finds_a_quarter_to_a_third_within_the_budget() -> None:
    """A crawl by hand: 150 pages in the order in which they are discovered."""
    web, budget = sample_web(), 150
    queue = deque(page_key(url) for url in SAMPLE_SEEDS)
    known, fetched = set(queue), []
    while len(fetched) < budget:
        url = queue.popleft()
        stored = answer(web, url)
        if stored is None:
            continue
        if stored.is_redirect:
            targets = [page_key(urljoin(url, stored.header("Location")))]
        else:
            fetched.append(url)
            targets = links(url) if is_page(url) else []
        for target in targets:
            if target not in known and "/print?" not in target and "/w/" not in target:
                known.add(target)
                queue.append(target)
    found = len(relevant_urls() & set(fetched))
    assert 0.25 <= found / len(relevant_urls()) <= 0.35
