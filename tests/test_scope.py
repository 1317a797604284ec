from __future__ import annotations

import pytest

from focusspider.scope import Scope
from focusspider.topic import Limits, Sites

SITES = Sites(allow=("a.example", "b.example"), deny=("http://a.example/private/",))


@pytest.mark.parametrize(
    ("url", "host", "depth", "reason"),
    [
        ("http://a.example/x", "a.example", 3, None),
        ("http://www.a.example/x", "www.a.example", 0, None),
        ("http://a.example/x", "a.example", 4, "depth"),
        ("http://c.example/x", "c.example", 1, "offsite"),
        ("http://a.example/private/x", "a.example", 1, "offsite"),
        ("http://a.example/1/2/1/2/1/2", "a.example", 1, None),
        ("http://a.example/1/2/1/2/1/2/1", "a.example", 1, "segment_repeats"),
    ],
)
def test_what_is_refused_and_why(url: str, host: str, depth: int, reason: str | None) -> None:
    scope = Scope(sites=SITES, limits=Limits(depth=3), max_segment_repeats=3)
    assert scope.refuses(url, host, depth) == reason


def test_a_request_has_passed_scrapys_checks_and_only_links_are_traps() -> None:
    scope = Scope(sites=SITES, allowed_domains=["b.example"], max_segment_repeats=3)
    trap = "http://a.example/1/2/1/2/1/2/1"
    assert scope.refuses(trap, "a.example", 0) == "offsite"
    assert scope.refuses_request(trap, "a.example", 0, is_link=True) == "segment_repeats"
    assert scope.refuses_request(trap, "a.example", 0, is_link=False) is None
    assert scope.refuses_request("http://c.example/", "c.example", 0, is_link=False) == "offsite"


def test_the_stricter_depth_counts() -> None:
    assert Scope(limits=Limits(depth=5), max_depth=2).refuses("http://a/", "a", 3) == "depth"
    assert Scope(limits=Limits(depth=2), max_depth=5).refuses("http://a/", "a", 3) == "depth"
    assert Scope(max_depth=0).refuses("http://a/", "a", 1000) is None


def test_allowed_domains_are_scrapys() -> None:
    scope = Scope(allowed_domains=["Example.org"])
    assert scope.refuses("http://example.org/", "example.org", 0) is None
    assert scope.refuses("http://www.example.org/", "www.example.org", 0) is None
    assert scope.refuses("http://badexample.org/", "badexample.org", 0) == "offsite"


def test_the_hosts_that_came_first_stay() -> None:
    scope = Scope(limits=Limits(hosts=2))
    reasons = [scope.refuses(f"http://{host}/", host, 0) for host in ("a", "b", "c", "a")]
    assert reasons == [None, None, "hosts", None]


def test_a_start_takes_the_place_of_its_host() -> None:
    scope = Scope(limits=Limits(hosts=1), allowed_domains=[None, "a", "b"])
    scope.takes("a")
    reasons = [scope.refuses(f"http://{host}/", host, 0) for host in ("b", "a")]
    assert reasons == ["hosts", None]


def test_a_host_is_full_by_pages_asked_of_it_less_those_not_had() -> None:
    scope = Scope(limits=Limits(pages_per_host=2))
    scope.asked("a")
    scope.asked("a")
    assert not scope.may_ask("a")
    assert not scope.host_full("a")
    assert scope.may_ask("b")
    scope.had("a")
    scope.failed("a")
    assert scope.may_ask("a")
    assert scope.refuses("http://a/", "a", 0) is None
    scope.asked("a")
    scope.had("a")
    assert scope.host_full("a")
    assert scope.refuses("http://a/", "a", 0) == "host_full"
    assert scope.refuses("http://b/", "b", 0) is None


def test_a_checkpoint_counts_the_pages_that_are_settled() -> None:
    limits = Limits(pages_per_host=2, hosts=3)
    scope = Scope(limits=limits)
    for _ in range(2):
        scope.asked("a")
        scope.had("a")
    assert scope.host_full("a")
    scope.settled("a")
    assert scope.state() == {"hosts": [], "pages": {"a": 1}}
    resumed = Scope(limits=limits)
    resumed.restore(scope.state(), ["http://b/"])
    assert not resumed.host_full("a")
    assert resumed.state() == {"hosts": [], "pages": {"a": 1}}


def test_a_limit_that_is_new_counts_what_was_fetched() -> None:
    without = Scope()
    assert without.state() == {"hosts": None, "pages": None}
    scope = Scope(limits=Limits(pages_per_host=2, hosts=2))
    scope.restore(without.state(), ["http://a/1", "http://a/2", "http://b/"])
    assert scope.refuses("http://a/3", "a", 0) == "host_full"
    assert scope.refuses("http://b/2", "b", 0) is None
    assert scope.refuses("http://c/", "c", 0) == "hosts"
