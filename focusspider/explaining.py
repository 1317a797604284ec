"""What a request's place in the queue is made of, where ``FOCUS_EXPLAIN`` asks for it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from focusspider.priority import to_score
from focusspider.visits import META

if TYPE_CHECKING:
    from scrapy import Request

    from focusspider.frontier import Entry
    from focusspider.session import Session

__all__ = ["explain_lease", "in_words"]

logger = logging.getLogger(__name__)


def explain_lease(entry: Entry, request: Request, session: Session | None) -> None:
    """Give a leased link the parts of its score, and log them.

    A link that waits with its first priority has those parts with it. Of one that was given
    another since, a strategy that can is asked what it thinks of it now.
    """
    focus = request.meta.get(META)
    if focus and "explain" not in focus and "priority" in focus and session is not None:
        explain = getattr(session.strategy, "explain", None)
        parts = None if explain is None else explain(session.parser.key_of(request.url))
        if parts is not None:
            focus["explain"] = {name: round(value, 6) for name, value in parts.items()}
    logger.debug("Leased %s: %s", request, in_words(entry, request))


def in_words(entry: Entry, request: Request) -> str:
    """Return the score of a leased request, with its parts where they were asked for."""
    parts = (request.meta.get(META) or {}).get("explain") or {}
    words = ", ".join(f"{name} {value:g}" for name, value in parts.items())
    return f"score {to_score(entry.priority):.6f} ({words or 'no parts'})"
