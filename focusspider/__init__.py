"""Focused crawling for Scrapy: spend a page budget on the pages of one topic.

Nothing heavy is imported here. ``scrapy list`` in a project that has focusspider
installed must stay as fast as it was without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from focusspider.addon import FocusAddon as FocusAddon
    from focusspider.scheduler import FocusScheduler as FocusScheduler
    from focusspider.visits import visit_of as visit_of

__version__ = "0.1.0"

__all__ = ["FocusAddon", "FocusScheduler", "__version__", "visit_of"]

_LAZY = {
    "FocusAddon": "focusspider.addon",
    "FocusScheduler": "focusspider.scheduler",
    "visit_of": "focusspider.visits",
}


def __getattr__(name: str) -> Any:
    """Import what is public when it is first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module 'focusspider' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
