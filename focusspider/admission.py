"""Which Requests come in by Scrapy's own door, and where their place is in the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider import stats
from focusspider.priority import around_scores, request_priority
from focusspider.urls import RefusedURLError, host_of, resolve
from focusspider.visits import META

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from focusspider.scope import Scope
    from focusspider.session import Session

__all__ = ["Admission", "count_dropped"]


class Admission:
    """What Scrapy's middlewares and the topic's limits refuse, and the place of what they don't.

    Parameters
    ----------
    scope, session
        what belongs to the crawl; the crawl's session, if it has a topic
    max_url_length
        Scrapy's ``URLLENGTH_LIMIT``
    """

    def __init__(self, scope: Scope, session: Session | None, *, max_url_length: int) -> None:
        self._scope = scope
        self._session = session
        self._max_url_length = max_url_length
        #: whether what waits may have come in by other limits, before an interruption
        self.resumed = False

    def refuses(self, request: Request) -> str | None:
        """Return why a request is outside the crawl; ``dont_filter`` is as Scrapy has it."""
        if request.dont_filter:
            self._scope.takes(host_of(request.url))
            return None
        if self._session is not None and "redirect_urls" in request.meta:
            try:  # Scrapy's checks of URLs are those of links
                resolve("", request.url, self._max_url_length)
            except RefusedURLError as error:
                return error.reason
        return self._scope.refuses_request(
            request.url,
            host_of(request.url),
            int(request.meta.get("depth", 0)),
            is_link="priority" in (request.meta.get(META) or {}),
        )

    def refuses_waiting(self, request: Request) -> str | None:
        """Return why a request that has waited is outside the crawl now."""
        return self.refuses(request) if self.resumed else None

    def priority(self, request: Request) -> int:
        """Return the priority of a request, which may be noted in its meta."""
        focus = request.meta.get(META) or {}
        place = focus.get("place", focus.get("priority"))
        if place is None and self._session is None:
            return request_priority(request.priority)
        if place is None:  # of the spider's start, or an errback's; a retry keeps it
            place = around_scores(request.priority)
            request.meta[META] = {**focus, "place": place}
        return int(place)


def count_dropped(collector: StatsCollector, reason: str) -> None:
    """Count a request that waited, and that the limits refuse now."""
    if reason == "host_full":
        collector.inc_value(stats.FRONTIER_HOST_FULL)
    else:
        stats.count_reason(collector, stats.REQUEST_REFUSED, reason)
