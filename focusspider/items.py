"""The item that a focused crawl exports for a page."""

from __future__ import annotations

from scrapy import Field, Item

__all__ = ["PageItem"]


class PageItem(Item):
    """One page of the crawl; a field that was not asked for is left out."""

    url = Field()
    title = Field()
    #: in [0, 1], and whether that is enough
    relevance = Field()
    relevant = Field()
    #: which rule, target or label decided
    why = Field()
    #: links from a seed to here, 0 for a seed
    depth = Field()
    #: the URLs that led here, from the seed to the parent
    path = Field()
    #: text of the link that led here
    anchor = Field()
    #: what the strategy gave the link that led here, in [0, 1); None for a seed
    score = Field()
    strategy = Field()
    #: the number of this page in the order of the crawl, from 1
    n = Field()
    #: when it was judged, ISO 8601 in UTC
    time = Field()
    status = Field()
    #: bytes of the body
    size = Field()
    language = Field()
    #: the first URL of this crawl with the same text, or None
    duplicate_of = Field()
    #: decoded HTML (FOCUS_EXPORT_BODY)
    body = Field()
    #: the parts of the score (FOCUS_EXPLAIN)
    explain = Field()
