"""What waits in the frontier: a link as a few bytes, or a Request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request

from focusspider.priority import to_score
from focusspider.session import META

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Spider

    from focusspider.frontier import Entry

__all__ = ["ScoredLink", "in_words", "link_request", "pack", "unpack"]

#: Characters of an anchor that wait with a link: enough for a log line and an item.
_ANCHOR_KEPT = 200


class ScoredLink(NamedTuple):
    """A link at the second door, with what a strategy gave it."""

    url: str
    priority: int
    anchor: str
    explain: Mapping[str, float] | None = None


def pack(link: ScoredLink, depth: int, parent: int, state: tuple[float, ...] | None) -> bytes:
    """Return what a link's Request will be made of."""
    waiting = [link.url, depth, parent, link.anchor[:_ANCHOR_KEPT], state, link.explain]
    return json.dumps(waiting, separators=(",", ":")).encode()


def unpack(entry: Entry, spider: Spider) -> Request:
    """Return the Request of a leased entry.

    A link's is answered by the spider's ``parse``; a spider may have a method
    ``link_failed`` for those that bring no page.
    """
    if isinstance(entry.payload, Request):
        return entry.payload
    url, depth, parent, anchor, state, explain = json.loads(entry.payload)
    focus: dict[str, Any] = {"priority": entry.priority, "parent": parent, "anchor": anchor}
    if state is not None:
        focus["state"] = state
    if explain is not None:
        focus["explain"] = explain
    return link_request(url, spider, depth, focus)


def link_request(url: str, spider: Spider, depth: int, focus: dict[str, Any]) -> Request:
    """Return the Request of a link, with what its page will be logged with."""
    return Request(
        url, errback=getattr(spider, "link_failed", None), meta={"depth": depth, META: focus}
    )


def in_words(entry: Entry, request: Request) -> str:
    """Return the score of a leased request, with its parts where they were asked for."""
    parts = (request.meta.get(META) or {}).get("explain") or {}
    words = ", ".join(f"{name} {value:g}" for name, value in parts.items())
    return f"score {to_score(entry.priority):.6f} ({words or 'no parts'})"
