"""``scrapy crawl focus``: the generic focused crawl of one topic."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

from focusspider.errors import SettingError
from focusspider.items import PageItem, item_fields
from focusspider.session import Session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from focusspider.page import Link

__all__ = ["FocusSpider"]


class FocusSpider(Spider):
    """Crawl the pages of one topic.

    ``scrapy crawl focus -a topic=topics/sample.toml`` takes a topic from a file; every key
    of a topic can be given, or overridden, as an argument (``-a keywords="…" -a seeds="…"
    -a strategy=dom -a pages=500``). See docs/topic-file.md.
    """

    name = "focus"

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        #: read by the add-on, which builds the session of them before the first request
        self.focus_arguments = arguments

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Be polite on the web; be quick, and the same each time, on a replayed one.

        These are defaults: the project's settings and the command line win.
        """
        super().update_settings(settings)
        if settings.get("FOCUS_REPLAY"):
            defaults: dict[str, Any] = {"CONCURRENT_REQUESTS": 1}
        else:
            defaults = {
                "AUTOTHROTTLE_ENABLED": True,
                # of a host that has not answered yet; Scrapy's 5 s would be paid by each
                "AUTOTHROTTLE_START_DELAY": 1.0,
                "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
                "DOWNLOAD_DELAY": 0.5,
                # there is nothing to hide, and a delay is kept to the moment
                "DOWNLOAD_DELAY_JITTER": 0,
            }
        # a hundred workers for each response is Scrapy's default, and a quarter of the CPU
        defaults["CONCURRENT_ITEMS"] = 4
        # the whole web's would be kept, and every page is fetched as by a new visitor
        defaults["COOKIES_ENABLED"] = False
        # what is larger is no page; it holds for what is unpacked as well
        defaults["DOWNLOAD_MAXSIZE"] = 10_000_000
        # a refresh is a link like others, and its page a page
        defaults["METAREFRESH_ENABLED"] = False
        # a page that can't be had is no error of the crawl, and it is counted
        defaults["RETRY_GIVE_UP_LOG_LEVEL"] = "DEBUG"
        for name, value in defaults.items():
            settings.set(name, value, priority="addon")

    def _session(self) -> Session:
        session = Session.of(self.crawler)
        if session is None:
            raise SettingError(
                "the spider 'focus' crawls a topic, for which it needs the add-on: set ADDONS = "
                '{"focusspider.FocusAddon": 500} in the project\'s settings. scrapy parse and '
                "other commands for single pages have no topic: take scrapy crawl, and -a pages=1"
            )
        return session

    async def start(self) -> AsyncIterator[Any]:
        """Hand over the seeds."""
        for url in self._session().topic.seeds:
            yield Request(url, errback=self.link_failed)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[PageItem | Link]:  # noqa: ARG002
        """Yield the page's item, where it is wanted, and its links."""
        session = self._session()
        visit = session.visit(response)
        if visit.judgement.relevant or session.config.export == "all":
            yield PageItem(item_fields(session, visit, response))
        if visit.page is not None:
            yield from visit.page.links

    def link_failed(self, failure: Failure) -> None:
        """Count a page that could not be had, and go on."""
        request: Request = failure.request  # type: ignore[attr-defined]
        error = failure.value
        assert error is not None
        reason = self._session().failures.add(error)
        self.logger.log(
            logging.ERROR if reason == "other" else logging.DEBUG,
            "No page from %s: %s (%s)",
            request.url,
            reason,
            error,
            exc_info=(type(error), error, error.__traceback__) if reason == "other" else None,
        )
