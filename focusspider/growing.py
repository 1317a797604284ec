"""An array that grows at its end, and can be read while it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GrowingArray", "roomy"]

_Scalar = TypeVar("_Scalar", bound=np.generic)


class GrowingArray(Generic[_Scalar]):
    """A one-dimensional array with room at its end.

    A view keeps the array that it was taken of, so what is appended later does not show in
    it, and another thread may read it meanwhile.

    Attributes
    ----------
    values : ndarray
        The elements, and the room after them. It is another array once that is used up.
    """

    __slots__ = ("_length", "values")

    def __init__(self, dtype: type[_Scalar]) -> None:
        self.values: NDArray[_Scalar] = np.empty(roomy(0), dtype=dtype)
        self._length = 0

    @classmethod
    def of(cls, values: NDArray[_Scalar]) -> GrowingArray[_Scalar]:
        """Return one that begins with these elements."""
        made = cls(values.dtype.type)
        made.extend(values)
        return made

    def __len__(self) -> int:
        return self._length

    def append(self, value: float) -> None:
        """Add one element."""
        if self._length == len(self.values):
            self._grow(self._length + 1)
        self.values[self._length] = value
        self._length += 1

    def extend(self, values: NDArray[_Scalar]) -> None:
        """Add several elements."""
        end = self._length + len(values)
        if end > len(self.values):
            self._grow(end)
        self.values[self._length : end] = values
        self._length = end

    def view(self) -> NDArray[_Scalar]:
        """Return the elements of the moment, (n,), read-only."""
        view = self.values[: self._length]
        view.flags.writeable = False
        return view

    def _grow(self, length: int) -> None:
        grown = np.empty(roomy(length), dtype=self.values.dtype)
        grown[: self._length] = self.values[: self._length]
        self.values = grown


def roomy(length: int) -> int:
    """Return the size of an array for so many elements, with room for a quarter more."""
    return length + length // 4 + 64
