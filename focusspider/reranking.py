"""New priorities for what waits, while the crawl goes on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.log import failure_to_exc_info

from focusspider import stats
from focusspider.engine import turn
from focusspider.frontier import RERANK_SLICE
from focusspider.priority import HELD, among_scores
from focusspider.scheduler import FocusScheduler

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from focusspider.frontier import FrontierView
    from focusspider.session import Session
    from focusspider.strategies.base import Reranking

__all__ = ["Reranker"]

logger = logging.getLogger(__name__)


class Reranker:
    """Asks the strategy for new priorities every so many pages, and gives them to the frontier.

    A strategy may give the work instead of the priorities. That runs in a thread, and no
    other begins before it is done and its priorities are in the frontier, a slice at a
    time. Meanwhile pages are scored and requests leased: with the old priorities, and what
    a new link raised may be lowered again.

    With ``CONCURRENT_REQUESTS = 1`` the page that made it due waits for the end of it, and
    the crawl with that page: the same crawl gives the same order each time.

    With Scrapy's own scheduler nothing can be reordered. A strategy that learns when it
    reranks is asked all the same, for the sake of the links to come.

    A strategy that holds links back is asked as well when nothing else is to be fetched: what
    it was waiting for may have brought no page.
    """

    def __init__(self, session: Session, crawler: Crawler) -> None:
        self._session = session
        self._crawler = crawler
        self._last = 0  # number of pages at the last one
        self._running = False
        self._warned = False

    async def after_page(self) -> None:
        """Begin a rerank if one is due; a page has been scored."""
        if not self._due():
            return
        scheduler = FocusScheduler.of(self._crawler)
        if scheduler is None:
            self._warn()
            if not getattr(self._session.strategy, "learns_when_it_reranks", False):
                return
        self._last = self._session.fetched
        self._running = True
        done = deferred_from_coro(self._rerank(scheduler))
        done.addErrback(_failed)
        if self._crawler.settings.getint("CONCURRENT_REQUESTS") == 1:
            await maybe_deferred_to_future(done)

    def when_idle(self) -> bool:
        """Ask a strategy that holds links back, and return whether there is more to fetch now."""
        strategy = self._session.strategy
        scheduler = FocusScheduler.of(self._crawler)
        if (
            not getattr(strategy, "holds", False)
            or scheduler is None
            or scheduler.closed
            or not self._session.begun
            or self._session.remaining == 0
        ):
            return False
        try:
            reranking = strategy.rerank(_scored_only(scheduler.frontier.view))
        except Exception:
            logger.exception("The strategy failed to rerank; nothing that it holds is fetched")
            return False
        assert not callable(reranking)  # what holds links back answers at once
        if reranking is None:
            return False
        scheduler.frontier.reprioritise(reranking.ids, among_scores(reranking.priorities))
        return scheduler.has_pending_requests()

    async def raise_held(self) -> bool:
        """Do what :meth:`when_idle` does, where several workers share the frontier."""
        scheduler = FocusScheduler.of(self._crawler)
        if scheduler is None or scheduler.closed or self._running or not self._session.begun:
            return False
        self._running = True
        try:
            view = await _view(scheduler)
            reranking = self._session.strategy.rerank(_scored_only(view)) if view else None
            assert not callable(reranking)  # what holds links back answers at once
            if reranking is None:
                return False
            priorities = among_scores(reranking.priorities)
            scheduler.frontier.reprioritise(reranking.ids, priorities)
            return bool((priorities != HELD).any())
        except Exception:
            logger.exception("The strategy failed to rerank; nothing that it holds is fetched")
            return False
        finally:
            self._running = False

    def _due(self) -> bool:
        every = getattr(self._session.strategy, "rerank_every", 0)
        if not every or self._running or self._session.remaining == 0:
            return False
        if getattr(self._session.strategy, "rerank_at_once", False):
            return True
        growth = getattr(self._session.strategy, "rerank_growth", 0.0)
        grown: int = self._session.fetched - self._last
        return grown >= max(every, growth * self._last)

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            chosen = self._session.topic.strategy or self._session.config.strategy
            logger.log(
                logging.WARNING if chosen else logging.INFO,  # nobody asked for the default
                "The strategy %r reorders what waits, which %s cannot do: links stay in the "
                "order of their first scores; set SCHEDULER to focusspider.FocusScheduler",
                self._session.strategy_name,
                self._crawler.settings["SCHEDULER"],
            )

    async def _rerank(self, scheduler: FocusScheduler | None) -> None:
        try:
            view = _nothing() if scheduler is None else await _view(scheduler)
            if view is None:
                return
            reranking = self._session.strategy.rerank(_scored_only(view))
            if callable(reranking):
                reranking = await run_in_thread(reranking)
            if reranking is None or scheduler is None:
                return
            if await self._apply(reranking, scheduler):
                assert self._crawler.stats is not None
                self._crawler.stats.inc_value(stats.STRATEGY_RERANK)
        finally:
            self._running = False

    async def _apply(self, reranking: Reranking, scheduler: FocusScheduler) -> bool:
        """Return whether the crawl went on for so long."""
        ids, priorities = reranking.ids, among_scores(reranking.priorities)
        for start in range(0, len(ids), RERANK_SLICE):
            if start:
                await turn()
            if scheduler.closed:
                return False
            part = slice(start, start + RERANK_SLICE)
            scheduler.frontier.reprioritise(ids[part], priorities[part])
        return True


async def _view(scheduler: FocusScheduler) -> FrontierView | None:
    """Return what waits; where it is in Redis, without waiting for that, and None if it is away."""
    return scheduler.frontier.view if scheduler.pump is None else await scheduler.pump.view()


def _failed(failure: Failure) -> None:
    logger.error(
        "The strategy failed to rerank; the frontier keeps the priorities that it has",
        exc_info=failure_to_exc_info(failure),
    )


class _View(NamedTuple):
    """A part of a :class:`~focusspider.frontier.FrontierView`."""

    ids: NDArray[np.int64]
    keys: NDArray[np.uint64]
    priorities: NDArray[np.int64]
    leased: NDArray[np.uint64]


def _nothing() -> FrontierView:
    """Return the view of a scheduler that cannot tell what waits."""
    numbers = np.zeros(0, dtype=np.int64)
    keys = np.zeros(0, dtype=np.uint64)
    return _View(numbers, keys, numbers, keys)


def _scored_only(view: FrontierView) -> FrontierView:
    """Leave out what waits where its spider put it: a strategy does not move that."""
    scored = view.priorities == among_scores(view.priorities)
    if scored.all():
        return view
    return _View(view.ids[scored], view.keys[scored], view.priorities[scored], view.leased)
