"""Pages that are so like a target that they are targets too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.errors import NotAPageError, WebGraphError
from focusspider.text import Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from focusspider.page import PageParser
    from focusspider.webgraph.store import WebGraph

__all__ = ["THRESHOLD", "mark_extra_targets"]

#: memm-crf 3.1, "training data collection threshold".
THRESHOLD = 0.8

_SLICE = 500  # pages that are compared at a time


def mark_extra_targets(
    graph: WebGraph,
    parser: PageParser,
    *,
    threshold: float = THRESHOLD,
    examples: Iterable[Terms] = (),
) -> list[str]:
    """Make each page a target whose likeness to a target is the threshold or more.

    The likeness is the cosine of term frequencies (memm-crf 3.1), to the targets that the
    user named, not to those that this finds. Distances to targets change with it: they are
    computed anew whenever they are asked for.

    Parameters
    ----------
    threshold
        Above 0, up to 1.
    examples
        Terms of further targets that are no pages of the graph, such as files.

    Returns
    -------
    list of str
        The pages that became targets, in the order of the graph.
    """
    if not 0 < threshold <= 1:
        raise WebGraphError(f"threshold {threshold}: a cosine above 0, up to 1, can be one")
    rows, urls, given = list(examples), [], []
    n_examples = len(rows)
    for page in graph.pages():
        try:
            rows.append(parser.parse(graph.response(page.url)).terms)
        except NotAPageError:
            rows.append(Terms())
        urls.append(page.url)
        given.append(page.target and not page.extra)
    vectors = _unit_vectors(rows)
    flags = np.array(given, dtype=np.bool_)
    wanted = np.concatenate([np.ones(n_examples, dtype=np.bool_), flags])
    nearest = _largest_products(vectors[n_examples:], vectors[np.flatnonzero(wanted)])
    # the last digits of a cosine are those of rounding
    found = [urls[i] for i in np.flatnonzero((nearest >= threshold - 1e-9) & ~flags)]
    with graph.transaction():
        for url in found:
            graph.mark_target(url, extra=True)
    return found


def _unit_vectors(rows: Sequence[Terms]) -> csr_array:
    """Return term frequencies as unit vectors, (n_rows, n_terms); one without terms is 0."""
    from scipy.sparse import csr_array

    columns: dict[str, int] = {}
    indices: list[int] = []
    values: list[float] = []
    ends = [0]
    for terms in rows:
        norm = float(np.sqrt(sum(count * count for count in terms.values())))
        for term, count in terms.items():
            indices.append(columns.setdefault(term, len(columns)))
            values.append(count / norm)
        ends.append(len(indices))
    return csr_array((values, indices, ends), shape=(len(rows), max(1, len(columns))))


def _largest_products(pages: csr_array, targets: csr_array) -> NDArray[np.float64]:
    """Return the largest cosine of each page with any target, (n_pages,)."""
    largest = np.zeros(pages.shape[0])
    if targets.shape[0]:
        transposed = targets.T.tocsr()
        for start in range(0, len(largest), _SLICE):
            products = pages[start : start + _SLICE] @ transposed
            largest[start : start + _SLICE] = products.max(axis=1).toarray().ravel()
    return largest
