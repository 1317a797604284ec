"""Focused crawling for Scrapy: spend a page budget on the pages of one topic.

Nothing heavy is imported here. ``scrapy list`` in a project that has focusspider
installed must stay as fast as it was without it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from focusspider.scheduler import FocusScheduler as FocusScheduler

__version__ = "0.1.0"

__all__ = ["FocusScheduler", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the public classes when they are first asked for."""
    if name == "FocusScheduler":
        from focusspider.scheduler import FocusScheduler

        return FocusScheduler
    raise AttributeError(f"module 'focusspider' has no attribute {name!r}")
