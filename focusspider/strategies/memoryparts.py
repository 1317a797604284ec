"""Names in what a strategy remembers: those of one part begin with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["part", "prefixed"]


def prefixed(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a part by the names that they have in the whole.

    >>> prefixed("seen", {"rows": 1})
    {'seen/rows': 1}
    """
    return {f"{name}/{key}": array for key, array in arrays.items()}


def part(memory: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a part by their own names.

    >>> part({"seen/rows": 1, "mean": 2}, "seen")
    {'rows': 1}
    """
    start = f"{name}/"
    return {
        key.removeprefix(start): array for key, array in memory.items() if key.startswith(start)
    }
