"""What was decided about a fetched page, and what a request says of the link it follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

    from focusspider.page import Page
    from focusspider.relevance.base import Judgement

__all__ = ["META", "VISITS", "Visit", "visit_of"]

#: The one key of ``Request.meta`` that is ours: a dict with some of ``priority``,
#: ``state``, ``parent``, ``anchor`` and ``explain`` of the link that it follows, and
#: ``place``, where it stands in the queue if not by that priority, and ``apart``, which
#: tells requests with ``dont_filter`` from others of their URL.
META = "focus"
#: Of the responses of every crawl of the process: a response belongs to one of them.
VISITS: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()


class Visit(NamedTuple):
    """A fetched page and what was decided about it.

    ``page`` is None where the response is no HTML page. ``parent`` is the number of the
    page whose link led here, 0 for none.
    """

    n: int
    url: str
    page: Page | None
    judgement: Judgement
    parent: int
    depth: int
    link: Mapping[str, Any]
    time: str | None
    duplicate_of: str | None


def visit_of(response: Response) -> Visit | None:
    """Return what was decided about a response, for the callback that has it.

    None where it is no page of a crawl with a topic::

        def parse(self, response):
            visit = visit_of(response)
            if visit and not visit.judgement.relevant:
                return
    """
    return VISITS.get(response)
