"""A map from 64-bit keys to small integers, at a quarter of the memory of a dict.

The crawl keeps a key for every URL that it has ever met, so what a key costs decides how
long it can run. A dict of a million integers takes 110 bytes a key, this table 25 (19 to 38).
It is an open-addressing hash table with linear probing (Knuth, The Art of Computer
Programming, volume 3, section 6.4, algorithms L and R), in two arrays.
"""

from __future__ import annotations

import secrets
from array import array
from hashlib import sha1
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ABSENT", "KeyTable", "fingerprint_key", "url_key"]

#: What the table answers for a key that it does not hold; so it cannot be a value.
ABSENT = -1
_MASK64 = 2**64 - 1
#: How many places of a table are moved at a time when it grows.
_STRETCH = 65_536


def fingerprint_key(fingerprint: bytes) -> int:
    """Return the key of a request: the first 8 bytes of its fingerprint, big-endian.

    Two of a million requests share a key with a probability of 3e-8.

    >>> hex(fingerprint_key(bytes(range(20))))
    '0x1020304050607'
    """
    return int.from_bytes(fingerprint[:8], "big")


def url_key(url: str) -> int:
    """Return a key for a URL where there is no crawl, whose fingerprints would give it."""
    return fingerprint_key(sha1(url.encode("utf-8", "replace"), usedforsecurity=False).digest())


class KeyTable:
    """A map from unsigned 64-bit keys to 32-bit integers other than -1.

    Keys are spread by a multiplier that is drawn anew for each table, since whoever
    writes the URLs of a page could otherwise choose keys that collide. Nothing that can
    be seen from outside depends on it: there is no iteration.
    """

    __slots__ = ("_keys", "_length", "_limit", "_mask", "_multiplier", "_shift", "_values")

    def __init__(self) -> None:
        self._multiplier = secrets.randbits(64) | 1
        self._length = 0
        self._allocate(4)

    def __len__(self) -> int:
        return self._length

    def __contains__(self, key: int) -> bool:
        return self.get(key) != ABSENT

    def get(self, key: int) -> int:
        """Return the value of a key, or -1."""
        keys, values, mask = self._keys, self._values, self._mask
        place = (key * self._multiplier & _MASK64) >> self._shift
        while (value := values[place]) != ABSENT:
            if keys[place] == key:
                return value
            place = (place + 1) & mask
        return ABSENT

    def lookup(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the values of many keys, with -1 for each that is not here."""
        table_keys = np.frombuffer(self._keys, dtype=np.uint64)
        table_values = np.frombuffer(self._values, dtype=np.int32)
        found = np.full(len(keys), ABSENT, dtype=np.int32)  # (n,)
        pending = np.arange(len(keys))
        places = self._homes(keys)
        while len(pending):
            values = table_values[places]
            hit = table_keys[places] == keys[pending]
            found[pending[hit]] = values[hit]
            onward = (values != ABSENT) & ~hit
            pending = pending[onward]
            places = (places[onward] + 1) & self._mask
        return found

    def put(self, key: int, value: int) -> None:
        """Give a key a value, whether it had one or not."""
        keys, values, mask = self._keys, self._values, self._mask
        place = (key * self._multiplier & _MASK64) >> self._shift
        while values[place] != ABSENT:
            if keys[place] == key:
                values[place] = value
                return
            place = (place + 1) & mask
        keys[place] = key
        values[place] = value
        self._length += 1
        if self._length > self._limit:
            self._grow(self._length)

    def extend(self, keys: NDArray[np.uint64], values: NDArray[np.int32]) -> None:
        """Add many keys that differ from each other and are not here yet."""
        if self._length:
            if self._length + len(keys) > self._limit:
                self._grow(self._length + len(keys))
            for key, value in zip(keys.tolist(), values.tolist(), strict=True):
                self.put(key, value)
            return
        self._allocate(self._bits_for(len(keys)))
        _, outside = self._lay(keys, values, 0)
        self._length = len(keys) - len(outside)
        for key, value in zip(keys[outside].tolist(), values[outside].tolist(), strict=True):
            self.put(key, value)

    def discard(self, key: int) -> bool:
        """Forget a key, and return whether it was here.

        What follows in the same run moves up, so that no marker of a deletion is left.
        """
        keys, values, mask = self._keys, self._values, self._mask
        place = (key * self._multiplier & _MASK64) >> self._shift
        while values[place] != ABSENT and keys[place] != key:
            place = (place + 1) & mask
        if values[place] == ABSENT:
            return False
        follower = place
        while True:
            follower = (follower + 1) & mask
            if values[follower] == ABSENT:
                break
            home = (keys[follower] * self._multiplier & _MASK64) >> self._shift
            if (follower - home) & mask >= (follower - place) & mask:
                keys[place] = keys[follower]
                values[place] = values[follower]
                place = follower
        values[place] = ABSENT
        self._length -= 1
        return True

    def _allocate(self, bits: int) -> None:
        capacity = 1 << bits
        self._mask = capacity - 1
        self._shift = 64 - bits
        # At 5/8 full a key that is not here costs four probes on average.
        self._limit = capacity * 5 // 8
        self._keys = array("Q", [0]) * capacity
        self._values = array("i", [ABSENT]) * capacity

    def _homes(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        spread = keys * np.uint64(self._multiplier)
        return (spread >> np.uint64(self._shift)).astype(np.int64)

    def _grow(self, length: int) -> None:
        """Make room for ``length`` keys.

        Homes are the top bits of the spread keys, so a larger table has them in the order
        of the smaller one, run by run: a stretch of runs is moved at a time. The few keys
        that have run over the end of a table are put in singly.
        """
        old_keys, old_values, old_shift = self._keys, self._values, self._shift
        keys = np.frombuffer(old_keys, dtype=np.uint64)
        values = np.frombuffer(old_values, dtype=np.int32)
        self._allocate(self._bits_for(length))
        single: list[int] = []  # places in the old table
        start, free = 0, 0  # of the old table, of the new one
        while start < len(old_values):
            end = min(start + _STRETCH, len(old_values))
            while end < len(old_values) and old_values[end] != ABSENT:
                end += 1
            used = start + np.flatnonzero(values[start:end] != ABSENT)
            over = self._homes(keys[used]) >> (old_shift - self._shift) > used
            single += used[over].tolist()
            used = used[~over]
            free, outside = self._lay(keys[used], values[used], free)
            single += used[outside].tolist()
            start = end
        self._length -= len(single)
        for place in single:
            self.put(old_keys[place], old_values[place])

    def _bits_for(self, length: int) -> int:
        """Return the bits of a table for so many keys, which is not smaller than this one."""
        bits = 64 - self._shift
        while length > (1 << bits) * 5 // 8:
            bits += 1
        return bits

    def _lay(
        self, keys: NDArray[np.uint64], values: NDArray[np.int32], free: int
    ) -> tuple[int, NDArray[np.int64]]:
        """Put keys into a table that is empty from the place ``free`` on.

        In the order of homes a key's place is its home, or the one after the place of the
        key before it: a running maximum. Returns the next free place, and which keys have
        run over the end and are not put.
        """
        if not len(keys):
            return free, np.zeros(0, dtype=np.int64)
        homes = self._homes(keys)
        order = np.argsort(homes, kind="stable")
        ranks = np.arange(len(keys))
        places = np.maximum.accumulate(np.maximum(homes[order] - ranks, free)) + ranks
        inside = places <= self._mask
        np.frombuffer(self._keys, dtype=np.uint64)[places[inside]] = keys[order[inside]]
        np.frombuffer(self._values, dtype=np.int32)[places[inside]] = values[order[inside]]
        return int(places[-1]) + 1, order[~inside]
