"""The contract of a frontier, by cases worked by hand; every frontier passes all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import FrontierError
from focusspider.frontier import Counts, Entry, Outcome
from focusspider.priority import HELD, PRIORITY_MAX
from tests.frontier.model import Gate, always, entry, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from focusspider.frontier import Frontier

    Make = Callable[..., Frontier]


def numbers(entries: list[Entry]) -> list[int]:
    return [int.from_bytes(given.fingerprint[:8], "big") for given in entries]


def drain(frontier: Frontier) -> list[int]:
    return numbers(frontier.lease(1000, always()))


def change(frontier: Frontier, priorities: dict[int, int]) -> None:
    """Reprioritise by number."""
    view = frontier.view
    chosen = [place for place, key in enumerate(view.keys.tolist()) if key in priorities]
    wanted = [priorities[int(view.keys[place])] for place in chosen]
    frontier.reprioritise(view.ids[chosen], np.array(wanted, dtype=np.int64))


# -- order -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pushed", "order"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([(1, "a", 5), (2, "a", 9), (3, "a", 7)], [2, 3, 1], id="by priority"),
        pytest.param([(3, "a", 5), (1, "a", 5), (2, "a", 5)], [3, 1, 2], id="then by age"),
        pytest.param([(1, "a", 5), (2, "b", 9), (3, "c", 7)], [2, 3, 1], id="across hosts"),
        pytest.param([(2, "b", 5), (1, "a", 5), (3, "b", 5)], [2, 1, 3], id="age across hosts"),
        pytest.param(
            [(1, "a", PRIORITY_MAX), (2, "a", 0), (3, "a", PRIORITY_MAX - 1)],
            [1, 3, 2],
            id="all fifty bits",
        ),
        pytest.param([(1, "a", 1), (2, "a", 5), (1, "a", 5)], [1, 2], id="raised keeps its age"),
        pytest.param([(1, "a", 7), (2, "a", 5), (1, "a", 3)], [1, 2], id="never lowered"),
        pytest.param([(1, "a", 1), (2, "b", 5), (1, "b", 5)], [1, 2], id="raised at a new host"),
    ],
)
def test_lease_takes_the_best_first(
    make: Make, pushed: list[tuple[int, str, int]], order: list[int]
) -> None:
    frontier = make()
    for number, host, priority in pushed:
        frontier.push([entry(number, host, priority)])
    assert drain(frontier) == order
    assert drain(frontier) == []


def test_an_entry_comes_back_as_it_was_pushed(make: Make) -> None:
    frontier = make()
    anything = object()
    pushed = [entry(1, "a", 2, b"\0\xff" * 50), entry(2, "b", 1, anything)]
    frontier.push(pushed)
    leased = frontier.lease(2, always())
    assert leased == pushed
    assert leased[1].payload is anything


def test_push_counts_what_is_new(make: Make) -> None:
    frontier = make()
    assert frontier.push([]) == 0
    assert frontier.push([entry(1), entry(2), entry(1)]) == 2
    assert frontier.push([entry(2, priority=9), entry(3)]) == 1
    assert frontier.counts == Counts(waiting=3, leased=0, done=0, dropped=0, evicted=0)


def test_a_raise_brings_its_payload_and_a_lower_one_does_not(make: Make) -> None:
    frontier = make()
    frontier.push([entry(1, "a", 5, b"first"), entry(2, "a", 5, b"first")])
    frontier.push([entry(1, "a", 6, b"second"), entry(2, "a", 5, b"second")])
    assert [given.payload for given in frontier.lease(2, always())] == [b"second", b"first"]


@pytest.mark.parametrize("n", [0, -1])
def test_a_lease_of_nothing(make: Make, n: int) -> None:
    frontier = make()
    frontier.push([entry(1)])
    assert frontier.lease(n, always()) == []
    assert frontier.counts.waiting == 1


# -- states ------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [Outcome.DONE, Outcome.DROPPED])
def test_what_is_done_or_dropped_never_comes_back(make: Make, outcome: Outcome) -> None:
    frontier = make()
    frontier.push([entry(1)])
    frontier.lease(1, always())
    assert frontier.push([entry(1, priority=9)]) == 0, "a leased one is left alone"
    frontier.settle(fingerprint(1), outcome)
    assert frontier.push([entry(1, priority=9)]) == 0
    assert drain(frontier) == []
    done = outcome is Outcome.DONE
    assert frontier.counts == Counts(0, 0, done=int(done), dropped=int(not done), evicted=0)


def test_again_waits_at_the_age_it_had(make: Make) -> None:
    frontier = make()
    frontier.push([entry(1, payload=b"one"), entry(2)])
    assert numbers(frontier.lease(1, always())) == [1]
    frontier.push([entry(3)])
    frontier.settle(fingerprint(1), Outcome.AGAIN)
    assert frontier.counts == Counts(waiting=3, leased=0, done=0, dropped=0, evicted=0)
    leased = frontier.lease(3, always())
    assert numbers(leased) == [1, 2, 3]
    assert leased[0].payload == b"one"


def test_again_with_a_replacement(make: Make) -> None:
    frontier = make()
    frontier.push([entry(1, "a", 9, b"first try"), entry(2, "a", 5), entry(3, "a", 3)])
    frontier.lease(1, always())
    frontier.settle(fingerprint(1), Outcome.AGAIN, entry(1, "b", 3, b"second try"))
    leased = frontier.lease(3, always())
    assert numbers(leased) == [2, 1, 3], "priority 3, but older than 3"
    assert leased[1] == entry(1, "b", 3, b"second try")


@pytest.mark.parametrize(
    ("before", "state"),
    [
        ([], "not known"),
        (["push"], "waiting"),
        (["push", "lease", Outcome.DONE], "done"),
        (["push", "lease", Outcome.DROPPED], "dropped"),
        (["push", "lease", Outcome.AGAIN], "waiting"),
    ],
)
def test_only_a_leased_request_is_settled(make: Make, before: list[Any], state: str) -> None:
    frontier = make()
    for step in before:
        if step == "push":
            frontier.push([entry(1)])
        elif step == "lease":
            frontier.lease(1, always())
        else:
            frontier.settle(fingerprint(1), step)
    counts = frontier.counts
    with pytest.raises(FrontierError, match=f"{fingerprint(1).hex()} is {state}"):
        frontier.settle(fingerprint(1), Outcome.DONE)
    assert frontier.counts == counts


# -- hosts -------------------------------------------------------------------------------


def test_a_refused_host_is_passed_over_until_it_is_woken(make: Make) -> None:
    frontier = make()
    gate = Gate({"slow": 0, "quick": 9})
    frontier.push([entry(1, "slow", 9), entry(2, "quick", 5), entry(3, "quick", 4)])
    assert numbers(frontier.lease(1, gate)) == [2]
    gate.free["slow"] = 1  # free, but nobody said so
    assert numbers(frontier.lease(1, gate)) == [3]
    gate.to_wake.append("slow")
    assert numbers(frontier.lease(1, gate)) == [1]


def test_a_new_request_does_not_wake_its_host(make: Make) -> None:
    frontier = make()
    gate = Gate({"slow": 0})
    frontier.push([entry(1, "slow", 1)])
    assert frontier.lease(1, gate) == []
    frontier.push([entry(2, "slow", 9)])
    assert frontier.lease(1, gate) == []  # the gate itself fails when it is asked again
    gate.open("slow", 2)
    assert numbers(frontier.lease(2, gate)) == [2, 1]


def test_a_host_stays_aside_when_all_it_had_was_evicted(make: Make) -> None:
    frontier = make(max_size=1)
    gate = Gate({"slow": 0, "quick": 9})
    frontier.push([entry(1, "slow", 1)])
    assert frontier.lease(1, gate) == []
    frontier.push([entry(2, "quick", 2)])
    assert frontier.counts.evicted == 1
    assert numbers(frontier.lease(1, gate)) == [2]
    frontier.push([entry(3, "slow", 1)])
    assert frontier.lease(1, gate) == []
    frontier.push([entry(4, "other", 2)])
    gate.free["other"] = 1
    assert numbers(frontier.lease(1, gate)) == [4], "no other host is set aside in its place"
    gate.open("slow")
    frontier.push([entry(3, "slow", 1)])
    assert numbers(frontier.lease(1, gate)) == [3]


def test_each_yes_is_one_request(make: Make) -> None:
    frontier = make()
    gate = Gate({"a": 2, "b": 1})
    frontier.push([entry(number, "ab"[number % 2], 9 - number) for number in range(6)])
    assert numbers(frontier.lease(6, gate)) == [0, 1, 2]
    assert gate.free == {"a": 0, "b": 0}


def test_waking_a_host_that_nobody_knows_changes_nothing(make: Make) -> None:
    frontier = make()
    gate = Gate({"a": 1})
    gate.to_wake = ["b", "a", "a"]
    frontier.push([entry(1, "a")])
    assert numbers(frontier.lease(2, gate)) == [1]


# -- the bound ---------------------------------------------------------------------------


def test_the_worst_are_evicted_and_of_equals_the_youngest(make: Make) -> None:
    frontier = make(max_size=3)
    assert frontier.push([entry(1, priority=5), entry(2, priority=2), entry(3, priority=2)]) == 3
    assert frontier.push([entry(4, priority=2)]) == 0, "no better than what stays"
    assert frontier.push([entry(5, priority=3)]) == 1, "3 goes: as bad as 2, and younger"
    assert frontier.counts == Counts(waiting=3, leased=0, done=0, dropped=0, evicted=2)
    assert drain(frontier) == [1, 5, 2]


def test_an_evicted_request_may_be_found_again_as_a_new_one(make: Make) -> None:
    frontier = make(max_size=1)
    frontier.push([entry(1, priority=1)])
    frontier.push([entry(2, priority=2)])
    assert frontier.push([entry(1, priority=3)]) == 1
    assert drain(frontier) == [1]
    assert frontier.counts.evicted == 2


def test_what_is_leased_is_not_bounded(make: Make) -> None:
    frontier = make(max_size=1)
    for number in range(3):
        frontier.push([entry(number)])
        assert drain(frontier) == [number]
    assert frontier.counts == Counts(waiting=0, leased=3, done=0, dropped=0, evicted=0)


def test_again_meets_the_bound_too(make: Make) -> None:
    frontier = make(max_size=1)
    frontier.push([entry(1, priority=1)])
    frontier.lease(1, always())
    frontier.push([entry(2, priority=2)])
    frontier.settle(fingerprint(1), Outcome.AGAIN)
    assert frontier.counts == Counts(waiting=1, leased=0, done=0, dropped=0, evicted=1)
    assert drain(frontier) == [2]


def test_a_host_gives_up_its_own_worst(make: Make) -> None:
    frontier = make(max_size=4, host_share=0.5)
    frontier.push([entry(1, "a", 1)])
    frontier.push([entry(number, "trap", number) for number in range(10, 20)])
    assert frontier.counts == Counts(waiting=3, leased=0, done=0, dropped=0, evicted=8)
    assert drain(frontier) == [19, 18, 1]


def test_a_large_frontier_evicts_in_batches(make: Make) -> None:
    frontier = make(max_size=1000)
    frontier.push([entry(number, priority=number) for number in range(1001)])
    waiting, _, _, _, evicted = frontier.counts
    assert 1000 - 1000 // 256 <= waiting <= 1000
    assert waiting + evicted == 1001
    assert sorted(frontier.view.keys.tolist()) == list(range(evicted, 1001))


# -- rerank ------------------------------------------------------------------------------


def test_the_view_shows_what_waits(make: Make) -> None:
    frontier = make()
    assert [len(column) for column in (frontier.view.ids, frontier.view.keys)] == [0, 0]
    frontier.push([entry(1, "a", 5), entry(2, "b", PRIORITY_MAX), entry(3, "a", 0)])
    frontier.lease(1, always())
    view = frontier.view
    assert view.keys.dtype == np.uint64
    assert dict(zip(view.keys.tolist(), view.priorities.tolist(), strict=True)) == {1: 5, 3: 0}
    assert view.leased.tolist() == [2]
    assert view.leased.dtype == np.uint64


def test_what_is_held_waits_until_it_is_raised(make: Make) -> None:
    frontier = make()
    frontier.push([entry(1, "a", HELD), entry(2, "a", 5), entry(3, "b", HELD)])
    assert drain(frontier) == [2]
    assert frontier.counts.waiting == 2
    change(frontier, {1: 0})
    assert drain(frontier) == [1]
    frontier.push([entry(3, "b", 7), entry(4, "b", HELD)])
    assert drain(frontier) == [3]
    change(frontier, {4: 9})
    change(frontier, {4: HELD})
    assert drain(frontier) == []
    assert frontier.counts.waiting == 1


def test_many_that_are_held_at_one_host(make: Make) -> None:
    frontier = make(max_size=100_000)
    frontier.push([entry(number, "a", HELD) for number in range(40_000)])
    assert drain(frontier) == []
    change(frontier, {31_000: 3, 2: 1})
    assert drain(frontier) == [31_000, 2]
    assert drain(frontier) == []


def test_reprioritise_raises_and_lowers(make: Make) -> None:
    frontier = make()
    frontier.push([entry(number, "abc"[number % 3], 10 * number) for number in range(1, 6)])
    change(frontier, {5: 5, 1: 60, 3: 30})
    assert drain(frontier) == [1, 4, 3, 2, 5]


def test_reprioritise_back_and_forth_leases_once(make: Make) -> None:
    frontier = make()
    frontier.push([entry(1, "a", 5), entry(2, "a", 5)])
    for priority in (9, 5, 9, 5, 1, 5):
        change(frontier, {1: priority})
    assert drain(frontier) == [1, 2]


def test_the_id_of_what_has_gone_is_nobody_elses(make: Make) -> None:
    frontier = make()
    frontier.push([entry(1, priority=5)])
    old = frontier.view.ids
    frontier.lease(1, always())
    frontier.settle(fingerprint(1), Outcome.DONE)
    frontier.push([entry(2, priority=5)])
    frontier.reprioritise(old, np.array([9]))
    assert frontier.view.priorities.tolist() == [5]
    frontier.reprioritise(np.array([-1, 2**62]), np.array([9, 9]))
    assert frontier.view.priorities.tolist() == [5]


def test_an_id_holds_while_the_request_is_tried_again(make: Make) -> None:
    frontier = make()
    frontier.push([entry(1, priority=5)])
    old = frontier.view.ids
    frontier.lease(1, always())
    frontier.reprioritise(old, np.array([9]))  # leased: ignored
    frontier.settle(fingerprint(1), Outcome.AGAIN)
    assert frontier.view.priorities.tolist() == [5]
    frontier.reprioritise(old, np.array([9]))
    assert frontier.view.priorities.tolist() == [9]


# -- the end -----------------------------------------------------------------------------


def test_counts_can_be_read_after_close(make: Make) -> None:
    frontier = make()
    frontier.push([entry(1), entry(2)])
    frontier.lease(1, always())
    frontier.close("finished")
    frontier.close("finished")
    assert frontier.counts == Counts(waiting=1, leased=1, done=0, dropped=0, evicted=0)
