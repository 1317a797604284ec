"""What every frontier refuses, and that it changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import FrontierError
from focusspider.frontier import Entry, Outcome
from tests.frontier.model import always, entry, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from focusspider.frontier import Frontier

    Make = Callable[..., Frontier]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Entry(b"short", "a", 1, b""), "73686f7274 has 5 bytes.*20"),
        (entry(2, priority=-2), "priority -2 is not between 0 and"),
        (entry(2, priority=2**50), "priority 1125899906842624 is not between 0 and"),
    ],
)
def test_a_wrong_entry_changes_nothing(make: Make, wrong: Entry, message: str) -> None:
    frontier = make()
    with pytest.raises(FrontierError, match=message):
        frontier.push([entry(1), wrong])
    assert frontier.counts.waiting == 0
    assert frontier.push([entry(1)]) == 1


@pytest.mark.parametrize(
    ("outcome", "replacement", "message"),
    [
        (Outcome.DONE, entry(1), "only a request that is tried again can be replaced"),
        (Outcome.AGAIN, entry(2), "cannot be replaced by"),
        (Outcome.AGAIN, entry(1, priority=-2), "priority -2"),
    ],
)
def test_a_wrong_replacement_changes_nothing(
    make: Make, outcome: Outcome, replacement: Entry, message: str
) -> None:
    frontier = make()
    frontier.push([entry(1)])
    frontier.lease(1, always())
    with pytest.raises(FrontierError, match=message):
        frontier.settle(fingerprint(1), outcome, replacement)
    assert frontier.counts.leased == 1


@pytest.mark.parametrize(
    ("ids", "priorities", "message"),
    [
        ([1, 2], [1], r"the shapes \(2,\) and \(1,\)"),
        ([[1]], [[1]], r"the shapes \(1, 1\) and \(1, 1\)"),
        ([1], [-2], "priority -2"),
        ([1], [2**50], "priority 1125899906842624"),
    ],
)
def test_a_wrong_rerank_is_refused(
    make: Make, ids: list[Any], priorities: list[Any], message: str
) -> None:
    with pytest.raises(FrontierError, match=message):
        make().reprioritise(np.array(ids), np.array(priorities))


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"max_size": 0}, "max_size=0.*FOCUS_FRONTIER_MAX"),
        ({"max_size": 10**9}, "max_size=1000000000"),
        ({"host_share": 0.0}, "host_share=0.0"),
        ({"host_share": 1.5}, "host_share=1.5"),
    ],
)
def test_a_wrong_bound_is_refused(make: Make, bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(FrontierError, match=message):
        make(**bounds)
