"""What stands in for Scrapy's private names, where they are missing."""

from __future__ import annotations

from types import SimpleNamespace

from scrapy import Request

from focusspider.engine import in_progress, scheduler_of, wake


def test_an_engine_is_woken_unless_it_closes_or_has_no_such_name() -> None:
    calls: list[int] = []
    nextcall = SimpleNamespace(schedule=lambda: calls.append(1))
    assert wake(SimpleNamespace(_slot=SimpleNamespace(nextcall=nextcall, closing=None)))
    assert calls == [1]
    closing = SimpleNamespace(_slot=SimpleNamespace(nextcall=nextcall, closing=object()))
    assert [wake(engine) for engine in (closing, SimpleNamespace(_slot=None), None)] == [False] * 3
    assert not wake(SimpleNamespace())
    assert calls == [1]


def test_requests_in_progress_are_those_in_downloader_and_scraper() -> None:
    a, b, c = (Request(f"http://a.example/{n}") for n in range(3))
    downloader = SimpleNamespace(active={a})
    scraper = SimpleNamespace(slot=SimpleNamespace(active={b}))
    private = SimpleNamespace(inprogress={a, b, c})
    assert in_progress(SimpleNamespace(_slot=private)) == {a, b, c}
    assert in_progress(SimpleNamespace(downloader=downloader, scraper=scraper)) == {a, b}
    scraper.slot = None
    assert in_progress(SimpleNamespace(downloader=downloader, scraper=scraper)) == {a}


def test_the_scheduler_is_found_where_the_engine_does_not_name_it() -> None:
    assert scheduler_of(SimpleNamespace(scheduler="s")) == "s"
    assert scheduler_of(SimpleNamespace(_slot=SimpleNamespace(scheduler="s"))) == "s"
    assert scheduler_of(SimpleNamespace()) is None
