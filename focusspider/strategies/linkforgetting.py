"""What is left of what a crawl has seen when the pages that were fetched first are forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.keytable import ABSENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["without_rows", "without_words"]


def without_rows(
    arrays: Mapping[str, NDArray[Any]], node_row: NDArray[np.int32], rows: int
) -> tuple[dict[str, NDArray[Any]], NDArray[np.int32]]:
    """Return the tables, and the row of each node, without the first rows.

    What only they lead to goes with them, and the others are numbered anew.
    """
    links = int(arrays["row_end"][rows - 1])
    kept = {name: values[rows:] for name, values in arrays.items() if name.startswith("row_")}
    kept |= {name: values[links:] for name, values in arrays.items() if name.startswith("link_")}
    kept["row_end"] = kept["row_end"] - links
    kept |= without_words(arrays, rows)
    kept["link_row"] = kept["link_row"] - rows
    nodes = node_row >= rows
    nodes[kept["link_node"]] = True
    texts = np.zeros(len(arrays["text_key"]), dtype=np.bool_)
    texts[kept["link_anchor"]] = texts[kept["link_context"]] = True
    for part, chosen, numbers in (
        ("node", nodes, ("link_node", "row_node")),
        ("text", texts, ("link_anchor", "link_context")),
    ):
        renumbered = (np.cumsum(chosen) - 1).astype(np.int32)
        for name in numbers:
            kept[name] = renumbered[kept[name]]
        lengths = np.diff(arrays[f"{part}_end"], prepend=0)
        kept[f"{part}_words"] = arrays[f"{part}_words"][np.repeat(chosen, lengths)]
        kept[f"{part}_end"] = np.cumsum(lengths[chosen])
        for name in arrays:
            if name.startswith(f"{part}_") and name not in kept:
                kept[name] = arrays[name][chosen]
    for name in ("row_parent", "node_parent"):
        kept[name] = np.maximum(kept[name] - rows, ABSENT)
    return kept, np.maximum(node_row[nodes] - rows, ABSENT)


def without_words(arrays: Mapping[str, NDArray[Any]], rows: int) -> dict[str, NDArray[Any]]:
    """Return the words of the rows from so many on, without the others."""
    words = int(arrays["page_end"][rows - 1])
    return {
        "page_words": arrays["page_words"][words:],
        "page_counts": arrays["page_counts"][words:],
        "page_end": arrays["page_end"][rows:] - words,
    }
