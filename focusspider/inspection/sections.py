"""What is shown of a model, whatever it is shown on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["MOST", "Inspection", "Lists", "Section", "Table", "matrix", "strongest"]

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


def strongest(
    weights: NDArray[np.float64], names: Sequence[str], n: int
) -> list[tuple[str, float]]:
    """Return the names of the n largest weights that are above 0, equals by name.

    >>> strongest(np.array([0.5, -1, 0.5, 0.1]), ["tea", "robot", "arm", "of"], 2)
    [('arm', 0.5), ('tea', 0.5)]
    """
    above = np.flatnonzero(weights > 0)
    if len(above) > n:
        least = np.partition(weights[above], -n)[-n]
        above = above[weights[above] >= least]
    found = [(names[column], float(weights[column])) for column in above.tolist()]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))[:n]
