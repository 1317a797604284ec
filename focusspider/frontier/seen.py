"""What a worker has pushed already, so that it need not be sent again."""

from __future__ import annotations

from typing import Literal

__all__ = ["Seen"]

_MOST = 200_000


class Seen:
    """Remembers the requests that were pushed of late, and with which priority.

    Most links of a page are known: sending them again costs as much as a new one, and
    changes nothing unless they are better now. It forgets the older half when it is full,
    and what it has forgotten is sent again.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._half = max(1, most // 2)
        self._new: dict[bytes, int] = {}
        self._old: dict[bytes, int] = {}

    def add(self, fingerprint: bytes, priority: int) -> Literal["new", "known", "raised"]:
        """Note a request, and return whether it is new, known, or raised by this.

        >>> seen = Seen()
        >>> [seen.add(b"a" * 20, priority) for priority in (5, 5, 7)]
        ['new', 'known', 'raised']
        """
        key = fingerprint[:8]
        before = self._new.get(key)
        if before is None:
            before = self._old.get(key)
        if before is not None and before >= priority:
            return "known"
        if len(self._new) >= self._half:
            self._old, self._new = self._new, {}
        self._new[key] = priority
        return "new" if before is None else "raised"

    def reranked(self, key: bytes, priority: int) -> None:
        """Note the priority that a request has now, by the first 8 bytes of its fingerprint.

        >>> seen = Seen()
        >>> seen.add(b"a" * 20, 5)
        'new'
        >>> seen.reranked(b"a" * 8, 1)
        >>> seen.add(b"a" * 20, 4)
        'raised'
        """
        for known in (self._new, self._old):
            if key in known:
                known[key] = priority

    def clear(self) -> None:
        """Forget everything."""
        self._new.clear()
        self._old.clear()
