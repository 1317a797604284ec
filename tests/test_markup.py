from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse
from selectolax.lexbor import LexborHTMLParser

from focusspider.errors import NotAPageError
from focusspider.markup import BLOCKS, decoded, prepared, without_frames

URL = "http://a.example/"
HTML = b"<html><p>x"


def response(kind, body: bytes, content_type: str | None = None):
    headers = {} if content_type is None else {"Content-Type": content_type}
    return kind(URL, body=body, headers=headers)


@pytest.mark.parametrize(
    ("kind", "content_type", "body", "text"),
    [
        (HtmlResponse, "text/html", HTML, "<html><p>x"),
        (HtmlResponse, "text/html", b"just words", "just words"),
        (HtmlResponse, "text/html", b"a < b &amp; c", "a < b &amp; c"),
        (HtmlResponse, "text/html", b"{x} <b>y</b>", "{x} <b>y</b>"),
        (TextResponse, "text/plain", b"words of a note <b>", "words of a note &lt;b&gt;"),
        (TextResponse, "text/plain", b"\n<!-- x --><HTML><p>y", "\n<!-- x --><HTML><p>y"),
        (TextResponse, "application/octet-stream", b"<!DOCTYPE html>x", "<!DOCTYPE html>x"),
        (
            XmlResponse,
            "application/xhtml+xml",
            b"<?xml version='1.0'?><html><title/><p/><br/>x</html>",
            "<?xml version='1.0'?><html><title></title><p></p><br/>x</html>",
        ),
        (  # what Scrapy takes for HTML
            HtmlResponse,
            "application/xhtml+xml; charset=utf-8",
            b"<html><script src='a.js'/><p>x</html>",
            "<html><script src='a.js'></script><p>x</html>",
        ),
        (HtmlResponse, "text/html", b"<html><script src='a'/><p>x", "<html><script src='a'/><p>x"),
        (HtmlResponse, "text/html; charset=latin-1", b"<p>\xe9", "<p>é"),
        (HtmlResponse, "text/html; charset=utf-8", b"<p>\xe9", "<p>\ufffd"),
        (HtmlResponse, "text/html", b"<meta charset=koi8-r><p>\xc1", "<meta charset=koi8-r><p>а"),
        (HtmlResponse, "text/html", "<p>é".encode("utf-16"), "<p>é"),
        (HtmlResponse, "text/html; charset=nonsense", "<p>é".encode(), "<p>é"),
        (HtmlResponse, "text/html; charset=base64", "<p>é".encode(), "<p>é"),
        (HtmlResponse, "text/html; charset=idna", "<p>é".encode(), "<p>é"),
        (HtmlResponse, "text/html; charset=undefined", "<p>é\xff".encode(), "<p>éÿ"),
        (HtmlResponse, "text/html; charset=punycode", b"<p>\xff", "<p>\ufffd"),
    ],
)
def test_markup_of_responses(kind, content_type, body, text) -> None:
    assert decoded(response(kind, body, content_type), max_size=1_000) == text


@pytest.mark.parametrize(
    ("kind", "content_type", "body", "reason"),
    [
        (HtmlResponse, "text/html", b"", "empty"),
        (HtmlResponse, "text/html", b" \n\t\0", "empty"),
        (Response, None, b"", "empty"),
        (HtmlResponse, "text/html", b"<p>" * 400, "too_large"),
        (Response, "image/png", b"<p>", "not_html"),
        (HtmlResponse, "text/html", b"%PDF-1.4 <a href=x>", "not_html"),
        (HtmlResponse, "text/html", b"%!PS-Adobe", "not_html"),
        (HtmlResponse, "text/html", b"GIF89a\x01\x00<p>", "not_html"),
        (HtmlResponse, "text/html", b"\x89PNG\r\n\x1a\n", "not_html"),
        (HtmlResponse, "text/html", b"\xff\xd8\xff\xe0\0\0", "not_html"),
        (HtmlResponse, "text/html", b"PK\x03\x04", "not_html"),
        (HtmlResponse, "text/html", bytes(range(128, 256)) + b"\0\1\2\3" * 20, "not_html"),
        (HtmlResponse, "text/html", b'{"x": 1}', "not_html"),
        (JsonResponse, "application/json", b'{"x": "<p>"}', "not_html"),
        (XmlResponse, "application/rss+xml", b"<?xml version='1.0'?><rss><a>", "not_html"),
        (XmlResponse, "image/svg+xml", b"<svg><a href='x'/></svg>", "not_html"),
        (HtmlResponse, "text/html", b"<?xml version='1.0'?>\n<rss><link>x", "not_html"),
        (HtmlResponse, "text/html", b"<!-- x --><feed xmlns='x'>", "not_html"),
        (TextResponse, "text/css", b"p { color: red }", "not_html"),
        (TextResponse, "text/plain", b"BEGIN:VCALENDAR", "not_html"),
        (TextResponse, "text/plain", b"<?xml version='1.0'?><rss>", "not_html"),
        (TextResponse, "text/plain", b"\0\1\2\3\4words", "not_html"),
    ],
)
def test_what_is_no_page(kind, content_type, body, reason) -> None:
    with pytest.raises(NotAPageError, match=URL) as caught:
        decoded(response(kind, body, content_type), max_size=1_000)
    assert caught.value.reason == reason


@pytest.mark.parametrize("name", sorted(BLOCKS - {"frameset", "title"}))
def test_a_space_stands_where_blocks_meet(name) -> None:
    for tag in (name, name.upper()):
        prepared_ = prepared(f"a<{tag}>b</{tag}>c<{tag} class=x>d").page
        assert prepared_ == f"a <{tag}>b </{tag}>c <{tag} class=x>d"


@pytest.mark.parametrize("name", "abbr b big em i font span strong sub u code link x-p".split())  # noqa: SIM905
def test_inline_elements_join_words(name) -> None:
    html = f"a<{name}>b</{name}>c<{name.upper()} class=x>d"
    assert prepared(html).page == html


@pytest.mark.parametrize(
    "html",
    [
        "<p>a<b>b</b><p>c<table><tr><td>d<td>e</table><ul><li>f<li>g</ul>",
        "<table><td>a</td>b<tr><p>c</table>",
        "<!DOCTYPE html><html><head><title>a</title></head><body>b</body></html>",
        "<frameset><frame src=a><noframes><p>b</noframes></frameset>",
        "<select><option>a<option>b</select><pre>\n a</pre>",
        "<a href='x'><div>a</div></a><p><a href=y>b</a><p>c",
        "<script>if (a <p>) b = '<div>'</script><style>p {}</style>",
        "<ruby>a<rt>b</ruby><svg><p>a</svg><math><mi>a</math>",
    ],
)
def test_spaces_change_no_tree(html) -> None:
    def elements(source: str) -> list[tuple]:
        nodes = LexborHTMLParser(source).css("*")
        return [(n.tag, n.attributes, n.parent.tag if n.parent else None) for n in nodes]

    assert elements(prepared(html).page) == elements(html)


def test_nul_bytes_are_no_text() -> None:
    assert prepared("<a hr\0ef=x>y\0z</a>").page == "<a href=x>yz</a>"


@pytest.mark.parametrize(
    ("html", "page", "noscript"),
    [
        ("a<noscript>b</noscript>c", "a c", "b"),
        ("a<NOSCRIPT class=x><p>b</noscript >c", "a c", " <p>b"),
        ("a<noscript>b</noscript>c<noscript>d</noscript>e", "a c e", "b d"),
        ("a<noscript>b", "a b", ""),
        ("a</noscript>b", "a b", ""),
        ("a<noscript>b<noscript>c</noscript>d", "a b d", "c"),
        ("a<noscripts>b", "a<noscripts>b", ""),
    ],
)
def test_noscript_is_apart(html, page, noscript) -> None:
    assert prepared(html) == (page, noscript)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<frameset cols=1><frame src=a></frameset><noframe>b", "b"),
        ("<FRAMESET><FRAME SRC=a><NOFRAMES><body>b</NOFRAMES></FRAMESET>", "<body>b"),
        ("<frameset", ""),
        ("<frames>", "<frames>"),
    ],
)
def test_without_frames(html, expected) -> None:
    assert without_frames(html) == expected
