"""The back-link service, against a server that speaks it."""

from __future__ import annotations

import logging

import pytest

from focusspider.errors import ServiceError, SettingError, UnknownNameError
from focusspider.search import BACKLINK_SERVICES, MozLinks, backlink_service
from tests.jsonserver import Answer
from tests.mozserver import KEY, MozServer

TARGET = "http://www.example.org/mills"
PAGES = [f"host{n}.example/p?n={n}" for n in range(120)]


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def server():
    with MozServer({"www.example.org/mills": PAGES}) as running:
        yield running


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def moz(server: MozServer, time: Time):
    return MozLinks(KEY, server.url, delay=0, sleep=time.sleep, clock=lambda: time.now)


@pytest.mark.parametrize("n", [1, 50, 51, 119, 120, 1_000])
def test_pages_of_answers(moz: MozLinks, server: MozServer, n: int) -> None:
    assert moz.backlinks(TARGET, n) == [f"http://{page}" for page in PAGES[:n]]
    assert server.rows == min(n, 120)  # none is paid for in vain
    assert [body["limit"] for body in server.asked][:1] == [min(n, 50)]
    assert all(body["target"] == "www.example.org/mills" for body in server.asked)
    assert all(body["target_scope"] == "page" for body in server.asked)


def test_a_page_that_nobody_links_to(moz: MozLinks) -> None:
    assert moz.backlinks("http://www.example.org/unknown", 10) == []


def test_what_is_no_link_is_passed_over(moz: MozLinks, server: MozServer) -> None:
    odd = [
        {"source": {"page": "https://a.example/s"}},
        {"source": {"page": "A.example:80/b c#d"}},
        {"source": {"page": "javascript://x"}},
        {"source": {"page": "http://user:word@a.example/"}},
        {"source": {"page": ""}},
        {"source": {"page": 7}},
        {"source": "a.example"},
        {},
        None,
        {"source": {"page": "https://a.example/s"}},
    ]
    server.instead = [Answer(body={"results": odd})]
    assert moz.backlinks(TARGET, 9) == ["https://a.example/s", "http://a.example/b%20c"]


@pytest.mark.parametrize("token", ["5", None, 7, ""])
def test_a_token_that_leads_nowhere_ends(moz: MozLinks, server: MozServer, token: object) -> None:
    body = {"results": [{"source": {"page": "a.example/"}}], "next_token": token}
    server.instead = [Answer(body=body)] * 9
    assert moz.backlinks(TARGET, 9) == ["http://a.example/"]
    assert len(server.asked) <= 2


@pytest.mark.parametrize(
    ("failures", "slept"),
    [
        ([Answer(500)], [1]),
        ([Answer(503), Answer(502, b"<html>"), Answer(504)], [1, 2, 4]),
        ([Answer(429, headers={"Retry-After": "7"})], [7]),
        ([Answer(429, headers={"Retry-After": "soon"})], [1]),
        ([Answer(429, headers={"Retry-After": "Thu, 01 Jan 2026 00:00:00 GMT"})], [1]),
        ([Answer(429, headers={"Retry-After": "0"})], [1]),
        ([Answer(body=None), Answer(429), Answer(body=None)], [1, 2, 4]),
    ],
)
def test_it_is_asked_again(
    moz: MozLinks, server: MozServer, time: Time, failures: list[Answer], slept: list[float]
) -> None:
    server.instead = list(failures)
    assert len(moz.backlinks(TARGET, 5)) == 5
    assert time.slept == slept


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([Answer(500)] * 5, r"failed, status 500: check FOCUS_BACKLINKS_URL"),
        ([Answer(body=None)] * 5, r"did not answer 5 times, at last: "),
        (
            [Answer(429, {"message": "slow down"})] * 5,
            r"status 429 \(it says: slow down\): the quo",
        ),
        ([Answer(429, headers={"Retry-After": "3600"})], "asks to come back in 3600 s"),
        (
            [Answer(503, headers={"Retry-After": "Thu, 01 Jan 2126 00:00:00 GMT"})],
            "asks to come back in 3",
        ),
        ([Answer(402, {"error": {"message": "no rows left"}})], "quota of the key is used up"),
        ([Answer(403, {"message": "Monthly quota exceeded"})], "quota of the key is used up"),
        ([Answer(403, {"message": "not yours"})], "does not accept the key, status 403"),
        ([Answer(301, headers={"Location": "/other"})], "failed, status 301"),
        ([Answer(body=b"<html>")], "no JSON object: b'<html>'"),
        ([Answer(body=[1])], "no JSON object"),
        ([Answer(body={"links": []})], "without 'results'"),
    ],
)
def test_it_fails(moz: MozLinks, server: MozServer, answers: list[Answer], message: str) -> None:
    server.instead = list(answers)
    with pytest.raises(ServiceError, match=message):
        moz.backlinks(TARGET, 5)
    assert len(server.asked) == len(answers)


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_target_that_it_refuses_has_none(
    moz: MozLinks, server: MozServer, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    server.instead = [Answer(status, {"error": {"message": "no such target"}})]
    assert moz.backlinks(TARGET, 5) == []
    assert f"No back-links of {TARGET}" in caplog.text
    assert "(it says: no such target)" in caplog.text


def test_the_key_is_told_to_nobody(
    server: MozServer, caplog: pytest.LogCaptureFixture, time: Time
) -> None:
    caplog.set_level(logging.DEBUG)
    key = "another-secret"
    moz = MozLinks(key, server.url, sleep=time.sleep, clock=lambda: time.now)
    with pytest.raises(ServiceError, match=r"does not accept the key.*no such token: \*\*\*") as e:
        moz.backlinks(TARGET, 5)
    server.instead = [Answer(400, {"message": f"bad {key}\n\x1b[31m"}), Answer(body=key.encode())]
    assert moz.backlinks(TARGET, 5) == []
    with pytest.raises(ServiceError, match=r"b'\*\*\*'"):
        moz.backlinks(TARGET, 5)
    server.instead = [Answer(body=b"x" * 73 + key.encode())]
    with pytest.raises(ServiceError, match=r"xxx\*\*\*'"):  # and no half of it either
        moz.backlinks(TARGET, 5)
    assert key not in caplog.text + str(e.value) + repr(e.value)
    assert "\x1b" not in caplog.text


def test_it_is_not_asked_too_fast(server: MozServer, time: Time) -> None:
    moz = MozLinks(KEY, server.url, delay=10, sleep=time.sleep, clock=lambda: time.now)
    moz.backlinks(TARGET, 120)
    assert time.slept == [10, 10]
    time.now += 7
    moz.backlinks(TARGET, 1)
    assert time.slept[2:] == [3]


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example/v2", "ftp://127.0.0.1/", "api.example", "file:///etc/passwd",
        "https://", "https:///v2", "https://[::1", "http://[",
    ],
)  # fmt: skip
def test_the_key_does_not_travel_in_the_clear(url: str) -> None:
    with pytest.raises(SettingError, match="give an https URL") as caught:
        MozLinks(KEY, url)
    assert KEY not in str(caught.value)


def test_by_name(server: MozServer) -> None:
    moz = backlink_service("moz", key=KEY, url=server.url, delay=0)
    assert len(moz.backlinks(TARGET, 3)) == 3
    assert list(BACKLINK_SERVICES) == ["moz"]
    with pytest.raises(UnknownNameError, match="known: moz"):
        backlink_service("mos", key=KEY, url=None, delay=0)
    with pytest.raises(SettingError, match="set FOCUS_BACKLINKS_KEY"):
        backlink_service("moz", key=None, url=None, delay=0)
