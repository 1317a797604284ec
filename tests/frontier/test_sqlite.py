"""What the SQLite frontier promises beyond the contract: it survives, and it says why not."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from focusspider.errors import FrontierError
from focusspider.frontier import Counts, Entry, Outcome
from focusspider.frontier.sqlite import FILE_NAME, SqliteFrontier
from tests.frontier.model import always, entry, fingerprint

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / FILE_NAME


def crash(frontier: SqliteFrontier) -> None:
    """Let go of the file as a dying process does: what was not committed is gone."""
    frontier._database.close()


def drain(frontier: SqliteFrontier) -> list[Entry]:
    return frontier.lease(10_000, always())


def numbers(entries: list[Entry]) -> list[int]:
    return [int.from_bytes(given.fingerprint[:8], "big") for given in entries]


def rows(path: Path, statement: str = "SELECT age, state FROM request ORDER BY age") -> list:
    with sqlite3.connect(path) as connection:
        found = connection.execute(statement).fetchall()
    connection.close()
    return found


# -- resume ------------------------------------------------------------------------------


def test_a_resumed_crawl_has_everything_that_it_had(path: Path) -> None:
    frontier = SqliteFrontier(path, max_size=5)
    frontier.push([entry(n, f"host{n % 2}", 10 * n, b"payload %d" % n) for n in range(6)])
    leased = frontier.lease(3, always())
    assert numbers(leased) == [5, 4, 3]
    frontier.settle(fingerprint(5), Outcome.DONE)
    frontier.settle(fingerprint(4), Outcome.DROPPED)
    frontier.close("shutdown")

    frontier = SqliteFrontier(path, max_size=5)
    assert frontier.counts == Counts(waiting=3, leased=0, done=1, dropped=1, evicted=1)
    assert frontier.push([entry(5, priority=99), entry(4, priority=99)]) == 0
    frontier.push([entry(6, "host9", 20, b"younger")])
    assert drain(frontier) == [
        entry(3, "host1", 30, b"payload 3"),
        entry(2, "host0", 20, b"payload 2"),
        entry(6, "host9", 20, b"younger"),
        entry(1, "host1", 10, b"payload 1"),
    ]
    frontier.close("finished")


def test_what_was_not_committed_is_undone_as_a_whole(path: Path) -> None:
    frontier = SqliteFrontier(path)
    frontier.push([entry(1)])
    frontier.remember("journal", b"100")
    frontier.flush()
    frontier.lease(1, always())
    frontier.push([entry(2), entry(3)])
    frontier.remember("journal", b"200")
    frontier.settle(fingerprint(1), Outcome.DONE)
    crash(frontier)

    frontier = SqliteFrontier(path)
    assert frontier.counts == Counts(waiting=1, leased=0, done=0, dropped=0, evicted=0)
    assert frontier.recall("journal") == b"100"
    frontier.close("finished")


def test_nothing_is_committed_before_it_is_said(path: Path) -> None:
    """Not by many rows either, which the database has to write before the commit."""
    frontier = SqliteFrontier(path)
    frontier.push([entry(1)])
    frontier.flush()
    frontier.push([entry(n, payload=bytes(1_000)) for n in range(2, 30_000)])
    frontier.remember("strategy", bytes(20_000_000))
    for given in frontier.lease(10, always()):
        frontier.settle(given.fingerprint, Outcome.DONE)
    crash(frontier)
    frontier = SqliteFrontier(path)
    assert frontier.counts == Counts(waiting=1, leased=0, done=0, dropped=0, evicted=0)
    assert frontier.recall("strategy") is None
    frontier.close("finished")


@pytest.mark.parametrize("value", [b"", b"\0npz", bytes(3_000_000)])
def test_what_is_remembered_is_recalled(path: Path, value: bytes) -> None:
    frontier = SqliteFrontier(path)
    assert frontier.recall("strategy") is None
    frontier.remember("strategy", b"before")
    frontier.remember("strategy", value)
    assert frontier.recall("strategy") == value
    frontier.close("finished")
    frontier = SqliteFrontier(path)
    assert frontier.recall("strategy") == value
    frontier.close("finished")


def test_a_rerank_writes_no_rows_and_loses_no_url(path: Path) -> None:
    frontier = SqliteFrontier(path)
    frontier.push([entry(n, priority=n) for n in range(100)])
    frontier.flush()
    before = frontier._database.total_changes
    view = frontier.view
    frontier.reprioritise(view.ids, 1_000 - view.priorities)
    frontier.flush()
    assert frontier._database.total_changes == before
    crash(frontier)

    frontier = SqliteFrontier(path)
    assert numbers(drain(frontier)) == list(range(99, -1, -1)), "old priorities, every URL"
    frontier.close("finished")


def test_a_rerank_survives_a_clean_stop(path: Path) -> None:
    frontier = SqliteFrontier(path)
    frontier.push([entry(n, priority=n) for n in range(100)])
    view = frontier.view
    frontier.reprioritise(view.ids, 1_000 - view.priorities)
    frontier.close("shutdown")
    for _ in range(2):  # and the stop after it
        frontier = SqliteFrontier(path)
        frontier.close("shutdown")
    frontier = SqliteFrontier(path)
    frontier.push([entry(50, priority=2_000)])
    assert numbers(drain(frontier)) == [50, *range(50), *range(51, 100)]
    frontier.close("finished")


def test_a_raise_after_a_resume_is_newer_than_the_rerank_before_it(path: Path) -> None:
    frontier = SqliteFrontier(path)
    frontier.push([entry(1, priority=5), entry(2, priority=6)])
    frontier.reprioritise(frontier.view.ids, np.array([7, 8]))
    frontier.close("shutdown")
    frontier = SqliteFrontier(path)
    frontier.push([entry(1, priority=9)])
    frontier.flush()
    crash(frontier)
    frontier = SqliteFrontier(path)
    assert numbers(drain(frontier)) == [1, 2]
    frontier.close("finished")


def test_a_payload_that_is_not_bytes_stays_in_this_process(path: Path) -> None:
    frontier = SqliteFrontier(path)
    anything = object()
    frontier.push([entry(1, priority=3, payload=anything), entry(2, payload=b"bytes")])
    frontier.push([entry(3, priority=2, payload=anything)])
    first, third, _ = frontier.lease(3, always())
    assert first.payload is third.payload is anything
    frontier.settle(fingerprint(1), Outcome.DONE)
    frontier.settle(fingerprint(3), Outcome.AGAIN, entry(3, payload=b"bytes now"))
    frontier.close("shutdown")
    frontier = SqliteFrontier(path)
    assert frontier.counts == Counts(waiting=2, leased=0, done=1, dropped=0, evicted=0)
    assert [given.payload for given in drain(frontier)] == [b"bytes", b"bytes now"]
    assert frontier.push([entry(1)]) == 0, "done all the same"
    frontier.close("finished")


def test_the_file_has_a_row_for_each_request_that_is_not_evicted(path: Path) -> None:
    frontier = SqliteFrontier(path, max_size=2)
    for number in range(5):
        frontier.push([entry(number, priority=number)])
    frontier.lease(1, always())
    frontier.settle(fingerprint(4), Outcome.DONE)
    frontier.close("finished")
    assert rows(path) == [(3, "waiting"), (4, "done")]
    assert [file.name for file in path.parent.iterdir()] == [FILE_NAME]


def test_a_smaller_bound_evicts_on_resume(path: Path) -> None:
    frontier = SqliteFrontier(path, max_size=9)
    frontier.push([entry(n, "ab"[n % 2], n) for n in range(8)])
    frontier.close("shutdown")
    frontier = SqliteFrontier(path, max_size=4, host_share=0.5)
    assert frontier.counts == Counts(waiting=4, leased=0, done=0, dropped=0, evicted=4)
    assert numbers(drain(frontier)) == [7, 6, 5, 4]
    crash(frontier)
    assert [age for age, _ in rows(path)] == [4, 5, 6, 7]


# -- what cannot be opened ---------------------------------------------------------------

OPEN = (
    "import sys; from pathlib import Path; from focusspider.frontier.sqlite import *\n"
    "SqliteFrontier(Path(sys.argv[1]))"
)


def python(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, **options
    )


def test_only_one_process_has_it(path: Path) -> None:
    frontier = SqliteFrontier(path)
    frontier.push([entry(1)])
    with pytest.raises(FrontierError, match="is in use by another process"):
        SqliteFrontier(path)
    other = python("-c", OPEN, str(path))
    assert "FrontierError" in other.stderr
    assert "is in use by another process" in other.stderr
    frontier.push([entry(2)])
    frontier.close("finished")
    assert python("-c", OPEN, str(path)).returncode == 0


def other_program(path: Path) -> None:
    rows(path, "CREATE TABLE notes (text)")


def other_version(path: Path) -> None:
    SqliteFrontier(path).close("finished")
    rows(path, "PRAGMA user_version = 99")


def cut(share: float) -> object:
    def shorten(path: Path) -> None:
        frontier = SqliteFrontier(path)
        frontier.push([entry(n, payload=bytes(300)) for n in range(500)])
        frontier.close("shutdown")
        with path.open("r+b") as file:
            file.truncate(int(path.stat().st_size * share))

    return shorten


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_text("not a database " * 100), "is not an SQLite database"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(500)), "frontier.sqlite"),
        (other_program, "is a database of another program"),
        (other_version, "has format 99, and this focusspider reads format 1"),
        (cut(0.9), "is damaged or cut short"),
        (cut(0.5), "is damaged or cut short"),
        (cut(0.01), "frontier.sqlite"),
        (lambda path: path.mkdir(), "cannot be opened"),
    ],
    ids=["text", "header", "program", "version", "cut 0.9", "cut 0.5", "cut 0.01", "folder"],
)
def test_a_file_that_is_not_ours_is_left_as_it_is(path: Path, spoil, message: str) -> None:
    spoil(path)
    before = None if path.is_dir() else path.read_bytes()
    for _ in range(2):
        with pytest.raises(FrontierError, match=message) as caught:
            SqliteFrontier(path)
        assert str(path) in str(caught.value)
    assert (None if path.is_dir() else path.read_bytes()) == before


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FrontierError, match="check that its folder exists"):
        SqliteFrontier(tmp_path / "nowhere" / FILE_NAME)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(path: Path) -> None:
    path.parent.chmod(0o500)
    try:
        with pytest.raises(FrontierError, match="you may write there"):
            SqliteFrontier(path)
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize("begun", [b"", None], ids=["empty", "no tables yet"])
def test_a_file_that_was_only_begun_is_begun_again(path: Path, begun: bytes | None) -> None:
    if begun is None:
        rows(path, "PRAGMA journal_mode = WAL")
    else:
        path.write_bytes(begun)
    frontier = SqliteFrontier(path)
    frontier.push([entry(1)])
    frontier.close("finished")
    assert rows(path) == [(0, "waiting")]


# -- a full disk -------------------------------------------------------------------------


def test_a_full_disk_stops_it_and_loses_nothing_committed(path: Path) -> None:
    frontier = SqliteFrontier(path)
    frontier.push([entry(n, payload=bytes(100)) for n in range(100)])
    frontier.flush()
    (pages,) = frontier._database.execute("PRAGMA page_count").fetchone()
    frontier._database.execute(f"PRAGMA max_page_count = {pages + 1}")
    frontier.lease(1, always())
    with pytest.raises(FrontierError, match=r"the disk is full.*make room and resume"):
        frontier.push([entry(n, payload=bytes(1000)) for n in range(100, 200)])
    calls = [
        lambda: frontier.push([]),
        lambda: frontier.lease(1, always()),
        lambda: frontier.settle(fingerprint(0), Outcome.DONE),
        frontier.flush,
        lambda: frontier.remember("name", b""),
        lambda: frontier.recall("name"),
    ]
    for call in calls:  # memory is ahead of the file: nothing of it may be committed
        with pytest.raises(FrontierError, match="the disk is full"):
            call()
    frontier.close("finished")

    frontier = SqliteFrontier(path)
    assert frontier.counts == Counts(waiting=100, leased=0, done=0, dropped=0, evicted=0)
    frontier.close("finished")


FILL = """
import resource, signal, sys
from pathlib import Path
from focusspider.errors import FrontierError
from focusspider.frontier.sqlite import SqliteFrontier
from tests.frontier.model import entry

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
frontier = SqliteFrontier(Path(sys.argv[1]))
number = 0
try:
    while True:
        frontier.push([entry(number, payload=bytes(500))])
        frontier.flush()
        number += 1
except FrontierError as error:
    print(number, error)
frontier.close("finished")
"""


def test_a_file_that_may_not_grow(path: Path) -> None:
    """By a limit of the operating system, so that writing itself fails."""
    said = python("-c", FILL, str(path))
    assert said.returncode == 0, said.stderr
    number, _, message = said.stdout.partition(" ")
    assert message.startswith(f"frontier {path} ")
    assert "what was committed is safe" in message
    frontier = SqliteFrontier(path)
    assert int(number) > 100
    assert frontier.counts.waiting == int(number)
    frontier.close("finished")


def test_a_closed_frontier_says_so(path: Path) -> None:
    frontier = SqliteFrontier(path)
    frontier.close("finished")
    with pytest.raises(FrontierError, match=r"is closed \(finished\)"):
        frontier.push([entry(1)])
