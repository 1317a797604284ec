"""What is shown of a model, whatever it is shown on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["MOST", "Inspection", "Lists", "Section", "Table", "matrix"]

#: States, clusters or layers that are shown; there are more in a hostile file only.
MOST = 40


class Table(NamedTuple):
    """Rows of texts and numbers; fractions are shown to three decimals."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | float]]


class Lists(NamedTuple):
    """For each of some groups, what is strongest in it and how strong, the strongest first."""

    groups: Sequence[tuple[str, Sequence[tuple[str, float]]]]


class Section(NamedTuple):
    """A heading, what it means, and a table or lists."""

    title: str
    note: str
    body: Table | Lists


class Inspection(NamedTuple):
    """All that is shown of a model; ``about`` are names and values of its header."""

    title: str
    about: Sequence[tuple[str, str]]
    sections: Sequence[Section]


def matrix(corner: str, rows: Sequence[str], columns: Sequence[str], values: NDArray[Any]) -> Table:
    """Return a matrix as a table; ``corner`` says what rows and columns are.

    >>> import numpy as np
    >>> matrix("from", ["a"], ["b", "c"], np.array([[0.25, 0.75]])).rows
    [('a', 0.25, 0.75)]
    """
    return Table(
        (corner, *columns[:MOST]),
        [
            (name, *of_row)
            for name, of_row in zip(rows[:MOST], values[:MOST, :MOST].tolist(), strict=True)
        ],
    )
