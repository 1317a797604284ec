"""Services of others that know the web: who links to a page, and which pages hold words.

Search engines take a query and give pages; what they have in common is
:class:`~focusspider.search.base.SearchEngine`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from focusspider.errors import SettingError, UnknownNameError
from focusspider.registry import build, find
from focusspider.search.ddgs import DdgsEngine
from focusspider.search.local import LocalEngine
from focusspider.search.moz import MozLinks
from focusspider.search.searxng import SearxngEngine

if TYPE_CHECKING:
    from collections.abc import Callable

    from focusspider.config import FocusConfig
    from focusspider.search.base import SearchEngine
    from focusspider.webgraph.layers import BacklinkSource

__all__ = ["BACKLINK_SERVICES", "SEARCH_ENGINES", "MozLinks", "backlink_service", "search_engine"]

#: Every service by its name, as ``focus-collect --from`` takes it.
BACKLINK_SERVICES: dict[str, type[MozLinks]] = {"moz": MozLinks}

#: Every search engine by its name, as ``FOCUS_SEARCH_ENGINE`` takes it.
SEARCH_ENGINES: dict[str, type[SearchEngine]] = {
    "local": LocalEngine,
    "searxng": SearxngEngine,
    "ddgs": DdgsEngine,
}


def backlink_service(
    name: str, *, key: str | None, url: str | None, delay: float
) -> BacklinkSource:
    """Build a service by its name, with its key, address and least seconds between requests."""
    if name not in BACKLINK_SERVICES:
        raise UnknownNameError("back-link service", name, BACKLINK_SERVICES)
    if not key:
        raise SettingError(
            f"the back-link service {name} needs a key: set FOCUS_BACKLINKS_KEY, in the settings "
            "or in the environment"
        )
    return BACKLINK_SERVICES[name](key, url, delay=delay)


def search_engine(
    config: FocusConfig, *, told: Callable[[int, int], None] | None = None
) -> SearchEngine:
    """Build the engine of the settings, or a class of one's own by its import path.

    ``told`` is given how far a stored web is read, where the engine has to read one first.
    Raises :class:`SettingError`, or :class:`UnknownNameError` that lists the known names.
    """
    name = config.search_engine
    found = find(
        "search engine",
        SEARCH_ENGINES,
        name,
        methods=("search", "close"),
        error=lambda message: SettingError(f"FOCUS_SEARCH_ENGINE: {message}"),
        where="FOCUS_SEARCH_ENGINE",
    )
    given = {
        "replay": config.replay,
        "models_dir": config.models_dir,
        "told": told,
        "url": config.search_url,
        "key": config.search_key or os.environ.get("FOCUS_SEARCH_KEY") or None,
        "delay": config.search_delay,
    }
    return build(
        found,
        config.search_params,
        label=f"search engine {name!r}",
        error=SettingError,
        given=given,
    )
