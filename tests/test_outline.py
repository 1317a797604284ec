"""Where links stand in a page's tree, and what stands around them."""

from __future__ import annotations

import pytest

from focusspider.page import Page
from focusspider.text import Analyzer
from tests.pages import page

LISTS = """
<body><div id=menu><a href=/home>Home</a></div>
<ul><li><a href=/a>A</a><li><b><a href=/b>B</a></b></ul>
<p><a href=/c>C</a></p>
"""


def shared(at: Page, one: int, other: int) -> int:
    """Return how many elements two links have above them in common."""
    return len(set(at.outline.above(one)) & set(at.outline.above(other)))


def test_the_elements_above_a_link_are_told_apart() -> None:
    at = page(LISTS)
    assert [link.url[-5:] for link in at.links] == ["/home", "ple/a", "ple/b", "ple/c"]
    assert [len(at.outline.above(n)) for n in range(4)] == [3, 4, 5, 3]
    assert [shared(at, 1, n) for n in range(4)] == [2, 4, 3, 2]  # a and b share the list
    assert (at.outline.parents < range(len(at.outline.parents))).all(), "parents come first"


@pytest.mark.parametrize(
    "html",
    [
        "<frameset><frame src=/f></frameset><noframes><body><a href=/n>n</a></body></noframes>",
        "<body><noscript><a href=/s>s</a></noscript><p><a href=/t>t</a>",
        "<head><link rel=next href=/next><meta http-equiv=refresh content='0; /r'></head>",
        "<map><area href=/m></map><iframe src=/i></iframe><svg><a xlink:href=/v>v</a></svg>",
        "<html></html>",
        "<p>" * 300 + "<a href=/deep>deep</a>",
    ],
)
def test_there_is_a_place_for_each_link(html: str) -> None:
    at = page(html)
    assert len(at.outline.of_links) == len(at.leaves.spans) == len(at.links)
    for first, end in at.leaves.spans:
        assert 0 <= first <= end <= len(at.leaves.texts)


def test_a_page_that_was_not_parsed_has_no_tree() -> None:
    links = page(LISTS).links
    at = Page("http://a.example/", analyzer=Analyzer("english"), links=links)
    assert at.outline.of_links.tolist() == [-1] * 4
    assert at.outline.above(0) == []
    assert at.leaves.around(0, 5) == []


def test_leaves_hold_text_and_links_have_theirs() -> None:
    at = page(
        "<title>t</title><p>before <b>bold</b> <a href=/x>link <i>text</i><img src=i alt=pic></a>"
        "after<p><a href=/y><img src=j></a>last<script>no</script>"
    )
    assert list(at.leaves.texts) == ["before", "bold", "link", "text", "pic", "after", "last"]
    assert list(at.leaves.spans) == [(2, 5), (6, 6)]
    assert at.leaves.around(0, 1) == [
        (-1, "bold"), (0, "link"), (0, "text"), (0, "pic"), (1, "after")
    ]  # fmt: skip
    assert at.leaves.around(1, 1) == [(-1, "after"), (1, "last")]
    assert at.leaves.around(0, 0) == [(0, "link"), (0, "text"), (0, "pic")]


def test_the_links_of_frames_have_leaves_of_their_own_tree() -> None:
    at = page("<body><noscript>none <a href=/s>s</a></noscript><p>some <a href=/t>t</a>")
    assert [link.url[-2:] for link in at.links] == ["/t", "/s"]
    assert at.leaves.around(0, 0) == [(0, "t")]
    assert at.leaves.around(1, 0) == [(0, "s")]
