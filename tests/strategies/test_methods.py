"""Each strategy against numbers worked out by hand on one page.

The page has three links. Its terms are robot 3, arm 2, photo, tea and cake 1 each, so its
norm is √(9 + 4 + 1 + 1 + 1) = 4. The keywords robot and arm have the norm √2.

    page           (3 + 2) / (√2 · 4)            = 5 / √32
    context of /a  robot 3, arm 1: 4 / (√2 · √10) = 4 / √20
    context of /b  arm 1, photo 1: 1 / (√2 · √2)  = 1/2
    context of /c  tea 1, cake 1                  = 0
    anchor of /a   robot 1: 1 / √2
    anchors of /b, /c                             = 0
"""

from __future__ import annotations

import itertools
import json
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import TopicError
from focusspider.priority import to_score
from focusspider.strategies import build_strategy
from focusspider.strategies.base import LaterParts
from focusspider.strategies.hub_seeking import hub_score
from tests.pages import page, profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import LinkScores, State, Strategy

PAGE = page(
    "<p>robot robot arm <a href='/a'>robot</a></p>"
    "<p>arm <a href='/b'>photo</a></p>"
    "<p>tea <a href='/c'>cake</a></p>"
)
SIM = 5 / sqrt(32)
CONTEXT = np.array([4 / sqrt(20), 1 / 2, 0])
ANCHOR = np.array([1 / sqrt(2), 0, 0])

OFF_TOPIC = page("<p>tea <a href='/c'>cake</a></p>")


def started(name: str, topic: TopicProfile | None = None, **params: Any) -> Strategy:
    strategy = build_strategy(name, params)
    strategy.start(topic or profile("robot", "arm"), np.random.default_rng(0))
    return strategy


def scores(found: LinkScores) -> list[float]:
    return [to_score(int(priority)) for priority in found.priorities]


def assert_scores(found: LinkScores, expected: Any) -> None:
    # A priority is a step of 2^-50; rounding of the cosines is of the same size.
    np.testing.assert_allclose(scores(found), expected, rtol=0, atol=1e-14)


def assert_parts(found: LinkScores, expected: Mapping[str, Any]) -> None:
    assert found.parts.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found.parts[name], values, rtol=0, atol=1e-14, err_msg=name)


def test_parts_are_computed_when_one_is_asked_for() -> None:
    asked: list[int] = []

    def compute() -> dict[str, NDArray[np.float64]]:
        asked.append(1)
        return {"page": CONTEXT}

    parts = LaterParts(compute)
    assert not asked
    assert (len(parts), list(parts), parts["page"].tolist()) == (1, ["page"], CONTEXT.tolist())
    assert asked == [1]


def test_breadth_first_gives_all_links_one_priority() -> None:
    assert scores(started("breadth-first").score(PAGE, None)) == [0, 0, 0]


def test_best_first_gives_each_link_the_cosine_of_the_page() -> None:
    found = started("best-first").score(PAGE, None)
    assert_scores(found, [SIM] * 3)
    assert_parts(found, {"page": [SIM] * 3})


def test_best_first_against_targets_takes_the_most_similar_target() -> None:
    # With the page: robot 2, tea 1 → (2·3 + 1) / (√5 · 4); tea, cake → 2 / (√2 · 4).
    targets = [
        page("<p>tea cake</p>", "http://t.example/1"),
        page("<p>robot robot tea</p>", "http://t.example/2"),
    ]
    found = started("best-first", profile(targets=targets), against="targets").score(PAGE, None)
    assert_scores(found, [7 / sqrt(80)] * 3)


def test_dom_weighs_page_and_context() -> None:
    found = started("dom").score(PAGE, None)
    assert_scores(found, 0.25 * SIM + 0.75 * CONTEXT)
    assert_parts(found, {"page": [SIM] * 3, "context": CONTEXT})


def test_dom_is_best_first_at_alpha_1_and_the_context_alone_at_alpha_0() -> None:
    assert_scores(started("dom", alpha=1.0).score(PAGE, None), [SIM] * 3)
    assert_scores(started("dom", alpha=0.0).score(PAGE, None), CONTEXT)


def test_dom_at_the_root_is_best_first() -> None:
    # The paper: best-first is the DOM crawler with the root as the aggregation node.
    at_root = page(
        "<p>robot robot arm <a href='/a'>robot</a></p><p>arm <a href='/b'>photo</a></p>"
        "<p>tea <a href='/c'>cake</a></p>",
        aggregation="root",
    )
    assert_scores(started("dom").score(at_root, None), [SIM] * 3)


@pytest.mark.parametrize(("n", "expected"), [(0, 0.0), (1, 0.0), (2, 0.4), (3, 0.6), (4, 12 / 17)])
def test_hub_score(n: int, expected: float) -> None:
    assert hub_score(n) == pytest.approx(expected, rel=1e-15, abs=0)


def test_hub_score_grows_and_stays_below_1() -> None:
    values = [hub_score(n) for n in range(1, 1000)]
    assert all(a < b for a, b in itertools.pairwise(values))
    assert values[-1] < 1


SEEDS = [f"http://{name}.example/" for name in "abcd"]


def hub(*links: str, url: str = "http://hub.example/") -> Page:
    rows = "".join(f"<li><a href='{link}'>page</a></li>" for link in links)
    return page(f"<ul>{rows}<li>robot <a href='/more'>more</a></li></ul>", url)


@pytest.mark.parametrize(
    ("at", "own_host", "n"),
    [
        (hub("http://x.example/"), False, 0),
        (hub(SEEDS[0]), False, 1),
        (hub(SEEDS[0], SEEDS[0] + "deep/page.html"), False, 1),  # one host, two pages
        (hub(SEEDS[0], SEEDS[1]), False, 2),
        (hub(SEEDS[0], "http://B.EXAMPLE:8080/x"), False, 2),  # any page of the host
        (hub(SEEDS[0], "http://www.b.example/"), False, 1),  # fully qualified
        (hub(*SEEDS), False, 4),
        # The page's own host: /more links to it.
        (hub(SEEDS[1], url=SEEDS[0] + "links.html"), False, 1),
        (hub(SEEDS[1], url=SEEDS[0] + "links.html"), True, 2),
        (hub(SEEDS[1], SEEDS[2], url=SEEDS[0] + "links.html"), False, 2),
        (hub(SEEDS[1], SEEDS[2], url=SEEDS[0] + "links.html"), True, 3),
    ],
)
def test_hub_seeking_takes_the_larger_of_hub_and_dom(at: Page, own_host: bool, n: int) -> None:
    topic = profile("robot", "arm", seeds=SEEDS)
    dom = scores(started("dom", topic).score(at, None))
    found = started("hub-seeking", topic, own_host=own_host).score(at, None)
    worth = n * (n - 1) / (1 + n * n)
    assert_scores(found, [max(worth, score) for score in dom])
    np.testing.assert_allclose(found.parts["hub"], worth, rtol=1e-15, atol=0)


def test_hub_seeking_is_dom_where_the_seeds_are_on_one_host() -> None:
    topic = profile("robot", "arm", seeds=["http://a.example/", "http://a.example/2"])
    at = hub(*SEEDS)
    dom = started("dom", topic).score(at, None)
    found = started("hub-seeking", topic, own_host=True).score(at, None)
    assert found.priorities.tolist() == dom.priorities.tolist()


def test_shark_search_weighs_inheritance_anchor_and_surroundings() -> None:
    found = started("shark-search").score(PAGE, None)
    inherited = 0.5 * SIM
    surroundings = np.array([1, 1 / 2, 0])  # the anchor of /a has a keyword
    assert_scores(found, 0.5 * inherited + 0.5 * (0.8 * ANCHOR + 0.2 * surroundings))
    assert_parts(
        found, {"inherited": [inherited] * 3, "anchor": ANCHOR, "surroundings": surroundings}
    )


def test_shark_search_with_gamma_1_is_inheritance_alone() -> None:
    # hcla 5.1: d times the relevance of the parent.
    found = started("shark-search", gamma=1.0, d=0.25).score(PAGE, None)
    assert_scores(found, [0.25 * SIM] * 3)


def test_shark_search_passes_on_interest_until_it_has_faded() -> None:
    strategy = started("shark-search")

    def state_after(at: Page, state: State | None) -> State:
        state = strategy.score(at, state).state
        assert state is not None
        return tuple(json.loads(json.dumps(state)))

    assert state_after(OFF_TOPIC, None) == (0.0,)  # a seed off topic has nothing to pass on
    child = state_after(PAGE, None)
    assert child == pytest.approx((SIM / 2,), rel=1e-12, abs=0)
    grandchild = state_after(OFF_TOPIC, child)  # similarity 0: half of what it inherited
    assert grandchild == pytest.approx((SIM / 4,), rel=1e-12, abs=0)
    third = state_after(OFF_TOPIC, grandchild)
    assert third == pytest.approx((SIM / 8,), rel=1e-12, abs=0)
    # A page on topic passes on its own similarity, whatever it inherited.
    assert state_after(PAGE, third) == pytest.approx((SIM / 2,), rel=1e-12, abs=0)


def test_shark_search_scores_a_page_off_topic_by_what_it_inherited() -> None:
    found = started("shark-search").score(OFF_TOPIC, (SIM / 2,))
    assert_scores(found, [0.5 * SIM / 4])


def test_a_topic_without_keywords_is_guided_by_its_description_then_by_its_targets() -> None:
    keywords = started("dom").score(PAGE, None)
    described = started("dom", profile(description="The robot, and its arm.")).score(PAGE, None)
    assert described.priorities.tolist() == keywords.priorities.tolist()
    targets = [page("<p>robot</p>", "http://t.example/1"), page("<p>arm</p>", "http://t.example/2")]
    by_targets = started("dom", profile(targets=targets)).score(PAGE, None)
    assert by_targets.priorities.tolist() == keywords.priorities.tolist()
    everything = profile("robot", "arm", description="Tea and cake.", targets=[OFF_TOPIC])
    by_keywords = started("dom", everything).score(PAGE, None)
    assert by_keywords.priorities.tolist() == keywords.priorities.tolist()


@pytest.mark.parametrize("name", ["best-first", "dom", "hub-seeking", "shark-search"])
def test_a_topic_with_nothing_to_compare_with_is_refused(name: str) -> None:
    with pytest.raises(TopicError, match=r"test\.toml: there is nothing to compare.*give keywords"):
        started(name, profile(targets=[page("<img src=x>", "http://t.example/1")]))


def test_targets_without_text_are_as_good_as_none() -> None:
    topic = profile("robot", targets=[page("<img src=x>", "http://t.example/1")])
    with pytest.raises(TopicError, match="none of its target pages has text; give targets"):
        started("best-first", topic, against="targets")
