"""What a page is given in the browser, and what it may ask for, from the web and an archive."""

from __future__ import annotations

import gzip
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawls import ROOT, crawl
from tests.render.test_crawl import QUICK, paths, rendered
from tests.site import Reply, Site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("chromium")

SCRIPT = {"Content-Type": "text/javascript"}


def test_robots_txt_holds_for_what_a_page_asks_for_on_any_host(tmp_path: Path) -> None:
    added = "document.body.insertAdjacentHTML('beforeend', '<a href=/{}>clock</a>');"

    def pages(host: str, path: str) -> Reply | str | None:
        if path == "/":
            other = f"http://127.0.0.2:{web.port}"
            sources = ("/open.js", "/shut/a.js", f"{other}/open2.js", f"{other}/shut/b.js")
            return "".join(f"<script src={source} defer></script>" for source in sources)
        if path == "/robots.txt":
            return "User-agent: *\nDisallow: /shut/\n"
        if path.endswith(".js"):
            return Reply(added.format(path.rpartition("/")[2].partition(".")[0]), headers=SCRIPT)
        return "clock"

    with Site(pages) as web:
        done = rendered(tmp_path, web, "render=auto")
        assert sorted(paths(done)) == ["/", "/open", "/open2"]
        assert done.stats["focus/render/refused/robots"] == 2
        assert not any(hit.path.startswith("/shut/") for hit in web.hits)
        assert [hit.path for hit in web.hits].count("/robots.txt") == 2  # one a host


def test_a_page_is_fetched_once_and_is_what_its_site_meant(tmp_path: Path) -> None:
    text = "<title>Café clock</title><p>clock</p><script>document.write('<a href=b>clock é</a>');"
    text += "history.replaceState({}, '', '/deep/er/')</script>"
    compressed = gzip.compress(text.encode("latin-1"))
    headers = {"Content-Type": "text/html; charset=latin-1", "Content-Encoding": "gzip"}
    web = {
        "/": "<a href=/moved>clock</a>",
        "/moved": Reply("", 302, {"Location": "/page"}),
        "/page": Reply(compressed, headers={**headers, "Set-Cookie": "a=1"}),
        "/deep/er/b": Reply("<script>document.write('<a href=/never>x</a>')</script>", 404),
    }
    with Site(web) as site:
        done = rendered(tmp_path, site, "render=always")
    assert [hit.path for hit in site.hits] == ["/robots.txt", "/", "/moved", "/page", "/deep/er/b"]
    item = done.items[1]
    assert (item["title"], item["status"]) == ("Café clock", 200)
    assert item["url"].endswith("/page")
    assert done.stats["focus/page/failed/http"] == 1


def test_what_a_page_asks_for_goes_the_way_that_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = (
        "<script src=/menu.js></script>"
        "<script>document.write(`<a href=/${document.cookie}>clock</a>`)</script>"
    )
    pages = {
        "/": Reply("<a href=/shop>clock</a>", headers={"Set-Cookie": "a=1; HttpOnly"}),
        "/shop": Reply(shop),
        "/menu.js": Reply("document.write('<a href=/menu>clock</a>')", headers=SCRIPT),
    }
    with Site(lambda host, path: pages.get(path, Reply("clock"))) as web:
        monkeypatch.setenv("http_proxy", web.proxy)  # the host has no address
        done = crawl(tmp_path, "keywords=clock", "seeds=http://clocks.example/", "render=auto",
                     **QUICK, COOKIES_ENABLED=True)  # fmt: skip
    assert sorted(paths(done)) == ["/", "/a=1", "/menu", "/shop"]
    assert {hit.host for hit in web.hits} == {"clocks.example"}


def test_an_archive_is_rendered_from_itself(tmp_path: Path) -> None:
    host = tmp_path / "web" / "web.example"
    host.mkdir(parents=True)
    with Site({"/local.js": Reply("", headers=SCRIPT)}) as web:
        scripts = ("menu.js", "gone.js", f"http://127.0.0.1:{web.port}/local.js")
        source = "".join(f"<script src='{script}'></script>" for script in scripts)
        (host / "index.html").write_text(f"<title>clock</title>{source}<p id=p>clock</p>")
        (host / "menu.js").write_text("addEventListener('load', () => { p.innerHTML = "
                                      "'clock <a href=made.html>clock</a>'; });")  # fmt: skip
        (host / "made.html").write_text("<title>clock</title>clock")
        done = crawl(tmp_path / "exports", "keywords=clock", "seeds=http://web.example/",
                     "render=auto", FOCUS_REPLAY=tmp_path / "web")  # fmt: skip
        assert web.hits == []
    assert paths(done) == ["/", "/made.html"]
    assert done.stats["focus/render/page"] == 1
    assert done.stats["focus/render/refused/local"] == 1
    assert done.stats["focus/render/open"] == 0


def test_what_is_found_is_part_of_the_page_for_every_reader_of_it(tmp_path: Path) -> None:
    page = (
        "<h1>Clocks</h1><ul class=menu><li class=item>Makers <b id=b>show</b></li></ul><script>"
        "b.onclick = () => b.insertAdjacentHTML('afterend', '<a href=/m rel=nofollow>Reed</a>');"
        "</script>"
    )
    with Site({"/": page}) as web:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "scrapy", "fetch", "--nolog", "-s",
             "FOCUS_RENDER=always", web.url("/")],
            cwd=ROOT, capture_output=True, text=True, timeout=100, check=True,
        )  # fmt: skip
    _, _, found = done.stdout.partition('<nav class="focus-probed" hidden>')
    assert " ".join(found.partition("</nav>")[0].split()) == (
        '<section><ul class="menu"><li class="item"> Makers show '
        f'<a href="{web.url("/m")}" rel="nofollow">Reed</a></li></ul></section>'
    )
