"""What came of a page, on crawls small enough to be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from focusspider.relevance.base import Judgement
from focusspider.strategies.linkcredit import credit_share, page_values, wanted
from focusspider.strategies.linkevidence import LinkEvidence, Snapshot
from focusspider.text import Terms
from tests.pages import page

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
    found = wanted(crawl)
    assert found.tolist() == [0, 0, 0, 1]
    assert page_values(crawl, found, 1.0).best.tolist() == [0, 1, 1, 0]


def test_only_the_page_that_linked_first_is_the_parent() -> None:
    crawl = seen({"/": ("/a", 0.0), "/a": ("/c", 0.0), "/b": ("/c", 0.0), "/c": ("/", 1.0)})
    assert page_values(crawl, wanted(crawl), 1.0).best.tolist() == [1, 1, 0, 0]


def test_what_waits_counts_as_it_is_thought_to_be() -> None:
    crawl = seen(CHAIN)
    expected = np.zeros(crawl.n_nodes)
    expected[-1] = 0.3  # /d, which /c links to
    assert page_values(crawl, wanted(crawl), 1.0, expected).best.tolist() == [0, 1, 1, 0.3]
    fetched = np.full(crawl.n_nodes, 0.0)
    fetched[crawl.row_node[3]] = 0.9  # /c: what is fetched is known, not thought
    assert page_values(crawl, np.zeros(4), 1.0, fetched).best.tolist() == [0, 0, 0, 0]


def test_what_a_link_brought_tells_nothing_of_itself() -> None:
    # / leads to /a, which is good, and to /b, which leads to /c, which is half as good
    crawl = seen({"/": ("/a'></a><a href='/b", 0.0), "/a": ("/x", 1.0), "/b": ("/c", 0.0),
                  "/c": ("/y", 0.0)})  # fmt: skip
    found = np.array([0.0, 1.0, 0.0, 0.5])
    values = page_values(crawl, found, 0.5)
    assert values.outcomes.tolist() == [0.5, 1, 0.25, 0.5]
    root, a, b, c = crawl.row_node.tolist()
    assert values.without(np.array([0, 0, 0]), np.array([a, b, c])).tolist() == [0.25, 0.5, 0.5]
    assert values.without(np.array([2, 2]), np.array([c, root])).tolist() == [0, 0.25]


def test_relevance_stands_in_while_no_page_is_relevant() -> None:
    crawl = seen({"/": ("/a", 0.1), "/a": ("/b", 0.4), "/b": ("/c", 0.0)})
    np.testing.assert_allclose(wanted(crawl), [0.25, 1, 0], rtol=0, atol=1e-6)
    nothing = seen({"/": ("/a", 0.0)})
    assert wanted(nothing).tolist() == [0]


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
    assert credit_share(np.array(found)) == pytest.approx(share, abs=1e-12)
