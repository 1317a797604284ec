"""The item that a focused crawl exports for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Field, Item

from focusspider.priority import to_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

    from focusspider.session import Session
    from focusspider.visits import Visit

__all__ = ["PageItem", "fill", "item_fields"]


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


def item_fields(session: Session, visit: Visit, response: Response) -> dict[str, Any]:
    """Return the values of the fields of a visited page."""
    priority = visit.link.get("priority")
    fields = {
        "url": visit.url,
        "title": visit.page.title if visit.page else None,
        "relevance": round(visit.judgement.relevance, 6),
        "relevant": visit.judgement.relevant,
        "why": visit.judgement.why,
        "depth": visit.depth,
        "path": session.record.path(visit.parent),
        "anchor": visit.link.get("anchor"),
        "score": None if priority is None else round(to_score(priority), 6),
        "strategy": session.strategy_name,
        "n": visit.n,
        "time": visit.time,
        "status": response.status,
        "size": len(response.body),
        "language": visit.page.language if visit.page else None,
        "duplicate_of": visit.duplicate_of,
    }
    if session.config.export_body:
        fields["body"] = getattr(response, "text", None)
    if session.config.explain:
        fields["explain"] = visit.link.get("explain")
    return fields


def fill(item: Any, values: Mapping[str, Any]) -> None:
    """Give an item of any kind the values that it has a place for, and nothing in it yet.

    A dict has a place for everything, any other item for its fields. What is no item, or
    can't be changed, stays as it is.

    >>> item = {"relevance": 0.5}
    >>> fill(item, {"relevance": 0.25, "relevant": False})
    >>> item
    {'relevance': 0.5, 'relevant': False}
    """
    if not ItemAdapter.is_item(item):
        return
    adapter = ItemAdapter(item)
    known = ItemAdapter.get_field_names_from_class(type(item))
    for name, value in values.items():
        if (known is None or name in known) and adapter.get(name) is None:
            try:
                adapter[name] = value
            except (AttributeError, TypeError, ValueError):  # frozen, or of another type
                return
