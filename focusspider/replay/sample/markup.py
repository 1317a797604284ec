"""What the pages of the sample web look like: four ways to write HTML.

``modern`` is HTML5, ``tables`` a layout of about 2001 in nested tables, ``posts`` a forum, and
``nineties`` leaves tags open that a parser must close, as most pages of that time do.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from focusspider.replay.sample.prose import Dice, Theme
from focusspider.replay.sample.web import href

if TYPE_CHECKING:
    from focusspider.replay.sample.web import Link, Page, Site

__all__ = ["render"]

_REFERENCES = ("See also {}.", "More about this in {}.", "Compare {}.", "This goes on in {}.")


def render(page: Page, site: Site) -> bytes:
    """Return the HTML of a page, in its charset."""
    dice = Dice(page.url)
    texts = Theme.named(page.theme).paragraphs(dice, page.lengths)
    if page.also:
        texts += Theme.named(page.also).paragraphs(dice, page.also_lengths)
    lines = [escape(text) for text in texts]
    for number, link in enumerate(page.inline):
        reference = dice.pick(_REFERENCES).format(_anchor(page, site, link))
        lines[number % len(lines)] += f" {reference}"
    html = _LAYOUTS[site.layout](page, site, lines)
    return html.encode(page.charset, "xmlcharrefreplace")


def _anchor(page: Page, site: Site, link: Link) -> str:
    rel = f' rel="{link.rel}"' if link.rel else ""
    target = escape(href(page.url, link.url, site.hrefs))
    return f'<a href="{target}"{rel}>{escape(link.anchor)}</a>'


def _items(page: Page, site: Site, links: list[Link], item: str) -> str:
    return "\n".join(
        item.format(_anchor(page, site, link) + (f" {escape(link.blurb)}" if link.blurb else ""))
        for link in links
    )


def _modern(page: Page, site: Site, lines: list[str]) -> str:
    nav = _items(page, site, site.nav, "<li>{}</li>")
    text = "\n".join(f"<p>{line}</p>" for line in lines)
    lists = "\n".join(
        f'<section class="list"><h2>{escape(heading)}</h2>\n<ul>\n'
        f"{_items(page, site, links, '<li>{}</li>')}\n</ul></section>"
        for heading, links in page.lists
    )
    return f"""<!DOCTYPE html>
<html lang="{page.language}">
<head><meta charset="{page.charset}">
<title>{escape(page.title)} - {escape(site.name)}</title></head>
<body>
<header><p class="name">{escape(site.name)}</p><nav><ul class="menu">
{nav}
</ul></nav></header>
<main><article><h1>{escape(page.title)}</h1>
{text}
</article>
{lists}</main>
<footer><p>{escape(site.name)}. A page of the sample web.</p></footer>
</body></html>
"""


def _tables(page: Page, site: Site, lines: list[str]) -> str:
    nav = _items(page, site, site.nav, '<tr><td class="menu">{}</td></tr>')
    text = "<br><br>\n".join(lines)
    lists = "\n".join(
        f"<tr><td><b>{escape(heading)}</b></td></tr>\n"
        + _items(page, site, links, "<tr><td>{}</td></tr>")
        for heading, links in page.lists
    )
    return f"""<html><head><title>{escape(site.name)}: {escape(page.title)}</title>
<meta http-equiv="Content-Type" content="text/html; charset={page.charset}"></head>
<body bgcolor="#ffffff"><table width="760"><tr><td colspan="2"><b>{escape(site.name)}</b></td></tr>
<tr><td valign="top"><table class="left">
{nav}
</table></td><td valign="top"><table class="content"><tr><td><h1>{escape(page.title)}</h1>
{text}
</td></tr>
{lists}
</table></td></tr></table></body></html>
"""


def _posts(page: Page, site: Site, lines: list[str]) -> str:
    dice = Dice(f"{page.url} posts")
    nav = " | ".join(_anchor(page, site, link) for link in site.nav)
    posts = "\n".join(
        f'<div class="post"><div class="from">Member {100 + dice.below(900)}</div>'
        f'<div class="text">{line}</div></div>'
        for line in lines
    )
    lists = "\n".join(
        f'<table class="topics"><tr><th>{escape(heading)}</th></tr>\n'
        f"{_items(page, site, links, '<tr><td>{}</td></tr>')}\n</table>"
        for heading, links in page.lists
    )
    return f"""<!doctype html><html><head><title>{escape(page.title)}</title></head><body>
<div id="top">{escape(site.name)}: {nav}</div>
<h2>{escape(page.title)}</h2>
{posts}
{lists}
<div id="foot">Times are local times. Be kind.</div></body></html>
"""


def _nineties(page: Page, site: Site, lines: list[str]) -> str:
    nav = " | ".join(_anchor(page, site, link) for link in site.nav)
    text = "\n<P>".join(lines)
    lists = "\n".join(
        f"<H3>{escape(heading)}</H3>\n<UL>\n{_items(page, site, links, '<LI>{}')}\n</UL>"
        for heading, links in page.lists
    )
    meta = ""
    if page.charset != "utf-8":
        meta = f'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={page.charset}">\n'
    return f"""<HTML><HEAD>{meta}<TITLE>{escape(page.title)}</TITLE></HEAD>
<BODY BGCOLOR=#FFFFEE TEXT=#000000>
<CENTER><H1>{escape(page.title)}</H1></CENTER>
<HR>
<P>{text}
{lists}
<HR>
<FONT SIZE=-1>{nav}</FONT>
"""


_LAYOUTS = {"modern": _modern, "nineties": _nineties, "posts": _posts, "tables": _tables}
