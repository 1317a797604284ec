"""What became of the pages that a worker has fetched, told to workers that have links to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.growing import GrowingArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.models.archive import Shapes
    from focusspider.page import Page
    from focusspider.relevance.base import Judgement

__all__ = ["VERDICTS", "Verdicts"]

#: So many are told, the latest: a worker that listens hears of each page long before it is old.
_MOST = 20_000
#: What :meth:`Verdicts.arrays` returns.
VERDICTS: Shapes = {
    "page_keys": ("<i8", ("n_pages",)),
    "page_relevant": ("|b1", ("n_pages",)),
    "page_relevance": ("<f4", ("n_pages",)),
}


class Verdicts:
    """Keys of the latest pages, and of what has redirected to them, with what was judged.

    A link on a page of one worker may lead to a page that another fetches: the one knows the
    link, and the other what came of it.
    """

    def __init__(self) -> None:
        self._begin({name: np.zeros(0, dtype=dtype) for name, (dtype, _) in VERDICTS.items()})

    def _begin(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._columns = {name: GrowingArray.of(values) for name, values in arrays.items()}

    def add(self, page: Page, judgement: Judgement) -> None:
        """Note what a page is."""
        for key in (page.key, *page.moved_from_keys):
            signed = int(key) - (int(key) >> 63 << 64)  # archives have no unsigned numbers
            told = (signed, judgement.relevant, judgement.relevance)
            for column, value in zip(self._columns.values(), told, strict=True):
                column.append(value)
        if len(self._columns["page_keys"]) > 2 * _MOST:
            self._begin(self.arrays())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the latest, (n_pages,) each; keys have the bits of a signed number."""
        return {name: column.view()[-_MOST:] for name, column in self._columns.items()}
