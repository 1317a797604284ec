from __future__ import annotations

import re
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.utils.request import RequestFingerprinter
from w3lib.url import safe_url_string

from focusspider import urls
from focusspider.urls import BaseURL, Fingerprinter, RefusedURLError, host_of, resolve
from tests.realpages import NAMES, responses

BASE = "http://a.example/b/c.html?q=1#f"


def outcome(base: str, href: str) -> str:
    try:
        return resolve(base, href)
    except RefusedURLError as error:
        return f"refused: {error.reason}"


# What the URL standard says, and browsers do.
@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("d.html", "http://a.example/b/d.html"),
        ("../d.html#top", "http://a.example/d.html"),
        ("../../../d.html", "http://a.example/d.html"),
        ("./", "http://a.example/b/"),
        ("..", "http://a.example/"),
        ("/d//e/./f/../g", "http://a.example/d//e/g"),
        ("d//e", "http://a.example/b/d//e"),
        ("%2e%2E/d", "http://a.example/d"),
        ("?r=2", "http://a.example/b/c.html?r=2"),
        ("?r=/../s", "http://a.example/b/c.html?r=/../s"),
        ("#g", "http://a.example/b/c.html?q=1"),
        ("//h.example/y", "http://h.example/y"),
        ("///h.example/y", "http://h.example/y"),
        ("https:h.example/y", "https://h.example/y"),
        ("http:y", "http://a.example/b/y"),
        ("http:/y", "http://a.example/y"),
        ("\\d\\e?f\\g", "http://a.example/d/e?f%5Cg"),
        (" \x00\n d.html\t ", "http://a.example/b/d.html"),
        ("d\n\t.html", "http://a.example/b/d.html"),
        ("d e.html", "http://a.example/b/d%20e.html"),
        ("d\x00e\x7f", "http://a.example/b/d%00e%7F"),
        ("d%20e%zz%", "http://a.example/b/d%20e%zz%"),
        ("été?à=é", "http://a.example/b/%C3%A9t%C3%A9?%C3%A0=%C3%A9"),
        ("d\ud800", "http://a.example/b/d%EF%BF%BD"),
        ("d'e?'f'", "http://a.example/b/d'e?%27f%27"),
        ("d;e=f,g", "http://a.example/b/d;e=f,g"),
        ("d/e:f", "http://a.example/b/d/e:f"),
        ("HTTP://A.EXAMPLE/D", "http://a.example/D"),
        ("http://h.example", "http://h.example/"),
        ("http://h.example?x", "http://h.example/?x"),
        ("http://h.example:80/", "http://h.example/"),
        ("https://h.example:443/", "https://h.example/"),
        ("http://h.example:443/", "http://h.example:443/"),
        ("http://h.example:/", "http://h.example/"),
        ("http://h.example:8080/x", "http://h.example:8080/x"),
        ("http://127.0.0.1:6800/x", "http://127.0.0.1:6800/x"),
        ("http://[::0:1]:8080/x", "http://[::1]:8080/x"),
        ("http://münchen.example/ü", "http://xn--mnchen-3ya.example/%C3%BC"),
        ("http://MÜNCHEN.example/", "http://xn--mnchen-3ya.example/"),
        ("http://h_1.example/", "http://h_1.example/"),
        ("http://h.example./", "http://h.example./"),
        ("x" * 3000 + "#y", "refused: too_long"),
        ("é" * 1000, "refused: too_long"),
        ("", "refused: empty"),
        (" \t\n", "refused: empty"),
        ("javascript:void(0)", "refused: scheme"),
        ("java\nscript:void(0)", "refused: scheme"),
        (" MAILTO:x@a.example", "refused: scheme"),
        ("data:text/html," + "x" * 10_000, "refused: scheme"),
        ("ftp://h.example/", "refused: scheme"),
        ("x:y", "refused: scheme"),
        ("http://u:p@h.example/", "refused: credentials"),
        ("//u@h.example/", "refused: credentials"),
        ("http://h.example\\@evil.example/", "http://h.example/@evil.example/"),
        ("http://", "refused: invalid"),
        ("//", "refused: invalid"),
        ("http://[z]/", "refused: invalid"),
        ("http://[::1/", "refused: invalid"),
        ("http://[::1%25eth0]/", "refused: invalid"),
        ("http://h.example:99999/", "refused: invalid"),
        ("http://h.example:x/", "refused: invalid"),
        ("http://a..b/", "refused: invalid"),
        ("http://.example/", "refused: invalid"),
        ("http://h h.example/", "refused: invalid"),
        ("http://h%41.example/", "refused: invalid"),
        ("http://h^.example/", "refused: invalid"),
        (f"http://{'x' * 64}.example/", "refused: invalid"),
        ("http://\u2100.example/", "refused: invalid"),  # becomes a/c by NFKC
    ],
)
def test_what_a_browser_would_request(href, expected) -> None:
    assert outcome(BASE, href) == expected


@pytest.mark.parametrize(
    ("base", "href", "expected"),
    [
        ("http://a.example", "x", "http://a.example/x"),
        ("HTTP://A.example:80/x y/z", "w", "http://a.example/x%20y/w"),
        ("http://a.example/b/../c/d", "./e", "http://a.example/c/e"),
        ("http://127.0.0.1:8000/d/", "../e?f=1&g=2", "http://127.0.0.1:8000/e?f=1&g=2"),
        ("http://a.example/b?c/d", "e", "http://a.example/e"),
        ("https://a.example/", "http:b", "http://b/"),
        ("file:///d/x.html", "y.html", "refused: scheme"),
        ("file:///d/x.html", "http://a.example/", "http://a.example/"),
        ("nonsense", "y", "refused: invalid"),
        ("http://[z/", "y", "refused: invalid"),
        ("http://[z/", "http://a.example/y", "http://a.example/y"),
        ("http://u:p@a.example/", "y", "refused: credentials"),
    ],
)
def test_bases(base, href, expected) -> None:
    assert outcome(base, href) == expected


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "http://a.example/%C3%A9?%C3%A9"),
        ("latin-1", "http://a.example/%C3%A9?%E9"),
        ("cp1252", "http://a.example/%C3%A9?%E9"),
        ("ascii", "http://a.example/%C3%A9?%C3%A9"),
        ("utf-16", "http://a.example/%C3%A9?%C3%A9"),
        ("idna", "http://a.example/%C3%A9?%C3%A9"),
        ("base64", "http://a.example/%C3%A9?%C3%A9"),
        ("no-such-charset", "http://a.example/%C3%A9?%C3%A9"),
    ],
)
def test_a_query_is_in_the_charset_of_the_page(encoding, expected) -> None:
    assert BaseURL("http://a.example/", encoding=encoding).resolve("é?é") == expected


def test_a_refusal_says_why() -> None:
    with pytest.raises(RefusedURLError, match=r"link 'tel:1' is refused: scheme"):
        resolve(BASE, "tel:1")


BASES = (BASE, "http://127.0.0.1:8000/", "https://a.example/x/y/../z;w/", "http://a.example/é/?ü")
PIECES = st.sampled_from(
    [
        *r""". .. / // \ ? # : ; & = % %2e %2E %20 %zz @ [ ] ' " | ~ + * ! $ ( ) , - _ a A 1 é ü
        http: https: http:// https:// //h.example h.example a.example:80 127.0.0.1 256.1.1.1
        01.2.3.4 localhost :80 :443 :8080 :99999 xn--mnchen-3ya.example münchen.example mailto:
        index.html""".split(),  # noqa: SIM905
        *(" ", "\t", "\n", "\0", "\x7f", "\ud800"),
    ]
)


@given(st.sampled_from(BASES), st.lists(PIECES, max_size=8).map("".join))
@example(BASE, "http//x")
@example(BASE, "http://127.0.0.1.2/")
def test_the_fast_path_is_the_slow_path(base, href) -> None:
    def slow() -> str:
        try:
            return urls._resolve(base, href, urls.MAX_URL_LENGTH, "utf-8")
        except RefusedURLError as error:
            return f"refused: {error.reason}"

    url = outcome(base, href)
    assert url == slow()
    if not url.startswith("refused"):
        assert url == url.strip()
        assert url.isascii()
        assert re.fullmatch(r"https?://[^/?#@]+/[^#\s]*", url)
        assert resolve(url, url) == url  # a resolved URL is left as it is


@given(st.text(), st.text())
def test_any_href_is_resolved_or_refused(base, href) -> None:
    url = outcome(base, href)
    assert url.startswith(("http://", "https://", "refused: "))
    host_of(href)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/", "https://A.example:8080/b", "http://a.example?b", "http://[::1]/",
        "http://u:p@a.example/", "http://a.example:x/", "http://a.example#b", "nonsense", "",
        "http://[z/", "//a.example/", "http://a_b.example/", "http:///", "http://a.example\\b",
    ],
)  # fmt: skip
def test_the_host_is_that_of_scrapys_slot(url) -> None:
    try:
        expected = urlsplit(url).hostname or ""
    except ValueError:
        expected = ""
    assert host_of(url) == expected


SCRAPYS = RequestFingerprinter()


@pytest.mark.parametrize(
    "url",
    """
    http://a.example/ http://a.example https://a.example/b/c.html http://a.example/b//c
    http://a.example/b/./c http://a.example/b/../c http://a.example/.b/c. http://a.example/...
    http://a.example/b#c http://a.example/b? http://a.example/b?c http://a.example/b?c=
    http://a.example/b?c=1 http://a.example/b?c=1&a=2 http://a.example/b?c=a.b-c_d~e
    http://a.example/b?c=1+2 http://a.example/b?c=%41 http://a.example/b?=1
    http://a.example/b?c=1;d=2 http://a.example/b;c http://a.example/%7Eb http://a.example/~b
    http://a.example/%e9 http://a.example/b%20c http://a.example:80/ http://a.example:8080/
    http://127.0.0.1:6800/x http://localhost/x http://a-b.example/ http://a_b.example/
    HTTP://A.EXAMPLE/B http://a.example/B http://[::1]/ http://xn--mnchen-3ya.example/
    http://a.example/b=c http://a.example/b&c http://a.example/b,c http://a.example/(b)
    """.split(),  # noqa: SIM905 - a table to read
)
def test_fingerprints_are_scrapys(url) -> None:
    fingerprinter = Fingerprinter(SCRAPYS)
    expected = SCRAPYS.fingerprint(Request(url))
    assert fingerprinter.of_url(url) == expected
    assert fingerprinter.of_url(url) == expected  # from memory
    assert fingerprinter.of_request(Request(url)) == expected
    verbatim = Request(url, meta={"verbatim_url": True})
    assert fingerprinter.of_request(verbatim) == SCRAPYS.fingerprint(verbatim)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_every_resolved_url_has_scrapys_fingerprint(href) -> None:
    url = outcome(BASE, href)
    if not url.startswith("refused"):
        assert Fingerprinter(SCRAPYS).of_url(url) == SCRAPYS.fingerprint(Request(url))


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://a.example/b", method="POST"),
        Request("http://a.example/b", method="HEAD"),
        Request("http://a.example/b", body=b"c"),
    ],
)
def test_other_requests_have_scrapys_fingerprint(request_) -> None:
    fingerprint = Fingerprinter(SCRAPYS).of_request(request_)
    assert fingerprint == SCRAPYS.fingerprint(request_)
    assert fingerprint != Fingerprinter(SCRAPYS).of_url(request_.url)


class HostFingerprinter(RequestFingerprinter):
    """A project's own: one page a host."""

    def fingerprint(self, request: Request) -> bytes:
        return host_of(request.url).encode().ljust(20, b".")[:20]


def test_a_projects_own_fingerprinter_is_asked() -> None:
    fingerprinter = Fingerprinter(HostFingerprinter())
    assert fingerprinter.of_url("http://a.example/b") == b"a.example..........."
    assert fingerprinter.of_request(Request("http://a.example/c")) == b"a.example..........."


class ShortFingerprinter(RequestFingerprinter):
    """A project's own, with fingerprints of its own length."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url[-1:].encode()


def test_a_projects_own_fingerprints_have_the_length_that_the_frontier_takes() -> None:
    fingerprinter = Fingerprinter(ShortFingerprinter())
    b, c = fingerprinter.of_url("http://a.example/b"), fingerprinter.of_url("http://a.example/c")
    assert len(b) == len(c) == 20
    assert b != c
    assert fingerprinter.of_request(Request("http://other.example/b")) == b


@pytest.mark.parametrize("name", NAMES)
def test_real_links(corpora, name) -> None:
    """Where Python's and Scrapy's functions do as browsers do, the result is theirs."""
    odd = re.compile(r"//|[\\\s]|%2e|\A\s*\Z|\A\?\Z|/\.\.?(?:/|\Z)|\A[a-z]+:(?!//)", re.IGNORECASE)
    fingerprinter = Fingerprinter(SCRAPYS)
    compared = 0
    seen = set()
    for response in responses(corpora, name, 200):
        if not hasattr(response, "selector"):
            continue
        for href in response.css("a::attr(href)").getall():
            url = outcome(response.url, href)
            if url.startswith("refused") or url in seen:
                continue
            seen.add(url)
            assert fingerprinter.of_url(url) == SCRAPYS.fingerprint(Request(url))
            assert host_of(url) == urlsplit(url).hostname
            if odd.search(re.sub(r"\Ahttps?://", "/", re.split("[#?]", href)[0])):
                continue
            expected = urldefrag(safe_url_string(urljoin(response.url, href.strip()), "utf-8"))[0]
            expected = re.sub(r"\A(http://[^/:]+):80(?=/|\Z)", r"\1", expected)
            expected = re.sub(r"\A(https?://[^/?]+)(?=\?|\Z)", r"\1/", expected)
            assert url == expected
            compared += 1
    assert compared > 200
