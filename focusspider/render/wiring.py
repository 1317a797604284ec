"""What a crawl whose pages are rendered needs among Scrapy's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.python import global_object_name

from focusspider.errors import UnknownNameError
from focusspider.render.browser import check_browser
from focusspider.render.policy import RenderPolicy

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from focusspider.config import FocusConfig
    from focusspider.topic import Topic

__all__ = ["RESOURCES", "SCHEMES", "add_rendering"]

SCHEMES = ("http", "https")
#: What Playwright calls the types of what a page loads.
RESOURCES = (
    "stylesheet", "image", "media", "font", "script", "texttrack", "xhr", "fetch", "eventsource",
    "manifest", "other",
)  # fmt: skip
_HANDLER = "focusspider.render.handler.RenderDownloadHandler"


def add_rendering(settings: BaseSettings, config: FocusConfig, topic: Topic | None) -> None:
    """Put our download handler over those of http and https, where pages are rendered.

    Theirs, the user's own and that of a replayed archive alike, go on to fetch. Raises where
    the browser, its budgets or its settings can't be used.
    """
    if RenderPolicy.of(config, topic).mode == "never":
        return
    for name in config.render_block:
        if name not in RESOURCES:
            raise UnknownNameError("type of resource", name, RESOURCES, where="FOCUS_RENDER_BLOCK")
    check_browser(config.chromium, settings)
    theirs = settings.getdict("DOWNLOAD_HANDLERS")
    base = settings.getdict("DOWNLOAD_HANDLERS_BASE")
    plain = {}
    for scheme in SCHEMES:
        handler = theirs.get(scheme, base.get(scheme))
        if handler is None:  # switched off
            continue
        plain[scheme] = handler if isinstance(handler, str) else global_object_name(handler)
    plain = {scheme: handler for scheme, handler in plain.items() if handler != _HANDLER}
    priority = max(settings.getpriority("DOWNLOAD_HANDLERS") or 0, SETTINGS_PRIORITIES["addon"])
    ours = {**theirs, **dict.fromkeys(plain, _HANDLER)}
    settings.set("DOWNLOAD_HANDLERS", ours, priority=priority)
    priority = max(settings.getpriority("FOCUS_RENDER_HANDLERS") or 0, SETTINGS_PRIORITIES["addon"])
    settings.set("FOCUS_RENDER_HANDLERS", {**plain, **config.render_handlers}, priority=priority)
