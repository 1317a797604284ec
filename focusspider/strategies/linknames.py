"""What the hashes stand for by which a crawl counts its successes, for people to read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["NAMED", "LinkNames", "WordHashes"]

#: Groups whose names are kept.
NAMED = ("word", "host", "directory", "path")
#: Names of a kind, and bytes of a name, that are kept: the first ones. A million directories
#: need not all be told of.
_MOST, _LONGEST = 10_000, 200
#: Words whose hash is remembered.
_MOST_HASHES = 50_000


class LinkNames:
    """Names by their 32-bit hash, for each kind of :data:`NAMED`; bounded."""

    def __init__(self) -> None:
        self._names: dict[str, dict[int, bytes]] = {kind: {} for kind in NAMED}

    def add(self, kind: str, key: int, name: bytes) -> None:
        """Keep a name, as long as there is room."""
        names = self._names[kind]
        if len(names) < _MOST:
            names.setdefault(key, name[:_LONGEST])

    def of(self, kind: str) -> tuple[NDArray[np.uint32], list[str]]:
        """Return the hashes of a kind, and the name of each, in the order of the names."""
        pairs = sorted(self._names[kind].items(), key=lambda pair: (pair[1], pair[0]))
        keys = np.array([key for key, _ in pairs], dtype=np.uint32)
        return keys, [name.decode("utf-8", "replace") for _, name in pairs]

    def memory(self) -> dict[str, NDArray[np.generic]]:
        """Return all names as arrays of numbers."""
        arrays: dict[str, NDArray[np.generic]] = {}
        for kind, names in self._names.items():
            arrays[f"{kind}_keys"] = np.array(list(names), dtype=np.uint32)
            arrays[f"{kind}_ends"] = np.cumsum(
                [len(name) for name in names.values()], dtype=np.int64
            )
            arrays[f"{kind}_utf8"] = np.frombuffer(b"".join(names.values()), dtype=np.uint8)
        return arrays

    def recall(self, memory: Mapping[str, NDArray[np.generic]]) -> None:
        """Take up the names of :meth:`memory`."""
        for kind in NAMED:
            data, start = memory[f"{kind}_utf8"].tobytes(), 0
            names = self._names[kind] = {}
            ends = memory[f"{kind}_ends"].tolist()
            for key, end in zip(memory[f"{kind}_keys"].tolist(), ends, strict=True):
                names[key] = data[start:end]
                start = end


class WordHashes(dict[str, int]):
    """The hash of each word, made when it is first asked for; its name is kept in ``names``.

    The words of a web are few, and recur. There are so many at most, then it begins anew.
    """

    def __init__(self, names: LinkNames | None = None) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, word: str) -> int:
        name = word.encode("utf-8", "replace")
        number = crc32(name)
        if self._names is not None:
            self._names.add("word", number, name)
        if len(self) >= _MOST_HASHES:
            self.clear()
        self[word] = number
        return number
