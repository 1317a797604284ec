"""Where each thing that a callback yields goes in the queue."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scrapy
from scrapy import FormRequest, Request
from scrapy.utils.request import RequestFingerprinter

from focusspider.priority import (
    FIRST,
    HELD,
    PRIORITY_MAX,
    SCORED_MIN,
    among_scores,
    around_scores,
    belief_priorities,
    scalar_priorities,
    to_level,
)
from focusspider.relevance.base import Judgement
from focusspider.scoring import PageScorer
from focusspider.strategies.base import LinkScores
from focusspider.urls import Fingerprinter
from focusspider.visits import Visit
from tests.pages import page

if TYPE_CHECKING:
    from focusspider.page import Page

HTML = """
<a href="/good">good</a> <a href="/bad">bad</a> <a href="/good">better</a>
<a href="/q?b=2&amp;a=1">query</a>
"""
SCORES = [0.5, 0.25, 0.75, 0.125]
PAGE = page(HTML)


class FakeSession:
    """Scores the four links of the page, in their order."""

    def __init__(self, explain: bool = False, state: tuple[float, ...] | None = None) -> None:
        self.config = type("Config", (), {"explain": explain})
        self.state = state
        self.started = datetime(2026, 1, 31, tzinfo=UTC)
        self.scored = 0

    def score(self, visit: Visit) -> LinkScores:
        self.scored += 1
        scores = np.array(SCORES)
        return LinkScores(scalar_priorities(scores), self.state, {"part": scores / 2})


def scorer(
    session: FakeSession | None = None, of: Page | None = PAGE, relevance: float = 0.3
) -> PageScorer:
    visit = Visit(
        n=7,
        url="http://a.example/",
        page=of,
        judgement=Judgement(relevance, relevance > 0.5, "test"),
        parent=0,
        depth=0,
        link={},
        time=None,
        duplicate_of=None,
    )
    return PageScorer(session or FakeSession(), visit, Fingerprinter(RequestFingerprinter()))  # type: ignore[arg-type]


def test_a_link_has_its_score_and_the_best_where_it_is_there_twice() -> None:
    focus = scorer().focus(Request("http://a.example/good"))
    assert focus == {"parent": 7, "priority": 3 * 2**48, "anchor": "better"}


@pytest.mark.parametrize(
    "url",
    ["http://a.example/q?b=2&a=1", "http://a.example/q?a=1&b=2", "http://a.example/q?a=1&b=2#x"],
)
def test_a_link_may_be_spelt_differently(url: str) -> None:
    assert scorer().focus(Request(url))["anchor"] == "query"


def test_what_travels_with_it_when_it_is_there() -> None:
    focus = scorer(FakeSession(explain=True, state=(0.5, 0.25))).focus(
        Request("http://a.example/bad")
    )
    assert focus["state"] == [0.5, 0.25]
    assert focus["explain"] == {"part": 0.125}


PLACES: list[tuple[Request, int | None]] = [
    # a link: by its score, whatever its callback is given
    (Request("http://a.example/bad"), 2**48),
    (Request("http://a.example/bad", cb_kwargs={"x": 1}, dont_filter=True), 2**48),
    # the next step of what the callback began: before every link
    (FormRequest("http://a.example/bad", formdata={"q": "x"}), FIRST),
    (Request("http://a.example/api", method="POST"), FIRST),
    (Request("http://a.example/api", body=b"x"), FIRST),
    (Request("http://a.example/api", cb_kwargs={"item": 1}), FIRST),
    (Request("http://a.example/api", dont_filter=True), FIRST),
    # a URL that was made: as good as its page
    (Request("http://a.example/made"), int(0.3 * 2**50)),
    # what the spider says itself: before every link, or after
    (Request("http://a.example/bad", priority=2), FIRST + 2),
    (Request("http://a.example/made", priority=1), FIRST + 1),
    (Request("http://a.example/good", priority=-1), SCORED_MIN - 1),
    (FormRequest("http://a.example/", formdata={"q": "x"}, priority=-2), SCORED_MIN - 2),
]


@pytest.mark.parametrize(("request_", "place"), PLACES)
def test_where_a_request_goes(request_: Request, place: int) -> None:
    focus = scorer().focus(request_)
    assert focus.get("place", focus.get("priority")) == place


def test_a_link_with_a_priority_of_its_own_is_still_logged_as_a_link() -> None:
    focus = scorer().focus(Request("http://a.example/bad", priority=2))
    assert (focus["priority"], focus["anchor"]) == (2**48, "bad")


def test_what_is_no_page_gives_the_middle() -> None:
    assert scorer(of=None).focus(Request("http://a.example/x"))["place"] == 2**49
    assert scorer(of=None).focus(Request("http://a.example/x", method="POST"))["place"] == FIRST


def test_no_score_is_computed_that_nobody_asks_for() -> None:
    session = FakeSession()
    scorer(session).focus(FormRequest("http://a.example/bad", formdata={"q": "x"}))
    assert session.scored == 0
    asked = scorer(session)
    for url in ("good", "bad", "other"):
        asked.focus(Request(f"http://a.example/{url}"))
    assert session.scored == 1


def test_a_link_as_the_frontier_takes_it() -> None:
    link = PAGE.links[1]
    assert scorer().scored(link) == ("http://a.example/bad", 2**48, "bad", None)
    assert scorer(FakeSession(explain=True)).scored(link).explain == {"part": 0.125}


class TestRoomAroundTheScores:
    def test_the_order_of_all_that_can_wait(self) -> None:
        order = [
            *(around_scores(p) for p in (-5000, -1024, -1)),
            *among_scores(scalar_priorities([0.0, 1e-9, 0.5, 1.0])).tolist(),
            *(around_scores(p) for p in (0, 1, 10**6, 10**9)),
        ]
        assert order == sorted(order)
        assert len(set(order)) == len(order) - 1, "priorities below -1024 are one"
        assert order[0] == 0
        assert order[-1] == PRIORITY_MAX

    def test_no_belief_is_moved(self) -> None:
        """Components sum to 1, so that the last alone is all that lies below the range."""
        steps = np.arange(0, 1001, 50) / 1000
        beliefs = [[0, 0, 0, 1 - p, p] for p in steps] + [[p, 0, 0, 0, 1 - p] for p in steps]
        packed = belief_priorities(beliefs)
        moved = np.asarray(beliefs)[packed != among_scores(packed)]
        assert (moved == [0, 0, 0, 0, 1]).all()

    def test_levels_keep_the_order(self) -> None:
        order = [around_scores(-3), around_scores(-1)]
        order += among_scores(scalar_priorities(np.linspace(0, 1, 5000))).tolist()
        order += [around_scores(0), around_scores(9)]
        levels = [to_level(priority) for priority in order]
        assert levels == sorted(levels)
        assert levels[:2] == [-3, -1]
        assert levels[-2:] == [64, 73]
        assert set(levels[2:-2]) == set(range(64))


def test_the_middleware_forgets_what_was_copied() -> None:
    """``meta=response.meta.copy()`` brings the page's own; it is not the new request's."""
    from focusspider.middleware import FocusMiddleware
    from focusspider.scheduler import FocusScheduler

    counts: dict[str, int] = {}

    class Stats:
        def inc_value(self, key: str) -> None:
            counts[key] = counts.get(key, 0) + 1

    class Engine:
        scheduler = FocusScheduler.__new__(FocusScheduler)

    class Fake:
        stats: Any = Stats()
        engine: Any = Engine()
        request_fingerprinter = RequestFingerprinter()

    session = FakeSession()
    session.config.item_fields = ()  # type: ignore[attr-defined]
    middleware = FocusMiddleware(session, Fake())  # type: ignore[arg-type]
    stale = {"focus": {"priority": 1, "parent": 99, "anchor": "old", "state": [1.0]}, "mine": 1}
    request = scrapy.Request("http://a.example/made", meta=stale)
    placed = middleware._placed(request, scorer(session))
    assert placed.meta == {"focus": {"parent": 7, "place": int(0.3 * 2**50)}, "mine": 1}
    assert placed.priority == 0
    assert counts == {"focus/request/no_link": 1}


def test_a_strategy_moves_only_what_has_a_score() -> None:
    from focusspider.reranking import _scored_only

    class View:
        ids = np.arange(6)
        keys = np.arange(6, dtype=np.uint64) + 10
        priorities = np.array([SCORED_MIN - 1, SCORED_MIN, 2**49, FIRST - 1, FIRST, HELD])
        leased = np.array([99], dtype=np.uint64)

    view: Any = View()
    moved = _scored_only(view)
    assert moved.ids.tolist() == [1, 2, 3, 5]
    assert moved.keys.tolist() == [11, 12, 13, 15]
    assert moved.leased.tolist() == [99]
    assert _scored_only(moved) is moved, "nothing is copied where all have one"
