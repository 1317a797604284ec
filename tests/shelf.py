"""An archive in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.replay.archive import page_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focusspider.replay.archive import Stored

__all__ = ["Shelf"]


class Shelf:
    """An archive of the responses that are given, which counts how often it is read."""

    def __init__(self, *stored: Stored) -> None:
        self._stored = {page_key(one.url): one for one in stored}
        self.reads = 0

    def get(self, url: str) -> Stored | None:
        self.reads += 1
        return self._stored.get(page_key(url))

    def urls(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)
