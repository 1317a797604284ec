"""Apprentice: learns from verdicts on pages which words around a link promise another one."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

import numpy as np

from focusspider.growing import GrowingArray
from focusspider.models.archive import check_shapes
from focusspider.models.online_bayes import CONTRIBUTION, OnlineBayes
from focusspider.registry import check_number, check_whole
from focusspider.strategies.base import BaseStrategy, LinkScores, Reranking, scored
from focusspider.strategies.offers import MOST_OFFERS, OFFERS, best_offers, offers
from focusspider.strategies.verdicts import VERDICTS, Verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focusspider.frontier import FrontierView
    from focusspider.page import Page
    from focusspider.relevance.base import Judgement
    from focusspider.strategies.base import Contribution, ContributionWork, RerankWork, State

__all__ = ["Apprentice"]

#: Features are told apart by so many bits of a hash.
_BITS = 18
#: Features of all links, where those of each end, and the key of where each leads.
_Links = tuple["NDArray[np.uint32]", "NDArray[np.int64]", "NDArray[np.uint64]"]
#: Features of one link that count, the nearest ones first.
_MOST_FEATURES = 500


class Apprentice(BaseStrategy):
    """Scores links by an online naive Bayes over what stands around them.

    Chakrabarti, Punera and Subramanyam, "Accelerated focused crawling through online relevance
    feedback" (2002), as Shchekotykhin, Jannach and Friedrich have it for the baseline of xCrawl
    (5.1): features of a link are pairs of a token and its distance from the link, where
    distances are counted in leaves of the page's tree that hold text and go up to ``distance``
    to both sides. When a page is judged, each link that led to it is an example of pages that
    are accepted, or of those that are not. A judge's word is all that it learns from.

    Parameters
    ----------
    distance : int
        How many leaves away from the link a token may be.
    rerank_every, rerank_growth
        What waits is reordered after so many pages, and not before the crawl has grown by this
        share.
    max_links : int
        Most links that are remembered; beyond it those that were found first are forgotten,
        and what they lead to keeps its place.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"graph", "leaves"})

    def __init__(
        self,
        *,
        distance: int = 5,
        rerank_every: int = 10,
        rerank_growth: float = 1 / 60,
        max_links: int = 200_000,
    ) -> None:
        check_whole("distance", distance, 0)
        check_whole("rerank_every", rerank_every)
        check_number("rerank_growth", rerank_growth)
        check_whole("max_links", max_links, 1000)
        self.distance = distance
        self.rerank_every = rerank_every
        self.rerank_growth = rerank_growth
        self.max_links = max_links

    def start(self, profile: object, random_state: np.random.Generator) -> None:  # noqa: ARG002
        """Begin without an example."""
        self._own = OnlineBayes(2**_BITS)
        #: what links are scored by: with what other workers have learnt, if there are any
        self._model = self._own
        self._others: dict[str, Contribution] = {}
        self._verdicts = Verdicts()
        self._waiting: NDArray[np.uint64] | None = None  # here, at the last rerank
        #: the page that was last looked at: it is observed, and then its links are scored
        self._latest: tuple[Page, tuple[NDArray[np.uint32], NDArray[np.int64]]] | None = None
        self._forget_all()

    def _forget_all(self) -> None:
        self._features = GrowingArray(np.uint32)  # of all links, one after the other
        self._ends = GrowingArray(np.int64)
        self._ends.append(0)
        self._keys = GrowingArray(np.uint64)  # where each link leads
        self._links_to: dict[int, list[int]] = {}  # what is not fetched

    def observe(self, page: Page, judgement: Judgement) -> None:
        """Learn from the links that led to the page, and remember those on it."""
        self._verdicts.add(page, judgement)
        for key in (page.key, *page.moved_from_keys):
            self._judged(key, judgement.relevant)
        features, ends = self._of_page(page)
        first, before = len(self._keys), len(self._features)
        if first + len(page.links) > self.max_links:
            self._forget()
            first, before = len(self._keys), len(self._features)
        self._features.extend(features)
        self._ends.extend(before + ends[1:])
        self._keys.extend(page.link_keys)
        for link, key in enumerate(page.link_keys.tolist(), first):
            self._links_to.setdefault(key, []).append(link)

    def _judged(self, key: int, relevant: bool) -> None:
        """Learn from the links to a page."""
        ends = self._ends.values
        for link in self._links_to.pop(key, ()):
            features = self._features.values[ends[link] : ends[link + 1]]
            for model in {self._own, self._model}:
                model.learn(features, positive=relevant)

    def _of_page(self, page: Page) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the features of the links of a page, (n,), and where each link's end."""
        if self._latest is not None and self._latest[0] is page:
            return self._latest[1]
        features: list[list[int]] = []
        for link in range(len(page.links)):
            around = page.leaves.around(link, self.distance)
            around.sort(key=lambda leaf: abs(leaf[0]))  # the sort keeps the order of equals
            of_link = chain.from_iterable(
                [_feature(token, distance)] * count
                for distance, text in around
                for token, count in page.leaf_terms(text).items()
            )
            features.append([feature for feature, _ in zip(of_link, range(_MOST_FEATURES))])  # noqa: B905
        ends = np.cumsum([0, *map(len, features)], dtype=np.int64)
        found = np.array(list(chain.from_iterable(features)), dtype=np.uint32), ends
        self._latest = page, found
        return found

    def _forget(self) -> None:
        """Forget the links to what is fetched, and of the rest all but the latest."""
        waiting = sorted(chain.from_iterable(self._links_to.values()))[-self.max_links // 2 :]
        ends, features, keys = self._ends.view(), self._features.view(), self._keys.view()
        self._forget_all()
        for link in waiting:
            self._features.extend(features[ends[link] : ends[link + 1]])
            self._ends.append(len(self._features))
            self._links_to.setdefault(int(keys[link]), []).append(len(self._keys))
            self._keys.append(keys[link])

    def score(self, page: Page, state: State | None) -> LinkScores:  # noqa: ARG002
        """Score each link by what was learnt so far."""
        odds = self._model.log_odds(*self._of_page(page))
        return scored(_squashed(odds), {"log_odds": odds})

    def rerank(self, frontier: FrontierView) -> RerankWork | None:
        """Return the work that scores what waits anew."""
        if not self._model.n_examples:
            return None
        self._waiting = frontier.keys
        links = (self._features.view(), self._ends.view(), self._keys.view())
        others = tuple(self._others.values())
        return partial(_reranking, self._model.copy(), links, frontier, others)

    def memory(self) -> Mapping[str, NDArray[Any]]:
        """Return what was learnt, and the links to what is not fetched."""
        waiting = np.array(list(self._links_to), dtype=np.uint64)
        return {
            **self._own.arrays(),
            "features": self._features.view(),
            "ends": self._ends.view(),
            "keys": self._keys.view(),
            "waiting": waiting,
        }

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was learnt."""
        self._own.recall(memory)
        self._features = GrowingArray.of(memory["features"])
        self._ends = GrowingArray.of(memory["ends"])
        self._keys = GrowingArray.of(memory["keys"])
        self._links_to = {key: [] for key in memory["waiting"].tolist()}
        for link, key in enumerate(memory["keys"].tolist()):
            if key in self._links_to:
                self._links_to[key].append(link)

    def contribution(self) -> ContributionWork:
        """Return the work that tells the examples of links on own pages, and what those are.

        And what is thought of links to other workers' pages.
        """
        elsewhere = np.zeros(0, dtype=np.uint64)
        if self._waiting is not None:
            met = np.array(list(self._links_to), dtype=np.uint64)
            elsewhere = met[~np.isin(met, self._waiting)][-MOST_OFFERS:]
        links = (self._features.view(), self._ends.view(), self._keys.view())
        known = {**self._own.contribution(), **self._verdicts.arrays()}
        return partial(_contribution, known, self._model.copy(), links, elsewhere)

    def join(self, worker: str, contribution: Contribution) -> None:
        """Add the examples of another worker, and learn from the links to its pages."""
        check_shapes(contribution, {**CONTRIBUTION, **VERDICTS, **OFFERS})
        before = self._others.get(worker)
        if self._model is self._own:
            self._model = self._own.copy()
        self._model.add({name: contribution[name] for name in CONTRIBUTION})
        if before is not None:
            self._model.add({name: before[name] for name in CONTRIBUTION}, times=-1)
        self._others[worker] = contribution
        keys, relevant = contribution["page_keys"], contribution["page_relevant"]
        new = ~np.isin(keys, () if before is None else before["page_keys"])
        for key, is_relevant in zip(
            keys[new].astype(np.uint64).tolist(), relevant[new].tolist(), strict=True
        ):
            self._judged(key, is_relevant)


def _feature(token: str, distance: int) -> int:
    return crc32(token.encode("utf-8", "replace"), distance & 0xFFFF) >> (32 - _BITS)


def _squashed(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put log odds into [0, 1], in their order: a sigmoid would be 0 or 1 for most."""
    squashed: NDArray[np.float64] = (1 + log_odds / (1 + np.abs(log_odds))) / 2
    return squashed


def _reranking(
    model: OnlineBayes, links: _Links, frontier: FrontierView, others: Sequence[Contribution]
) -> Reranking:
    """Give what waits the best score of the links to it, also of other workers' links."""
    scores = _best(model, links, frontier.keys)
    if others:
        scores = np.fmax(scores, best_offers(others, frontier.keys))
    found = np.flatnonzero(scores > -np.inf)
    return Reranking(frontier.ids[found], scored(_squashed(scores[found])).priorities)


def _best(model: OnlineBayes, links: _Links, asked: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the best score of the links to each of the keys, -inf where there is none, (n,)."""
    features, ends, keys = links
    order = np.argsort(asked)
    places = np.searchsorted(asked, keys, sorter=order)
    here = np.flatnonzero(places < len(order))
    rows = order[places[here]]
    same = asked[rows] == keys[here]
    rows, here = rows[same], here[same]
    scores = np.full(len(order), -np.inf)
    np.maximum.at(scores, rows, model.log_odds(features, ends)[here])
    return scores


def _contribution(
    known: Contribution, model: OnlineBayes, links: _Links, elsewhere: NDArray[np.uint64]
) -> Contribution:
    scores = _best(model, links, elsewhere) if len(elsewhere) and model.n_examples else np.zeros(0)
    return {**known, **offers(elsewhere[: len(scores)], scores)}
