"""The SQLite frontier, killed in the middle of its work."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from focusspider.frontier.sqlite import FILE_NAME, SqliteFrontier
from tests.frontier.model import ModelFrontier, always
from tests.frontier.workload import BOUNDS, rounds

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("seed", range(4))
def test_it_survives_being_killed(tmp_path: Path, seed: int) -> None:
    """What is there afterwards is what a model of the crawl has at the last commit."""
    path = tmp_path / FILE_NAME
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.frontier.workload", str(path), str(seed)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()
        time.sleep(random.Random(seed).uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        printed = process.stdout.read().split()
    assert process.wait() == -signal.SIGKILL

    frontier = SqliteFrontier(path, **BOUNDS)
    last = int(frontier.recall("round") or b"-1")
    assert last - int(printed[-1] if printed else 0) in (0, 1)
    model = ModelFrontier(**BOUNDS)
    for _ in islice(rounds(model, seed), last + 1):
        pass
    model.crash()
    assert frontier.counts == model.counts
    assert frontier.lease(10_000, always()) == model.lease(10_000, always())
    for record in model.of("done") + model.of("dropped"):
        assert frontier.push([record.entry._replace(priority=10**6)]) == 0
    frontier.close("finished")
