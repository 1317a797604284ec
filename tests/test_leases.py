from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from scrapy import Request
from scrapy.utils.request import RequestFingerprinter

from focusspider.frontier import Counts, Entry
from focusspider.frontier.memory import MemoryFrontier
from focusspider.leases import Leases
from focusspider.politeness import Politeness
from focusspider.scope import Scope
from focusspider.topic import Limits

fingerprint = RequestFingerprinter().fingerprint
A = "http://a.example/"


@dataclass
class Desk:
    """Leases with all that they tell."""

    limit: int | None = None
    delay: float = 0
    frontier: MemoryFrontier = field(default_factory=MemoryFrontier)

    def __post_init__(self) -> None:
        self.politeness = Politeness(
            slots={}, new_slot=lambda host: (2, self.delay), clock=lambda: 1.0
        )
        self.scope = Scope(limits=Limits(pages_per_host=self.limit))
        self.leases = Leases(self.frontier, self.politeness, self.scope)

    def push(self, request: Request) -> None:
        self.frontier.push([Entry(fingerprint(request), "a.example", 5, request)])

    def lease(self) -> Request | None:
        for entry in self.frontier.lease(1, self.leases):
            self.leases.add(entry, entry.payload)
            return entry.payload
        return None

    @property
    def counts(self) -> Counts:
        return self.frontier.counts


def retry(request: Request, **meta: Any) -> Request:
    """Return what Scrapy's RetryMiddleware makes of a request."""
    copy = request.replace(dont_filter=True)
    copy.meta.update(retry_times=request.meta.get("retry_times", 0) + 1, **meta)
    return copy


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.parametrize("answered", [True, False])
def test_a_request_is_settled_when_the_engine_is_done_with_it(desk: Desk, answered: bool) -> None:
    desk.push(Request(A))
    request = desk.lease()
    assert request in desk.leases
    if answered:
        desk.leases.answered(request)
    desk.leases.left_downloader(request)
    desk.leases.settle({request})
    assert desk.counts.leased == 1
    desk.leases.settle(set())
    assert desk.counts == Counts(0, 0, int(answered), int(not answered), 0)
    assert len(desk.leases) == 0


def test_a_slot_is_counted_until_the_request_has_left_the_downloader(desk: Desk) -> None:
    for n in range(3):
        desk.push(Request(f"{A}{n}"))
    first, second = desk.lease(), desk.lease()
    assert desk.lease() is None
    desk.leases.left_downloader(first)
    assert desk.lease() is not None
    desk.leases.settle({first})  # the second never came to the downloader
    assert second not in desk.leases
    assert desk.politeness.downloading() == 0


def test_what_a_cache_answers_costs_no_delay() -> None:
    desk = Desk(delay=1_000)
    for n in range(2):
        desk.push(Request(f"{A}{n}"))
    desk.lease()
    assert desk.lease() is None
    desk.leases.settle(set())  # without having come to the downloader
    assert desk.lease() is not None


def test_what_others_download_counts_too(desk: Desk) -> None:
    """Scrapy itself fetches robots.txt, and a pipeline may fetch images."""
    desk.push(Request(A))
    others = [Request(f"{A}{n}", meta={"download_slot": "a.example"}) for n in range(2)]
    for other in others:
        desk.leases.reached_downloader(other)
    assert desk.lease() is None
    desk.leases.left_downloader(others[0])
    assert desk.lease() is not None


def test_a_retry_waits_with_what_it_has_become(desk: Desk) -> None:
    desk.push(Request(A))
    request = desk.lease()
    again = retry(request)
    assert desk.leases.tried(fingerprint(again), again) is request
    desk.leases.again(Entry(fingerprint(again), "a.example", 5, again))
    assert desk.counts[:2] == (1, 0)
    desk.leases.settle(set())
    assert desk.counts == Counts(1, 0, 0, 0, 0)
    assert desk.lease() is again
    third = retry(again)
    assert desk.leases.tried(fingerprint(third), third) is again


@pytest.mark.parametrize(
    "other",
    [
        Request(f"{A}other", meta={"retry_times": 1}),
        Request(A, meta={"retry_times": 2}),
        # a retried request that was redirected to a page which is on its way
        Request(A, meta={"retry_times": 1, "redirect_times": 1}),
    ],
)
def test_what_is_no_retry_of_a_leased_request(desk: Desk, other: Request) -> None:
    desk.push(Request(A))
    desk.lease()
    assert desk.leases.tried(fingerprint(other), other) is None


def test_what_is_returned_waits_as_it_was_and_frees_its_slot(desk: Desk) -> None:
    desk.push(Request(A))
    request = desk.lease()
    desk.leases.returned(request)
    assert request not in desk.leases
    assert desk.politeness.downloading() == 0
    assert desk.counts == Counts(1, 0, 0, 0, 0)
    assert desk.lease() is request


class TestPagesPerHost:
    def ready(self, desk: Desk) -> bool:
        return desk.leases.ready("a.example")

    @pytest.fixture
    def desk(self) -> Desk:
        desk = Desk(limit=1)
        for n in range(3):
            desk.push(Request(f"{A}{n}"))
        return desk

    def test_no_more_is_asked_for_than_may_be_had(self, desk: Desk) -> None:
        assert desk.lease() is not None
        assert desk.lease() is None

    def test_a_page_makes_the_host_full_and_ready_to_be_dropped(self, desk: Desk) -> None:
        request = desk.lease()
        assert not self.ready(desk)
        desk.leases.brought_page(request)
        assert desk.scope.host_full("a.example")
        assert self.ready(desk)
        assert list(desk.leases.woken()) == ["a.example"]
        desk.leases.settle(set())
        assert desk.scope.host_full("a.example")

    @pytest.mark.parametrize("how", ["error", "redirect", "retry", "returned"])
    def test_what_brought_no_page_is_given_back_once(self, how: str, desk: Desk) -> None:
        request = desk.lease()
        assert not self.ready(desk)
        if how == "error":
            desk.leases.answered(request)
        elif how == "redirect":
            desk.leases.redirected(fingerprint(request))
        elif how == "retry":
            again = retry(request)
            desk.leases.again(Entry(fingerprint(again), "a.example", 5, again))
        else:
            desk.leases.returned(request)
        desk.leases.settle(set())
        assert list(desk.leases.woken()) == ["a.example"]
        assert desk.lease() is not None
        assert desk.lease() is None
