from __future__ import annotations

import gzip

import pytest
from scrapy import Request, exceptions
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.http import HtmlResponse, Response
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.test import get_crawler

from focusspider.failures import Failures, reason_of
from focusspider.stats import PAGE_FAILED, TARGET_FAILED, unequal_sums

URL = "http://a.example/"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (HttpError(HtmlResponse(URL, status=500)), "http"),
        (exceptions.CannotResolveHostError("x"), "dns"),
        (exceptions.DownloadTimeoutError("x"), "timeout"),
        (exceptions.DownloadConnectionRefusedError("x"), "connection"),
        (exceptions.DownloadFailedError("x"), "connection"),
        (exceptions.ResponseDataLossError("x"), "connection"),
        (exceptions.DownloadCancelledError("x"), "too_large"),
        (exceptions.IgnoreRequest("Forbidden by robots.txt"), "robots"),
        (exceptions.IgnoreRequest("max redirections reached"), "redirects"),
        (exceptions.IgnoreRequest("exceeded DOWNLOAD_MAXSIZE (1 B)"), "too_large"),
        (exceptions.IgnoreRequest("a user's own"), "ignored"),
        (ValueError("a bug"), "other"),
    ],
)
def test_each_error_of_scrapy_has_its_reason(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason


def broken(middleware: type, response: Response, **settings: object) -> Exception:
    """Return what a downloader middleware of Scrapy raises at a response."""
    crawler = get_crawler(settings_dict=settings)
    crawler._apply_settings()
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one is what is asked
        middleware.from_crawler(crawler).process_response(Request(URL), response)
    return caught.value


@pytest.mark.parametrize(
    ("body", "settings", "reason"),
    [
        (b"this is not gzip", {}, "invalid"),
        (gzip.compress(bytes(10_000_000), mtime=0), {"DOWNLOAD_MAXSIZE": 1_000_000}, "too_large"),
    ],
)
def test_what_cannot_be_unpacked(body: bytes, settings: dict[str, int], reason: str) -> None:
    response = Response(URL, body=body, headers={"Content-Encoding": "gzip"})
    assert reason_of(broken(HttpCompressionMiddleware, response, **settings)) == reason


@pytest.mark.parametrize("location", ["http://[::bad/", "http://a.example:99999999/"])
def test_a_redirect_to_no_url(location: str) -> None:
    response = Response(URL, status=302, headers={"Location": location})
    assert reason_of(broken(RedirectMiddleware, response)) == "invalid"


def test_failures_are_counted_and_said_in_words() -> None:
    crawler = get_crawler()
    crawler._apply_settings()
    failures = Failures()
    failures.stats = crawler.stats
    for error in (ValueError("first\nsecond"), ValueError("first\nthird"), KeyError()):
        failures.add(error)
    failures.add(exceptions.CannotResolveHostError("x"), key=TARGET_FAILED)
    words = "2 × other (first); 1 × other (KeyError); 1 × dns (x)"
    assert failures.in_words() == words
    failures.add(HttpError(HtmlResponse(URL, status=404), "Ignoring non-200 response"))
    assert failures.in_words() == f"{words}; 1 × http (status 404)"
    counts = crawler.stats.get_stats()
    assert counts[PAGE_FAILED] == counts[f"{PAGE_FAILED}/other"] + 1 == 4
    assert counts[TARGET_FAILED] == 1
    assert unequal_sums(counts) == []


def test_seeds_that_are_refused_are_a_cause_too() -> None:
    counts = {"focus/request/refused": 2, "focus/request/refused/depth": 2}
    assert Failures().in_words(counts) == "2 × refused: depth"
