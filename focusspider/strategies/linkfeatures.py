"""What can be said of a link that might be followed: named figures, in families.

A URL that waits has, as a rule, several links that lead to it. Figures of links are put
together for the URL: their mean, and where one good link is enough, their maximum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.models.link_value import FOLDS, SuccessTable
from focusspider.strategies.linkevidence import (
    FIRST_OF,
    SAME_DIRECTORY,
    SAME_HOST,
    link_groups,
)
from focusspider.strategies.urlspelling import URL_GROUPS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from focusspider.strategies.linkcredit import PageValues
    from focusspider.strategies.linkevidence import Snapshot

__all__ = [
    "FAMILIES",
    "Candidates",
    "Features",
    "Successes",
    "candidates",
    "distinct",
    "features",
    "folds_of",
    "prior_scores",
    "word_trials",
]

_Columns = list[tuple[str, "NDArray[np.float64]"]]


class Candidates(NamedTuple):
    """Nodes, each with the links that lead to it.

    Attributes
    ----------
    nodes
        (n,).
    links
        Those to the first node, then those to the second, and so on, (m,).
    owners
        Place in ``nodes`` of where each link leads, (m,), in ascending order.
    folds
        Fold of each node, where a model is fitted to what came of it: that fold is then left
        out of what its groups say of it; (n,), or None.
    """

    nodes: NDArray[np.int64]
    links: NDArray[np.int64]
    owners: NDArray[np.int64]
    folds: NDArray[np.int64] | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of links of each node, (n,)."""
        return np.bincount(self.owners, minlength=len(self.nodes))

    def folds_of(self, owners: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the fold of each of some nodes, by their place in ``nodes``, if there are any."""
        return None if self.folds is None else self.folds[owners]

    def mean(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean of a figure of links, for each node, (n,)."""
        sums = np.bincount(self.owners, values, minlength=len(self.nodes))
        means: NDArray[np.float64] = sums / np.maximum(self.counts, 1)
        return means

    def largest(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the maximum of a figure of links, for each node; 0 where it has none."""
        return _largest(self.owners, values, len(self.nodes))


def _largest(owners: NDArray[Any], values: NDArray[Any], n: int) -> NDArray[np.float64]:
    """Return the maximum for each owner, whose values follow each other; 0 for none."""
    largest = np.zeros(n)
    if len(owners):
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        largest[owners[starts]] = np.maximum.reduceat(values, starts)
    return largest


class Successes:
    """How often groups of links and of URLs, and words, have led to something.

    Parameters
    ----------
    seen
        What the crawl has seen.
    values
        What came of each row.
    mean
        What comes of a page, in (0, 1).
    prior, word_prior
        Number of trials that the mean counts for, in a group, and for a word.
    """

    def __init__(
        self,
        seen: Snapshot,
        values: PageValues,
        *,
        mean: float,
        prior: float,
        word_prior: float,
    ) -> None:
        self.values = values
        self.mean = mean
        outcomes = values.outcomes
        rows = seen.node_row[seen.link_node]  # (n_links,)
        fetched = np.flatnonzero(rows >= 0)
        of_link, folds = outcomes[rows[fetched]], folds_of(seen.link_node[fetched])
        flags = seen.link_flags[fetched]
        self.links = []
        numbered = {
            "page": seen.n_rows,
            "anchor": len(seen.text_key),
            "context": len(seen.text_key),
        }
        for bit, (name, groups) in enumerate(zip(FIRST_OF, groups_of(seen, fetched), strict=True)):
            first = (flags >> bit & 1).astype(np.bool_)
            self.links.append(
                SuccessTable(
                    groups[first],
                    of_link[first],
                    folds[first],
                    mean=mean,
                    prior=prior,
                    numbered=numbered.get(name),
                )
            )
        urls = seen.node_groups[seen.row_node]  # (n_rows, n_groups)
        of_row = folds_of(seen.row_node)
        self.urls = [
            SuccessTable(urls[:, column], outcomes, of_row, mean=mean, prior=prior)
            for column in range(len(URL_GROUPS))
        ]
        self.words = [
            SuccessTable(*word_trials(seen, outcomes, kind), mean=mean, prior=word_prior)
            for kind, _ in WORDS
        ]


def distinct(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the values in ascending order, each once.

    numpy's ``unique`` goes by a hash table since version 2.3, which takes many times as long
    for values that are nearly in order.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ascending = np.sort(values.astype(np.int64))
    return ascending[np.diff(ascending, prepend=ascending[:1] - 1) > 0]


def groups_of(seen: Snapshot, links: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    """Return the groups of links, in the order of ``FIRST_OF``, each (n_links,)."""
    rows = seen.link_row[links]
    return link_groups(
        rows,
        seen.link_path[links],
        seen.link_anchor[links],
        seen.link_context[links],
        seen.row_host[rows],
        seen.row_directory[rows],
    )


def candidates(
    seen: Snapshot,
    nodes: NDArray[np.int64],
    links: NDArray[np.int64],
    folds: NDArray[np.int64] | None = None,
) -> Candidates:
    """Return nodes with those of the links that lead to them."""
    place = np.full(seen.n_nodes, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    owners = place[seen.link_node[links]]
    chosen = np.flatnonzero(owners >= 0)
    order = chosen[np.argsort(owners[chosen], kind="stable")]
    return Candidates(nodes, links[order], owners[order], folds)


def _pieces(
    ends: NDArray[np.int64], chosen: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the chosen pieces of a ragged array, and whose each is."""
    starts = ends[chosen - 1]
    starts[chosen == 0] = 0
    lengths = ends[chosen] - starts
    owners = np.repeat(np.arange(len(chosen)), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(len(owners)) + (starts - before)[owners], owners


def _url_words(seen: Snapshot, of: Candidates) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    places, owners = _pieces(seen.node_end, of.nodes)
    return owners, seen.node_words[places]


def _text_words(
    seen: Snapshot, of: Candidates, texts: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the words of the texts of links, each once for a node, in the nodes' order."""
    pairs = distinct(of.owners << 32 | texts[of.links])
    places, which = _pieces(seen.text_end, pairs & 0xFFFFFFFF)
    words = distinct((pairs >> 32)[which] << 32 | seen.text_words[places].astype(np.int64))
    return words >> 32, (words & 0xFFFFFFFF).astype(np.uint32)


def _anchor_words(seen: Snapshot, of: Candidates) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    return _text_words(seen, of, seen.link_anchor)


def _context_words(seen: Snapshot, of: Candidates) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    return _text_words(seen, of, seen.link_context)


WORDS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("url words", _url_words),
    ("anchor words", _anchor_words),
    ("context words", _context_words),
)


def folds_of(nodes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the fold of each node, spread evenly over neighbours, (n,)."""
    spread: NDArray[np.int64] = (nodes.astype(np.int64) * 2_654_435_761 >> 16) % FOLDS
    return spread


def word_trials(
    seen: Snapshot, outcomes: NDArray[np.float64], kind: str
) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]:
    """Return the words of each fetched node, each once for a node, its outcome, and its fold.

    ``kind`` is a name in :data:`WORDS`.
    """
    fetched = np.flatnonzero(seen.node_row[seen.link_node] >= 0)
    nodes = distinct(np.concatenate([seen.link_node[fetched], seen.row_node]))
    owners, words = dict(WORDS)[kind](seen, candidates(seen, nodes, fetched))
    return words, outcomes[seen.node_row[nodes]][owners], folds_of(nodes)[owners]


def _groups(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:
    """Success of the other links of the same page, tag path, anchor and so on."""
    columns: _Columns = []
    folds = of.folds_of(of.owners)
    for name, table, groups in zip(
        FIRST_OF, successes.links, groups_of(seen, of.links), strict=True
    ):
        trials, found = table.counts(groups, folds)
        evidence = table.log_odds(trials, found)
        columns += [(name, of.mean(evidence)), (f"best {name}", of.largest(evidence))]
        if name in {"page", "anchor"}:
            columns.append((f"{name} trials", of.mean(np.log1p(trials))))
    return columns


def _urls(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:
    """Success of other URLs in the same directory, on the same host and so on."""
    columns: _Columns = []
    groups = seen.node_groups[of.nodes]
    for column, (name, table) in enumerate(zip(URL_GROUPS, successes.urls, strict=True)):
        trials, found = table.counts(groups[:, column], of.folds)
        columns.append((name, table.log_odds(trials, found)))
        if name in {"directory", "host"}:
            columns.append((f"{name} trials", np.log1p(trials)))
    return columns


def _words(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:
    """Success of the words of URL, anchors and contexts: naive Bayes, one figure each."""
    columns: _Columns = []
    n = len(of.nodes)
    for (name, words_of), table in zip(WORDS, successes.words, strict=True):
        owners, words = words_of(seen, of)
        evidence = table.evidence(words, of.folds_of(owners))
        sums = np.bincount(owners, evidence, minlength=n)
        counts = np.maximum(np.bincount(owners, minlength=n), 1)
        columns += [(name, sums / np.sqrt(counts)), (f"best {name}", _largest(owners, evidence, n))]
    return columns


def _text(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:  # noqa: ARG001
    """How near the texts are to the keywords: context, anchor, page; keywords in the URL."""
    rows = seen.link_row[of.links]
    context = np.sqrt(seen.text_cosine[seen.link_context[of.links]])
    page = np.sqrt(seen.row_cosine[rows])
    return [
        ("context cosine", of.mean(context)),
        ("best context cosine", of.largest(context)),
        ("anchor cosine", of.mean(np.sqrt(seen.text_cosine[seen.link_anchor[of.links]]))),
        ("page cosine", of.mean(page)),
        ("best page cosine", of.largest(page)),
        ("keywords in URL", seen.node_numbers[of.nodes, 2].astype(np.float64)),
    ]


def _in_links(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:
    """How many links lead there, and how good the pages are that have them."""
    rows = seen.link_row[of.links]
    relevant = seen.row_relevant[rows].astype(np.float64)
    values = relevant.copy()
    known = np.flatnonzero(rows < len(successes.values.found))
    values[known] = successes.values.without(rows[known], of.nodes[of.owners[known]])
    return [
        ("links", np.log(np.maximum(of.counts, 1))),
        ("relevant pages", of.mean(relevant)),
        ("any relevant page", of.largest(relevant)),
        ("value of pages", of.mean(values)),
    ]


def _position(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:  # noqa: ARG001
    """Where it was found: depth, order, spelling of the URL, place in the page."""
    starts = np.searchsorted(of.owners, np.arange(len(of.nodes)))
    first = seen.link_row[of.links[np.minimum(starts, len(of.links) - 1)]]
    begins = np.where(first > 0, seen.row_end[first - 1], 0)
    flags = seen.link_flags[of.links]
    numbers = seen.node_numbers[of.nodes].astype(np.float64)
    return [
        ("depth", seen.row_depth[first].astype(np.float64)),
        ("order", np.log1p(of.nodes)),
        ("slashes", numbers[:, 0]),
        ("length", numbers[:, 1]),
        ("query", numbers[:, 3]),
        ("links of the page", np.log1p(seen.row_end[first] - begins)),
        ("same host", of.mean((flags & SAME_HOST) > 0)),
        ("same directory", of.mean((flags & SAME_DIRECTORY) > 0)),
        ("place", of.mean(seen.link_place[of.links].astype(np.float64))),
        ("length of the anchor", of.mean(seen.text_length[seen.link_anchor[of.links]])),
    ]


def _models(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:  # noqa: ARG001
    """Answers of trained models: of the mean link, and of the one with the largest."""
    columns: _Columns = []
    trained = seen.link_trained[of.links].astype(np.float64)
    for number in range(trained.shape[1]):
        figures = trained[:, number]
        columns += [
            (f"model figure {number}", of.mean(figures)),
            (f"best model figure {number}", of.largest(figures)),
        ]
    return columns


#: Families of features by their names.
FAMILIES: dict[str, Callable[[Snapshot, Candidates, Successes], _Columns]] = {
    "groups": _groups,
    "urls": _urls,
    "words": _words,
    "text": _text,
    "in-links": _in_links,
    "position": _position,
    "models": _models,
}


class Features(NamedTuple):
    """Figures of candidates, (n, n_features), with the name and the family of each."""

    values: NDArray[np.float64]
    names: list[str]
    families: list[str]


def features(
    seen: Snapshot, of: Candidates, successes: Successes, *, without: Collection[str] = ()
) -> Features:
    """Return the features of candidates that have a link each at least."""
    columns: list[NDArray[np.float64]] = []
    names: list[str] = []
    families: list[str] = []
    for family, compute in FAMILIES.items():
        if family in without:
            continue
        for name, column in compute(seen, of, successes):
            columns.append(column)
            names.append(name)
            families.append(family)
    return Features(np.stack(columns, axis=1), names, families)


def prior_scores(seen: Snapshot, of: Candidates, *, alpha: float) -> NDArray[np.float64]:
    """Return what ``hub-seeking`` says of candidates, in [0, 1], (n,): its best link."""
    rows = seen.link_row[of.links]
    context = seen.text_cosine[seen.link_context[of.links]]
    dom = alpha * seen.row_cosine[rows] + (1 - alpha) * context
    return of.largest(np.maximum(dom, seen.row_hub[rows]).astype(np.float64))
