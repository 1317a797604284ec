from __future__ import annotations

import pytest

from focusspider.errors import UnknownNameError
from focusspider.links import TAG_PATH_DEPTH
from focusspider.page import Link, PageParser
from focusspider.text import Analyzer

URL = "http://a.example/b/c.html"
ANALYZER = Analyzer("english")


def read(html: str, **options):
    return PageParser(analyzer=ANALYZER, **options).parse_html(html, URL)


def links(html: str, **options) -> tuple[Link, ...]:
    return read(html, **options).links


@pytest.mark.parametrize(
    ("html", "kind", "url"),
    [
        ("<a href=x>", "a", "http://a.example/b/x"),
        ("<A HREF='x'>", "a", "http://a.example/b/x"),
        ('<a href="x?y=1&amp;z=2">', "a", "http://a.example/b/x?y=1&z=2"),
        ("<a href='x\n/y'>", "a", "http://a.example/b/x/y"),
        ("<a href=x href=y>", "a", "http://a.example/b/x"),
        ("<a href=x<br>", "a", "http://a.example/b/x"),
        ("<map><area href=x></map>", "area", "http://a.example/b/x"),
        ("<svg><a xlink:href=x>y</a></svg>", "a", "http://a.example/b/x"),
        ("<svg><a href=x>y</a></svg>", "a", "http://a.example/b/x"),
        ("<frameset><frame src=x></frameset>", "frame", "http://a.example/b/x"),
        ("<iframe src=x><a href=y></a></iframe>", "iframe", "http://a.example/b/x"),
        ("<link rel=next href=x>", "next", "http://a.example/b/x"),
        ("<LINK REL='nofollow NEXT' HREF=x>", "next", "http://a.example/b/x"),
        ("<link rel=canonical href=x>", "canonical", "http://a.example/b/x"),
        ("<body><link rel=canonical href=x>", "canonical", "http://a.example/b/x"),
        ("<meta http-equiv=refresh content='0;url=x'>", "refresh", "http://a.example/b/x"),
        ("<META HTTP-EQUIV=Refresh CONTENT='5; URL=\"x\" '>", "refresh", "http://a.example/b/x"),
        ("<meta http-equiv=refresh content='1.5, x y'>", "refresh", "http://a.example/b/x%20y"),
        ("<noscript><a href=x>y</a></noscript>", "a", "http://a.example/b/x"),
        ("<div hidden><a href=x>y</a></div>", "a", "http://a.example/b/x"),
        ("<base href='/d/'><a href=x>", "a", "http://a.example/d/x"),
        ("<a href=x><base href='http://h.example/d'>", "a", "http://h.example/x"),
        ("<base target=x><base href=/d/><base href=/e/><a href=x>", "a", "http://a.example/d/x"),
        ("<base href='javascript:x'><a href=x>", "a", "http://a.example/b/x"),
        ("<base href=''><a href=x>", "a", "http://a.example/b/x"),
    ],
)
def test_what_is_a_link(html, kind, url) -> None:
    (link,) = links(html)
    assert (link.kind, link.url, link.position) == (kind, url, 0)


@pytest.mark.parametrize(
    "html",
    [
        "<a name=x>y</a>",
        "<a href='#x'>y</a>",
        "<a href='c.html#x'>y</a>",
        "<a href='http://A.example:80/b/c.html'>y</a>",
        "<!-- <a href=x>y</a> -->",
        "<script>'<a href=x>y</a>'</script>",
        "<template><a href=x>y</a></template>",
        "<textarea><a href=x>y</a></textarea>",
        "<link rel=stylesheet href=x>",
        "<link rel=next>",
        "<link rel='canonical' href='c.html'>",
        "<meta http-equiv=refresh content=5>",
        "<meta http-equiv=refresh content='url=x'>",
        "<meta http-equiv=refresh content='5;url='>",
        "<meta http-equiv=refresh content='5; URL=c.html'>",
        "<noscript><meta http-equiv=refresh content='0;url=x'></noscript>",
        "<frame src=x>",  # outside a frameset
        "<iframe></iframe>",
        "<img src=x><form action=x><q cite=x>",
    ],
)
def test_what_is_no_link(html) -> None:
    page = read(html)
    assert page.links == ()
    assert not page.refused


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ("<a href=x> One <b>t</b>wo\n\t three </a>", "One two three"),
        ("<a href=x><p>One</p><div>two</div></a>", "One two"),
        ("<a href=x>One<br>two</a>", "One two"),
        ("<a href=x>One &amp; &#8217;two&nbsp;</a>", "One & ’two"),
        ("<a href=x><!-- no -->One<script>no</script></a>", "One"),
        ("<a href=x><img src=i alt=' One\n two '></a>", "One two"),
        ("<a href=x><img src=i><img src=i title=One></a>", "One"),
        ("<a href=x title=no><img src=i alt=no>One</a>", "One"),
        ("<a href=x title=One><img src=i></a>", "One"),
        ("<a href=x aria-label=One></a>", "One"),
        ("<a href=x><svg><title>One</title></svg></a>", "One"),
        ("<a href=x> &nbsp; </a>", ""),
        ("<map><area href=x alt=One></map>", "One"),
        ("<iframe src=x title=One>no</iframe>", "One"),
        ("<link rel=next href=x title=One>", "One"),
        ("<a href=x>One<a href=c.html>no", "One"),
        ("<p><a href=x>One<p>no", "One"),
        ("<a href=x><b>One</b></abbr> two<a href=y>no<p>no", "One two"),
        ("<a href=x><div>One</div> two</a><p>no", "One two"),
        ("<A HREF=x>One<IMG SRC=y><LI><A NAME=y>no</A>", "One"),
        ("<a href=x>" + "One " * 3_000 + "</a>", ("One " * 250).strip()),
    ],
    ids=lambda value: value[:40],
)
def test_anchors(html, anchor) -> None:
    assert links(html)[0].anchor == anchor


NESTED = """
<body>top
<div>block <p>paragraph <span>span <b><a href=x>link</a></b></span></p></div>
<ul><li>item <a href=y>one</a> and <a href=z>two</a></ul>
"""


@pytest.mark.parametrize(
    ("aggregation", "first", "second"),
    [
        ("parent", "link", "item one and two"),
        ("grandparent", "span link", "item one and two"),
        ("block", "paragraph span link", "item one and two"),
        ("body", "top block paragraph span link item one and two", None),
        ("root", "top block paragraph span link item one and two", None),
    ],
)
def test_contexts(aggregation, first, second) -> None:
    x, y, z = links(NESTED, aggregation=aggregation)
    assert x.context == first
    assert y.context == (second or first)
    assert z.context is y.context


def test_an_unknown_aggregation_lists_the_known() -> None:
    with pytest.raises(UnknownNameError, match=r"'parents'.*did you mean 'parent'.*root"):
        PageParser(analyzer=ANALYZER, aggregation="parents")


def test_a_link_that_is_left_open_is_one_link() -> None:
    found = links("<a href=x>one<p>two<ul><li>three<li><a href=y>four</ul><p>five")
    assert [(link.anchor, link.context) for link in found] == [
        ("one", "one two three four five"),
        ("four", "four"),
    ]


def test_links_under_one_node_share_their_context() -> None:
    found = links("<p>" + "".join(f"<a href={n}>{n}</a> " for n in range(10_000)))
    assert len(found) == 10_000
    assert len({id(link.context) for link in found}) == 1


def test_a_link_of_the_head_has_no_context() -> None:
    html = "<title>x</title><link rel=next href=y><meta http-equiv=refresh content='0;z'>"
    assert [link.context for link in links(html)] == ["", ""]


@pytest.mark.parametrize(
    ("html", "path"),
    [
        ("<a href=x>", "html/body/a"),
        (
            "<div class='nav  main'><ul><li><a class=b href=x>",
            "html/body/div.nav.main/ul/li/a.b",
        ),
        ("<HTML><BODY CLASS=x><TABLE><TR><TD><A HREF=x>", "html/body.x/table/tbody/tr/td/a"),
        ("<p class='w-1/2 .y'><a href=x>", "html/body/p.w-1_2..y/a"),
        ("<link rel=next href=x>", "html/head/link"),
        ("<frameset><frame src=x></frameset>", "html/frameset/frame"),
        ("<svg><a href=x>", "html/body/svg/a"),
    ],
)
def test_tag_paths(html, path) -> None:
    assert links(html)[0].tag_path == path


def test_a_tag_path_keeps_its_end() -> None:
    html = "".join(f"<div class=d{n}>" for n in range(100)) + "<a href=x>"
    names = links(html)[0].tag_path.split("/")
    assert names == [f"div.d{n}" for n in range(101 - TAG_PATH_DEPTH, 100)] + ["a"]
    (long,) = links(f"<p class='{'x ' * 10_000}'><a href=x>")
    assert len(long.tag_path) < 200


def test_several_links_to_one_page_are_kept() -> None:
    found = links("<a href=x rel='NoFollow UGC'>one</a><a href=x>two</a><a href=#>own</a>")
    assert found == (
        Link("http://a.example/b/x", "one", "one two own".replace(" ", ""), "html/body/a",
             "nofollow ugc", 0, "a"),
        Link("http://a.example/b/x", "two", "onetwoown", "html/body/a", "", 1, "a"),
    )  # fmt: skip


def test_refusals_are_counted() -> None:
    page = read(
        "<a href='mailto:x@y'>a</a><a href='javascript:x'>b</a><a href=''>c</a><a href>d</a>"
        "<a href='http://u:p@h.example/'>e</a><a href='http://[z/'>f</a>"
        f"<a href='{'x' * 3_000}'>g</a><iframe src='about:blank'></iframe>"
        "<a href=1>h</a><a href=2>i</a><a href=3>j</a><a href=4>k</a>",
        max_links=2,
    )
    assert [link.anchor for link in page.links] == ["h", "i"]
    assert page.refused == {
        "scheme": 3, "empty": 2, "credentials": 1, "invalid": 1, "too_long": 1, "links": 2,
    }  # fmt: skip


def test_limits_of_length() -> None:
    page = read(
        "<p>" + "word " * 100 + "<a href=x>" + "anchor " * 100 + "</a></p>",
        max_context=20, max_anchor=10, max_text=30,
    )  # fmt: skip
    (link,) = page.links
    assert link.context == "word word word word"
    assert link.anchor == "anchor anc"
    assert len(page.text) <= 30


def test_text_is_taken_out_of_a_tree_within_a_budget() -> None:
    """Each of nested nodes holds the text of all the others; only so much is read of it."""
    level = "<table><tr><td>" + "word " * 20 + "<a href=x>anchor</a>"
    page = read(level * 200, max_size=100_000)
    assert len(page.links) == 200
    read_in_full = sum(bool(link.context) for link in page.links)
    assert 0 < read_in_full < 50
    assert page.links[-1].context == page.links[-1].anchor == ""
    assert page.terms["word"] == 200 * 20
