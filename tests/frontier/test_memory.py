"""What the index in memory promises beyond the contract: size, long queues, no leaks."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from focusspider.frontier import RERANK_SLICE, Outcome
from focusspider.frontier.hosts import FRONT_MAX
from focusspider.frontier.memory import MemoryFrontier
from focusspider.frontier.slots import first_by
from tests.frontier.model import always, entry


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99))), st.integers(-1, 30))
def test_first_by_is_the_head_of_a_sort(pairs: list[tuple[int, int]], count: int) -> None:
    major = np.array([pair[0] for pair in pairs], dtype=np.int64)
    minor = np.array([pair[1] for pair in pairs], dtype=np.int64)
    found = sorted(pairs[place] for place in first_by(major, minor, count).tolist())
    assert found == sorted(pairs)[: max(count, 0)]


def test_a_host_with_more_than_a_front_is_leased_in_order() -> None:
    rng = random.Random(0)
    size = FRONT_MAX + 5_000
    priorities = [rng.randrange(1_000) for _ in range(size)]
    frontier = MemoryFrontier()
    frontier.push([entry(n, "a", priorities[n]) for n in range(size)])
    view = frontier.view
    for start in range(0, size, RERANK_SLICE):  # every third gets another one
        ids = view.ids[start : start + RERANK_SLICE : 3]
        chosen = np.array([rng.randrange(1_000) for _ in ids], dtype=np.int64)
        keys = view.keys[start : start + RERANK_SLICE : 3]
        for key, priority in zip(keys.tolist(), chosen.tolist(), strict=True):
            priorities[key] = priority
        frontier.reprioritise(ids, chosen)
    leased = frontier.lease(size, always())
    numbers = [int.from_bytes(given.fingerprint[:8], "big") for given in leased]
    assert numbers == sorted(range(size), key=lambda n: (-priorities[n], n))


def test_a_waiting_url_takes_less_than_300_bytes() -> None:
    """With a payload of 100 bytes, and 1,000 hosts."""
    size = 40_000
    tracemalloc.start()
    try:
        frontier = MemoryFrontier()
        rng = random.Random(0)
        for start in range(0, size, 25):
            frontier.push(
                [
                    entry(n, f"host{n % 1000}", rng.randrange(2**50), bytes(100))
                    for n in range(start, start + 25)
                ]
            )
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used / frontier.counts.waiting <= 300


def test_what_is_finished_frees_its_slot_and_its_host() -> None:
    frontier = MemoryFrontier()
    for number in range(1_000):
        frontier.push([entry(number, f"host{number}", payload=bytes(1000))])
        leased = frontier.lease(1, always())
        frontier.settle(leased[0].fingerprint, Outcome.DONE)
    index = frontier._index
    assert frontier.counts.done == 1_000
    assert len(index.slots.payloads) == 1
    assert len(index._queues) == 0


def test_queues_stay_in_proportion_to_what_waits() -> None:
    """Nothing is left behind by ten thousand changes of mind."""
    frontier = MemoryFrontier(max_size=100)
    rng = random.Random(0)
    for number in range(10_000):
        frontier.push([entry(number, f"host{number % 5}", rng.randrange(1_000))])
        view = frontier.view
        frontier.reprioritise(view.ids[:3], view.priorities[:3] // 2)
    queues = frontier._index._queues
    assert sum(map(len, queues._fronts)) <= 2 * 100 + 5 * 17
    assert len(queues._heap) <= 2 * 5 + 65
    assert len(frontier._index._table) == frontier.counts.waiting


def test_the_same_calls_give_the_same_answers() -> None:
    """Although each table spreads its keys in its own way."""
    answers = []
    for _ in range(2):
        rng = random.Random(7)
        frontier = MemoryFrontier(max_size=500, host_share=0.2)
        seen: list[object] = []
        for step in range(200):
            batch = [
                entry(rng.randrange(5_000), f"host{rng.randrange(20)}", rng.randrange(50))
                for _ in range(20)
            ]
            seen.append(frontier.push(batch))
            leased = frontier.lease(3, always())
            seen += leased
            for given_ in leased[: 1 + step % 2]:
                frontier.settle(given_.fingerprint, list(Outcome)[step % 3])
            view = frontier.view
            seen += [view.ids.tolist(), view.keys.tolist()]
            frontier.reprioritise(view.ids[::7], view.priorities[::7] // 2)
        answers.append(seen)
    assert answers[0] == answers[1]
