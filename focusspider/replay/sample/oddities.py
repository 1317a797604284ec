"""What a crawl meets besides pages: redirects, traps, files that are not what they say."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from focusspider.replay.archive import Stored
from focusspider.replay.sample.craft import FORUM, FREEPAGES, GREEN_DOOR, MUSEUM, WIKI
from focusspider.replay.sample.markup import render
from focusspider.replay.sample.town import CALENDAR, THORNBY
from focusspider.replay.sample.web import Link, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focusspider.replay.sample.web import Site, Web

__all__ = ["attach_oddities", "html", "made_on_demand", "oddities"]

_LEDGER = "http://www.dailyledger.example/"
_SHOPS = "http://shops.highstreet.example/"
_ALDERTON = "http://www.alderton.example/"
_SKYWATCH = "http://weather.skywatch.example/"
_MOBILE = 6  # articles of the newspaper that exist a second time

_MONTH = re.compile(re.escape(CALENDAR) + r"(\d{4})-(0[1-9]|1[0-2])")
_EDIT = re.compile(r"http://en\.openwiki\.example/w/edit\?(\w[\w:-]*)")
_PRINT = re.compile(re.escape(FORUM) + r"print\?([a-z0-9-]+)")

_ROBOTS = {
    THORNBY: "User-agent: *\nDisallow: /old/private/\nAllow: /\n",
    FORUM: "User-agent: *\nDisallow: /print\n",
    WIKI.removesuffix("wiki/"): "# Please fetch pages, not forms.\nUser-agent: *\nDisallow: /w/\n",
    _LEDGER: f"User-agent: *\nDisallow:\nSitemap: {_LEDGER}sitemap.xml\n",
}
_REDIRECTS = (
    (f"{MUSEUM}clocks", 301, "/galleries/clocks.html"),
    (f"{MUSEUM}visit", 301, f"{MUSEUM}visit/"),
    (WIKI.removesuffix("wiki/"), 301, "/wiki/Main_Page"),
    (f"{_SHOPS}out?1", 302, GREEN_DOOR),
    (f"{_SHOPS}out?2", 302, f"{THORNBY}visitors/"),
    (f"{THORNBY}old/home", 301, "/old/start"),
    (f"{THORNBY}old/start", 302, "/old/welcome"),
    (f"{THORNBY}old/welcome", 301, THORNBY),
    (f"{THORNBY}old/left", 302, "/old/right"),
    (f"{THORNBY}old/right", 302, "/old/left"),
    (f"{FREEPAGES}cgi-bin/ring?oldoak", 302, f"{FREEPAGES}~lantern/"),
    (f"{FREEPAGES}cgi-bin/ring?lantern", 302, f"{FREEPAGES}~tickover/"),
    (f"{FREEPAGES}cgi-bin/ring?tickover", 302, f"{FREEPAGES}~oldoak/"),
)
_FRAMESET = """<HTML><HEAD><TITLE>Tickover</TITLE></HEAD>
<FRAMESET COLS="160,*"><FRAME SRC="menu.htm" NAME=menu><FRAME SRC="carriage.htm" NAME=main>
<NOFRAMES><BODY>Your browser has no frames. <A HREF="menu.htm">Contents</A></BODY></NOFRAMES>
</FRAMESET></HTML>
"""
_MENU = """<HTML><BODY BGCOLOR=#DDDDFF><B>Contents</B><P>
<A HREF=carriage.htm TARGET=main>Carriage</A><BR>
<A HREF=cuckoo.htm TARGET=main>Cuckoo</A><BR>
<A HREF='my-regulator.htm' TARGET=main>My regulator</A><BR>
<A HREF="../cgi-bin/ring?tickover" TARGET=_top>Ring</A><BR>
<A HREF="mailto:tickover@freepages.example">Mail</A>
"""
_MOVED = """<html><head><meta http-equiv="refresh" content="0; url=../~oldoak/">
<title>Moved</title></head><body>My pages are at a new place.</body></html>
"""
_BASE = """<!DOCTYPE html><html><head><title>Map of the campus</title>
<base href="http://www.alderton.example/office/"></head><body><h1>Map of the campus</h1>
<p>The <a href="./">administration</a> is at the gate, the
<a href="../physics/">laboratories</a> are by the river.</p></body></html>
"""
_BROKEN = """<title>Basement sale</title><body><table><tr><td><table><tr><td><b><i>Basement
sale</b></i><p>Everything must go, <a href="/food/">food<a href=/gifts/>watches</a>
and <a href='/out?1'> a workshop's leavings</a><tr><td><font color=red>Bring
a bag<li>chairs<li>a till
<li><a href="javascript:history.back()">back</a> <a href="http://[bad">a bad link</a>
<a href="/out?2"">the town</a></td></table></div></span><p><a href="/house/">House & garden
<!-- never closed
"""
_PIXELS = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 8


def attach_oddities(web: Web) -> None:
    """Add the links that lead to what :func:`oddities` yields."""
    sites = {site.url(""): site for site in web.sites}
    museum, town, shops = sites[MUSEUM], sites[THORNBY], sites[_SHOPS]
    page_of = {page.url: page for site in web.sites for page in site.pages}
    page_of[MUSEUM].inline.append(Link(f"{MUSEUM}clocks", "our timekeepers"))
    museum.nav.append(Link(museum.url("visit"), "Visit"))
    page_of[THORNBY].lists.append(
        (
            "Old addresses",
            [Link(town.url(f"old/{name}"), name) for name in ("home", "left")],
        )
    )
    page_of[_SHOPS].inline.append(Link(shops.url("basement.html"), "the basement sale"))
    page_of[_ALDERTON].inline.append(Link(f"{_ALDERTON}map.html", "the map"))
    page_of[f"{FREEPAGES}~beck/"].inline.append(Link(f"{FREEPAGES}~oak/", "an oak"))
    page_of[_SKYWATCH].lists.append(
        (
            "Data",
            [
                Link(f"{_SKYWATCH}radar.html", "Radar"),
                Link(f"{_SKYWATCH}raw.txt", "Plain numbers"),
                Link(f"{_SKYWATCH}empty.html", "Snow"),
            ],
        )
    )
    ledger = sites[_LEDGER]
    copies = Page(ledger.url("m/"), "On your telephone", "directory", lengths=(2,))
    copies.lists.append(("Today", [Link(url, title) for url, title in _mobile(ledger)]))
    ledger.pages.append(copies)
    page_of[_LEDGER].inline.append(copies.link())


def oddities(web: Web) -> Iterator[Stored]:
    """Yield every response that is not a page of a site."""
    for base, text in _ROBOTS.items():
        yield Stored(f"{base}robots.txt", 200, (("Content-Type", "text/plain"),), text.encode())
    for url, status, target in _REDIRECTS:
        yield Stored(url, status, (("Location", target), ("Content-Type", "text/html")), b"")
    yield html(f"{FREEPAGES}~tickover/", _FRAMESET)
    yield html(f"{FREEPAGES}~tickover/menu.htm", _MENU)
    yield html(f"{FREEPAGES}~oak/", _MOVED)
    yield html(f"{_ALDERTON}map.html", _BASE)
    yield html(f"{_SHOPS}basement.html", _BROKEN)
    yield html(f"{_SKYWATCH}radar.html", _PIXELS)
    yield html(f"{_SKYWATCH}empty.html", "")
    numbers = "".join(f"{hour:02d}00 {1000 + hour * 7 % 31}\n" for hour in range(24))
    yield Stored(f"{_SKYWATCH}raw.txt", 200, (("Content-Type", "text/plain"),), numbers.encode())
    ledger = next(site for site in web.sites if site.url("") == _LEDGER)
    yield _sitemap(ledger)
    pages = {page.url: page for page in ledger.pages}
    for url, _ in _mobile(ledger):
        yield html(url, render(pages[url.replace("/m/", "/", 1)], ledger))


def made_on_demand(url: str, web: Web) -> Stored | None:
    """Return a page of which there are more than can be listed."""
    month = _MONTH.fullmatch(url)
    if month:
        return _calendar(url, int(month[1]), int(month[2]), web)
    edit = _EDIT.fullmatch(url)
    if edit:
        name = escape(edit[1])
        return html(url, f"<title>Edit {name}</title><form><textarea>{name}</textarea></form>")
    printed = _PRINT.fullmatch(url)
    if printed:
        forum = next(site for site in web.sites if site.url("") == FORUM)
        for page in forum.pages:
            if urlsplit(page.url).path.endswith(f"/{printed[1]}.html"):
                return html(url, render(page, forum))
    return None


def html(url: str, body: str | bytes, charset: str = "") -> Stored:
    """Return a response that says it is HTML; ``charset`` goes into the header."""
    kind = f"text/html; charset={charset}" if charset else "text/html"
    return Stored(
        url, 200, (("Content-Type", kind),), body.encode() if isinstance(body, str) else body
    )


def _calendar(url: str, year: int, month: int, web: Web) -> Stored:
    town = next(site for site in web.sites if site.url("") == THORNBY)
    page = Page(url, f"What's on, {year:04d}-{month:02d}", "town", lengths=(4, 4))
    now = year * 12 + month - 1
    steps = ((-1, "Month before"), (1, "Next month"), (-12, "Year before"), (12, "Next year"))
    months = [
        Link(f"{CALENDAR}{(now + step) // 12:04d}-{(now + step) % 12 + 1:02d}", name)
        for step, name in steps
        if 0 <= now + step < 120_000
    ]
    page.lists.append(("Calendar", months))
    return html(url, render(page, town), "utf-8")


def _mobile(ledger: Site) -> list[tuple[str, str]]:
    """Return the addresses and titles of articles that exist twice, one of them on topic."""
    articles = [page for page in ledger.pages if page.theme == "news" and page.lists]
    chosen = [page for page in articles if page.url.count("/") > 3][: _MOBILE - 1]
    chosen += [page for page in ledger.pages if page.relevant][:1]
    base = ledger.url("")
    return [(page.url.replace(base, f"{base}m/", 1), page.title) for page in chosen]


def _sitemap(ledger: Site) -> Stored:
    entries = "".join(f"<url><loc>{escape(page.url)}</loc></url>\n" for page in ledger.pages)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    )
    return Stored(
        ledger.url("sitemap.xml"), 200, (("Content-Type", "application/xml"),), text.encode()
    )
