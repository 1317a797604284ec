"""How what a crawl has seen becomes a value for each link that waits.

Nothing here changes: each function makes a new :class:`Learnt` of a snapshot of what was seen
(:mod:`~focusspider.strategies.linkevidence`), so it can run in another thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.models.link_value import LinkValue, logit, sigmoid
from focusspider.priority import scalar_priorities
from focusspider.strategies.base import LaterParts
from focusspider.strategies.linkcandidates import (
    Candidates,
    candidates,
    distinct,
    folds_of,
    largest_of,
)
from focusspider.strategies.linkcredit import (
    PageValues,
    credit_share,
    page_values,
    recent_harvest,
    wanted,
)
from focusspider.strategies.linkfeatures import features, prior_scores
from focusspider.strategies.linksharing import Elsewhere, Examples
from focusspider.strategies.linksuccesses import Successes
from focusspider.strategies.linktables import TRAINED, USUAL
from focusspider.strategies.memoryparts import part, prefixed
from focusspider.strategies.pairfilter import mixed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.strategies.linkfeatures import Features
    from focusspider.strategies.linktables import Snapshot

__all__ = ["Learnt", "LinkLearner", "of_models", "of_prior", "priorities"]

#: The latest pages that are learnt from.
_MOST_EXAMPLES = 20_000
#: URLs that are looked at together: what is computed of them fits into the processor's cache.
_CHUNK = 8_192
#: A prior of p is as good as log odds of p times this, above those of the mean.
_PRIOR_SCALE, _PRIOR_MEAN = 12.0, 0.1
#: What the figures of a link add to its prior. The first hundred pages may lead nowhere, and
#: all that they tell is where not to look any longer. Found on the first 200 pages of the crawls
#: of three webs, with chance added to the prior: larger ones leave good directories too soon.
_PRIOR_WEIGHTS = {"page": 0.1, "host path": 0.1, "directory": 0.1, "host": 0.1, "depth": -0.1}
#: What the mean log odds of trained models add to those of the prior, times this, where they are
#: above those of a value that is nothing much.
_MODELS_WEIGHT = 0.3


class Learnt(NamedTuple):
    """What scores links until the next rerank.

    Attributes
    ----------
    fitted
        Number of pages, forgotten ones included, when the model was fitted; and of the
        examples of other workers.
    forgotten
        Number of pages that were forgotten before their numbers, and those of nodes and
        texts, were what they are here.
    trust
        Weight of the model against the prior, in [0, 1).
    model
        None as long as no page was anything that is looked for: there is the prior alone.
    expected
        Value of each node that waits, 0 of others, (n_nodes,).
    examples
        What the model was fitted to of own pages, where other workers are told.
    """

    fitted: int
    forgotten: int
    trust: float
    successes: Successes
    model: LinkValue | None
    expected: NDArray[np.float64]
    examples: Examples | None = None

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return that which cannot be computed anew, for :meth:`LinkLearner.recall`."""
        values = self.successes.values
        weights = {} if self.model is None else self.model.arrays()
        return {
            **prefixed("model", weights),
            **{name: np.asarray(value) for name, value in values._asdict().items()},
            "fitted": np.array(self.fitted),
            "trust": np.array(self.trust),
            "mean": np.array(self.successes.mean),
            "expected": self.expected,
        }


@dataclass(frozen=True, kw_only=True)
class LinkLearner:
    """Learns from a snapshot; the parameters are those of ``auto``.

    ``alpha`` is that of the prior, ``hub-seeking``, and ``seed`` that of chance.
    """

    credit: float
    hope: float
    doubt: float
    l2: float
    votes: float
    prior: float
    without: Sequence[str]
    refit_growth: float
    chance: float
    alpha: float
    seed: int = 0

    def learn(
        self,
        own: Snapshot,
        forgotten: int,
        before: Learnt | None,
        elsewhere: Elsewhere | None = None,
    ) -> Learnt | None:
        """Count successes anew, and fit the regression again if the crawl has grown enough.

        ``elsewhere`` is what other workers have told; None: there are none, and what they
        would be told is not kept. None is returned where no page was reached by a link, and
        where the pages that were anything that is looked for are forgotten.
        """
        told = Elsewhere(()) if elsewhere is None else elsewhere
        seen = told.with_pages(own)
        now = own.n_rows + forgotten + int(told.fitted)
        found = wanted(seen, doubt=self.doubt, elsewhere=told.relevant)
        paid = bool(told.relevant or found.any())
        if not paid and before is not None and before.model is not None:
            return None
        expected = before.expected if before and len(before.expected) else None
        hoped = None if expected is None else self.hope * expected
        harvest = recent_harvest(found[: own.n_rows])
        share = self.credit * credit_share(harvest)
        values = page_values(seen, found, share, hoped, usual=harvest)
        outcomes = values.outcomes[: own.n_rows]
        brought, pages = float(outcomes.sum()) + told.outcomes, own.n_rows + told.pages
        mean = float(np.clip((brought + 0.5) / (pages + 1), 1e-3, 0.9))
        fits = paid and (
            before is None or before.model is None or now >= before.fitted * (1 + self.refit_growth)
        )
        rows = None if seen is own else own.n_rows
        successes = self.successes(seen, values, mean, folded=fits, own=rows, told=told)
        if not paid:
            return Learnt(now, forgotten, 0.0, successes, None, np.zeros(0))
        relevant = float(own.row_relevant.sum()) + told.relevant or 1.0
        trust = relevant / (relevant + self.doubt)
        if before is None or fits:
            fitted = self._fitted(own, outcomes, successes, told)
            successes.drop_folds()
            if fitted is None:
                return None
            model, examples = fitted
            kept = None if elsewhere is None else examples
            return Learnt(now, forgotten, trust, successes, model, np.zeros(0), kept)
        return before._replace(trust=trust, successes=successes)

    def recall(self, memory: Mapping[str, NDArray[Any]], seen: Snapshot, forgotten: int) -> Learnt:
        """Take up what was learnt, from :meth:`Learnt.memory`; ``seen`` may know more pages."""
        weights = part(memory, "model")
        model = LinkValue(l2=self.l2).recall(weights) if weights else None
        values = PageValues(
            memory["found"],
            float(memory["share"]),
            memory["opened"],
            memory["part"],
            memory["opener"],
        )
        mean = float(memory["mean"])
        return Learnt(
            int(memory["fitted"]),
            forgotten,
            float(memory["trust"]),
            self.successes(seen.until(len(values.found)), values, mean),
            model,
            memory["expected"],
        )

    def successes(
        self,
        seen: Snapshot,
        values: PageValues,
        mean: float,
        *,
        folded: bool = False,
        own: int | None = None,
        told: Elsewhere | None = None,
    ) -> Successes:
        """Count how often groups and words have led to something; ``own`` rows are own pages."""
        return Successes(
            seen,
            values,
            mean=mean,
            prior=self.prior,
            word_prior=2 * self.prior,
            folded=folded,
            own=own,
            elsewhere=told,
        )

    def log_odds(
        self, seen: Snapshot, nodes: NDArray[np.int64], learnt: Learnt
    ) -> NDArray[np.float64]:
        """Return the log odds of nodes, (n_nodes of the snapshot,); NaN of the others.

        NaN of nodes to which no link is known, too.
        """
        log_odds = np.full(seen.n_nodes, np.nan)
        for some in _chunks(candidates(seen, nodes, np.arange(len(seen.link_node)))):
            found = features(seen, some, learnt.successes, without=self.without)
            log_odds[some.nodes] = self.blend(seen, some, learnt, found)
        return log_odds

    def explained(
        self, seen: Snapshot, of: Candidates, learnt: Learnt
    ) -> tuple[NDArray[np.float64], Mapping[str, NDArray[np.float64]]]:
        """Return the log odds of candidates, (n,), and what they are made of, by name."""
        found = features(seen, of, learnt.successes, without=self.without)
        parts = partial(self._parts, seen, of, learnt, found)
        return self.blend(seen, of, learnt, found), LaterParts(parts)

    def _parts(
        self, seen: Snapshot, of: Candidates, learnt: Learnt, found: Features
    ) -> dict[str, NDArray[np.float64]]:
        parts = {}
        if learnt.model is not None:
            parts["intercept"] = np.full(len(of.nodes), learnt.model.intercept_)
            parts |= _by_family(learnt.model, found)
        parts["record"] = _of_record(found)
        if seen.link_trained.shape[1]:
            parts["trained"] = of_models(seen.link_trained[of.links], of)
        parts["prior"] = prior_scores(seen, of, alpha=self.alpha)
        parts["trust"] = np.full(len(of.nodes), learnt.trust)
        return parts

    def explained_node(self, seen: Snapshot, node: int, learnt: Learnt) -> dict[str, float] | None:
        """Return what the log odds of a node are made of; None of one that no link leads to."""
        links = np.flatnonzero(seen.link_node == node)
        if not len(links):
            return None
        one = candidates(seen, np.array([node]), links)
        _, parts = self.explained(seen, one, learnt)
        return {name: float(values[0]) for name, values in parts.items()}

    def blend(
        self, seen: Snapshot, of: Candidates, learnt: Learnt, found: Features
    ) -> NDArray[np.float64]:
        """Return the log odds of candidates, of model and prior, by trust, (n,)."""
        prior = of_prior(learnt.successes.mean, prior_scores(seen, of, alpha=self.alpha))
        prior += _of_record(found)
        if seen.link_trained.shape[1]:
            prior += of_models(seen.link_trained[of.links], of)
        if self.chance:
            prior += self.chance * _drawn(seen.node_key[of.nodes], self.seed)
        if learnt.model is None:
            return prior
        blended: NDArray[np.float64] = (
            learnt.trust * learnt.model.log_odds(found.values) + (1 - learnt.trust) * prior
        )
        return blended

    def _fitted(
        self,
        seen: Snapshot,
        outcomes: NDArray[np.float64],
        successes: Successes,
        told: Elsewhere,
    ) -> tuple[LinkValue, Examples] | None:
        """Learn from the pages that were reached by a link, as that looked before."""
        rows = seen.node_row[seen.link_node]  # (n_links,)
        oldest = max(0, seen.n_rows - _MOST_EXAMPLES)
        led = np.flatnonzero((rows >= oldest) & (seen.link_row < rows))
        own = bool(len(led))
        if not own:  # what others have told may do
            led = np.arange(min(1, len(seen.link_node)))
        nodes = distinct(seen.link_node[led])
        if not len(nodes):
            return None
        examples = candidates(seen, nodes, led, folds_of(seen, nodes))
        found = features(seen, examples, successes, without=self.without)
        brought = outcomes[seen.node_row[nodes]]
        if not own:
            found, brought = found._replace(values=found.values[:0]), brought[:0]
        values, theirs, weights = told.examples(found)
        if not own and not len(theirs):
            return None
        model = LinkValue(l2=self.l2).fit(
            np.concatenate([found.values, values]),
            np.concatenate([brought, theirs]),
            np.concatenate([np.ones(len(brought)), weights]),
            prior_weights=self.votes * found.votes / max(found.votes.sum(), 1),
        )
        return model, Examples.of(found, brought)


def of_prior(mean: float, prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of a prior in [0, 1], where a page brings so much in the mean, (n,)."""
    return logit(min(mean, 0.5)) + _PRIOR_SCALE * (prior - _PRIOR_MEAN)


def _of_record(found: Features) -> NDArray[np.float64]:
    """Return what the record of links like these, and their depth, add to their prior, (n,)."""
    added = np.zeros(len(found.values))
    for name, weight in _PRIOR_WEIGHTS.items():
        if name in found.names:
            added += weight * found.values[:, found.names.index(name)]
    return added


def of_models(figures: NDArray[np.floating], of: Candidates | None = None) -> NDArray[np.float64]:
    """Return what trained models add to the log odds of a prior, (n,).

    ``figures`` are those of links, (n_links, n_columns), and n the links, or candidates, of
    which the best link counts.
    """
    values = np.clip(figures[:, :: len(TRAINED)].astype(np.float64), 1e-3, 1 - 1e-3)
    odds = np.log(values / (1 - values)).mean(axis=1) - logit(USUAL[TRAINED.index("value")])
    if of is not None:
        odds = largest_of(of.owners, odds, len(of.nodes))
    added: NDArray[np.float64] = _MODELS_WEIGHT * odds
    return added


def _drawn(keys: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """Return a number in [-1, 1) for each key, evenly distributed and always the same, (n,)."""
    return mixed(keys, keys >> np.uint64(32), seed) / 2.0**31 - 1


def priorities(log_odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return log odds as priorities, (n,)."""
    return scalar_priorities(sigmoid(log_odds)) if len(log_odds) else np.zeros(0, dtype=np.int64)


def _by_family(model: LinkValue, found: Features) -> dict[str, NDArray[np.float64]]:
    """Return what each family of features adds to the log odds of a model, (n,)."""
    contributions = model.contributions(found.values)
    families = np.array(found.families)
    return {
        family: contributions[:, families == family].sum(axis=1)
        for family in dict.fromkeys(found.families)
    }


def _chunks(of: Candidates) -> list[Candidates]:
    """Cut candidates into parts, and leave out those without a link."""
    counts = of.counts
    linked = np.flatnonzero(counts)
    ends = np.cumsum(counts)
    renumbered = np.cumsum(counts > 0) - 1
    parts = []
    for start in range(0, len(linked), _CHUNK):
        chosen = linked[start : start + _CHUNK]
        links = slice(ends[chosen[0]] - counts[chosen[0]], ends[chosen[-1]])
        owners = renumbered[of.owners[links]] - start
        parts.append(Candidates(of.nodes[chosen], of.links[links], owners))
    return parts
