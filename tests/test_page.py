from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import RequestFingerprinter
from w3lib.url import safe_url_string

from focusspider.errors import NotAPageError
from focusspider.keytable import url_key
from focusspider.page import MAX_TITLE, Page, PageParser
from focusspider.text import Analyzer, Terms
from focusspider.urls import Fingerprinter, RefusedURLError, resolve
from tests.realpages import NAMES, responses

URL = "http://a.example/b/c.html"
ANALYZER = Analyzer("english")
PARSER = PageParser(analyzer=ANALYZER)


def read(html: str | bytes, url: str = URL) -> Page:
    return PARSER.parse_html(html, url)


NINETIES = """
<HTML><HEAD><TITLE>CS 314  Course
Home</TITLE><BASE HREF="http://www.cs.example/314/">
<BODY BGCOLOR=#FFFFFF>
<H1>Computer <FONT SIZE=+2>S</FONT>ystems<HR></H1>
Taught by <A HREF=http://www.cs.example/~smith/>Prof. Smith
<P>Handouts:
<UL><LI><A HREF="hw1.ps">Homework 1</A> due <B>Monday</B>
<LI><A HREF="hw2.ps">Homework 2
<LI>none yet</UL>
<TABLE><TR><TH>Day<TH>Room<TR><TD>Mon<TD>12</TABLE>
<A HREF="#top">Top</A> <A HREF="mailto:x@cs.example">mail</A>
"""


def test_a_page_of_the_nineties() -> None:
    page = read(NINETIES)
    assert page.title == "CS 314 Course Home"
    assert page.headings == ("Computer Systems",)
    assert page.text == (
        "Computer Systems Taught by Prof. Smith Handouts: Homework 1 due Monday "
        "Homework 2 none yet Day Room Mon 12 Top mail"
    )
    assert [(link.url, link.anchor, link.context) for link in page.links] == [
        ("http://www.cs.example/~smith/", "Prof. Smith", page.text),
        ("http://www.cs.example/314/hw1.ps", "Homework 1", "Homework 1 due Monday"),
        ("http://www.cs.example/314/hw2.ps", "Homework 2", "Homework 2"),
        ("http://www.cs.example/314/", "Top", page.text),
    ]
    assert page.refused == {"scheme": 1}
    assert page.language is None
    assert page.canonical is None


TODAY = """
<!doctype html><html lang="en-GB"><head><meta charset=utf-8><title>Birds &amp; bees</title>
<meta name=Description content=" All about
birds "><meta name=keywords content="birds, bees"><meta name=keywords content=late>
<link rel=canonical href="/birds"><link rel=next href="/birds?page=2">
<style>p { color: red }</style><script>var x = "<p>no</p>";</script></head>
<body class="home"><nav class="menu top"><ul><li><a href="/">Home</a></li></ul></nav>
<main><h1>Birds</h1><p>A <em>blue</em>bird<sup>1</sup>.</p>
<a class=card href="/birds/owl"><div><h2>Owl</h2></div><p>Sees at night</p></a>
<noscript>Please enable JavaScript</noscript><div hidden>secret</div>
<template><p>never</p></template><!-- comment --><svg><title>icon</title><path/></svg>
<textarea>typed</textarea><iframe src="https://ads.example/">no frames</iframe></main></body></html>
"""


def test_a_page_of_today() -> None:
    page = read(TODAY)
    assert page.language == "english"
    assert page.title == "Birds & bees"
    assert page.description == "All about birds"
    assert page.keywords == "birds, bees"
    assert page.headings == ("Birds", "Owl")
    assert page.text == "Home Birds A bluebird1. Owl Sees at night icon typed"
    assert page.canonical == "http://a.example/birds"
    assert [(link.kind, link.url, link.tag_path) for link in page.links] == [
        ("canonical", "http://a.example/birds", "html/head/link"),
        ("next", "http://a.example/birds?page=2", "html/head/link"),
        ("a", "http://a.example/", "html/body.home/nav.menu.top/ul/li/a"),
        ("a", "http://a.example/birds/owl", "html/body.home/main/a.card"),
        ("iframe", "https://ads.example/", "html/body.home/main/iframe"),
    ]
    assert page.links[3].anchor == "Owl Sees at night"
    assert page.terms == Terms.of(
        "bird bee home bird bluebird1 owl see night icon type".split()  # noqa: SIM905
    )


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<b>f</b>oo <i>b</i>ar", "foo bar"),
        ("<table><td>a</td><td>b</td>", "a b"),
        ("<p>a<p>b<br>c<hr>d<li>e<dt>f<dd>g", "a b c d e f g"),
        ("a<img src=x>b<input>c<button>d</button>e", "a b c d e"),
        ("<select><option>a<option>b</select>", "a b"),
        ("<pre>a\n  b\tc</pre>", "a b c"),
        ("a&nbsp;b&lt;c&#x2014;d", "a b<c—d"),
        ("a<!-- b -->c<!d>e<?f>g", "aceg"),
        ("a<script>b</script>c<style>d</style>e", "ace"),
        ("a<p hidden>b <i>c</i></p>d<div hidden=until-found>e</div>", "a d"),
        ("a<span hidden>b<span hidden>c</span></span>d", "ad"),
        ("a<noscript>b<p>c</noscript>d", "a d"),
        ("a<noframes>b</noframes>c<noembed>d</noembed>e<iframe>f</iframe>g", "a ce g"),
        ("a<xmp><b></xmp>c", "a<b>c"),
        ("<title>a</title>b<body>c", "b c"),
        ("<div>a<title>b</title>c", "a c"),
        ("a</body></html>b", "a b"),
        ("a\0b\x01c", "ab\x01c"),
        ("<p", ""),
        ("a<p", "a"),
        ("<title>a", ""),
        ("", ""),
        ("<frameset><frame src=x><noframes>a<p>b</noframes></frameset>", "a b"),
        ("<frameset><frame src=x></frameset><noframe><body>a<p>b", "a b"),
    ],
)
def test_text_as_a_reader_sees_it(html, text) -> None:
    assert read(html).text == text


def test_a_frameset_has_the_links_of_both_its_pages() -> None:
    page = read(
        "<title>t</title><link rel=next href=n><frameset><frame src=menu.html>"
        "<noframes><body><h1>h</h1><a href=x>y</a></body></noframes></frameset>"
    )
    assert [(link.kind, link.anchor, link.tag_path, link.position) for link in page.links] == [
        ("next", "", "html/head/link", 0),
        ("frame", "", "html/frameset/frame", 1),
        ("a", "y", "html/body/a", 2),
    ]
    assert (page.title, page.headings, page.text) == ("t", ("h",), "h y")


@pytest.mark.parametrize(
    ("html", "header", "language"),
    [
        ("<html lang=de>", None, "german"),
        ("<html lang='pt-BR'>", None, "portuguese"),
        ("<html xml:lang=fr>", None, "french"),
        ("<html lang=''><meta http-equiv=Content-Language content='it, en'>", None, "italian"),
        ("<p>", "es", "spanish"),
        ("<html lang=tlh>", "nl-BE", "dutch"),
        ("<html lang=ja>", "en", "japanese"),
        ("<html lang='{{ lang }}'>", None, None),
        ("<p lang=de>", None, None),
    ],
)
def test_the_language_of_a_page(html, header, language) -> None:
    headers = {"Content-Type": "text/html"} | ({"Content-Language": header} if header else {})
    assert PARSER.parse(HtmlResponse(URL, body=html.encode(), headers=headers)).language == language


def test_terms_are_in_the_language_of_the_page() -> None:
    page = read("<html lang=de><title>Häuser</title>Universitäten <a href=x>die Häuser</a>")
    assert page.terms == {"haus": 2, "universitat": 1}
    assert page.anchor_terms(page.links[0]) == {"haus": 1}
    assert page.context_terms(page.links[0]) == {"universitat": 1, "haus": 1}


def test_what_is_made_once_is_kept() -> None:
    page = read("<p>some long context " + "word " * 50 + "<a href=x>y</a> <a href=z>w</a>")
    first, second = page.links
    assert page.terms is page.terms
    assert page.context_terms(first) is page.context_terms(second)
    assert page.text is page.text


@pytest.mark.parametrize(
    "source",
    [
        "<p>Gezeiten: höher".encode(),
        b"<meta charset=iso-8859-1>" + "<p>Gezeiten: höher".encode("latin-1"),
        b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">'
        + "<p>Gezeiten: höher".encode("latin-1"),
        b"\xff\xfe" + "<p>Gezeiten: höher".encode("utf-16-le"),
        b"\xef\xbb\xbf" + "<p>Gezeiten: höher".encode(),
        b"<meta charset=base64>" + "<p>Gezeiten: höher".encode(),
    ],
)
def test_the_charset_of_a_file_is_found_too(source: bytes) -> None:
    assert read(source).text == "Gezeiten: höher"


def test_the_charset_is_the_one_that_scrapy_finds() -> None:
    body = "<p>Größe <a href='/ü?ü'>über</a>".encode("latin-1")
    page = PARSER.parse(
        HtmlResponse(URL, body=body, headers={"Content-Type": "text/html; charset=iso-8859-1"})
    )
    assert page.text == "Größe über"
    assert page.links[0].url == "http://a.example/%C3%BC?%FC"
    assert read("<p>Größe".encode()).text == "Größe"
    undeclared = "<p>Größe".encode("latin-1")  # and guessed
    assert read(undeclared).text == PARSER.parse(HtmlResponse(URL, body=undeclared)).text


def test_the_response_is_remembered() -> None:
    page = PARSER.parse(HtmlResponse(URL + "#x", body=b"<a href=c.html>y</a>", status=404))
    assert (page.url, page.status, page.links) == (URL + "#x", 404, ())
    assert repr(read("<title>t</title>")) == f"<Page {URL} 't', 0 links>"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (HtmlResponse(URL, body=b""), "empty"),
        (HtmlResponse(URL, body=b"%PDF-1.4\n"), "not_html"),
        (TextResponse(URL, body=b"body {}", headers={"Content-Type": "text/css"}), "not_html"),
        (Response(URL, body=b"\x00\x01"), "not_html"),
    ],
)
def test_no_pages(response, reason) -> None:
    with pytest.raises(NotAPageError) as caught:
        PARSER.parse(response)
    assert caught.value.reason == reason


def test_a_large_body_is_not_parsed() -> None:
    parser = PageParser(analyzer=ANALYZER, max_size=1_000)
    with pytest.raises(NotAPageError) as caught:
        parser.parse(HtmlResponse(URL, body=b"<p>" * 334))
    assert caught.value.reason == "too_large"
    assert len(parser.parse_html("word " * 1_000, URL).text) < 1_000


HOSTILE = {
    "links": "<a href=%d>x</a>\n",
    "links on a line": "<a href=%d>x</a>",
    "words": "word%d ",
    "nested": "<div class=x%d>",
    "nested links": "<div><a href=%d>x",
    "nested tables": "<table><tr><td><a href=%d>x",
    "nested hidden": "<span hidden class=x%d>",
    "open fonts": "<p><font color=%d>x",
    "headings in headings": "<h1><div id=%d>",
    "attributes": "<a x%d=1 ",
    "one tag": "x%d='<>' ",
    "forms": "<form><select><option value=%d>",
    "comments": "<!-- %d",
    "entities": "&#%d;",
    "no tags": "< %d > ",
    "svg": "<svg><title>%d",
    "templates": "<template><a href=%d>",
    "iframes": "<svg><iframe src=%d>",
    "bases": "<base href=/%d/>",
    "metas": "<meta name=%d content=x><meta http-equiv=refresh content='0;url=%d'>",
    "framesets": "<frameset><frame src=%d>",
    "hosts": "<a href=http://[%d>x</a><a href=//%d..x>y</a>",
    "ports": "<a href=//a:%d>x</a>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_read(name) -> None:
    unit = HOSTILE[name]
    size = 10_000
    html = "".join([unit.replace("%d", str(n)) for n in range(size)])
    page = read(f"<html>{'<a ' if name == 'one tag' else ''}{html}")
    assert len(page.links) <= PARSER.limits.links
    assert len(page.text) <= PARSER.max_text
    assert all(len(link.tag_path) < 2_500 for link in page.links)
    assert len(page.title) <= MAX_TITLE
    assert page.terms.total >= 0


def test_two_hundred_thousand_links() -> None:
    page = read("".join([f"<a href={n}>{n}</a>" for n in range(200_000)]))
    assert len(page.links) == 10_000
    assert page.refused == {"links": 190_000}
    assert page.links[-1].url == "http://a.example/b/9999"


def test_a_tree_ten_thousand_deep() -> None:
    page = read("<div>" * 10_000 + "word <a href=x>anchor</a>" + "</div>" * 10_000)
    assert page.text == "word anchor"
    assert page.links[0].anchor == "anchor"


def test_five_megabytes_on_a_line() -> None:
    page = read("<p>" + "word " * 1_000_000)
    assert len(page.text) == PARSER.max_text - 1
    assert page.terms["word"] == PARSER.max_text // 5


PARTS = """
    < > </ /> <! <!-- --> <? <a href= <a <area <base <iframe <frameset> <frame <meta <link <title>
    </title> <script> </script> <style> <div> </div> <p> <table> <tr> <td> </table> <b> </b> <font
    <li> <svg> <math> <template> <select> <option> <textarea> <noscript> <noframes> <body> <html
    lang= hidden class= rel=next http-equiv=refresh content= name=description = ' " & &amp; &#0;
    &#xD800; http:// // /x ../x [ ] : @ # ? % %zz javascript:x \ud800 é \ufeff
""".split()  # noqa: SIM905
PARTS += [" ", "\n", "\0", "\x0c", "\x7f", "x" * 3_000]


def exercise(page: Page) -> None:
    """Ask a page for everything, and check what must hold of any."""
    assert page.terms.total >= 0
    assert page.text == " ".join(page.text.split())
    for place, link in enumerate(page.links):
        assert link.position == place
        assert link.url.startswith(("http://", "https://"))
        assert link.url.isascii()
        assert "#" not in link.url
        assert link.tag_path.startswith("html") or link.tag_path.count("/") == 23
        assert page.anchor_terms(link).norm >= 0
        assert page.context_terms(link).norm >= 0
    for value in (page.title, page.text, page.description, page.keywords, *page.headings):
        assert type(value) is str


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_any_markup_is_read(html) -> None:
    exercise(read(html))


@given(st.binary(max_size=300), st.sampled_from(["", "utf-8", "utf-16", "gbk", "nonsense"]))
def test_any_bytes_are_read_or_refused(body, charset) -> None:
    headers = {"Content-Type": f"text/html; charset={charset}"}
    for start in (b"", b"<a href=", b"<html><p>"):
        with contextlib.suppress(NotAPageError):
            exercise(PARSER.parse(HtmlResponse(URL, body=start + body, headers=headers)))


def mutated(body: bytes, pick: random.Random) -> bytes:
    """Return a page with bytes flipped, a piece cut out, tags doubled, or its end missing."""
    pieces = bytearray(body)
    for _ in range(pick.randint(1, 20)):
        if not pieces:
            break
        at = pick.randrange(len(pieces))
        match pick.randint(0, 4):
            case 0:
                pieces[at] = pick.randrange(256)
            case 1:
                del pieces[at : at + pick.randint(1, 50)]
            case 2:
                end = pieces.find(b">", at) + 1
                start = pieces.rfind(b"<", 0, end)
                pieces[end:end] = pieces[max(start, 0) : end] * pick.randint(1, 5)
            case 3:
                pieces[at:at] = pick.choice(PARTS).encode("utf-8", "replace")
            case 4 if pick.random() < 0.2:
                del pieces[at:]
    return bytes(pieces)


def fuzz(responses_: list[Response], count: int, seed: int) -> int:
    pick = random.Random(seed)
    read_ = 0
    for _ in range(count):
        original = pick.choice(responses_)
        response = original.replace(body=mutated(original.body, pick))
        try:
            page = PARSER.parse(response)
        except NotAPageError:
            continue
        exercise(page)
        read_ += 1
    return read_


def test_mutated_pages_are_read() -> None:
    pages = [
        HtmlResponse(URL, body=html.encode(), headers={"Content-Type": "text/html"})
        for html in (NINETIES, TODAY, *(f"<p>{unit}" * 20 for unit in HOSTILE.values()))
    ]
    assert fuzz(pages, 500, seed=1) > 450


@pytest.mark.parametrize("name", NAMES)
def test_mutated_real_pages_are_read(corpora, name) -> None:
    pages = [r for r in responses(corpora, name, 200) if isinstance(r, HtmlResponse)]
    pages = [page for page in pages if len(page.body) < 30_000]
    assert fuzz(pages, 500, seed=2) > 400


@pytest.mark.parametrize("name", NAMES)
def test_links_of_real_pages_are_scrapys(corpora, name) -> None:
    """Nearly every link that Scrapy's extractor finds is found, and hardly any other."""
    extractor = LinkExtractor(
        tags=("a", "area", "frame", "iframe"), attrs=("href", "src"), deny_extensions=[]
    )
    both = either = 0
    for response in responses(corpora, name, 100):
        if not isinstance(response, HtmlResponse):
            continue
        ours = {
            link.url
            for link in PARSER.parse(response).links
            if link.kind in {"a", "area", "frame", "iframe"}
        }
        theirs = set()
        for link in extractor.extract_links(response):
            try:
                theirs.add(resolve(response.url, link.url))
            except RefusedURLError:
                continue
        theirs.discard(resolve(response.url, safe_url_string(response.url)))
        both += len(ours & theirs)
        either += len(ours | theirs)
    assert both > 0.97 * either > 400


def test_the_keys_of_a_page_and_its_links_are_the_frontiers() -> None:
    scrapys = RequestFingerprinter()
    parser = PageParser(analyzer=ANALYZER)
    parser.key_of = Fingerprinter(scrapys).key_of
    page = parser.parse_html("<a href='/x?b=1&a=2'>x</a><a href='/x?a=2&b=1#y'>x</a>", URL)
    expected = [
        int.from_bytes(scrapys.fingerprint(Request(link.url))[:8], "big") for link in page.links
    ]
    assert page.link_keys.tolist() == expected
    assert page.link_keys.dtype == np.uint64
    assert expected[0] == expected[1]  # one page, spelt in two ways
    assert page.key == int.from_bytes(scrapys.fingerprint(Request(URL))[:8], "big")


def test_without_a_crawl_a_key_is_that_of_the_url() -> None:
    page = read("<a href=d.html>d</a>")
    assert page.key == url_key(URL)
    assert page.link_keys.tolist() == [url_key("http://a.example/b/d.html")]
    assert read("").link_keys.tolist() == []


def test_what_redirected_to_a_page() -> None:
    urls = ["http://a.example/1", "http://a.example/2"]
    for meta, expected in (({}, []), ({"redirect_urls": urls}, urls)):
        response = HtmlResponse(URL, body=b"<p>x", request=Request(URL, meta=meta))
        page = PARSER.parse(response)
        assert list(page.moved_from) == expected
        assert page.moved_from_keys == tuple(map(url_key, expected))
    assert PARSER.parse(HtmlResponse(URL, body=b"<p>x")).moved_from == ()
