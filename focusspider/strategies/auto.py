"""Auto: learns what a link is worth from what following others has brought in this crawl."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

import numpy as np

from focusspider.models.lessons import COURSE
from focusspider.priority import PRIORITY_BITS
from focusspider.registry import check_choice, check_number, check_share, check_texts, check_whole
from focusspider.relevance.base import Judgement
from focusspider.strategies.base import BaseStrategy, LinkScores, topic_terms
from focusspider.strategies.hub_seeking import HubSeeking
from focusspider.strategies.linkbudget import WorkBudget
from focusspider.strategies.linkcandidates import Candidates
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.strategies.linkfeatures import FAMILIES
from focusspider.strategies.linklearning import Learnt, LinkLearner, priorities
from focusspider.strategies.linklessons import lessons_of
from focusspider.strategies.linkorder import NO_RERANKING, NewOrder
from focusspider.strategies.linkprior import of_models, of_prior
from focusspider.strategies.linkprobes import LinkProbes
from focusspider.strategies.linksharing import LinkSharing
from focusspider.strategies.memoryparts import part, prefixed
from focusspider.strategies.trained import TrainedModels

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.frontier import FrontierView
    from focusspider.models.lessons import Lessons
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import (
        Contribution,
        ContributionWork,
        Reranking,
        RerankWork,
        State,
    )
    from focusspider.strategies.linksharing import Elsewhere
    from focusspider.strategies.linktables import Snapshot

__all__ = ["Auto"]

logger = logging.getLogger(__name__)

#: Pages before which nothing is learnt.
_FIRST_FIT = 5
#: What a page brings in the mean, before that is known.
_UNKNOWN_MEAN = 0.1


class Auto(BaseStrategy):
    """Begins as ``hub-seeking``, and learns which links pay while it crawls.

    Every ``rerank_every`` pages all that was seen so far is made into figures that tell good
    links from bad ones (:mod:`~focusspider.strategies.linkfeatures`): how often links of the
    same page, tag path, directory, host, anchor or word have led to something, how near the
    texts are to the keywords, where the link was found, what trained models say of it. A
    logistic regression weighs them. Something is a relevant page, or a share of one for a
    page that has opened some (:mod:`~focusspider.strategies.linkcredit`): so hubs earn. What
    was not relevant counts as much.

    score = w · (log odds of the model) + (1 - w) · (log odds of the prior), w = n / (n + doubt),
    n relevant pages times how much better the model has told the latest ones than the prior
    (:mod:`~focusspider.strategies.linkforecasts`). The prior is of ``hub-seeking``, trained models,
    depth, and how links of the same page, tag path, directory and host have done.

    Parameters
    ----------
    credit : float
        What opening many relevant pages is worth where they are rare, in [0, 1]; one: a third.
    hope : float
        Share of what a waiting link is thought to bring that its page has credit for, in
        [0, 1].
    doubt : float
        Number of relevant pages at which model and prior weigh the same, if both do as well.
    l2 : float
        λ of the logistic regression.
    votes : float
        What it weighs all evidence of groups and words together before it has learnt, each
        kind the same.
    prior : float
        Number of trials that the mean success counts for in a group.
    chance : float
        The log odds of a link's prior are moved by so much at most, either way, by chance with
        the crawl's seed: priors that are nearly the same should not keep a crawl where it is.
    explore : float
        Share of the pages that may be entrances of new hosts, links of the first pages, and
        what a bandit chooses (:mod:`~focusspider.strategies.linkprobes`), in [0, 1].
    steady : float
        NDCG of what waits, by its new values, from which on it keeps its order, in [0, 1].
    models : list of str, optional
        Trained models that are asked too, of
        :data:`~focusspider.strategies.trained.KINDS`: those in the topic's folder of models
        if not given.
    without : list of str
        Families of features to do without, of
        :data:`~focusspider.strategies.linkfeatures.FAMILIES`, also in the prior.
    rerank_every, rerank_growth
        What waits is reordered after so many pages, and not before the crawl has grown by
        this share.
    refit_growth
        The regression is fitted again when the crawl has grown by this share.
    max_links : int
        Most links that are kept, and most pages; beyond it the pages that were fetched first
        are forgotten.
    budget : float
        Share of the crawl's work that learning may be (``FOCUS_AUTO_BUDGET``;
        :class:`~focusspider.strategies.linkbudget.WorkBudget`).
    """

    needs: ClassVar[frozenset[str]] = frozenset({"terms", "context", "anchor", "graph"})
    learns_when_it_reranks: ClassVar[bool] = True
    rerank_at_once: bool = False  # what was learnt is of no use, since pages were forgotten

    def __init__(
        self,
        *,
        credit: float = 0.9,
        hope: float = 0.3,
        doubt: float = 2.0,
        l2: float = 5.0,
        votes: float = 3.0,
        prior: float = 1.0,
        chance: float = 0.1,
        explore: float = 0.05,
        steady: float = 0.99,
        models: Sequence[str] | None = None,
        without: Sequence[str] = (),
        rerank_every: int = 1,
        rerank_growth: float = 0.04,
        refit_growth: float = 0.15,
        max_links: int = 300_000,
        budget: float = 0.25,
        base_dir: str | os.PathLike[str] | None = None,
        models_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        shares = {"credit": credit, "hope": hope, "explore": explore, "steady": steady}
        for name, share in {**shares, "budget": budget}.items():
            check_share(name, share)
        numbers = {"l2": (l2, 1e-6, 1e6), "prior": (prior, 1e-6, 1e6), "votes": (votes, 0, 100)}
        numbers |= {"doubt": (doubt, 0.01, 1e6), "chance": (chance, 0, 100)}
        for name, (number, least, most) in numbers.items():
            check_number(name, number, least, most)
        check_texts("without", without)
        for family in without:
            check_choice("without", family, tuple(FAMILIES))
        if set(without) >= set(FAMILIES) - {"models"}:
            raise ValueError("without names every family of features; leave one to learn from")
        check_whole("rerank_every", rerank_every)
        check_number("rerank_growth", rerank_growth)
        check_number("refit_growth", refit_growth)
        check_whole("max_links", max_links, 1000)
        self.credit = credit
        self.hope = hope
        self.doubt = doubt
        self.l2 = l2
        self.votes = votes
        self.prior = prior
        self.chance = chance
        self.explore = explore
        self.steady = steady
        self.models = models
        self.without = without
        self.rerank_every = rerank_every
        self.rerank_growth = rerank_growth
        self.refit_growth = refit_growth
        self.max_links = max_links
        self.budget = budget
        self.base_dir = base_dir
        self.models_dir = models_dir
        asked = [] if "models" in without else models
        self._trained = TrainedModels(asked, base_dir=base_dir, models_dir=models_dir)
        self._start = HubSeeking()
        self._learner = LinkLearner(
            credit=credit,
            hope=hope,
            doubt=doubt,
            l2=l2,
            votes=votes,
            prior=prior,
            without=without,
            refit_growth=refit_growth,
            chance=chance,
            alpha=self._start.alpha,
        )

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Begin with the topic, and having seen nothing."""
        self._start.start(profile, random_state)
        self._trained.start(profile, random_state)
        self._learner = replace(self._learner, seed=int(random_state.integers(1 << 32)))
        self._evidence = LinkEvidence(
            topic_terms(profile), max_links=self.max_links, trained=self._trained.columns
        )
        self._work = WorkBudget(self.budget)
        self._learnt: Learnt | None = None
        self._mean = 0.0  # what a page brought at the last rerank; 0 before the first
        self._found = 0
        self._warned_at = 100
        self._probes = LinkProbes(self.explore)
        self.rerank_at_once = False
        self._course: list[tuple[float, ...]] = []
        self._sharing = LinkSharing()
        if self._trained.names:
            logger.info("auto asks these trained models too: %s", ", ".join(self._trained.names))

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Add the page, what it is, and its links."""
        self._found += judgement.relevant
        self._sharing.verdicts.add(page, judgement)
        self._work.add_page(len(page.links))
        forgotten = self._evidence.forgotten
        self._evidence.add_page(
            page,
            relevance=judgement.relevance,
            relevant=judgement.relevant,
            hub=self._start.hub_of(page),
        )
        self.rerank_at_once |= self._evidence.forgotten > forgotten

    def observe_nothing(self, page: Page) -> None:
        """Learn that a link has led to nothing that could be read."""
        self.observe(page, Judgement(0.0, False, "no page"))

    def score(self, page: Page, state: State | None) -> LinkScores:
        """Score each link of a page by what was learnt up to the last rerank."""
        row = self._evidence.row_of(page.key)
        figures, inherited = self._trained.ask(page, state)
        if row >= 0:
            self._evidence.tell(row, figures)
        learnt = self._learnt_since(self._evidence.forgotten)
        first, end = self._evidence.links_of(row) if row >= 0 else (0, 0)
        seen = self._evidence.glance()
        nodes = seen.link_node[first:end].astype(np.int64)
        # A page that was fetched before may have had other links.
        known = np.array_equal(seen.node_key[nodes], page.link_keys)
        if learnt is None or not page.links or not known:
            return self._by_prior(page, figures)._replace(state=inherited)
        each = Candidates.of_page(nodes, first)
        log_odds, parts = self._learner.explained(seen, each, learnt)
        return LinkScores(priorities(log_odds), inherited, parts)

    def _by_prior(self, page: Page, figures: NDArray[np.float64]) -> LinkScores:
        """Score links by the prior alone, on the scale by which what waits was reranked."""
        scores = self._start.score(page, None)
        if not self._mean and not self._trained.names:
            return scores
        prior = scores.priorities / 2.0**PRIORITY_BITS
        log_odds = of_prior(self._mean or _UNKNOWN_MEAN, prior)
        if self._trained.names:
            log_odds += of_models(figures)
        return scores._replace(priorities=priorities(log_odds))

    def rerank(self, frontier: FrontierView) -> RerankWork | None:
        """Return the work that learns anew, and orders what waits by it."""
        self._say_if_nothing_is_found()
        self._sharing.waiting = frontier.keys
        self.rerank_at_once = False
        rows, links = self._evidence.n_rows, len(self._evidence)
        scored = min(links, 2 * len(frontier.keys))
        if rows < _FIRST_FIT or not self._work.affords(known=links, scored=scored, fitted=rows):
            return None
        return partial(
            self._reranking,
            self._evidence.snapshot(),
            self._evidence.forgotten,
            frontier,
            self._sharing.elsewhere,
        )

    def memory(self) -> Mapping[str, NDArray[Any]]:
        """Return what was seen, and of what was learnt that which cannot be computed anew."""
        memory = prefixed("seen", self._evidence.memory())
        memory |= prefixed("names", self._evidence.names.memory())
        memory |= prefixed("probes", self._probes.memory())
        memory["counts"] = np.array([self._found, self._warned_at])
        memory["features"] = np.array(self._signature)
        memory["work"] = np.array([self._work.earned, self._work.spent])
        memory["course"] = self._course_rows()
        memory["mean"] = np.array(self._mean)
        learnt = self._learnt_since(self._evidence.forgotten)
        if learnt is not None:
            memory |= prefixed("learnt", learnt.memory())
        return memory

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was seen and learnt."""
        self._evidence.recall(part(memory, "seen"))
        self._evidence.names.recall(part(memory, "names"))
        self._found, self._warned_at = memory["counts"].tolist()
        self._probes.recall(part(memory, "probes"))
        self._work.recall(*memory["work"].tolist())
        self._course = [tuple(row) for row in memory["course"].tolist()]
        self._mean = float(memory["mean"])
        learnt = part(memory, "learnt")
        if learnt and memory["features"] == self._signature:
            self._learnt = self._learner.recall(
                learnt, self._evidence.snapshot(), self._evidence.forgotten
            )

    def lessons(self) -> Lessons | None:
        """Return what was learnt, for people; None where that is nothing."""
        learnt = self._learnt_since(self._evidence.forgotten)
        if learnt is None or learnt.model is None:
            return None
        return lessons_of(
            self._evidence.snapshot(),
            learnt,
            learnt.model.weights_,
            names=self._evidence.names,
            course=self._course_rows(),
            without=self.without,
            models=self._trained,
        )

    def explain(self, key: int) -> dict[str, float] | None:
        """Return what a waiting URL's value is made of now; None: nothing was learnt of it."""
        learnt = self._learnt_since(self._evidence.forgotten)
        node = self._evidence.node_of(key)
        if learnt is None or node < 0:
            return None
        parts = self._learner.explained_node(self._evidence.glance(), node, learnt)
        if parts is not None and self._probes.has_chosen(key):
            parts["probe"] = 1.0
        return parts

    def contribution(self) -> ContributionWork:
        """Return the work that puts together what other workers are told of own pages."""
        learnt = self._learnt_since(self._evidence.forgotten)
        return self._sharing.contribution(self._evidence.snapshot(), learnt, self._learner)

    def join(self, worker: str, contribution: Contribution) -> None:
        """Take what another worker has told, for the next rerank."""
        self._sharing.join(worker, contribution)

    @property
    def _signature(self) -> int:
        """A hash of what features there are: a model of others is of no use."""
        families = [name for name in FAMILIES if name not in self.without]
        return crc32("|".join([*families, *self._trained.columns]).encode())

    def _course_rows(self) -> NDArray[np.float64]:
        return np.array(self._course, dtype=np.float64).reshape(-1, len(COURSE))

    def _learnt_since(self, forgotten: int) -> Learnt | None:
        """Return what was learnt, unless pages were forgotten since: all have other numbers.

        The work of a rerank may end in its thread just when that happens, so it is looked at
        here and not where it is stored.
        """
        learnt = self._learnt
        return learnt if learnt is not None and learnt.forgotten == forgotten else None

    def _say_if_nothing_is_found(self) -> None:
        fetched = self._evidence.n_rows + self._evidence.forgotten
        if not self._found and fetched >= self._warned_at:
            self._warned_at = 2 * fetched
            logger.info(
                "No page of the first %d is relevant. Until one is, links are followed by their "
                "words and hubs, where pages were most like what is wanted, and away from pages, "
                "directories and hosts that led nowhere. If that is not to be expected, look at "
                "the keywords, and at the threshold of [relevance]",
                fetched,
            )

    def _reranking(
        self,
        seen: Snapshot,
        forgotten: int,
        frontier: FrontierView,
        elsewhere: Elsewhere | None,
    ) -> Reranking:
        learnt = self._learner.learn(seen, forgotten, self._learnt, elsewhere)
        if learnt is None:
            return NO_RERANKING
        before = self._learnt_since(forgotten)
        pages = seen.n_rows + forgotten
        order = NewOrder(self._learner, self._probes, seen, learnt, frontier, pages=pages)
        alike = 0.0 if before is None else order.likeness()
        self._course.append((pages, self._found, *learnt.confidence, alike))
        if before is not None and alike and alike >= self.steady:
            reranking, expected = order.probes_alone(), before.expected
        else:
            reranking, expected = order.reranking(elsewhere)
        hoped = np.zeros(seen.n_nodes)
        hoped[: len(expected)] = expected
        self._learnt = learnt._replace(expected=hoped, levels=order.levels())
        self._mean = learnt.successes.mean
        return reranking
