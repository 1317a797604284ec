"""Which words tell a group of pages from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.registry import check_number, check_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["group_counts", "log_odds_ratios", "mutual_information", "strongest", "top_words"]


def group_counts(counts: csr_array, groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    """Return how often each term is in the pages of each group, (n_groups, n_terms).

    Parameters
    ----------
    counts
        How often each term is in each page, (n_pages, n_terms).
    groups
        Group of each page, from 0; a page in a negative one is left out, (n_pages,).
    n_groups
        Number of groups.

    >>> from scipy.sparse import csr_array
    >>> group_counts(csr_array([[1, 2], [0, 3], [5, 0]]), np.array([1, 1, -1]), 2).tolist()
    [[0, 0], [1, 5]]
    """
    n_terms = counts.shape[1]
    of_entry = np.repeat(groups, np.diff(counts.indptr))
    kept = of_entry >= 0
    cells = of_entry[kept] * n_terms + counts.indices[kept]
    totals = np.bincount(cells, weights=counts.data[kept], minlength=n_groups * n_terms)
    return np.rint(totals).astype(np.int64).reshape(n_groups, n_terms)


def log_odds_ratios(counts: NDArray[np.int64], *, smoothing: float = 1.0) -> NDArray[np.float64]:
    """Return the weighted log odds ratio of each term in each group, (n_groups, n_terms).

        p · log(p (1 - q) / (q (1 - p))),

    where p is the share of the term among all words of the group, and q among those of the
    other groups, both with Laplace smoothing. Without the factor p the rarest words would be
    first. Liu, Janssen and Milios (2005, appendix) do not print the formula; their figures
    have the size of this one, by which the text classifiers of their time list words.

    Parameters
    ----------
    counts
        How often each term is in each group, (n_groups, n_terms).
    smoothing
        What is added to each count; above 0.
    """
    check_number("smoothing", smoothing, np.finfo(np.float64).tiny)
    p = _shares(counts, smoothing)
    q = _shares(counts.sum(axis=0) - counts, smoothing)
    ratios: NDArray[np.float64] = p * (np.log(p / q) - (np.log1p(-p) - np.log1p(-q)))
    return ratios


def _shares(counts: NDArray[np.int64], smoothing: float) -> NDArray[np.float64]:
    # A word that is none of the terms is thought to be there too: a share is never 1.
    smoothed = counts + smoothing
    shares: NDArray[np.float64] = smoothed / (smoothed.sum(axis=1, keepdims=True) + smoothing)
    return shares


def mutual_information(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mutual information of each term and each group, in nats, (n_groups, n_terms).

    An event is one word of one page: W says whether it is the term, and C whether its page
    is of the group; then it is Σ_w Σ_c P(w, c) log(P(w, c) / (P(w) P(c))). A term that is
    rarer in the group than elsewhere tells as much, but of the others: it has a negative sign.

    Parameters
    ----------
    counts
        How often each term is in each group, (n_groups, n_terms).
    """
    total = max(int(counts.sum()), 1)
    both = counts / total  # P(W = 1, C = 1), (n_groups, n_terms)
    term = both.sum(axis=0, keepdims=True)  # P(W = 1), (1, n_terms)
    group = both.sum(axis=1, keepdims=True)  # P(C = 1), (n_groups, 1)
    information = np.zeros(counts.shape)
    for joint, independent in (
        (both, term * group),
        (term - both, term * (1 - group)),
        (group - both, (1 - term) * group),
        (1 - term - group + both, (1 - term) * (1 - group)),
    ):
        there = (joint > 0) & (independent > 0)
        ratio = np.divide(joint, independent, out=np.ones(joint.shape), where=there)
        information += joint * np.log(ratio)
    # In whole numbers, which are not rounded.
    excess = counts * total - counts.sum(axis=0) * counts.sum(axis=1, keepdims=True)
    signed: NDArray[np.float64] = np.maximum(information, 0) * np.sign(excess)
    return signed


def top_words(
    weights: NDArray[np.float64], terms: Sequence[str], n: int = 30
) -> list[list[tuple[str, float]]]:
    """Return for each group its words of the largest weights, equals by name, none below 0.

    Parameters
    ----------
    weights
        Weight of each term in each group, (n_groups, n_terms).
    terms
        The terms, (n_terms,).
    n
        How many words at most.

    >>> top_words(np.array([[0.5, -1, 0.5], [0, 0.1, 0]]), ["tea", "robot", "arm"])
    [[('arm', 0.5), ('tea', 0.5)], [('robot', 0.1)]]
    """
    check_whole("n", n)
    return [strongest(of_group, terms, n) for of_group in weights]


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
