"""When a strategy reorders what waits, and that the crawl goes on meanwhile."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from focusspider.frontier import RERANK_SLICE, Entry
from focusspider.frontier.memory import MemoryFrontier
from focusspider.priority import FIRST, SCORED_MIN
from focusspider.reranking import Reranker
from focusspider.scheduler import FocusScheduler
from focusspider.strategies.base import Reranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from focusspider.frontier import FrontierView


class AnyHost:
    def ready(self, host: str) -> bool:
        return True

    def woken(self) -> Iterable[str]:
        return ()


class Strategy:
    """Turns the order of what waits upside down."""

    def __init__(self, *, every: int = 1, growth: float = 0.0, as_work: bool = True) -> None:
        self.rerank_every = every
        self.rerank_growth = growth
        self.as_work = as_work
        self.work: Callable[[], None] = lambda: None
        self.threads: list[int] = []
        self.asked = 0

    def rerank(self, frontier: FrontierView) -> Any:
        self.asked += 1
        if self.as_work:
            return partial(self._reranking, frontier)
        return self._reranking(frontier)

    def _reranking(self, frontier: FrontierView) -> Reranking:
        self.threads.append(threading.get_ident())
        self.work()
        return Reranking(frontier.ids, frontier.priorities[::-1].copy())


class Crawl:
    """A crawl as far as a reranker looks at it, with a real frontier of n requests."""

    def __init__(self, strategy: Strategy, *, waiting: int = 4, concurrent: int = 1) -> None:
        scheduler = FocusScheduler.__new__(FocusScheduler)
        scheduler.frontier = MemoryFrontier()
        scheduler.closed = False
        scheduler.pump = None
        scheduler.frontier.push(
            [
                Entry(n.to_bytes(8, "big") + bytes(12), f"host{n % 3}", SCORED_MIN + n, b"")
                for n in range(waiting)
            ]
        )
        self.scheduler: Any = scheduler
        self.counts: dict[str, int] = {}
        self.engine = SimpleNamespace(scheduler=scheduler)
        self.settings = Settings({"CONCURRENT_REQUESTS": concurrent, "SCHEDULER": "x.Scheduler"})
        self.stats = SimpleNamespace(inc_value=self._count)
        self.session = SimpleNamespace(
            strategy=strategy, strategy_name="test", fetched=0, remaining=None,
            topic=SimpleNamespace(strategy="test"), config=SimpleNamespace(strategy=None),
        )  # fmt: skip
        self.reranker = Reranker(self.session, self)  # type: ignore[arg-type]

    def _count(self, key: str) -> None:
        self.counts[key] = self.counts.get(key, 0) + 1

    async def page(self) -> None:
        self.session.fetched += 1
        await self.reranker.after_page()

    def order(self) -> list[int]:
        leased = self.scheduler.frontier.lease(1_000_000, AnyHost())
        return [int.from_bytes(entry.fingerprint[:8], "big") for entry in leased]

    @property
    def reranks(self) -> int:
        return self.counts.get("focus/strategy/rerank", 0)


async def until(true: Callable[[], bool]) -> None:
    for _ in range(5000):
        if true():
            return
        await asyncio.sleep(0.001)
    pytest.fail("it never came to that")


@pytest.mark.parametrize("as_work", [True, False])
def test_what_waits_has_the_new_order(as_work: bool) -> None:
    crawl = Crawl(Strategy(as_work=as_work))
    asyncio.run(crawl.page())
    assert crawl.reranks == 1
    assert crawl.order() == [0, 1, 2, 3]  # 3 had been the best


def test_a_crawl_of_one_request_at_a_time_waits_for_the_new_order() -> None:
    async def crawled() -> None:
        crawl = Crawl(Strategy(), concurrent=1)
        crawl.session.strategy.work = partial(time.sleep, 0.05)
        await crawl.page()
        assert crawl.reranks == 1

    asyncio.run(crawled())


def test_a_crawl_of_several_goes_on_while_one_thread_works() -> None:
    async def crawled() -> None:
        crawl = Crawl(strategy, concurrent=16)
        await crawl.page()
        await until(lambda: bool(strategy.threads))
        for _ in range(20):  # they find it busy, and ask for nothing
            await crawl.page()
        assert crawl.reranks == 0
        assert strategy.asked == 1
        go_on.set()
        await until(lambda: crawl.reranks == 1)
        assert crawl.order() == [0, 1, 2, 3]
        await crawl.page()
        await until(lambda: crawl.reranks == 2)

    strategy, go_on = Strategy(), threading.Event()
    strategy.work = partial(go_on.wait, 10)
    asyncio.run(crawled())
    assert threading.get_ident() not in strategy.threads


def test_the_loop_has_its_turn_between_slices() -> None:
    async def crawled() -> int:
        crawl = Crawl(Strategy(), waiting=5 * RERANK_SLICE // 2)
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += bool(crawl.session.strategy.threads)

        counting = asyncio.ensure_future(count())
        frontier = crawl.scheduler.frontier
        sliced: list[tuple[int, int]] = []
        whole = frontier.reprioritise

        def note(ids: Any, priorities: Any) -> None:
            sliced.append((len(ids), turns))
            whole(ids, priorities)

        frontier.reprioritise = note
        await crawl.page()
        counting.cancel()
        sizes, at = zip(*sliced, strict=True)
        assert sizes == (RERANK_SLICE, RERANK_SLICE, RERANK_SLICE // 2)
        assert at[0] < at[1] < at[2]
        return crawl.order()[0]

    assert asyncio.run(crawled()) == 0


@pytest.mark.parametrize(
    ("every", "growth", "expected"),
    [
        (10, 0.0, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),
        # after 40, a quarter more is more than 10: 50, then 12.5 and 15.75 and 19.75 pages on
        (10, 0.25, [10, 20, 30, 40, 50, 63, 79, 99]),
        (1, 1.0, [1, 2, 4, 8, 16, 32, 64]),
        (0, 0.5, []),
    ],
)
def test_it_is_due_every_so_many_pages_and_after_growth(
    every: int, growth: float, expected: list[int]
) -> None:
    async def crawled() -> None:
        asked = 0
        for n in range(1, 101):
            await crawl.page()
            if crawl.session.strategy.asked > asked:
                due.append(n)
                asked = crawl.session.strategy.asked

    crawl, due = Crawl(Strategy(every=every, growth=growth)), []
    asyncio.run(crawled())
    assert due == expected


def test_pages_that_come_during_a_rerank_do_not_hold_up_the_next() -> None:
    async def crawled() -> None:
        await crawl.page()
        await until(lambda: bool(strategy.threads))
        for _ in range(9):
            await crawl.page()
        go_on.set()
        await until(lambda: crawl.reranks == 1)
        await crawl.page()
        await until(lambda: crawl.reranks == 2)

    strategy, go_on = Strategy(every=1), threading.Event()
    strategy.work = partial(go_on.wait, 10)
    crawl = Crawl(strategy, concurrent=16)
    asyncio.run(crawled())


def test_nothing_is_reordered_when_the_budget_is_spent() -> None:
    crawl = Crawl(Strategy())
    crawl.session.remaining = 0
    asyncio.run(crawl.page())
    assert crawl.session.strategy.asked == 0


@pytest.mark.parametrize("concurrent", [1, 16])
@pytest.mark.parametrize("as_work", [True, False])
def test_a_failure_is_logged_and_the_crawl_goes_on(
    concurrent: int, as_work: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("no space for vectors")

    async def crawled() -> None:
        strategy.work = fail
        await crawl.page()
        await until(lambda: bool(caplog.records))
        strategy.work = lambda: None
        await crawl.page()
        await until(lambda: crawl.reranks == 1)

    strategy = Strategy(as_work=as_work)
    crawl = Crawl(strategy, concurrent=concurrent)
    with caplog.at_level(logging.ERROR):
        asyncio.run(crawled())
    (record,) = caplog.records
    assert "failed to rerank; the frontier keeps the priorities" in record.message
    assert record.exc_info is not None
    assert "no space for vectors" in str(record.exc_info[1])


def test_what_ends_after_the_crawl_changes_nothing() -> None:
    async def crawled() -> None:
        await crawl.page()
        await until(lambda: bool(strategy.threads))
        crawl.scheduler.closed = True
        go_on.set()
        await until(lambda: not crawl.reranker._running)

    strategy, go_on = Strategy(), threading.Event()
    strategy.work = partial(go_on.wait, 10)
    crawl = Crawl(strategy, concurrent=16)
    asyncio.run(crawled())
    assert crawl.reranks == 0
    assert crawl.order() == [3, 2, 1, 0]


def test_what_its_spider_ordered_stays_where_it_is() -> None:
    crawl = Crawl(Strategy())
    first, last = (Entry(bytes([9, n] * 10), "a", place, b"") for n, place in ((1, FIRST), (2, 0)))
    crawl.scheduler.frontier.push([first, last])
    asyncio.run(crawl.page())
    order = crawl.order()
    assert order[1:-1] == [0, 1, 2, 3]
    assert order[0] == int.from_bytes(first.fingerprint[:8], "big")


def test_with_another_scheduler_it_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    crawl = Crawl(Strategy())
    crawl.engine.scheduler = object()

    async def crawled() -> None:
        for _ in range(3):
            await crawl.page()

    asyncio.run(crawled())
    (record,) = caplog.records
    assert "'test' reorders what waits, which x.Scheduler cannot do" in record.message
    assert crawl.session.strategy.asked == 0


class Learner(Strategy):
    learns_when_it_reranks = True


def test_with_another_scheduler_a_learner_goes_on_learning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawl = Crawl(Learner())
    crawl.engine.scheduler = object()
    crawl.session.topic.strategy = None  # it is the default, and nobody is warned of that

    async def crawled() -> None:
        for _ in range(3):
            await crawl.page()

    with caplog.at_level(logging.INFO):
        asyncio.run(crawled())
    assert [record.levelname for record in caplog.records] == ["INFO"]
    assert len(crawl.session.strategy.threads) == 3
    assert crawl.reranks == 0
