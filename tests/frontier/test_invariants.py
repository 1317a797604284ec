"""The invariants of the frontier, on every frontier, against a naive model.

A state machine pushes, leases, settles, re-orders, opens and closes hosts in random order
and compares each answer with the model's. Small domains make everything meet: 24 URLs,
four hosts, seven priorities.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from focusspider.errors import FrontierError
from focusspider.frontier import Entry, Outcome
from focusspider.priority import HELD, PRIORITY_MAX
from tests.frontier.conftest import DURABLE, FRONTIERS
from tests.frontier.model import Gate, ModelFrontier, entry, fingerprint

HOSTS = ["a", "b", "c", "d"]
NUMBERS = st.integers(0, 23)
PRIORITIES = st.sampled_from([HELD, 0, 1, 2, 3, 2**49, PRIORITY_MAX])
ENTRIES = st.builds(
    entry, NUMBERS, st.sampled_from(HOSTS), PRIORITIES, st.binary(min_size=1, max_size=3)
)
BOUNDED = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


class FrontierMachine(RuleBasedStateMachine):
    kind: str
    parent: Path

    @initialize(
        max_size=st.sampled_from([1, 3, 8, 200]), host_share=st.sampled_from([1.0, 0.5, 0.1])
    )
    def start(self, max_size: int, host_share: float) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=self.parent))
        self.bounds = {"max_size": max_size, "host_share": host_share}
        self.frontier = FRONTIERS[self.kind](self.folder, **self.bounds)
        self.model = ModelFrontier(**self.bounds)
        self.gate = Gate(dict.fromkeys(HOSTS, 1))
        self.ids: dict[int, bytes] = {}  # every id that a view has ever shown

    @rule(entries=st.lists(ENTRIES, max_size=12))
    def push(self, entries: list[Entry]) -> None:
        assert self.frontier.push(entries) == self.model.push(entries)

    @rule(n=st.integers(0, 6))
    def lease(self, n: int) -> None:
        gate = self.gate.copy()
        assert self.frontier.lease(n, self.gate) == self.model.lease(n, gate)
        assert (self.gate.refused, self.gate.free) == (gate.refused, gate.free)

    @precondition(lambda self: self.model.of("leased"))
    @rule(data=st.data(), outcome=st.sampled_from(Outcome), replaced=st.none() | ENTRIES)
    def settle(self, data: st.DataObject, outcome: Outcome, replaced: Entry | None) -> None:
        leased = [record.entry.fingerprint for record in self.model.of("leased")]
        name = data.draw(st.sampled_from(leased))
        if replaced is not None:
            replaced = replaced._replace(fingerprint=name)
        if outcome is not Outcome.AGAIN:
            replaced = None
        self.frontier.settle(name, outcome, replaced)
        self.model.settle(name, outcome, replaced)

    @rule(number=NUMBERS, outcome=st.sampled_from(Outcome))
    def settle_what_is_not_leased(self, number: int, outcome: Outcome) -> None:
        record = self.model.records.get(fingerprint(number))
        if record is None or record.state != "leased":
            with pytest.raises(FrontierError, match=fingerprint(number).hex()):
                self.frontier.settle(fingerprint(number), outcome)

    @rule(changes=st.dictionaries(NUMBERS, PRIORITIES))
    def reprioritise(self, changes: dict[int, int]) -> None:
        named = {fingerprint(number): priority for number, priority in changes.items()}
        # ids of requests that have gone since are named too, and must change nothing
        ids = [number for number, name in self.ids.items() if name in named]
        current = set(self.frontier.view.ids.tolist())
        self.frontier.reprioritise(
            np.array(ids, dtype=np.int64),
            np.array([named[self.ids[number]] for number in ids], dtype=np.int64),
        )
        self.model.reprioritise(
            {self.ids[number]: named[self.ids[number]] for number in ids if number in current}
        )

    @rule(host=st.sampled_from([*HOSTS, "never seen"]), requests=st.integers(0, 2))
    def open_host(self, host: str, requests: int) -> None:
        self.gate.open(host, requests)

    @precondition(lambda self: self.kind in DURABLE)
    @rule()
    def reopen(self) -> None:
        self.frontier.close("finished")
        self.frontier = FRONTIERS[self.kind](self.folder, **self.bounds)
        self.model.crash()
        self.gate.refused.clear()
        self.ids.clear()

    @invariant()
    def is_as_the_model_says(self) -> None:
        """Invariants 1, 3 and 4; the order (5) is checked by each lease."""
        if not hasattr(self, "frontier"):
            return
        assert self.frontier.counts == self.model.counts
        view = self.frontier.view
        names = [fingerprint(key) for key in view.keys.tolist()]
        waiting = {record.entry.fingerprint: record.entry for record in self.model.of("waiting")}
        assert len(names) == len(set(names)) == len(set(view.ids.tolist())) == len(waiting)
        found = dict(zip(names, view.priorities.tolist(), strict=True))
        assert found == {name: given.priority for name, given in waiting.items()}
        leased = {record.entry.fingerprint for record in self.model.of("leased")}
        assert {fingerprint(key) for key in view.leased.tolist()} == leased
        for number, name in zip(view.ids.tolist(), names, strict=True):
            assert self.ids.setdefault(number, name) == name

    def teardown(self) -> None:
        if not hasattr(self, "frontier"):
            return
        try:
            for host in HOSTS:
                self.gate.open(host, 100)
            self.lease(100)
            self.is_as_the_model_says()
            assert set(self.frontier.view.priorities.tolist()) <= {HELD}
        finally:
            self.frontier.close("finished")
            shutil.rmtree(self.folder)


def run(kind: str, parent: Path) -> None:
    machine = type("Machine", (FrontierMachine,), {"kind": kind, "parent": parent})
    bounded = settings(BOUNDED, max_examples=10) if kind == "redis" else BOUNDED
    run_state_machine_as_test(machine, settings=bounded)


def test_the_invariants_hold(kind: str, tmp_path: Path) -> None:
    run(kind, tmp_path)


@pytest.mark.usefixtures("small_fronts")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_the_invariants_hold_for_hosts_with_more_than_a_front(kind: str, tmp_path: Path) -> None:
    run(kind, tmp_path)
