"""Wrong input is one message, not a traceback.

Scrapy prints whatever stops a crawl before its first request with a traceback. For an
error in the code that is right; for a misspelt key in a topic it hides the one line that
the user needs. So records that carry a :class:`~focusspider.errors.FocusError` lose their
traceback, and nothing else changes: the crawl still fails, with exit status 1. So do those
of Scrapy's engine, which after an error of its scheduler fails once more, at closing.
"""

from __future__ import annotations

import logging

from focusspider.errors import FocusError
from focusspider.resources import readable

__all__ = ["install"]

#: Who logs an error that ends a crawl: asyncio for a task's, Twisted for a Deferred's.
_LOGGERS = ("asyncio", "twisted")


class _OneMessage(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if type(error) is RuntimeError:  # "Engine slot not assigned"
            error = error.__context__
        if isinstance(error, FocusError):
            record.msg, record.args = "%s", (readable(str(error)),)
            record.exc_info = record.exc_text = None
        return True


def install() -> None:
    """Print focusspider's own errors as one message; a second call does nothing."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(known, _OneMessage) for known in logger.filters):
            logger.addFilter(_OneMessage())
