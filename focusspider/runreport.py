"""What ``run.json`` says of a crawl."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import scrapy

import focusspider

if TYPE_CHECKING:
    from focusspider.models.modelfile import ModelFile
    from focusspider.session import Session

__all__ = ["lessons_file", "run_report"]

#: Settings of Scrapy's that shape a crawl, beside all of ours.
_SETTINGS = (
    "CONCURRENT_REQUESTS",
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "DOWNLOAD_DELAY",
    "DEPTH_LIMIT",
    "ROBOTSTXT_OBEY",
    "USER_AGENT",
)


def lessons_file(session: Session) -> ModelFile | None:
    """Return what the strategy has learnt, for people; None where that is nothing."""
    lessons = getattr(session.strategy, "lessons", lambda: None)() if session.begun else None
    if lessons is None:
        return None
    date = datetime.now(UTC).isoformat(timespec="seconds")
    file: ModelFile = lessons.to_file(topic=session.topic.name, date=date)
    return file


def run_report(session: Session, *, stop_reason: str | None) -> dict[str, Any]:
    """Return the report of a crawl, JSON-safe; without a reason it is still going on."""
    fetched, relevant = session.fetched, session.relevant
    ended = None if stop_reason is None else datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "topic": session.topic.to_dict(),
        "strategy": session.strategy_name,
        "strategy_params": session.strategy_params,
        "seed": session.config.seed,
        "fetched": fetched,
        "relevant": relevant,
        "harvest_rate": round(relevant / fetched, 6) if fetched else None,
        "stop_reason": stop_reason,
        "started": session.started.isoformat(timespec="seconds"),
        "ended": ended,
        "settings": {name: session.settings.get(name) for name in _SETTINGS}
        | session.config.to_dict(),
        "versions": {
            "focusspider": focusspider.__version__,
            "scrapy": scrapy.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "stats": {
            key: value
            for key, value in sorted(session.counts.items())
            if isinstance(value, int | float | str)
        },
    }
