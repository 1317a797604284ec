"""Services of others that know the web: who links to a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.errors import SettingError, UnknownNameError
from focusspider.search.moz import MozLinks

if TYPE_CHECKING:
    from focusspider.webgraph.layers import BacklinkSource

__all__ = ["BACKLINK_SERVICES", "MozLinks", "backlink_service"]

#: Every service by its name, as ``focus-collect --from`` takes it.
BACKLINK_SERVICES: dict[str, type[MozLinks]] = {"moz": MozLinks}


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
