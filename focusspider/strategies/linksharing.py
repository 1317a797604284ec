"""What workers that crawl with ``auto`` tell each other, and what one makes of it.

A worker tells what became of its pages, how often the groups that mean the same everywhere
have led to something (all but those of a single page), and the examples that its regression
was fitted to. Trials and examples are of links between its own pages, so that no two workers
tell the same, and none is told what came of its own pages: that would leak into what it fits
to them. A link to another worker's page is a trial for the worker that has the link; and what
that worker thinks of it, until the page is fetched, it tells the one that has the host
(:mod:`~focusspider.strategies.offers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from focusspider.models.archive import check_shapes
from focusspider.strategies.linkcandidates import changes
from focusspider.strategies.linkgroups import FIRST_OF
from focusspider.strategies.linksuccesses import WORDS, fetched_nodes, groups_of, word_trials
from focusspider.strategies.linktables import Snapshot
from focusspider.strategies.offers import MOST_OFFERS, OFFERS, best_offers, offers
from focusspider.strategies.urlspelling import URL_GROUPS
from focusspider.strategies.verdicts import VERDICTS, Verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.models.archive import Shapes
    from focusspider.strategies.base import Contribution, ContributionWork
    from focusspider.strategies.linkfeatures import Features
    from focusspider.strategies.linklearning import Learnt, LinkLearner

__all__ = ["Elsewhere", "Examples", "LinkSharing", "contribution_of"]

#: Groups of a kind that are told, those with the most trials, and the latest examples.
_MOST_GROUPS, _MOST_EXAMPLES = 10_000, 2_000
#: Of all workers' examples so many are fitted to, which takes as long as for that many pages.
_MOST_FITTED = 4_000
#: No crawl has so many pages: a larger count is wrong, and would drown all others.
_MOST_COUNTED = 1e9
#: Groups of links that mean the same to all workers.
_OF_LINKS = ("host path", "directory path", "anchor", "context")
_OF_TEXTS = ("anchor", "context")
_KINDS = (*_OF_LINKS, *(f"url {name}" for name in URL_GROUPS), *(name for name, _ in WORDS))
_SHAPES: Shapes = {
    **VERDICTS,
    **OFFERS,
    "totals": ("<f8", (4,)),  # pages, what came of them, relevant ones, examples
    "ends": ("<i8", (len(_KINDS),)),  # number of groups up to the last of each kind
    "groups": ("<i8", ("n_groups",)),
    "trials": ("<f4", ("n_groups",)),
    "successes": ("<f4", ("n_groups",)),
    "features": ("<i8", ()),  # a hash of their names
    "examples": ("<f4", ("n_examples", "n_features")),
    "outcomes": ("<f4", ("n_examples",)),
}


class Examples(NamedTuple):
    """The latest of what a regression was fitted to, (n, n_features) and (n,), of how many."""

    values: NDArray[np.float32]
    outcomes: NDArray[np.float32]
    features: int
    total: int

    @classmethod
    def of(cls, found: Features, outcomes: NDArray[np.float64]) -> Examples:
        """Take the latest."""
        return cls(
            found.values[-_MOST_EXAMPLES:].astype(np.float32),
            outcomes[-_MOST_EXAMPLES:].astype(np.float32),
            _hash(found),
            len(outcomes),
        )


def _hash(found: Features) -> int:
    return crc32("\n".join(found.names).encode())


def offers_of(
    seen: Snapshot,
    learnt: Learnt,
    learner: LinkLearner,
    elsewhere: Elsewhere,
    waiting: NDArray[np.uint64],
) -> dict[str, NDArray[Any]]:
    """Return what is thought of URLs that wait, but not here."""
    nodes = np.flatnonzero(elsewhere.with_pages(seen).node_row < 0)
    nodes = nodes[~np.isin(seen.node_key[nodes], waiting)][-MOST_OFFERS:]
    log_odds = learner.log_odds(seen, nodes, learnt)[nodes]
    linked = ~np.isnan(log_odds)
    return offers(seen.node_key[nodes[linked]], log_odds[linked])


def contribution_of(
    seen: Snapshot, learnt: Learnt | None, verdicts: Mapping[str, NDArray[Any]]
) -> Contribution:
    """Return what a worker tells the others of its own pages."""
    outcomes, examples = seen.row_relevant.astype(np.float64), None
    if learnt is not None:
        found = learnt.successes.values.found
        seen, outcomes = seen.until(len(found)), outcomes[: len(found)]
        if (found == outcomes).all():  # and nothing has stood in for relevant pages
            outcomes, examples = learnt.successes.values.outcomes, learnt.examples
    tables = [_counted(*trials) for trials in _trials(seen, outcomes)]
    if examples is None:
        none = np.zeros((0, 0), dtype=np.float32)
        examples = Examples(none, none.ravel(), 0, 0)
    relevant = float(seen.row_relevant.sum())
    return {
        **verdicts,
        "totals": np.array([seen.n_rows, outcomes.sum(), relevant, examples.total], np.float64),
        "ends": np.cumsum([len(groups) for groups, _, _ in tables], dtype=np.int64),
        "groups": np.concatenate([groups for groups, _, _ in tables]),
        "trials": np.concatenate([trials for _, trials, _ in tables]),
        "successes": np.concatenate([successes for _, _, successes in tables]),
        "features": np.array(examples.features, dtype=np.int64),
        "examples": examples.values,
        "outcomes": examples.outcomes,
    }


def _trials(
    seen: Snapshot, outcomes: NDArray[np.float64]
) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Return the group and the outcome of each trial, for each kind of groups."""
    rows = seen.node_row[seen.link_node]
    fetched = np.flatnonzero(rows >= 0)
    flags, of_link = seen.link_flags[fetched], outcomes[rows[fetched]]
    trials = []
    for bit, (name, groups) in enumerate(zip(FIRST_OF, groups_of(seen, fetched), strict=True)):
        if name in _OF_LINKS:
            first = (flags >> bit & 1).astype(np.bool_)
            if name in _OF_TEXTS:  # their numbers are this worker's
                groups = seen.text_key[groups]
            trials.append((groups[first].astype(np.int64), of_link[first]))
    urls = seen.node_groups[seen.row_node].astype(np.int64)  # (n_rows, n_groups)
    trials += [(urls[:, column], outcomes) for column in range(len(URL_GROUPS))]
    of = fetched_nodes(seen)
    for kind, _ in WORDS:
        words, of_word, _ = word_trials(seen, of, outcomes, kind)
        trials.append((words.astype(np.int64), of_word))
    return trials


def _counted(
    groups: NDArray[np.int64], outcomes: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
    """Return each group with its trials and successes, those with the most trials, (n,) each."""
    order = np.argsort(groups, kind="stable")
    ascending = groups[order]
    starts = np.flatnonzero(changes(ascending))
    trials = np.diff(starts, append=len(ascending))
    successes = np.add.reduceat(outcomes[order], starts) if len(starts) else np.zeros(0)
    chosen = np.sort(np.argsort(-trials, kind="stable")[:_MOST_GROUPS])
    distinct = ascending[starts][chosen]
    return distinct, trials[chosen].astype(np.float32), successes[chosen].astype(np.float32)


class Elsewhere:
    """What other workers have told, put together.

    Parameters
    ----------
    contributions
        The last of each, checked (:meth:`check`).

    Attributes
    ----------
    pages, outcomes, relevant, fitted : float
        Their pages, what came of these in sum, how many were relevant, and to how many their
        regressions were fitted.
    """

    def __init__(self, contributions: Sequence[Contribution]) -> None:
        self._contributions = contributions
        totals = np.sum([each["totals"] for each in contributions], axis=0)
        totals = (totals + np.zeros(4)).tolist()
        self.pages, self.outcomes, self.relevant, self.fitted = totals

    @staticmethod
    def check(contribution: Contribution) -> None:
        """Raise ``ValueError`` for what is no contribution."""
        check_shapes(contribution, _SHAPES)
        ends, trials = contribution["ends"], contribution["trials"]
        successes, outcomes = contribution["successes"], contribution["outcomes"]
        if (np.diff(ends, prepend=0) < 0).any() or ends[-1] != len(trials):
            raise ValueError("ends are where the groups of each kind end")
        totals = contribution["totals"]
        if (totals < 0).any() or (successes < 0).any():
            raise ValueError("counts are not negative")
        if max(totals.max(), trials.max(initial=0.0)) > _MOST_COUNTED:
            raise ValueError(f"a count is {_MOST_COUNTED:g} at most")
        if (successes > trials + 1e-3).any() or (outcomes < 0).any() or (outcomes > 1).any():
            raise ValueError("outcomes are in [0, 1]")

    def with_pages(self, seen: Snapshot) -> Snapshot:
        """Return a snapshot in which others' pages that own links lead to are rows, the last."""
        keys = [each["page_keys"] for each in self._contributions]
        if not keys:
            return seen
        told = np.concatenate(keys).view(np.uint64)
        told, first = np.unique(told, return_index=True)
        if not len(told):
            return seen
        places = np.minimum(np.searchsorted(told, seen.node_key), len(told) - 1)
        nodes = np.flatnonzero((told[places] == seen.node_key) & (seen.node_row < 0))
        which = first[places[nodes]]
        parents = seen.node_parent[nodes]
        depths = np.where(parents >= 0, seen.row_depth[parents] + 1, 0) if len(nodes) else parents
        known: dict[str, Any] = {
            "row_node": nodes,
            "row_parent": parents,
            "row_depth": depths,
            "row_end": np.full(len(nodes), len(seen.link_node)),
        }
        for name in ("relevant", "relevance"):
            values = np.concatenate([each[f"page_{name}"] for each in self._contributions])
            known[f"row_{name}"] = values[which]
        arrays = dict(seen.arrays)
        for name, values in seen.arrays.items():
            if name.startswith("row_"):
                more = np.asarray(known.get(name, np.zeros(len(nodes)))).astype(values.dtype)
                arrays[name] = np.concatenate([values, more])
        node_row = seen.node_row.copy()
        node_row[nodes] = seen.n_rows + np.arange(len(nodes))
        return Snapshot(arrays, node_row)

    def raised(
        self, keys: NDArray[np.uint64], log_odds: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log odds of URLs, or NaN, where others do not think better of them, (n,)."""
        return np.fmax(log_odds, best_offers(self._contributions, keys))

    def counts(
        self, kind: str, seen: Snapshot
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]] | None:
        """Return groups, trials and successes of a kind of groups, (n,) each; None: not told."""
        if kind not in _KINDS or not self._contributions:
            return None
        column = _KINDS.index(kind)
        parts = []
        for each in self._contributions:
            ends = each["ends"].tolist()
            part = slice(ends[column - 1] if column else 0, ends[column])
            parts.append([each[name][part] for name in ("groups", "trials", "successes")])
        groups, trials, successes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if kind in _OF_TEXTS:
            order = np.argsort(seen.text_key)
            keys = groups.view(np.uint64)
            places = np.searchsorted(seen.text_key, keys, sorter=order)
            known = np.flatnonzero(places < len(order))
            known = known[seen.text_key[order[places[known]]] == keys[known]]
            groups, trials, successes = order[places[known]], trials[known], successes[known]
        return groups, trials.astype(np.float64), successes.astype(np.float64)

    def examples(
        self, found: Features
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return others' examples with the same features, their outcomes, and their weights.

        (n, n_features), (n,), (n,); those of each worker weigh as much as all that it had.
        """
        values, outcomes, weights = [found.values[:0]], [np.zeros(0)], [np.zeros(0)]
        most = max(1, _MOST_FITTED // max(1, len(self._contributions)))
        for each in self._contributions:
            theirs = each["examples"][-most:]
            n = len(theirs)
            same = int(each["features"]) == _hash(found)
            if n and same and theirs.shape[1] == found.values.shape[1]:
                values.append(theirs.astype(np.float64))
                outcomes.append(each["outcomes"][-most:].astype(np.float64))
                weights.append(np.full(n, max(float(each["totals"][3]) / n, 1.0)))
        return np.concatenate(values), np.concatenate(outcomes), np.concatenate(weights)


class LinkSharing:
    """A worker's side of it: what it keeps to tell, and the last that others have told.

    Attributes
    ----------
    verdicts : Verdicts
        What became of own pages.
    waiting : ndarray or None
        Keys of what waited here at the last rerank.
    """

    def __init__(self) -> None:
        self.verdicts = Verdicts()
        self.waiting: NDArray[np.uint64] | None = None
        self._tells = False
        self._others: dict[str, Contribution] = {}

    @property
    def elsewhere(self) -> Elsewhere | None:
        """What others have told; None where this worker was never asked for its part."""
        return Elsewhere(tuple(self._others.values())) if self._tells or self._others else None

    def contribution(
        self, seen: Snapshot, learnt: Learnt | None, learner: LinkLearner
    ) -> ContributionWork:
        """Return the work that makes a contribution."""
        self._tells = True
        told = Elsewhere(tuple(self._others.values()))
        verdicts, waiting = self.verdicts.arrays(), self.waiting

        def work() -> Contribution:
            made = contribution_of(seen, learnt, verdicts)
            if learnt is None or waiting is None:
                return {**made, **offers(seen.node_key[:0], np.zeros(0))}
            return {**made, **offers_of(seen, learnt, learner, told, waiting)}

        return work

    def join(self, worker: str, contribution: Contribution) -> None:
        """Keep what a worker has told; ``ValueError`` for what is no contribution."""
        Elsewhere.check(contribution)
        self._others[worker] = contribution
