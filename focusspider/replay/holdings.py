"""Whether an archive answers a URL, asked of every link of a crawl."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from focusspider.replay.archive import answer, page_key, spellings

if TYPE_CHECKING:
    from focusspider.replay.archive import Archive

__all__ = ["Holdings"]

_CACHED = 65_536  # URLs whose answer is remembered: pages of one site repeat their links


class Holdings:
    """The URLs that an archive lists, in any spelling, without reading their pages.

    What an archive makes on demand and does not list (the months of the sample web's
    calendar) is not held.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._urls = frozenset(archive.urls())
        self._hosts = frozenset(_host(url) for url in self._urls)
        self._has_page = lru_cache(_CACHED)(self._look_up)

    def __contains__(self, url: object) -> bool:
        """Return whether a request for a URL would be answered."""
        if url in self._urls:
            return True
        return isinstance(url, str) and _host(url) in self._hosts and self._has_page(url)

    def _look_up(self, url: str) -> bool:
        try:
            key = page_key(url)
        except ValueError:
            return False
        if key in self._urls:
            return True
        # a stored redirect is no other spelling's page: that takes a look into the record
        known = any(spelling in self._urls for spelling in spellings(key))
        return known and answer(self._archive, url) is not None


def _host(url: str) -> str:
    """Return the host of a URL without its port, which may be the default one."""
    netloc = url.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0]
    return netloc.rpartition("@")[2].partition(":")[0].lower()
