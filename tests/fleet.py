"""A project that has never heard of focusspider, and the site that its spiders crawl."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.crawls import ROOT

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

__all__ = ["Shop", "jsonl", "make_project", "python"]

CLOCKS = [f"/clocks/{n}" for n in range(1, 7)]
SOAPS = [f"/soaps/{n}" for n in range(1, 7)]


def html(title: str, *links: str, text: str = "") -> str:
    anchors = "".join(f"<p>{text} <a href='{link}'>{title} {link}</a></p>" for link in links)
    return f"<html><title>{title}</title><body><h1>{title}</h1>{text}{anchors}</body></html>"


def pages() -> dict[str, str]:
    found = {
        "/": html("Shop", "/clocks/", "/soaps/", "/gone", "/login", "/?utm_source=home#top"),
        "/clocks/": html("Clocks", *CLOCKS, "/clocks/?page=2", text="pendulum clock"),
        "/clocks/?page=2": html("Clocks, page 2", "/clocks/7", text="pendulum clock"),
        "/soaps/": html("Soaps", *SOAPS, text="soap and water"),
        "/clocks/7": html("Clock 7", "/", text="the last pendulum clock"),
        "/login": html("Login"),
        "/robots.txt": "User-agent: *\nAllow: /\n",
        "/moved": "",
    }
    for path in CLOCKS:
        found[path] = html(f"Clock {path[-1]}", "/", text="a pendulum clock that strikes")
    for path in SOAPS:
        found[path] = html(f"Soap {path[-1]}", "/clocks/", text="soap of olive oil")
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        shop: Shop = self.server.shop  # type: ignore[attr-defined]
        path = self.path
        shop.asked.append((self.command, path))
        if path == "/sitemap.xml":
            urls = "".join(f"<url><loc>{shop.url}{p}</loc></url>" for p in [*CLOCKS, *SOAPS])
            self._answer(200, f'<?xml version="1.0"?><urlset>{urls}</urlset>', "text/xml")
        elif path.startswith("/api/"):
            self._answer(200, json.dumps({"path": path}), "application/json")
        elif path == "/late":
            time.sleep(1)
            self._answer(200, html("Late", text="pendulum clock"), "text/html")
        elif path == "/moved":
            self._answer(302, "", "text/html", Location="/clocks/7")
        elif path == "/cookies":
            self._answer(200, html(f"Cookies: {self.headers.get('Cookie', 'none')}"), "text/html")
        elif path in shop.pages:
            self._answer(200, shop.pages[path], "text/html")
        else:
            self._answer(404, "not here", "text/html")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        shop: Shop = self.server.shop  # type: ignore[attr-defined]
        shop.asked.append(("POST", self.path))
        self._answer(200, html(f"You sent {body}"), "text/html")

    def _answer(self, status: int, body: str, kind: str, **headers: str) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": len(data), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


class Shop:
    """The site, on loopback; ``asked`` has each request's method and path."""

    def __init__(self) -> None:
        self.pages = pages()
        self.asked: list[tuple[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.shop = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


SPIDERS = '''
import dataclasses

import scrapy
from focusspider import visit_of
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider

SITE = "{site}"


class Follow(CrawlSpider):
    """Follows each link."""

    name = "follow"
    start_urls = [SITE + "/"]
    rules = [Rule(LinkExtractor(), callback="page", follow=True)]

    def page(self, response):
        yield {{"url": response.url, "title": response.css("title::text").get()}}


class Map(SitemapSpider):
    """Takes its pages from a sitemap."""

    name = "map"
    sitemap_urls = [SITE + "/sitemap.xml"]

    def parse(self, response):
        yield {{"url": response.url, "title": response.css("title::text").get()}}


class Clock(scrapy.Item):
    url = scrapy.Field()
    relevance = scrapy.Field()
    relevant = scrapy.Field()


@dataclasses.dataclass
class Row:
    url: str
    relevant: bool | None = None


class Judge(CrawlSpider):
    """Asks what was decided about its pages."""

    name = "judge"
    start_urls = [SITE + "/clocks/"]
    rules = [Rule(LinkExtractor(), callback="page", follow=True)]
    custom_settings = {{
        "FOCUS_TOPIC": "clocks",
        "FOCUS_ITEM_FIELDS": ["relevant", "score", "path"],
    }}

    def page(self, response):
        visit = visit_of(response)
        if not visit.judgement.relevant:
            return
        yield Clock(url=response.url)
        yield Row(response.url)
        yield {{"url": response.url, "score": "mine", "why": visit.judgement.why}}


class Told(scrapy.Spider):
    """Has its topic with it, and examples on the web."""

    name = "told"
    start_urls = [SITE + "/clocks/", SITE + "/soaps/"]
    topic = {{
        "targets": [SITE + "/clocks/7", SITE + "/nowhere"],
        "relevance": {{"threshold": 0.3}},
        "limits": {{"pages": 9}},
    }}

    def parse(self, response):
        for link in response.css("a"):
            yield response.follow(link)
        yield {{"url": response.url}}


class Orders(scrapy.Spider):
    """Orders its requests itself."""

    name = "orders"

    async def start(self):
        for n in range(12):
            yield scrapy.Request(SITE + f"/api/{{n}}", priority=n * 7 % 12)
            yield scrapy.Request(SITE + f"/api/{{n}}", priority=n * 7 % 12)

    def parse(self, response):
        yield response.json()


class Everything(scrapy.Spider):
    """Does all that a spider may do."""

    name = "everything"

    async def start(self):
        yield {{"seen": "start"}}
        yield scrapy.Request(SITE + "/", cb_kwargs={{"mark": "home"}}, meta={{"mine": 1}})
        yield scrapy.Request(SITE + "/nowhere", errback=self.failed)
        yield scrapy.Request("http://127.0.0.1:9/", errback=self.failed)
        yield scrapy.Request(SITE + "/cookies", cookies={{"a": "1"}}, callback=self.cookies)
        yield scrapy.Request(SITE + "/moved", callback=self.moved, priority=5)

    def parse(self, response, mark):
        yield {{"seen": mark, "mine": response.meta["mine"]}}
        for link in response.css("a"):
            yield response.follow(link, callback=self.listing, errback=self.failed,
                                  meta=response.meta.copy())
        yield scrapy.FormRequest(SITE + "/search", formdata={{"q": "clock"}}, callback=self.found)
        yield scrapy.Request(SITE + "/api/list", callback=self.api)
        for n in range(2):
            yield scrapy.Request(SITE + "/login", dont_filter=True, callback=self.again,
                                 cb_kwargs={{"n": n}})
        yield scrapy.Request(SITE + "/soaps/1", callback=lambda r: self.titled("lambda", r))

    def listing(self, response):
        yield {{"seen": "listing", "url": response.url}}
        for link in response.css("a"):
            yield response.follow(link, callback=self.detail, cb_kwargs={{"item": {{"part": 1}}}})

    def detail(self, response, item):
        item["url"] = response.url
        yield scrapy.Request(SITE + "/api" + response.url.removeprefix(SITE),
                             callback=self.whole, cb_kwargs={{"item": item}})

    def whole(self, response, item):
        yield {{**item, "path": response.json()["path"]}}

    def found(self, response):
        yield from self.titled("form", response)

    def cookies(self, response):
        yield from self.titled("cookies", response)

    def moved(self, response):
        yield {{"seen": "moved", "url": response.url, "from": response.meta["redirect_urls"]}}

    def api(self, response):
        yield {{"seen": "api", "path": response.json()["path"]}}

    def again(self, response, n):
        yield {{"seen": "again", "n": n}}

    def titled(self, seen, response):
        yield {{"seen": seen, "title": response.css("title::text").get()}}

    def failed(self, failure):
        status = getattr(getattr(failure.value, "response", None), "status", None)
        yield {{"seen": "errback", "url": failure.request.url, "status": status}}
'''

SETTINGS = """
SPIDER_MODULES = ["shop.spiders"]
ROBOTSTXT_OBEY = True
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
RETRY_TIMES = 1
LOG_LEVEL = "INFO"
FEEDS = {"feeds/%(name)s.jsonl": {"format": "jsonlines", "overwrite": True}}
"""

#: What a project's own script does to run all its spiders in one process.
SCRIPT = """
import sys
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import get_project_settings

process = AsyncCrawlerProcess(get_project_settings())
for name in sys.argv[1:]:
    process.crawl(name)
process.start()
"""

TOPIC = """
keywords = ["pendulum clock"]
[relevance]
threshold = 0.2
"""


def make_project(folder: Path, site: str, settings: str = "") -> Path:
    """Write the project, with these settings below its own, and return its folder."""
    (folder / "shop").mkdir(parents=True)
    (folder / "topics").mkdir()
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = shop.settings\n")
    (folder / "shop/__init__.py").touch()
    (folder / "shop/settings.py").write_text(SETTINGS + settings)
    (folder / "shop/spiders.py").write_text(SPIDERS.format(site=site))
    (folder / "topics/clocks.toml").write_text(TOPIC)
    (folder / "run.py").write_text(SCRIPT)
    return folder


def python(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a project, with warnings as errors; its log goes into ``stdout``."""
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )


def jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
