from __future__ import annotations

import hashlib
import heapq
import random
from dataclasses import dataclass

import pytest

from focusspider.frontier import Entry, Outcome
from focusspider.frontier.memory import MemoryFrontier
from focusspider.politeness import Politeness


@dataclass
class Slot:
    concurrency: int = 2
    delay: float = 0.0
    lastseen: float = 0.0


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def polite(clock: Clock, slots: dict[str, Slot], delay: float = 0.0) -> Politeness:
    return Politeness(slots=slots, new_slot=lambda host: (2, delay), clock=clock)


def test_a_host_is_ready_until_its_slot_is_full(clock: Clock) -> None:
    politeness = polite(clock, {})
    ready = []
    for _ in range(3):
        ready.append(politeness.ready("a"))
        politeness.started("a")
    assert ready == [True, True, False]
    assert politeness.ready("b")


def test_a_full_host_is_woken_by_its_next_response(clock: Clock) -> None:
    politeness = polite(clock, {})
    politeness.started("a")
    politeness.started("a")
    assert not politeness.ready("a")
    assert list(politeness.woken()) == []
    assert politeness.next_due() is None
    politeness.finished("a")
    assert list(politeness.woken()) == ["a"]
    assert list(politeness.woken()) == []
    assert politeness.ready("a")


def test_a_delay_is_waited_for(clock: Clock) -> None:
    politeness = polite(clock, {}, delay=3.0)
    assert politeness.ready("a")
    politeness.started("a")
    clock.now += 1.0
    assert not politeness.ready("a")
    assert politeness.next_due() == pytest.approx(2.0, abs=1e-9)
    assert list(politeness.woken()) == []
    clock.now += 2.0
    assert list(politeness.woken()) == ["a"]
    assert politeness.ready("a")


def test_the_slot_is_read_at_each_question(clock: Clock) -> None:
    """AutoThrottle and robots' crawl-delay change it during a crawl."""
    slot = Slot(delay=1.0, lastseen=100.0)
    politeness = polite(clock, {"a": slot})
    clock.now = 101.0
    assert politeness.ready("a")
    slot.delay = 5.0
    assert not politeness.ready("a")
    assert politeness.next_due() == pytest.approx(4.0, abs=1e-9)


def test_a_request_that_others_sent_counts_for_the_delay(clock: Clock) -> None:
    """robots.txt is fetched by Scrapy, through the same slot."""
    politeness = polite(clock, {"a": Slot(delay=2.0, lastseen=99.5)})
    assert not politeness.ready("a")
    assert politeness.next_due() == pytest.approx(1.5, abs=1e-9)


def test_a_held_host_waits_without_a_slot(clock: Clock) -> None:
    politeness = polite(clock, {})
    politeness.hold("a", 30.0)
    politeness.hold("a", 10.0)
    assert not politeness.ready("a")
    assert politeness.next_due() == pytest.approx(30.0, abs=1e-9)
    assert politeness.downloading() == 0
    clock.now += 30.0
    assert list(politeness.woken()) == ["a"]
    assert politeness.ready("a")


def test_a_concurrency_of_nothing_is_no_limit(clock: Clock) -> None:
    politeness = polite(clock, {"a": Slot(concurrency=0)})
    for _ in range(50):
        politeness.started("a")
    assert politeness.ready("a")
    assert politeness.downloading() == 50


def test_a_crawl_delay_raises_the_slots_delay_and_never_lowers_it(clock: Clock) -> None:
    politeness = polite(clock, {"a": Slot(delay=2.0, lastseen=99.0), "b": Slot(lastseen=99.0)})
    politeness.keep_apart("a", 1.0)
    politeness.keep_apart("b", 3.0)
    politeness.keep_apart("b", 1.0)
    assert not politeness.ready("a")
    assert politeness.next_due() == pytest.approx(1.0, abs=1e-9)
    clock.now = 101.0
    assert politeness.ready("a")
    assert not politeness.ready("b")
    clock.now = 102.0
    assert politeness.ready("b")


def test_a_crawl_delay_outlives_the_slot(clock: Clock) -> None:
    """Scrapy throws away the slots of hosts that were not asked for a minute."""
    politeness = polite(clock, {})
    politeness.keep_apart("a", 90.0)
    politeness.started("a")
    politeness.finished("a")
    clock.now += 89.0
    assert not politeness.ready("a")
    clock.now += 1.0
    assert politeness.ready("a")


def test_what_was_handed_over_may_turn_out_to_be_early(clock: Clock) -> None:
    """The slot has started a request for robots.txt, which asks for a delay."""
    slots: dict[str, Slot] = {}
    politeness = polite(clock, slots)
    politeness.started("a")
    assert politeness.can_start("a")
    slots["a"] = Slot(lastseen=clock.now)
    politeness.keep_apart("a", 5.0)
    clock.now += 1.0
    assert not politeness.can_start("a")
    clock.now += 4.0
    assert politeness.can_start("a")
    politeness.hold("a", 2.0)
    assert not politeness.can_start("a")


def test_a_host_is_asked_for_one_thing_until_it_has_answered(clock: Clock) -> None:
    politeness = Politeness(slots={}, new_slot=lambda host: (8, 0), clock=clock, first_alone=True)
    politeness.started("a")
    assert not politeness.ready("a")
    politeness.finished("a")
    for _ in range(8):
        assert politeness.ready("a")
        politeness.started("a")
    assert not politeness.ready("a")


def test_what_no_longer_matters_is_forgotten(clock: Clock) -> None:
    politeness = polite(clock, {}, delay=1.0)
    for n in range(100_000):
        clock.now += 0.001
        politeness.started(str(n))
        politeness.finished(str(n))
        list(politeness.woken())
    assert len(politeness._started) < 5_000
    assert not politeness.ready("99999")


@dataclass
class Host:
    """A simulated host, with what its slot allows and what it has been asked."""

    concurrency: int
    delay: float
    open: int = 0
    last: float = -1e9

    def due(self) -> float:
        return self.last + self.delay

    def is_ready(self, now: float) -> bool:
        return self.open < self.concurrency and self.due() <= now


@pytest.mark.parametrize("seed", range(5))
def test_each_lease_is_the_best_of_the_hosts_that_are_ready(seed: int, clock: Clock) -> None:
    """A crawl in virtual time, against what the hosts themselves know."""
    draw = random.Random(seed)
    hosts = {
        f"h{n}": Host(draw.randint(1, 3), draw.choice([0.0, 0.0, 0.25, 1.0, 5.0]))
        for n in range(12)
    }
    slots = {name: Slot(host.concurrency, host.delay) for name, host in hosts.items()}
    politeness = polite(clock, slots)
    frontier = MemoryFrontier()
    waiting: dict[bytes, Entry] = {}
    for n in range(600):
        fingerprint = hashlib.sha1(str(n).encode(), usedforsecurity=False).digest()
        entry = Entry(fingerprint, draw.choice(list(hosts)), draw.randrange(40), n)
        waiting[fingerprint] = entry
        frontier.push([entry])
    ends: list[tuple[float, bytes, str]] = []
    while waiting:
        ready = {name for name, host in hosts.items() if host.is_ready(clock.now)}
        best = max(
            (entry for entry in waiting.values() if entry.host in ready),
            key=lambda entry: (entry.priority, -entry.payload),
            default=None,
        )
        assert frontier.lease(1, politeness) == ([best] if best else [])
        if best:
            del waiting[best.fingerprint]
            politeness.started(best.host)
            hosts[best.host].open += 1
            hosts[best.host].last = slots[best.host].lastseen = clock.now
            heapq.heappush(ends, (clock.now + draw.random(), best.fingerprint, best.host))
            continue
        # nothing can start: wait for an answer or, if that is sooner, for a delay's end
        dues = [
            hosts[entry.host].due() - clock.now
            for entry in waiting.values()
            if hosts[entry.host].open < hosts[entry.host].concurrency
        ]
        due = politeness.next_due()
        assert (due is None) == (not dues)
        if due is not None:
            assert due == pytest.approx(min(dues), abs=1e-9)
        if ends and (due is None or ends[0][0] <= clock.now + due):
            clock.now, fingerprint, name = heapq.heappop(ends)
            politeness.finished(name)
            hosts[name].open -= 1
            frontier.settle(fingerprint, Outcome.DONE)
        else:
            clock.now += due or 0.0
