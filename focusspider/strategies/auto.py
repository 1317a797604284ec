"""Auto: learns what a link is worth from what following others has brought in this crawl."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from focusspider.models.link_value import LinkValue, logit, sigmoid
from focusspider.priority import PRIORITY_BITS, scalar_priorities
from focusspider.registry import check_choice, check_number, check_share, check_texts, check_whole
from focusspider.strategies.base import BaseStrategy, LinkScores, Reranking, topic_terms
from focusspider.strategies.hub_seeking import HubSeeking
from focusspider.strategies.linkcredit import credit_share, opened, wanted
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.strategies.linkfeatures import (
    FAMILIES,
    Candidates,
    Successes,
    candidates,
    features,
    prior_scores,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.frontier import FrontierView
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.relevance.base import Judgement
    from focusspider.strategies.base import RerankWork, State
    from focusspider.strategies.linkevidence import Snapshot
    from focusspider.strategies.linkfeatures import Features

__all__ = ["Auto"]

logger = logging.getLogger(__name__)

#: Pages before which nothing is learnt, and the latest ones that are learnt from.
_FIRST_FIT, _MOST_EXAMPLES = 20, 20_000
#: URLs that are looked at together: what is computed of them fits into the processor's cache.
_CHUNK = 8_192
#: A prior of p is as good as log odds of p times this, above those of the mean.
_PRIOR_SCALE, _PRIOR_MEAN = 12.0, 0.1


class _Learnt(NamedTuple):
    """What scores links until the next rerank.

    ``fitted`` is the number of pages, forgotten ones included, when the model was fitted, and
    ``forgotten`` that of pages forgotten before their numbers, and those of nodes and texts,
    were what they are here.
    """

    fitted: int
    forgotten: int
    trust: float  # weight of the model against the prior, in [0, 1)
    successes: Successes
    model: LinkValue
    expected: NDArray[np.float64]  # value of each node that waits, 0 of others, (n_nodes,)


class Auto(BaseStrategy):
    """Begins as ``hub-seeking``, and learns which links pay while it crawls.

    Every ``rerank_every`` pages all that was seen so far is made into figures that tell good
    links from bad ones (:mod:`~focusspider.strategies.linkfeatures`): how often links of the
    same page, tag path, directory, host, anchor or word have led to something, how near the
    texts are to the keywords, where the link was found. A logistic regression weighs them.
    Something is a relevant page, or a share of one for a page that has opened one
    (:mod:`~focusspider.strategies.linkcredit`): so hubs earn. What was not relevant counts
    as much.

    score = w · (log odds of the model) + (1 - w) · (log odds of the prior), w = n / (n + doubt)
    with n relevant pages seen, and the prior that of ``hub-seeking``.

    Parameters
    ----------
    credit : float
        What opening a relevant page is worth where they are rare, in [0, 1].
    hope : float
        Share of what a waiting link is thought to bring that its page has credit for, in
        [0, 1].
    doubt : float
        Number of relevant pages at which model and prior weigh the same.
    l2 : float
        λ of the logistic regression.
    prior : float
        Number of trials that the mean success counts for in a group.
    without : list of str
        Families of features to do without, of
        :data:`~focusspider.strategies.linkfeatures.FAMILIES`.
    rerank_every, rerank_growth
        What waits is reordered after so many pages, and not before the crawl has grown by
        this share.
    refit_growth
        The regression is fitted again when the crawl has grown by this share.
    max_links : int
        Most links that are kept, and most pages; beyond it the pages that were fetched first
        are forgotten.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"terms", "context", "anchor", "graph"})

    def __init__(
        self,
        *,
        credit: float = 1.0,
        hope: float = 0.7,
        doubt: float = 5.0,
        l2: float = 1.0,
        prior: float = 1.0,
        without: Sequence[str] = (),
        rerank_every: int = 10,
        rerank_growth: float = 1 / 60,
        refit_growth: float = 0.15,
        max_links: int = 500_000,
    ) -> None:
        check_share("credit", credit)
        check_share("hope", hope)
        check_number("doubt", doubt, 0.01)
        check_number("l2", l2, 1e-6)
        check_number("prior", prior, 1e-6)
        check_texts("without", without)
        for family in without:
            check_choice("without", family, tuple(FAMILIES))
        if set(without) == set(FAMILIES):
            raise ValueError("without names every family of features; leave one to learn from")
        check_whole("rerank_every", rerank_every)
        check_number("rerank_growth", rerank_growth)
        check_number("refit_growth", refit_growth)
        check_whole("max_links", max_links, 1000)
        self.credit = credit
        self.hope = hope
        self.doubt = doubt
        self.l2 = l2
        self.prior = prior
        self.without = without
        self.rerank_every = rerank_every
        self.rerank_growth = rerank_growth
        self.refit_growth = refit_growth
        self.max_links = max_links
        self._start = HubSeeking()

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Begin with the topic, and having seen nothing."""
        self._start.start(profile, random_state)
        self._evidence = LinkEvidence(topic_terms(profile), max_links=self.max_links)
        self._learnt: _Learnt | None = None
        self._mean = 0.0  # what a page brought at the last rerank; 0 before the first
        self._found = 0
        self._warned_at = 100

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Add the page, what it is, and its links."""
        self._found += judgement.relevant
        self._evidence.add_page(
            page,
            relevance=judgement.relevance,
            relevant=judgement.relevant,
            hub=self._start.hub_of(page),
        )

    def score(self, page: Page, state: State | None) -> LinkScores:
        """Score each link of a page by what was learnt up to the last rerank."""
        learnt = self._learnt_since(self._evidence.forgotten)
        row = self._evidence.row_of(page.key)
        if learnt is None or row < 0 or not page.links:
            return self._by_prior(page, state)
        first, end = self._evidence.links_of(row)
        if end - first != len(page.links):  # the page was fetched before, and had others
            return self._by_prior(page, state)
        seen = self._evidence.glance()
        links = np.arange(first, end)
        each = Candidates(seen.link_node[links].astype(np.int64), links, np.arange(len(links)))
        found = features(seen, each, learnt.successes, without=self.without)
        prior = prior_scores(seen, each, alpha=self._start.alpha)
        parts = _by_family(learnt.model.contributions(found.values), found)
        parts["prior"], parts["trust"] = prior, np.full(len(links), learnt.trust)
        return LinkScores(_priorities(_blend(learnt, found.values, prior)), None, parts)

    def _by_prior(self, page: Page, state: State | None) -> LinkScores:
        """Score links by the prior alone, on the scale by which what waits was reranked."""
        scores = self._start.score(page, state)
        if not self._mean:
            return scores
        prior = scores.priorities / 2.0**PRIORITY_BITS
        return scores._replace(priorities=_priorities(_of_prior(self._mean, prior)))

    def rerank(self, frontier: FrontierView) -> RerankWork | None:
        """Return the work that learns anew, and orders what waits by it."""
        self._say_if_nothing_is_found()
        if self._evidence.n_rows < _FIRST_FIT:
            return None
        return partial(
            self._reranking, self._evidence.snapshot(), self._evidence.forgotten, frontier
        )

    def memory(self) -> Mapping[str, NDArray[Any]]:
        """Return what was seen, and of what was learnt that which cannot be computed anew."""
        memory = {f"seen/{name}": array for name, array in self._evidence.memory().items()}
        memory["counts"] = np.array([self._found, self._warned_at])
        memory["mean"] = np.array(self._mean)
        learnt = self._learnt_since(self._evidence.forgotten)
        if learnt is not None:
            memory |= {f"model/{name}": array for name, array in learnt.model.arrays().items()}
            memory["fitted"] = np.array(learnt.fitted)
            memory["trust"] = np.array(learnt.trust)
            memory["mean"] = np.array(learnt.successes.mean)
            memory["outcomes"] = learnt.successes.outcomes
            memory["expected"] = learnt.expected
        return memory

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was seen and learnt."""
        prefix = "seen/"
        self._evidence.recall(
            {name.removeprefix(prefix): a for name, a in memory.items() if name.startswith(prefix)}
        )
        self._found, self._warned_at = memory["counts"].tolist()
        self._mean = float(memory["mean"])
        if "fitted" not in memory:
            return
        prefix = "model/"
        model = LinkValue(l2=self.l2).recall(
            {name.removeprefix(prefix): a for name, a in memory.items() if name.startswith(prefix)}
        )
        outcomes = memory["outcomes"]
        successes = self._successes(
            self._evidence.snapshot().until(len(outcomes)), outcomes, self._mean
        )
        self._learnt = _Learnt(
            int(memory["fitted"]),
            self._evidence.forgotten,
            float(memory["trust"]),
            successes,
            model,
            memory["expected"],
        )

    def _learnt_since(self, forgotten: int) -> _Learnt | None:
        """Return what was learnt, unless pages were forgotten since: all have other numbers.

        The work of a rerank may end in its thread just when that happens, so it is looked at
        here and not where it is stored.
        """
        learnt = self._learnt
        return learnt if learnt is not None and learnt.forgotten == forgotten else None

    def _successes(self, seen: Snapshot, outcomes: NDArray[np.float64], mean: float) -> Successes:
        return Successes(seen, outcomes, mean=mean, prior=self.prior, word_prior=2 * self.prior)

    def _say_if_nothing_is_found(self) -> None:
        fetched = self._evidence.n_rows + self._evidence.forgotten
        if not self._found and fetched >= self._warned_at:
            self._warned_at = 2 * fetched
            logger.info(
                "No page of the first %d is relevant. Until one is, links are followed by their "
                "words and hubs, and where pages were most like what is wanted. If that is not "
                "to be expected, look at the keywords, and at the threshold of [relevance]",
                fetched,
            )

    def _reranking(self, seen: Snapshot, forgotten: int, frontier: FrontierView) -> Reranking:
        learnt = self._learn(seen, forgotten)
        if learnt is None:
            none = np.zeros(0, dtype=np.int64)
            return Reranking(none, none)
        order = np.argsort(seen.node_key)
        places = np.searchsorted(seen.node_key, frontier.keys, sorter=order)
        nodes = order[np.minimum(places, seen.n_nodes - 1)]
        known = np.flatnonzero(seen.node_key[nodes] == frontier.keys)
        log_odds = np.full(seen.n_nodes, np.nan)
        waiting = np.unique(nodes[known])
        for part in _chunks(candidates(seen, waiting, np.arange(len(seen.link_node)))):
            found = features(seen, part, learnt.successes, without=self.without)
            prior = prior_scores(seen, part, alpha=self._start.alpha)
            log_odds[part.nodes] = _blend(learnt, found.values, prior)
        expected = np.where(np.isnan(log_odds), 0.0, sigmoid(np.nan_to_num(log_odds)))
        self._learnt, self._mean = learnt._replace(expected=expected), learnt.successes.mean
        scored = known[~np.isnan(log_odds[nodes[known]])]
        return Reranking(frontier.ids[scored], _priorities(log_odds[nodes[scored]]))

    def _learn(self, seen: Snapshot, forgotten: int) -> _Learnt | None:
        """Count successes anew, and fit the regression again if the crawl has grown enough."""
        now = seen.n_rows + forgotten
        before = self._learnt_since(forgotten)
        found = wanted(seen)
        if not found.any():
            return None
        expected = before.expected if before and len(before.expected) else None
        share = self.credit * credit_share(found)
        hoped = None if expected is None else self.hope * expected
        outcomes = np.maximum(found, share * opened(seen, found, hoped))
        mean = float(np.clip((outcomes.sum() + 0.5) / (len(outcomes) + 1), 1e-3, 0.9))
        successes = self._successes(seen, outcomes, mean)
        relevant = float(seen.row_relevant.sum()) or 1.0
        trust = relevant / (relevant + self.doubt)
        if before is None or now >= before.fitted * (1 + self.refit_growth):
            model = self._fitted(seen, outcomes, successes)
            if model is None:
                return None
            return _Learnt(now, forgotten, trust, successes, model, np.zeros(0))
        return before._replace(trust=trust, successes=successes)

    def _fitted(
        self, seen: Snapshot, outcomes: NDArray[np.float64], successes: Successes
    ) -> LinkValue | None:
        """Learn from the pages that were reached by a link, as that looked before."""
        rows = seen.node_row[seen.link_node]  # (n_links,)
        oldest = max(0, seen.n_rows - _MOST_EXAMPLES)
        led = np.flatnonzero((rows >= oldest) & (seen.link_row < rows))
        nodes = np.unique(seen.link_node[led]).astype(np.int64)
        if not len(nodes):
            return None
        examples = candidates(seen, nodes, led, outcomes[seen.node_row[nodes]])
        found = features(seen, examples, successes, without=self.without)
        return LinkValue(l2=self.l2).fit(found.values, outcomes[seen.node_row[nodes]])


def _blend(
    learnt: _Learnt, values: NDArray[np.float64], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log odds of candidates: of the model and of the prior, by trust."""
    of_prior = _of_prior(learnt.successes.mean, prior)
    blended: NDArray[np.float64] = (
        learnt.trust * learnt.model.log_odds(values) + (1 - learnt.trust) * of_prior
    )
    return blended


def _of_prior(mean: float, prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of a prior in [0, 1], where a page brings so much in the mean, (n,)."""
    return logit(min(mean, 0.5)) + _PRIOR_SCALE * (prior - _PRIOR_MEAN)


def _priorities(log_odds: NDArray[np.float64]) -> NDArray[np.int64]:
    return scalar_priorities(sigmoid(log_odds)) if len(log_odds) else np.zeros(0, dtype=np.int64)


def _by_family(
    contributions: NDArray[np.float64], found: Features
) -> dict[str, NDArray[np.float64]]:
    """Return what each family of features adds to the log odds, (n,)."""
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
