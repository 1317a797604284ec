"""The engine searxng, against a server that speaks its API."""

from __future__ import annotations

import logging

import pytest

from focusspider.config import FocusConfig
from focusspider.errors import ServiceError, SettingError
from focusspider.search import search_engine
from focusspider.search.base import Answer, Hit
from focusspider.search.searxng import SearxngEngine
from tests.jsonserver import Answer as Reply
from tests.search.test_moz import Time
from tests.searxngserver import SearxngServer

PAGES = {
    f"http://h{n}.example/": (f"Mill {n}", "grind corn" if n % 2 else "wind") for n in range(25)
}
HITS = tuple(Hit(url, title) for url, (title, _) in PAGES.items())


@pytest.fixture
def server():
    with SearxngServer(PAGES) as running:
        yield running


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def engine(server: SearxngServer, time: Time):
    return SearxngEngine(url=server.url, delay=0, sleep=time.sleep, clock=lambda: time.now)


@pytest.mark.parametrize(("n", "pages"), [(1, 1), (10, 1), (11, 2), (20, 2), (25, 3), (99, 4)])
def test_hits_of_several_pages(
    engine: SearxngEngine, server: SearxngServer, n: int, pages: int
) -> None:
    assert engine.search("mill", n) == Answer(HITS[:n], 25)
    assert [asked["pageno"] for asked in server.asked] == [str(1 + k) for k in range(pages)]
    assert {(asked["q"], asked["format"]) for asked in server.asked} == {("mill", "json")}


def test_words_go_as_they_are(engine: SearxngEngine, server: SearxngServer) -> None:
    assert engine.search("mill corn", 3).total == 12
    assert engine.search("Müh&le=#+ 50%", 3) == Answer((), 0)
    assert server.asked[-1]["q"] == "Müh&le=#+ 50%"


@pytest.mark.parametrize("path", ["/", "/search", "/search/"])
def test_addresses(server: SearxngServer, path: str) -> None:
    assert SearxngEngine(url=server.url + path, delay=0).search("mill", 2).hits == HITS[:2]


def test_an_instance_that_does_not_count(time: Time) -> None:
    with SearxngServer(PAGES, counts=False) as server:
        engine = SearxngEngine(url=server.url, delay=0)
        assert engine.search("mill", 2) == Answer(HITS[:2], None)
        assert engine.search("nothing", 2) == Answer((), 0)  # it has none, and says so


@pytest.mark.parametrize("said", [0, -1, None, "25", True, 1e400, 10**400])
def test_totals_that_say_nothing(
    engine: SearxngEngine, server: SearxngServer, said: object
) -> None:
    body = {"results": [{"url": "http://a.example/"}], "number_of_results": said}
    server.instead = [Reply(body=body)]
    assert engine.search("mill", 1) == Answer((Hit("http://a.example/", ""),), None)


def test_engines_that_are_silent(
    engine: SearxngEngine, server: SearxngServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.silent = [["google", "CAPTCHA"], ["odd"]]
    server.pages = {}
    assert engine.search("mill", 5) == Answer((), None)  # it is not known that there are none
    assert engine.search("corn", 5) == Answer((), None)
    assert caplog.text.count("google: CAPTCHA") == 1


def test_what_is_no_result_is_passed_over(engine: SearxngEngine, server: SearxngServer) -> None:
    odd = [
        {"url": "HTTP://A.example/b c#d", "title": " A\n B "},
        {"url": "http://a.example/b%20c", "title": "again"},
        {"url": "magnet:?xt=1"}, {"url": None}, {"url": 7}, {}, "x", None,
        {"url": "http://user:word@a.example/"},
        {"url": "http://b.example", "title": None},
    ]  # fmt: skip
    server.instead = [Reply(body={"results": odd, "number_of_results": 10.0})]
    server.pages = {}
    assert engine.search("mill", 9) == Answer(
        (Hit("http://a.example/b%20c", "A B"), Hit("http://b.example/", "")), 10
    )


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([Reply(403, b"<html>")], "list json in search.formats of its settings.yml"),
        ([Reply(404, b"<html>")], "there is no instance: check FOCUS_SEARCH_URL"),
        ([Reply(body=b"<html>")], "no JSON object: b'<html>'"),
        ([Reply(body={"error": "x"})], "without 'results': check FOCUS_SEARCH_URL"),
        ([Reply(429, b"")] * 5, "status 429: .*FOCUS_SEARCH_DELAY"),
        ([Reply(500, b"")] * 5, "status 500: check FOCUS_SEARCH_URL"),
        ([Reply(body=None)] * 5, "did not answer 5 times"),
        ([Reply(302, headers={"Location": "/x"})], "status 302"),
    ],
)
def test_it_fails(
    engine: SearxngEngine, server: SearxngServer, answers: list[Reply], message: str
) -> None:
    server.instead = list(answers)
    with pytest.raises(ServiceError, match=message):
        engine.search("mill", 5)
    assert len(server.asked) == len(answers)


def test_a_query_that_it_refuses_has_no_results(
    engine: SearxngEngine, server: SearxngServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.instead = [Reply(400, {"error": "bad parameter"})]
    assert engine.search("mill", 5) == Answer((), None)
    assert "No results of 'mill'" in caplog.text


def test_it_is_asked_again_and_not_too_fast(server: SearxngServer, time: Time) -> None:
    engine = SearxngEngine(url=server.url, delay=3, sleep=time.sleep, clock=lambda: time.now)
    server.instead = [Reply(503, headers={"Retry-After": "9"})]
    assert engine.search("mill", 2).total == 25
    assert time.slept == [9]  # and by then its turn has come
    engine.search("mill", 2)
    assert time.slept == [9, 3]


def test_the_key_is_told_to_nobody_else(
    time: Time, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    with SearxngServer(PAGES, key="my-secret") as server:
        config = FocusConfig(search_engine="searxng", search_url=server.url, search_delay=0)
        monkeypatch.setenv("FOCUS_SEARCH_KEY", "my-secret")
        assert search_engine(config).search("mill", 1).total == 25
        assert server.headers[-1]["User-Agent"].startswith("focusspider/")
        monkeypatch.setenv("FOCUS_SEARCH_KEY", "other-secret")
        with pytest.raises(ServiceError, match=r"mend FOCUS_SEARCH_KEY") as caught:
            search_engine(config).search("mill", 1)
    assert "no such token: Bearer ***" in str(caught.value)
    assert "secret" not in caplog.text + str(caught.value) + str(config.to_dict())
    shown = FocusConfig(search_key="my-secret")
    assert "my-secret" not in repr(shown) + str(shown.to_dict())


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("ftp://a.example", None), ("a.example", None), ("https://", None), ("http://[", None),
        ("http://a.example", "key"), ("https://me:word@a.example", None), ("", None),
    ],
)  # fmt: skip
def test_addresses_that_cannot_be_used(url: str, key: str | None) -> None:
    with pytest.raises(SettingError, match="FOCUS_SEARCH_URL") as caught:
        SearxngEngine(url=url, key=key)
    assert "word" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize(("url", "key"), [("http://a.example", None), ("https://a.example", "key")])
def test_addresses_that_can(url: str, key: str | None) -> None:
    assert SearxngEngine(url=url, key=key).service.requests == 0
