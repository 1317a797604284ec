"""The tables of what a crawl has seen of links, and how they are at one moment.

There are four.

- A *row* is a fetched page, in the order of fetching, and what begins with *page* its words.
- A *node* is a URL that was met, whether it is fetched or not.
- A *link* is one link of one row to a node, in the order in which they were found.
- A *text* is an anchor or a context, once, however many links have it: menus are the same on
  page after page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.keytable import ABSENT
from focusspider.strategies.urlspelling import URL_GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["KEYWORDS", "LAYOUT", "TRAINED", "USUAL", "Snapshot"]

#: Column of ``node_numbers`` that is how many keywords the URL holds.
KEYWORDS = 2
#: What each trained model says of a link, in the columns of ``link_trained``: what it is worth,
#: in (0, 1], and how many links a target is away; and both of a link that is nothing much.
TRAINED = ("value", "distance")
USUAL = (0.05, 2.5)

#: name of the array → its type, and columns
LAYOUT: Mapping[str, tuple[type[np.generic], int]] = {
    "row_node": (np.int32, 1),
    "row_parent": (np.int32, 1),  # row of the page that first linked to it, or -1
    "row_depth": (np.int32, 1),
    "row_relevance": (np.float32, 1),
    "row_relevant": (np.uint8, 1),
    "row_cosine": (np.float32, 1),
    "row_hub": (np.float32, 1),
    "row_host": (np.uint32, 1),  # hashes
    "row_directory": (np.uint32, 1),
    "row_end": (np.int64, 1),  # number of links up to its last
    "page_words": (np.uint32, 1),  # hashes
    "page_counts": (np.uint8, 1),  # how often each is there
    "page_end": (np.int64, 1),  # number of words up to the last of a row
    "node_key": (np.uint64, 1),
    "node_parent": (np.int32, 1),  # row of the page that first linked to it, or -1
    "node_groups": (np.uint32, len(URL_GROUPS)),  # hashes
    "node_numbers": (np.float16, 4),  # slashes, log of the length, keywords, a query or not
    "node_words": (np.uint32, 1),  # hashes
    "node_end": (np.int64, 1),  # number of words up to its last
    "link_node": (np.int32, 1),
    "link_row": (np.int32, 1),
    "link_path": (np.uint32, 1),  # hash of its tag path
    "link_anchor": (np.int32, 1),  # text
    "link_context": (np.int32, 1),  # text
    "link_place": (np.float16, 1),  # 0 for the first of its page, up to 1
    "link_flags": (np.uint8, 1),
    "text_key": (np.uint64, 1),
    "text_cosine": (np.float32, 1),
    "text_length": (np.float32, 1),  # log of 1 + its length
    "text_words": (np.uint32, 1),  # hashes
    "text_end": (np.int64, 1),
}


class Snapshot:
    """The tables at one moment: each array of :data:`LAYOUT` is an attribute.

    Parameters
    ----------
    arrays
        The arrays by their names.
    node_row
        Row of each node, or -1 where it is not fetched, (n_nodes,).
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], node_row: NDArray[np.int32]) -> None:
        self.arrays = arrays
        self.node_row = node_row
        self.__dict__.update(arrays)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]: ...

    @property
    def n_rows(self) -> int:
        """Number of fetched pages."""
        return len(self.arrays["row_node"])

    @property
    def n_nodes(self) -> int:
        """Number of URLs."""
        return len(self.node_row)

    def until(self, rows: int) -> Snapshot:
        """Return what was known when there were so many rows, but for URLs and texts."""
        links = int(self.row_end[rows - 1]) if rows else 0
        ends = {"row": rows, "link": links}
        arrays = {
            name: values[: ends.get(name.partition("_")[0])] for name, values in self.arrays.items()
        }
        arrays["page_end"] = self.page_end[:rows]
        words = int(self.page_end[rows - 1]) if rows else 0
        arrays["page_words"], arrays["page_counts"] = (
            self.page_words[:words],
            self.page_counts[:words],
        )
        return Snapshot(arrays, np.where(self.node_row < rows, self.node_row, ABSENT))
