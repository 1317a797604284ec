"""``scrapy crawl xcrawl``: from sample pages to all pages like them, a site at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

from focusspider.spiders.focus import FocusSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.settings import BaseSettings

__all__ = ["XCrawlSpider"]


class XCrawlSpider(FocusSpider):
    """Crawl the sites of a topic's seeds and targets by the strategy ``xcrawl``.

    ``scrapy crawl xcrawl -a topic=topics/sample.toml``. What the seeds and those targets that
    have a URL are judged to be is where its walks begin; ``scrapy focus-search`` finds such
    pages. A topic may name the strategy too, to give it parameters.
    """

    name = "xcrawl"

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Take the strategy ``xcrawl``, if the topic or the command line name no other."""
        super().update_settings(settings)
        if settings.get("FOCUS_STRATEGY") != cls.name:  # whose parameters would be another's
            settings.set("FOCUS_STRATEGY", cls.name, priority="spider")
            settings.set("FOCUS_STRATEGY_PARAMS", {}, priority="spider")

    async def start(self) -> AsyncIterator[Any]:
        """Hand over the seeds, and the targets that can be fetched."""
        async for request in super().start():
            yield request
        for url in self._session().topic.target_urls:
            yield Request(url, errback=self.link_failed)
