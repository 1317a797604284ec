from __future__ import annotations

from dataclasses import dataclass

import pytest

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
