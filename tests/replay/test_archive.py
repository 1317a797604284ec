from __future__ import annotations

import pytest

from focusspider.replay.archive import Archives, Stored, answer, page_key, spellings
from tests.shelf import Shelf

HTML = (("Content-Type", "text/html"),)


def shelf(*urls: str) -> Shelf:
    return Shelf(*(Stored(url, 200, HTML, url.encode()) for url in urls))


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://a.example", "http://a.example/"),
        ("http://a.example?q=1", "http://a.example/?q=1"),
        ("HTTP://A.Example/B", "http://a.example/B"),
        ("http://a.example:80/", "http://a.example/"),
        ("https://a.example:443/", "https://a.example/"),
        ("http://a.example:443/", "http://a.example:443/"),
        ("http://a.example:8080/", "http://a.example:8080/"),
        ("http://a.example:/", "http://a.example/"),
        ("http://user:secret@a.example/", "http://a.example/"),
        ("http://a.example/b#c", "http://a.example/b"),
        ("http://a.example/%7Ecs/", "http://a.example/~cs/"),
        ("http://a.example/%7ecs/", "http://a.example/~cs/"),
        ("http://a.example/a%2fb", "http://a.example/a%2Fb"),
        ("http://a.example/a b", "http://a.example/a%20b"),
        ("http://a.example/é", "http://a.example/%C3%A9"),
        ("http://a.example/?b=1&a=2", "http://a.example/?b=1&a=2"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ],
)
def test_equivalent_urls_have_one_key(url: str, key: str) -> None:
    assert page_key(url) == key
    assert page_key(key) == key


@pytest.mark.parametrize(
    "url", ["", "ftp://a.example/", "http:///path", "mailto:a@b.example", "http://[bad", "/path"]
)
def test_no_web_url_has_no_key(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        page_key(url)
    assert answer(shelf("http://a.example/"), url) is None


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        (stored, asked)
        for group in (
            ["http://a.example/b", "http://a.example/b/", "http://a.example/b/index.html"],
            ["http://a.example/b/index.htm", "http://a.example/b", "http://a.example/b/"],
            ["http://a.example/", "http://a.example/index.html", "https://a.example/"],
            ["https://a.example/b/", "http://a.example/b", "http://a.example/b/index.html"],
            ["http://a.example/b?q=1", "http://a.example/b/?q=1"],
            ["http://a.example/b/default.html", "http://a.example/b/index.html"],
        )
        for stored in group
        for asked in group
    ],
)
def test_another_spelling_of_the_only_one_is_redirected(stored: str, asked: str) -> None:
    found = answer(shelf(stored), asked)
    assert found is not None
    if asked == stored:
        assert (found.status, found.body) == (200, stored.encode())
    else:
        assert (found.status, found.header("location"), found.body) == (301, stored, b"")


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("http://a.example/b", "http://a.example/B"),
        ("http://a.example/b", "http://a.example/b?q=1"),
        ("http://a.example/b", "http://a.example/"),
        ("http://a.example/b/c", "http://a.example/b"),
        ("http://a.example:8080/", "http://a.example/"),
        ("http://a.example:8080/", "https://a.example:8080/"),
        ("http://a.example/", "http://www.a.example/"),
        ("http://a.example/index.html/", "http://a.example/index.html"),
    ],
)
def test_another_page_is_not_taken_for_it(stored: str, asked: str) -> None:
    found = answer(shelf(stored), asked)
    assert found is None or found.status != 200
    if stored != "http://a.example/index.html/":
        assert found is None


def test_pages_that_are_stored_both_ways_are_two() -> None:
    both = shelf("http://a.example/b", "http://a.example/b/", "https://a.example/b")
    for url in both.urls():
        assert answer(both, url).body == url.encode()


def test_its_own_scheme_comes_first() -> None:
    both = shelf("https://a.example/b/", "http://a.example/b/index.html")
    assert answer(both, "http://a.example/b").header("Location") == "http://a.example/b/index.html"
    assert answer(both, "https://a.example/b").header("Location") == "https://a.example/b/"


def test_a_stored_redirect_is_served_but_is_nobodys_alias() -> None:
    # Were /b an alias of /b/, a request would go round between the two.
    moved = Shelf(
        Stored("http://a.example/b", 301, (("Location", "/b/"),), b""),
        Stored("http://c.example/", 302, (("Location", "https://c.example/"),), b""),
    )
    assert answer(moved, "http://a.example/b").header("Location") == "/b/"
    assert answer(moved, "http://a.example/b/") is None
    assert answer(moved, "https://c.example/") is None


def test_robots_that_nobody_stored_forbid_nothing() -> None:
    found = answer(shelf("http://a.example/"), "http://elsewhere.example/robots.txt")
    assert (found.status, found.body) == (404, b"")
    kept = Shelf(Stored("http://a.example/robots.txt", 200, (), b"User-agent: *"))
    assert answer(kept, "http://a.example/robots.txt").status == 200


def test_a_port_has_no_other_scheme() -> None:
    assert all(url.startswith("http://") for url in spellings("http://a.example:8080/b"))
    assert any(url.startswith("https://") for url in spellings("http://a.example/b"))


def test_of_several_archives_the_last_counts() -> None:
    first = Shelf(
        Stored("http://a.example/", 200, HTML, b"old"), Stored("http://b.example/", 200, HTML, b"b")
    )
    last = Shelf(Stored("http://a.example/", 200, HTML, b"new"))
    both = Archives([first, last])
    assert both.get("http://a.example/").body == b"new"
    assert both.get("http://b.example/").body == b"b"
    assert both.get("http://c.example/") is None
    assert list(both.urls()) == ["http://a.example/", "http://b.example/"]
    assert len(both) == 2
