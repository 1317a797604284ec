"""How what a crawl has seen becomes a value for each link that waits.

Nothing here changes: each function makes a new :class:`Learnt` of a snapshot of what was seen
(:mod:`~focusspider.strategies.linkevidence`), so it can run in another thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.models.link_value import LinkValue, sigmoid
from focusspider.priority import scalar_priorities
from focusspider.strategies.base import LaterParts
from focusspider.strategies.linkcandidates import (
    Candidates,
    candidates,
    distinct,
    folds_of,
)
from focusspider.strategies.linkcredit import (
    PageValues,
    credit_share,
    page_values,
    recent_harvest,
    wanted,
)
from focusspider.strategies.linkfeatures import features, prior_scores
from focusspider.strategies.linkforecasts import LATEST, Forecasts, Skills
from focusspider.strategies.linkprior import drawn, of_models, of_record, prior_log_odds
from focusspider.strategies.linksharing import Elsewhere, Examples
from focusspider.strategies.linksuccesses import Successes
from focusspider.strategies.memoryparts import part, prefixed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.strategies.linkfeatures import Features
    from focusspider.strategies.linktables import Snapshot

__all__ = ["Learnt", "LinkLearner", "priorities"]

#: The latest pages that are learnt from.
_MOST_EXAMPLES = 20_000
#: URLs that are looked at together: what is computed of them fits into the processor's cache.
_CHUNK = 8_192


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
    forecasts, skills
        What was thought of the latest pages before they were fetched, and how well by
        model and prior.
    levels
        Log odds by model and prior of what waits, in the mean.
    """

    fitted: int
    forgotten: int
    trust: float
    successes: Successes
    model: LinkValue | None
    expected: NDArray[np.float64]
    examples: Examples | None = None
    forecasts: Forecasts = Forecasts()
    skills: Skills = Skills()
    levels: tuple[float, float] = (0.0, 0.0)

    @property
    def rows(self) -> int:
        """Number of this worker's pages that it was learnt from."""
        return len(self.successes.values.found)

    @property
    def confidence(self) -> tuple[float, float, float, float]:
        """What a page brings in the mean, the skills of model and prior, and the trust."""
        return self.successes.mean, *self.skills, self.trust

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return that which cannot be computed anew, for :meth:`LinkLearner.recall`."""
        values = self.successes.values
        weights = {} if self.model is None else self.model.arrays()
        return {
            **prefixed("model", weights),
            **prefixed("forecasts", self.forecasts.memory()),
            **{name: np.asarray(value) for name, value in values._asdict().items()},
            "fitted": np.array(self.fitted),
            "trust": np.array(self.trust),
            "mean": np.array(self.successes.mean),
            "expected": self.expected,
            "skills": np.array(self.skills),
            "levels": np.array(self.levels),
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

        Of what was learnt ``before`` pages were forgotten the forecasts alone are taken up.
        ``elsewhere`` is what other workers have told; None: there are none, and what they
        would be told is not kept. None is returned where no page was reached by a link, and
        where the pages that were anything that is looked for are forgotten.
        """
        forecasts = Forecasts()
        if before is not None:
            forecasts = before.forecasts.without_first(forgotten - before.forgotten)
            before = before if before.forgotten == forgotten else None
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
        if before is not None and before.model is not None:
            forecasts = self._with_latest(forecasts, own, before)
        skills = forecasts.skills(outcomes)
        relevant = skills.advantage * (float(own.row_relevant.sum()) + told.relevant or 1.0)
        trust = relevant / (relevant + self.doubt) if paid else 0.0
        learnt = Learnt(
            now, forgotten, trust, successes, None, np.zeros(0), None, forecasts, skills
        )
        if not paid:
            return learnt
        if before is None or fits:
            fitted = self._fitted(own, outcomes, successes, told)
            successes.drop_folds()
            if fitted is None:
                return None
            model, examples = fitted
            return learnt._replace(model=model, examples=None if elsewhere is None else examples)
        return learnt._replace(
            fitted=before.fitted,
            model=before.model,
            expected=before.expected,
            examples=before.examples,
        )

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
            forecasts=Forecasts.recall(part(memory, "forecasts")),
            skills=Skills(*memory["skills"].tolist()),
            levels=(float(memory["levels"][0]), float(memory["levels"][1])),
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
        parts["record"] = of_record(found)
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
        prior = prior_log_odds(seen, of, found, mean=learnt.successes.mean, alpha=self.alpha)
        if self.chance:
            prior += self.chance * drawn(seen.node_key[of.nodes], self.seed)
        if learnt.model is None:
            return prior
        blended: NDArray[np.float64] = (
            learnt.trust * learnt.model.log_odds(found.values) + (1 - learnt.trust) * prior
        )
        return blended

    def levels(
        self, seen: Snapshot, nodes: NDArray[np.int64], learnt: Learnt
    ) -> tuple[float, float]:
        """Return the log odds of nodes by model and prior, in the mean; 0 where there are none."""
        parts = _chunks(candidates(seen, nodes, np.arange(len(seen.link_node))))
        if learnt.model is None or not parts:
            return 0.0, 0.0
        each = [self._by_each(seen, some, learnt) for some in parts]
        model, prior = (np.concatenate(values).mean() for values in zip(*each, strict=True))
        return float(model), float(prior)

    def _by_each(
        self, seen: Snapshot, of: Candidates, learnt: Learnt
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log odds of candidates by the model, which there is, and the prior, (n,)."""
        assert learnt.model is not None
        found = features(seen, of, learnt.successes, without=self.without)
        prior = prior_log_odds(seen, of, found, mean=learnt.successes.mean, alpha=self.alpha)
        return learnt.model.log_odds(found.values), prior

    def _with_latest(self, forecasts: Forecasts, seen: Snapshot, before: Learnt) -> Forecasts:
        """Return forecasts with what was thought of the pages that were fetched since."""
        led = _led(seen, max(before.rows, seen.n_rows - LATEST))
        nodes = distinct(seen.link_node[led])
        rows, first = np.unique(seen.node_row[nodes], return_index=True)
        if not len(rows):
            return forecasts
        # By rows: the latest are last; where two URLs have led to one page, it counts once.
        of = candidates(seen, nodes[first], led)
        model, prior = self._by_each(seen, of, before)
        return forecasts.followed_by(rows, model - before.levels[0], prior - before.levels[1])

    def _fitted(
        self,
        seen: Snapshot,
        outcomes: NDArray[np.float64],
        successes: Successes,
        told: Elsewhere,
    ) -> tuple[LinkValue, Examples] | None:
        """Learn from the pages that were reached by a link, as that looked before."""
        led = _led(seen, max(0, seen.n_rows - _MOST_EXAMPLES))
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


def _led(seen: Snapshot, oldest: int) -> NDArray[np.int64]:
    """Return the links that have led to pages, from a row on, and were known before, (n,)."""
    rows = seen.node_row[seen.link_node]  # (n_links,)
    return np.flatnonzero((rows >= oldest) & (seen.link_row < rows))


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
