"""What can be said of a link that might be followed: named figures, in families.

A URL that waits has, as a rule, several links that lead to it. Figures of links are put
together for the URL: their mean, and where one good link is enough, their maximum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focusspider.strategies.linkcandidates import Candidates, largest_of
from focusspider.strategies.linkgroups import FIRST_OF, SAME_DIRECTORY, SAME_HOST
from focusspider.strategies.linksuccesses import WORDS, Successes, groups_of
from focusspider.strategies.linktables import KEYWORDS
from focusspider.strategies.urlspelling import URL_GROUPS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from focusspider.strategies.linktables import Snapshot

__all__ = ["FAMILIES", "Features", "features", "prior_scores"]

_Columns = list[tuple[str, "NDArray[np.float64]"]]


def _groups(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:
    """Success of the other links of the same page, tag path, anchor and so on."""
    columns: _Columns = []
    records = successes.links.records(groups_of(seen, of.links), of.folds_of(of.owners))
    for name, (trials, evidence) in zip(FIRST_OF, records, strict=True):
        columns += [(name, of.mean(evidence)), (f"best {name}", of.largest(evidence))]
        if name in {"page", "anchor"}:
            columns.append((f"{name} trials", of.mean(np.log1p(trials))))
    return columns


def _urls(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:
    """Success of other URLs in the same directory, on the same host and so on."""
    columns: _Columns = []
    records = successes.urls.records(list(seen.node_groups[of.nodes].T), of.folds)
    for name, (trials, evidence) in zip(URL_GROUPS, records, strict=True):
        columns.append((name, evidence))
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
        columns += [
            (name, sums / np.sqrt(counts)),
            (f"best {name}", largest_of(owners, evidence, n)),
        ]
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
        ("keywords in URL", seen.node_numbers[of.nodes, KEYWORDS].astype(np.float64)),
    ]


def _pages(seen: Snapshot, of: Candidates, successes: Successes) -> _Columns:
    """How near the words of the pages that have it are to those of pages that have paid."""
    likeness = successes.likeness(seen, seen.link_row[of.links])
    return [("page likeness", of.mean(likeness)), ("best page likeness", of.largest(likeness))]


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
    first = seen.link_row[of.links[of.starts]]
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
    "pages": _pages,
    "in-links": _in_links,
    "position": _position,
    "models": _models,
}


#: Families of what is evidence, but for the numbers of trials.
_EVIDENCE = ("groups", "urls", "words")


class Features(NamedTuple):
    """Figures of candidates, (n, n_features), with the name and the family of each."""

    values: NDArray[np.float64]
    names: list[str]
    families: list[str]

    @property
    def votes(self) -> NDArray[np.bool_]:
        """Which are evidence: how links or URLs that have something in common did, (n_features,).

        Each is log odds above those of the mean. Numbers of trials are none.
        """
        pairs = zip(self.names, self.families, strict=True)
        of = [family in _EVIDENCE and not name.endswith(" trials") for name, family in pairs]
        return np.array(of, dtype=np.bool_)


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
    return Features(np.ascontiguousarray(np.array(columns).T), names, families)


def prior_scores(seen: Snapshot, of: Candidates, *, alpha: float) -> NDArray[np.float64]:
    """Return what ``hub-seeking`` says of candidates, in [0, 1], (n,): its best link."""
    rows = seen.link_row[of.links]
    context = seen.text_cosine[seen.link_context[of.links]]
    dom = alpha * seen.row_cosine[rows] + (1 - alpha) * context
    return of.largest(np.maximum(dom, seen.row_hub[rows]).astype(np.float64))
