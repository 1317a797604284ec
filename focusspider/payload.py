"""What waits in the frontier: a link as a few bytes, or a Request.

A Request is written down where it can be, so that it outlives the process: as JSON (see
:mod:`focusspider.exactjson`), with its callbacks by the names of the spider's methods.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request
from scrapy.utils.misc import load_object
from scrapy.utils.request import request_from_dict

from focusspider import exactjson, stats
from focusspider.errors import UnserializableError
from focusspider.visits import META

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy import Spider
    from scrapy.statscollectors import StatsCollector

    from focusspider.frontier import Entry

__all__ = [
    "RequestWriter",
    "ScoredLink",
    "dump_request",
    "link_request",
    "load_request",
    "pack",
    "parent_of",
    "read",
    "unpack",
    "url_of",
]

logger = logging.getLogger(__name__)

#: Characters of an anchor that wait with a link: enough for a log line and an item.
_ANCHOR_KEPT = 200
#: What a plain Request has where nothing was said, and so need not be written.
_DEFAULTS = {**Request("http://a.example/").to_dict(), "url": None}


class ScoredLink(NamedTuple):
    """A link at the second door, with what a strategy gave it."""

    url: str
    priority: int
    anchor: str
    explain: Mapping[str, float] | None = None


def pack(link: ScoredLink, depth: int, parent: int, state: tuple[float, ...] | None) -> bytes:
    """Return what a link's Request will be made of."""
    waiting = [link.url, depth, parent, link.anchor[:_ANCHOR_KEPT], state, link.explain]
    if link.explain is not None:
        waiting.append(link.priority)
    return json.dumps(waiting, separators=(",", ":")).encode()


def unpack(entry: Entry, spider: Spider) -> Request:
    """Return the Request of a leased entry.

    A link's is answered by the spider's ``parse``; a spider may have a method
    ``link_failed`` for those that bring no page. Raises :class:`UnserializableError` for a
    written Request that the spider no longer understands.
    """
    if isinstance(entry.payload, Request):
        return entry.payload
    if entry.payload.startswith(b"{"):
        return load_request(entry.payload, spider)
    url, depth, parent, anchor, state, explain, *explained = json.loads(entry.payload)
    focus: dict[str, Any] = {"priority": entry.priority, "parent": parent, "anchor": anchor}
    if state is not None:
        focus["state"] = state
    if explain is not None and explained == [entry.priority]:
        focus["explain"] = explain  # else it has another priority by now
    return link_request(url, spider, depth, focus)


def read(entry: Entry, spider: Spider, stats_collector: StatsCollector) -> Request | None:
    """Return the Request of a leased entry, or None where the spider has changed too much.

    That is counted, and said once.
    """
    try:
        return unpack(entry, spider)
    except UnserializableError as error:
        if stats_collector.get_value(stats.FRONTIER_UNREADABLE) is None:
            logger.error(
                "A request of an earlier process is dropped: %s. Others like it are counted "
                "under %s.",
                error,
                stats.FRONTIER_UNREADABLE,
            )
        stats_collector.inc_value(stats.FRONTIER_UNREADABLE)
        return None


def url_of(payload: bytes | Request) -> str:
    """Return the URL of what waits."""
    if isinstance(payload, Request):
        return payload.url
    waiting = json.loads(payload)
    return str(waiting["url"] if isinstance(waiting, dict) else waiting[0])


def parent_of(payload: bytes | Request) -> int:
    """Return the number of the page that something waits for, as it was written; 0: none."""
    if isinstance(payload, Request):
        return 0  # it has never left this process, where the page is known
    waiting = json.loads(payload)
    if isinstance(waiting, dict):
        waiting = (waiting.get("meta") or {}).get(META) or {}
        return int(waiting.get("parent", 0))
    return int(waiting[2])


def link_request(url: str, spider: Spider, depth: int, focus: dict[str, Any]) -> Request:
    """Return the Request of a link, with what its page will be logged with."""
    return Request(
        url, errback=getattr(spider, "link_failed", None), meta={"depth": depth, META: focus}
    )


def dump_request(request: Request, spider: Spider) -> bytes:
    """Return a Request as JSON, from which :func:`load_request` makes an equal one.

    Raises :class:`UnserializableError` that says why it can't be written: a callback that
    is no method of the spider, or a value that JSON can't hold (its place is named).
    """
    try:
        fields = request.to_dict(spider=spider)
    except ValueError as error:  # a lambda, or the method of another object
        raise UnserializableError(f"{request}: {error}") from None
    if type(request) is Request:
        fields = {name: value for name, value in fields.items() if not _is_default(name, value)}
    elif _request_class(fields["_class"]) is not type(request):
        raise UnserializableError(f"{request}: its class {fields['_class']} can't be imported")
    return exactjson.dumps(fields, str(request))


def _is_default(name: str, value: Any) -> bool:
    default = _DEFAULTS[name]
    return type(value) is type(default) and bool(value == default)


def load_request(data: bytes, spider: Spider) -> Request:
    """Return the Request that :func:`dump_request` wrote.

    Raises :class:`UnserializableError` where the spider has no such method any more, or
    the bytes are not those of a Request.
    """
    fields = exactjson.loads(data)
    try:
        if "_class" in fields and _request_class(fields["_class"]) is None:
            raise ValueError(f"{fields['_class']} is no class of requests")
        return request_from_dict(fields, spider=spider)
    except (ValueError, TypeError, AttributeError) as error:
        raise UnserializableError(f"{data[:60]!r} makes no request: {error}") from None


def _request_class(path: str) -> type[Request] | None:
    try:
        found = load_object(path)
    except (ImportError, NameError, ValueError):
        return None
    return found if isinstance(found, type) and issubclass(found, Request) else None


class RequestWriter:
    """Makes payloads of Requests for a frontier that outlives its process.

    A Request that can't be written waits in memory, is counted, and the first one's reason
    is logged. ``parent`` gives what is written for the number of the page that led there.
    """

    def __init__(
        self,
        spider: Spider,
        stats_collector: StatsCollector,
        *,
        parent: Callable[[int], int] | None = None,
    ) -> None:
        self._parent = parent
        self._spider = spider
        self._stats = stats_collector
        self._warned = False

    def payload(self, request: Request) -> bytes | Request:
        """Return a Request as bytes, or as it is where that can't be."""
        written = request
        if self._parent is not None and "parent" in (request.meta.get(META) or {}):
            focus = request.meta[META]
            written = request.copy()
            written.meta[META] = {**focus, "parent": self._parent(focus["parent"])}
        try:
            return dump_request(written, self._spider)
        except UnserializableError as error:
            self._stats.inc_value(stats.FRONTIER_UNSERIALIZABLE)
            if not self._warned:
                self._warned = True
                logger.warning(
                    "A request waits in memory only, and is lost if the process dies: %s. Give "
                    "it a method of the spider as callback, and JSON values in meta and "
                    "cb_kwargs. Others like it are counted under %s.",
                    error,
                    stats.FRONTIER_UNSERIALIZABLE,
                )
            return request
