"""Which pages are rendered, and what the settings of such a crawl become."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings

from focusspider.config import FocusConfig
from focusspider.errors import FocusError, SettingError, TopicError, UnknownNameError
from focusspider.render import RenderPolicy
from focusspider.render.context import context_request
from focusspider.render.guard import Guard
from focusspider.render.wiring import add_rendering
from focusspider.topic import Topic

OURS = "focusspider.render.handler.RenderDownloadHandler"
PLAIN = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
LINKS = "".join(f"<a href=/{n}>{n}</a>" for n in range(9))


@pytest.mark.parametrize(
    ("html", "wants"),
    [
        (f"<script>menu()</script>{LINKS}", True),
        (f"<script>menu()</script>{LINKS}<a href=/9>9</a>", False),
        (f"<script>menu()</script>{LINKS}<a href=/8#part>8</a><a href=#top>top</a>", True),
        (f"<script>menu()</script>{LINKS}<a href=javascript:go()>9</a>", True),
        ("<script type=module src=/app.js></script>", True),
        ("<script type='text/javascript'>a()</script>", True),
        ("<script type='application/x-javascript'>a()</script>", True),
        ("<script type='application/ld+json'>{}</script>", False),
        ("<script type='text/x-template'><b></b></script>", False),
        ("<p>no script at all</p>", False),
        ("<script>menu()</script><svg><a xlink:href=/1>1</a></svg>", True),
        ("<div>" * 100_000 + "<script>menu()</script>", True),
        ("", False),
    ],
)
def test_auto_renders_pages_with_a_script_and_few_links(html: str, wants: bool) -> None:
    assert RenderPolicy(mode="auto", links=10).wants(html) is wants
    assert RenderPolicy(mode="always").wants(html)
    assert not RenderPolicy(mode="never").wants(html)


def topic(**render: Any) -> Topic:
    table = {"keywords": ["clock"], "render": render}
    return Topic.from_table(table, source="clocks.toml", needs_seeds=False)


def test_the_topic_comes_before_the_settings() -> None:
    config = FocusConfig(render="always", render_links=3, render_actions=7)
    assert RenderPolicy.of(config, None) == RenderPolicy(mode="always", links=3, actions=7)
    assert RenderPolicy.of(config, topic(seconds=2.5)).seconds == 2.5
    found = RenderPolicy.of(config, topic(mode="auto", actions=0))
    assert found == RenderPolicy(mode="auto", links=3, actions=0)
    inline = Topic.from_arguments(
        keywords="clock", seeds="http://a.example/", render='{"mode": "auto", "links": 4}'
    )
    assert RenderPolicy.of(config, inline) == RenderPolicy(mode="auto", links=4, actions=7)


@pytest.mark.parametrize(
    ("render", "message"),
    [
        ({"mode": "on"}, "rendering: mode must be one of never, auto, always, got 'on'"),
        ({"second": 3}, "rendering has no parameter 'second' (did you mean 'seconds'?)"),
        ({"seconds": 0}, "rendering: seconds must be a number of at least 1, got 0"),
        ({"actions": -1}, "rendering: actions must be a whole number of at least 0, got -1"),
    ],
)
def test_a_wrong_policy_of_a_topic(render: dict[str, Any], message: str) -> None:
    with pytest.raises(TopicError) as caught:
        RenderPolicy.of(FocusConfig(), topic(**render))
    assert str(caught.value).startswith(f"clocks.toml: render: {message}")


def wired(**given: Any) -> Settings:
    settings = Settings({"FOCUS_CHROMIUM": sys.executable, "FOCUS_RENDER": "auto", **given})
    add_rendering(settings, FocusConfig.from_settings(settings), None)
    return settings


def test_the_handlers_that_were_there_go_on_to_fetch() -> None:
    settings = wired()
    assert settings.getdict("DOWNLOAD_HANDLERS") == {"http": OURS, "https": OURS}
    assert settings["FOCUS_RENDER_HANDLERS"] == {"http": PLAIN, "https": PLAIN}

    theirs = {"http": "shop.Handler", "https": None, "s3": "shop.S3"}
    settings = wired(DOWNLOAD_HANDLERS=theirs)
    assert settings.getdict("DOWNLOAD_HANDLERS") == {**theirs, "http": OURS}
    assert settings["FOCUS_RENDER_HANDLERS"] == {"http": "shop.Handler"}

    settings = wired(DOWNLOAD_HANDLERS={"http": Guard})  # a class
    assert settings["FOCUS_RENDER_HANDLERS"]["http"] == "focusspider.render.guard.Guard"

    by_hand = {"http": OURS, "https": OURS}
    settings = wired(DOWNLOAD_HANDLERS=by_hand, FOCUS_RENDER_HANDLERS={"http": "shop.Handler"})
    assert settings.getdict("DOWNLOAD_HANDLERS") == by_hand
    assert settings["FOCUS_RENDER_HANDLERS"] == {"http": "shop.Handler"}


def test_without_rendering_nothing_is_touched_or_looked_for() -> None:
    settings = wired(FOCUS_RENDER="never", FOCUS_CHROMIUM="/nowhere", FOCUS_RENDER_BLOCK="films")
    assert settings.getdict("DOWNLOAD_HANDLERS") == {}
    assert settings["FOCUS_RENDER_HANDLERS"] is None


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"FOCUS_CHROMIUM": "/nowhere"}, SettingError, "FOCUS_CHROMIUM = '/nowhere'"),
        ({"FOCUS_RENDER_BLOCK": ["films"]}, UnknownNameError, "FOCUS_RENDER_BLOCK: 'films'"),
        ({"FOCUS_RENDER": "sometimes"}, SettingError, "FOCUS_RENDER = 'sometimes'"),
    ],
)
def test_what_cannot_be_used_is_said(
    given: dict[str, Any], error: type[FocusError], words: str
) -> None:
    with pytest.raises(error) as caught:
        wired(**given)
    assert str(caught.value).startswith(words)


def test_a_browser_elsewhere_needs_none_here() -> None:
    settings = wired(FOCUS_CHROMIUM="/nowhere", PLAYWRIGHT_CDP_URL="http://127.0.0.1:9222")
    assert settings.getdict("DOWNLOAD_HANDLERS")["http"] == OURS


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SettingError, match="pip install scrapy-playwright"):
        wired()


def test_a_page_is_visited_as_it_was_fetched() -> None:
    async def allowed(url: str) -> bool:
        return True

    request = Request(
        "http://shop.example/a",
        headers={
            "User-Agent": "focusspider",
            "Cookie": "a=1; b=x=y; ;flag",
            "Proxy-Authorization": "Basic dXNlcjpwYXNz",
        },
        meta={"proxy": "http://proxy.example:8080"},
    )
    document = HtmlResponse("http://shop.example/a", body=b"a")
    guard = Guard(document, blocked=frozenset(), most=1, allowed=allowed, fetch=None)
    asked = context_request(request, document, guard, "focus-1", True)
    options = asked.meta["playwright_context_kwargs"]
    cookies = [
        (cookie["name"], cookie["value"], cookie["domain"])
        for cookie in options["storage_state"]["cookies"]
    ]
    assert cookies == [("a", "1", "shop.example"), ("b", "x=y", "shop.example")]
    proxy = {"server": "http://proxy.example:8080", "username": "user", "password": "pass"}
    assert options["proxy"] == proxy
    assert options["user_agent"] == "focusspider"
    assert options["ignore_https_errors"] is False
    assert "permissions" not in options
    assert "Cookie" not in asked.headers
