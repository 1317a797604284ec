from __future__ import annotations

import re

import pytest

from focusspider.sites import Sites, check_entry


@pytest.mark.parametrize(
    ("allow", "url", "allowed"),
    [
        # domains, with their subdomains
        ("example.org", "http://example.org/", True),
        ("example.org", "https://www.Example.ORG:8080/a?b#c", True),
        ("example.org", "http://example.org.evil.example/", False),
        ("example.org", "http://notexample.org/", False),
        ("example.org", "http://example.org@evil.example/", False),
        ("example.org", "http://evil.example/?u=http://example.org/", False),
        ("example.org", "http://example.org?a=b", True),
        ("example.org", "http://example.org./", True),
        ("example.org", "ftp://example.org/", False),
        ("example.org", "not a url", False),
        ("*.example.org", "http://a.example.org/", True),
        (".example.org", "http://example.org/", True),
        ("Example.org.", "http://example.org/", True),
        ("org", "http://example.org/", True),
        ("localhost", "http://localhost:8000/", True),
        ("127.0.0.1", "http://127.0.0.1:8000/a", True),
        ("bücher.example", "http://xn--bcher-kva.example/", True),
        ("xn--bcher-kva.example", "http://bücher.example/", True),
        # URL prefixes, of one host
        ("http://example.org/wiki/", "http://example.org/wiki/A", True),
        ("http://example.org/wiki/", "https://example.org/wiki/A", True),
        ("http://example.org/wiki/", "http://example.org:80/wiki/", True),
        ("http://example.org/wiki/", "http://example.org:8080/wiki/", False),
        ("http://example.org/wiki/", "http://example.org/wiki", False),
        ("http://example.org/wiki/", "http://www.example.org/wiki/", False),
        ("http://example.org/~ann", "http://example.org/~anna/", True),
        ("http://example.org", "http://example.org", True),
        ("http://example.org", "http://example.org/a", True),
        ("http://example.org:8000/", "http://example.org:8000/a", True),
        ("http://[::1]:8000/", "http://[::1]:8000/a", True),
        ("http://example.org/größe/", "http://example.org/gr%C3%B6%C3%9Fe/1", True),
        ("http://example.org/a b/", "http://example.org/a%20b/1", True),
        ("http://example.org/a?q=é", "http://example.org/a?q=%C3%A9&b", True),
        ("http://example.org/größe/", "http://example.org/gr%C3%B6/", False),
        # patterns, searched in the URL
        (r"re:/people/\w+$", "http://example.org/people/ann", True),
        (r"re:/people/\w+$", "http://example.org/people/", False),
    ],
)
def test_an_entry(allow, url, allowed):
    assert Sites(allow=(allow,)).allows(url) is allowed
    assert Sites(allow=(allow,)).allows(url) is allowed  # from what was remembered
    # deny is the opposite, but for what is no URL of a site at all
    denied = Sites(deny=(allow,)).allows(url)
    assert denied is (not allowed and url.startswith("http"))


def test_everything_is_allowed_where_nothing_is_said():
    assert Sites().allows("http://example.org/")


def test_deny_wins_and_one_entry_of_many_is_enough():
    sites = Sites(
        allow=("example.org", "http://example.com/a/", "http://example.com/b/", r"re:\.example/x"),
        deny=("ads.example.org", "re:[?&]sort="),
    )
    allowed = {
        "http://example.org/": True,
        "http://ads.example.org/": False,
        "http://example.org/?sort=up": False,
        "http://example.com/a/1": True,
        "http://example.com/b/1": True,
        "http://example.com/c/1": False,
        "http://other.example/x": True,
        "http://other.example/y": False,
    }
    assert {url: sites.allows(url) for url in allowed} == allowed


def test_hosts_without_end_are_forgotten_again():
    sites = Sites(allow=("example.org",))
    for number in range(70_000):
        assert sites.allows(f"http://h{number}.example.org/")
    assert len(sites._allowed.hosts) < 66_000
    assert not sites.allows("http://example.com/")


def test_equal_by_their_entries():
    assert Sites(allow=("a.example",)) == Sites(allow=("a.example",))
    assert Sites(allow=("a.example",)) != Sites(deny=("a.example",))


NO_DOMAIN = (
    "is no domain; write one such as example.org, a URL prefix such as "
    "http://example.org/wiki/, or re: and a regular expression"
)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("re:", "has no regular expression after re:"),
        ("re:[", "is no regular expression: unterminated character set at position 0"),
        ("ftp://example.org/", "is no URL prefix; write http://HOST/PATH"),
        ("http://", "is no URL prefix; write http://HOST/PATH"),
        ("http://me@example.org/", "is no URL prefix; write http://HOST/PATH"),
        (
            "example.org/a",
            "is neither a domain nor a URL prefix; write http://example.org/a",
        ),
        (
            "localhost:8000",
            "is neither a domain nor a URL prefix; write http://localhost:8000",
        ),
        *(
            (
                entry,
                NO_DOMAIN,
            )
            for entry in ("", "*", "a..b", "two words", "*.*.org", "-a.org", "x" * 64 + ".org")
        ),
    ],
)
def test_wrong_entries(entry, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_entry(entry)
