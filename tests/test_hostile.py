from __future__ import annotations

import random

import pytest
from selectolax.lexbor import LexborHTMLParser

from focusspider import hostile
from focusspider.hostile import flat, is_hostile
from tests.realpages import NAMES, responses

N = 20_000


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>" * N, True),
        ("<div>" * 500, False),
        ("<DIV\n>" * N, True),
        ("<ul><li>" * N, True),
        ("<dd><li>" * N, True),
        ("<x-y>" * N, True),
        ("<b>" * N + "</i>" * N, True),
        ("".join(f"<p><font color={n}>" for n in range(N)), True),
        ("<font size=1>" * 400 + "<p>" * N, False),  # of the same tag three are opened again
        ("".join(f"<font size={n}>" for n in range(400)) + "<p>" * N, True),
        ("<font><div></font>" * N, True),
        ("<a " + " ".join(f"x{n}=1" for n in range(N)) + ">", True),
        ("<a " + " ".join(f"x{n}" for n in range(N)) + ">", True),
        ("<a " + " ".join(f"x{n}='>'" for n in range(N)) + ">", True),
        ("<body a=1>" * N, True),
        ("<p>" * N, False),
        ("<p><b>x</b>" * N, False),
        ("<li><p>x" * N, False),
        ("<div>x</div>" * N, False),
        ("<table><tr><td>x</table>" * N, False),
        ("<tr><td><font>x" * N, True),  # without a table the fonts are in one another
        ("<table>" + "<tr><td><font>x" * N, False),
        ("<a href=x>y</a>\n" * N, False),
        ("<svg>" + "<path d='M0'/>" * N + "</svg>", False),
        ("<div data-x='" + "a b=c " * 20 + "'>", False),
        (f"<script>{'x = a < b; ' * N}</script>", False),
        ("word " * N, False),
        ("<" * N, False),
        ("", False),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_hostile(html, expected) -> None:
    assert is_hostile(html) is expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>a<b>b</b></div>", " a b  "),
        ("<A HREF='x>y'>z</A>", "<A HREF='x>y'>z</A>"),
        ("<meta name=x><link rel=y><!-- z -->", "<meta name=x><link rel=y> "),
        ("<a " + "x=1 " * 2_000 + "href=y>z</a>", " z</a>"),
        ("a < b & c", "a < b & c"),
        ("<div", " "),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_left_of_it(html, expected) -> None:
    assert flat(html) == expected


TAGS = """
    div p li dd dt ul ol dl table tr td th tbody span b i font a h1 h2 br img form select option
    button section center pre blockquote svg g object marquee
""".split()  # noqa: SIM905


def soup(seed: int) -> str:
    pick = random.Random(seed)
    names = pick.sample(TAGS, pick.randint(1, 8))
    closing = pick.choice([0, 0.1, 0.3, 0.5, 0.6])
    parts = []
    for _ in range(300):
        name = pick.choice(names)
        if pick.random() < closing:
            name = f"/{name}"
        elif name == "font":
            name = f"font size={pick.randint(1, 9)}"
        parts.append(f"<{name}>{pick.choice(['', '', 'x'])}")
    return "".join(parts)


def depth(html: str) -> int:
    deepest = 0
    waiting = [(LexborHTMLParser(html).root, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(child, level + 1) for child in node.iter()]
    return deepest


def test_what_is_not_hostile_is_not_deep(monkeypatch) -> None:
    """Against the parser's own trees: one of a source that passes is a few times deeper."""
    limit = 20
    monkeypatch.setattr(hostile, "MAX_DEPTH", limit)
    monkeypatch.setattr(hostile, "_MANY_TAGS", 0)
    passed = [html for html in map(soup, range(500)) if not is_hostile(html)]
    assert 100 < len(passed) < 400
    assert max(map(depth, passed)) <= 7 * (limit + 1)


@pytest.mark.parametrize("name", NAMES)
def test_no_real_page_is_hostile(corpora, name) -> None:
    pages = [r for r in responses(corpora, name, 500) if hasattr(r, "text")]
    assert len(pages) > 300
    assert [page.url for page in pages if is_hostile(page.text)] == []
