"""Which pairs of a group of links and a URL were met before, in a memory of one size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.strategies.linkcandidates import changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PairFilter", "mixed"]

#: Log of the number of pairs that can be told apart.
_BITS = 27


class PairFilter:
    """A Bloom filter with one hash, of 16 MB: a few pairs are taken for known by chance.

    Pairs are 32-bit hashes, as :func:`mixed` makes them.
    """

    __slots__ = ("_bytes",)

    def __init__(self) -> None:
        self._bytes = np.zeros(1 << (_BITS - 3), dtype=np.uint8)

    def add(self, pairs: NDArray[np.uint32]) -> None:
        """Remember pairs, (n,)."""
        np.bitwise_or.at(self._bytes, *_places(pairs))

    def first(self, pairs: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return which pairs were not met before, nor earlier among them, (n,); remember them."""
        first = np.zeros(len(pairs), dtype=np.bool_)
        order = np.argsort(pairs, kind="stable")
        first[order] = changes(pairs[order])
        places, bits = _places(pairs)
        first &= (self._bytes[places] & bits) == 0
        np.bitwise_or.at(self._bytes, places, bits)
        return first


def _places(pairs: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Return the byte in which each pair has its bit, and that bit, (n,)."""
    places = pairs >> np.uint32(32 - _BITS)
    return places >> np.uint32(3), np.uint8(1) << (places & np.uint32(7)).astype(np.uint8)


def mixed(a: NDArray[Any], b: NDArray[Any], salt: int | NDArray[Any]) -> NDArray[np.uint32]:
    """Return a 32-bit hash of pairs of integers, another one for each salt, broadcast."""
    x = a.astype(np.uint32) * np.uint32(0x9E3779B1) + b.astype(np.uint32) * np.uint32(0x85EBCA77)
    salts = np.asarray(salt, dtype=np.uint64) * np.uint64(0xC2B2AE3D) & np.uint64(0xFFFFFFFF)
    x = x + salts.astype(np.uint32)
    for shift, factor in ((15, 0x2C1B3C6D), (12, 0x297A2D39)):
        x ^= x >> np.uint32(shift)
        x *= np.uint32(factor)
    x ^= x >> np.uint32(15)
    return x
