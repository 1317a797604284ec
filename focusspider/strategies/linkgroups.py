"""The groups of links that have something in common: a page, a tag path, an anchor and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.strategies.pairfilter import mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FIRST_OF", "SAME_DIRECTORY", "SAME_HOST", "link_groups"]

#: Bits of ``link_flags``: whether a link is the first from its group to its node, for the six
#: groups of links, and whether it stays on its host, and in its directory.
FIRST_OF = ("page", "path", "host path", "directory path", "anchor", "context")
SAME_HOST, SAME_DIRECTORY = 64, 128
_SALTS = np.arange(3)[:, None]


def link_groups(
    rows: NDArray[np.int32],
    paths: NDArray[np.uint32],
    anchors: NDArray[np.int32],
    contexts: NDArray[np.int32],
    hosts: NDArray[np.uint32],
    directories: NDArray[np.uint32],
) -> tuple[NDArray[Any], ...]:
    """Return the groups of links, in the order of :data:`FIRST_OF`, each (n_links,).

    They are the number of the page, hashes of page, host and directory with the tag path,
    and the numbers of anchor and context.
    """
    of_path = mixed(np.stack([rows.view(np.uint32), hosts, directories]), paths, _SALTS)
    return (rows, *of_path, anchors, contexts)
