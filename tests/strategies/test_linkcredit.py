"""What came of a page, on crawls small enough to be worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from focusspider.relevance.base import Judgement
from focusspider.strategies.linkcredit import credit_share, page_values, recent_harvest, wanted
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.text import Terms
from tests.pages import page

if TYPE_CHECKING:
    from focusspider.strategies.linktables import Snapshot

SITE = "http://a.example"
#: page → what it links to, and its relevance, in the order of fetching
CHAIN = {"/": ("/a", 0.0), "/a": ("/b", 0.0), "/b": ("/c", 0.0), "/c": ("/d", 1.0)}


def seen(pages: dict[str, tuple[str, float]]) -> Snapshot:
    evidence = LinkEvidence(Terms(), max_links=1000)
    for path, (to, relevance) in pages.items():
        at = page(f"<a href='{to}'>x</a>", f"{SITE}{path}")
        judgement = Judgement(relevance, relevance >= 0.5, "test")
        evidence.add_page(at, relevance=judgement.relevance, relevant=judgement.relevant, hub=0.0)
    return evidence.snapshot()


def test_a_parent_and_a_grandparent_are_credited_and_none_above() -> None:
    crawl = seen(CHAIN)
    found = wanted(crawl, doubt=2.0)
    assert found.tolist() == [0, 0, 0, 1]
    assert page_values(crawl, found, 1.0).opened.tolist() == [0, 1, 1, 0]


def test_only_the_page_that_linked_first_is_the_parent() -> None:
    crawl = seen({"/": ("/a", 0.0), "/a": ("/c", 0.0), "/b": ("/c", 0.0), "/c": ("/", 1.0)})
    assert page_values(crawl, wanted(crawl, doubt=2.0), 1.0).opened.tolist() == [1, 1, 0, 0]


def test_a_page_is_worth_the_more_the_more_it_opens() -> None:
    names = [f"/{number}" for number in range(8)]
    crawl = seen({"/": ("'></a><a href='".join(names), 0.0), **dict.fromkeys(names, ("/x", 1.0))})
    values = page_values(crawl, wanted(crawl, doubt=2.0), 0.9)
    assert values.opened[0] == 8
    assert values.outcomes[0] == pytest.approx(0.9 * 8 / 10)
    above_the_usual = page_values(crawl, wanted(crawl, doubt=2.0), 0.9, usual=0.75)
    assert above_the_usual.outcomes[0] == pytest.approx(0.9 * 2 / 4)


def test_what_waits_counts_as_it_is_thought_to_be() -> None:
    crawl = seen(CHAIN)
    expected = np.zeros(crawl.n_nodes)
    expected[-1] = 0.3  # /d, which /c links to
    found = wanted(crawl, doubt=2.0)
    assert page_values(crawl, found, 1.0, expected).opened.tolist() == [0, 1, 1, 0.3]
    usual = page_values(crawl, found, 1.0, expected, usual=0.25).opened
    np.testing.assert_allclose(usual, [0, 0.75, 0.75, 0.05], rtol=0, atol=1e-12)
    fetched = np.full(crawl.n_nodes, 0.0)
    fetched[crawl.row_node[3]] = 0.9  # /c: what is fetched is known, not thought
    assert page_values(crawl, np.zeros(4), 1.0, fetched).opened.tolist() == [0, 0, 0, 0]


def test_what_a_link_brought_tells_nothing_of_itself() -> None:
    # / leads to /a, which is good, and to /b, which leads to /c, which is half as good
    crawl = seen({"/": ("/a'></a><a href='/b", 0.0), "/a": ("/x", 1.0), "/b": ("/c", 0.0),
                  "/c": ("/y", 0.0)})  # fmt: skip
    found = np.array([0.0, 1.0, 0.0, 0.5])
    values = page_values(crawl, found, 0.5)
    assert values.opened.tolist() == [1.5, 0, 0.5, 0]
    half = [0.5 * opened / (opened + 2) for opened in (1.5, 0.5)]
    np.testing.assert_allclose(values.outcomes, [half[0], 1, half[1], 0.5], rtol=0, atol=1e-12)
    root, a, b, c = crawl.row_node.tolist()
    without = values.without(np.array([0, 0, 0]), np.array([a, b, c]))
    expected = [0.5 * opened / (opened + 2) for opened in (0.5, 1, 1.5)]
    np.testing.assert_allclose(without, expected, rtol=0, atol=1e-12)
    without = values.without(np.array([2, 2]), np.array([c, root]))
    np.testing.assert_allclose(without, [0, half[1]], rtol=0, atol=1e-12)


def test_a_page_that_a_redirect_leads_to_is_a_part_under_each_of_its_addresses() -> None:
    evidence = LinkEvidence(Terms(), max_links=1000)
    root = page("<a href='/old'>x</a>", f"{SITE}/")
    there = page("<a href='/b'>x</a>", f"{SITE}/new")
    there.moved_from = (f"{SITE}/old",)
    for at, relevant in ((root, False), (there, True)):
        evidence.add_page(at, relevance=float(relevant), relevant=relevant, hub=0.0)
    crawl = evidence.snapshot()
    values = page_values(crawl, wanted(crawl, doubt=2.0), 1.0)
    assert values.opened.tolist() == [1, 0]
    old = int(crawl.link_node[0])
    assert old != crawl.row_node[1]
    assert values.without(np.array([0]), np.array([old])).tolist() == [0]


def test_relevance_stands_in_while_few_pages_are_relevant() -> None:
    crawl = seen({"/": ("/a", 0.1), "/a": ("/b", 0.4), "/b": ("/c", 0.0)})
    np.testing.assert_allclose(wanted(crawl, doubt=2.0), [0.25, 1, 0], rtol=0, atol=1e-6)
    one = seen({"/": ("/a", 0.1), "/a": ("/b", 0.4), "/b": ("/c", 0.8)})
    # n = 1 relevant page: the others count for 2 / (1 + 2)
    np.testing.assert_allclose(wanted(one, doubt=2.0), [1 / 12, 1 / 3, 1], rtol=0, atol=1e-6)
    many = wanted(one, doubt=2.0, elsewhere=999.0)
    np.testing.assert_allclose(many, [0, 0, 1], rtol=0, atol=1e-3)
    nothing = seen({"/": ("/a", 0.0)})
    assert wanted(nothing, doubt=2.0).tolist() == [0]


@pytest.mark.parametrize(
    ("found", "share"),
    [
        ([], 1.0),
        ([0.0] * 10, 1.0),
        ([1.0] * 10, 0.0),
        ([0.0, 1.0] * 10, 0.5**4),
        ([1.0] * 150 + [0.0] * 50, 1.0),  # only the last 50 count,
        ([1.0] * 300 + [0.0, 1.0] * 50, 0.5**4),  # or the last quarter
    ],
)
def test_credit_falls_with_the_recent_harvest_rate(found: list[float], share: float) -> None:
    assert credit_share(recent_harvest(np.array(found))) == pytest.approx(share, abs=1e-12)
