"""Names of features and their columns."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from focusspider.registry import check_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["Columns", "Vocabulary"]

#: Columns of a row, in order, and its values there.
Columns = tuple["NDArray[np.int32]", "NDArray[np.float64]"]


class Vocabulary:
    """The features that a model knows, one column each; others are passed over.

    >>> Vocabulary(["words:a", "words:b"]).matrix([{"words:b": 1, "words:c": 1}]).toarray()
    array([[0., 1.]])
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._column = {name: column for column, name in enumerate(self.names)}
        if len(self._column) < len(self.names):
            raise ValueError("a name is twice in a vocabulary")

    @classmethod
    def of(
        cls,
        rows: Iterable[Mapping[str, float]],
        *,
        min_count: int = 2,
        max_features: int = 20_000,
    ) -> Vocabulary:
        """Return the features that are in enough rows, and of too many those in most.

        They are ordered by name.
        """
        check_whole("min_count", min_count)
        check_whole("max_features", max_features)
        counts: Counter[str] = Counter()
        for row in rows:
            counts.update(row.keys())
        common = [name for name, count in counts.items() if count >= min_count]
        if len(common) > max_features:
            common = sorted(common, key=lambda name: (-counts[name], name))[:max_features]
        return cls(sorted(common))

    def __len__(self) -> int:
        return len(self.names)

    def columns(self, row: Mapping[str, float]) -> Columns:
        """Return the columns of a row, in order, and its values there."""
        get = self._column.get
        found = sorted(
            [(column, value) for name, value in row.items() if (column := get(name)) is not None]
        )
        return (
            np.array([column for column, _ in found], dtype=np.int32),
            np.array([value for _, value in found], dtype=np.float64),
        )

    def matrix(self, rows: Iterable[Mapping[str, float]]) -> csr_array:
        """Return rows as a matrix, (n_rows, n_features)."""
        return self.joined([(self.columns(row),) for row in rows])

    def joined(self, rows: Sequence[Sequence[Columns]]) -> csr_array:
        """Return a matrix of rows, each given as parts that have no column in common."""
        from scipy.sparse import csr_array

        parts = [part for row in rows for part in row]
        lengths = [sum(len(columns) for columns, _ in row) for row in rows]
        matrix = csr_array(
            (
                np.concatenate([values for _, values in parts] or [np.empty(0)]),
                np.concatenate([columns for columns, _ in parts] or [np.empty(0, np.int32)]),
                np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
            ),
            shape=(len(rows), len(self.names)),
        )
        matrix.sort_indices()
        return matrix
