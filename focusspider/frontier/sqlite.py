"""The frontier of a crawl that can be killed and resumed.

The index (priorities, hosts, states) is in memory, as in
:class:`~focusspider.frontier.memory.MemoryFrontier`; SQLite is the log and holds the
payloads, which are read back when a request is leased.

Job directory contents
----------------------
``frontier.sqlite``
    An SQLite database (with ``frontier.sqlite-wal`` beside it while a crawl runs, or after
    one was killed: keep them together). ``PRAGMA user_version`` is the version of its
    format. Only one process can have it open.

    Table ``request`` has a row for each request that is not evicted: its age (order of
    discovery), fingerprint, host, priority when it was last pushed, state (``waiting``,
    ``done`` or ``dropped``) and, while it waits, payload. A leased request is a waiting
    one here, so that it comes back when its process dies. Requests whose payload is not
    bytes have a row only when they are done or dropped.

    Table ``meta`` has what :meth:`SqliteFrontier.remember` was given, by name. Names that
    begin with ``frontier.`` are the frontier's own.

Commits
-------
Everything since the last commit is one transaction, and a commit happens only in
:meth:`~SqliteFrontier.flush` and :meth:`~SqliteFrontier.close`: never in the middle of a
page, and never without what is to be remembered with it. So whoever calls ``flush``
decides what belongs together, and how much a crash can undo.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.errors import FrontierError
from focusspider.frontier import Glance, Outcome
from focusspider.frontier.database import explained, open_database
from focusspider.frontier.index import Index
from focusspider.frontier.slots import SLOT_BITS, slot_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from focusspider.frontier import Counts, Entry, HostFilter
    from focusspider.frontier.index import View

__all__ = ["FILE_NAME", "SqliteFrontier"]

FILE_NAME = "frontier.sqlite"
_ROWS_A_READ = 50_000
#: Stands in the index for a payload that is in the database.
_ON_DISK = object()
_PUT = "INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?, ?)"
_DELETE = "DELETE FROM request WHERE age = ?"
_EVICTED = "frontier.evicted"
_PRIORITIES = "frontier.priorities"


class SqliteFrontier:
    """A frontier in a file; see :class:`focusspider.frontier.Frontier`.

    Opening the file of an earlier crawl goes on with it: what was leased waits again, and
    counts and ages are kept. After a clean :meth:`close` priorities are as they were;
    after a crash those that a rerank had changed may be old.

    Parameters
    ----------
    path
        The file, :data:`FILE_NAME` in the job directory. Its folder must exist.
    max_size, host_share
        The bounds, as for :class:`~focusspider.frontier.memory.MemoryFrontier`.

    Raises
    ------
    FrontierError
        The file is in use, damaged, of another version or of another program, or it
        cannot be written. After an error while it is in use (a full disk) the frontier is
        closed to every further call, since its memory is ahead of its file.
    """

    def __init__(self, path: Path, *, max_size: int = 1_000_000, host_share: float = 1.0) -> None:
        self._path = path
        self._index = Index(max_size=max_size, host_share=host_share)
        self._unusable = ""  # or why
        self._evicted_written = 0
        self._reranked = False
        self._database = open_database(path)
        try:
            with self._explained():
                self._load()
        except BaseException:
            self._database.close()
            raise

    @property
    def counts(self) -> Counts:
        """How many requests are in each state."""
        return self._index.counts

    @property
    def view(self) -> View:
        """The waiting requests as they are now."""
        return self._index.view

    def glance(self, n: int) -> Glance:
        """Return what waits at a glance."""
        self._check_usable()
        hosts, best = self._index.glance(n)
        return Glance(hosts, [self._entry(slot) for slot in best])

    def push(self, entries: Sequence[Entry]) -> int:
        """Add requests, and return how many are new."""
        self._check_usable()
        changes = self._index.push(entries)
        self._put(dict.fromkeys((*changes.new, *changes.raised)))
        self._delete(changes.evicted)
        return len(changes.new)

    def lease(self, n: int, ready: HostFilter) -> list[Entry]:
        """Take up to n requests, the best first, of hosts that may be asked now."""
        self._check_usable()
        return [self._entry(slot) for slot in self._index.lease(n, ready)]

    def settle(
        self, fingerprint: bytes, outcome: Outcome, replacement: Entry | None = None
    ) -> None:
        """Say what became of a leased request."""
        self._check_usable()
        request = self._index.slots.ids[self._index.leased_slot(fingerprint)]
        evicted = self._index.settle(fingerprint, outcome, replacement)
        if outcome is not Outcome.AGAIN:
            row = (request >> SLOT_BITS, fingerprint, "", 0, outcome.value, None)
            self._write(_PUT, [row])
        elif replacement is not None and request not in evicted:
            self._put([request])
        self._delete(evicted)

    def reprioritise(self, ids: NDArray[np.int64], priorities: NDArray[np.int64]) -> None:
        """Give waiting requests new priorities, in memory only."""
        self._check_usable()
        self._index.reprioritise(ids, priorities)
        self._reranked = True

    def remember(self, name: str, value: bytes) -> None:
        """Keep a value under a name, in the transaction of what happens around it."""
        self._check_usable()
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", [(name, value)])

    def recall(self, name: str) -> bytes | None:
        """Return what was last remembered under a name, or None."""
        self._check_usable()
        row = self._execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def flush(self) -> None:
        """Commit what happened so far; the scheduler does it at least once a second."""
        self._check_usable()
        evicted = self.counts.evicted
        if evicted != self._evicted_written:
            self.remember(_EVICTED, b"%d" % evicted)
            self._evicted_written = evicted
        if self._database.in_transaction:
            self._execute("COMMIT")

    def close(self, reason: str) -> None:
        """Commit, and release the file. Counts and view can still be read."""
        if self._unusable:
            self._database.close()
            return
        try:
            if self._reranked:
                self._remember_priorities()
            self.flush()
        finally:
            self._unusable = f"frontier {self._path} is closed ({reason})"
            with explained(self._path):
                self._database.close()

    def abandon(self) -> None:
        """Release the file, and drop what was not committed."""
        self._unusable = self._unusable or f"frontier {self._path} is abandoned"
        with explained(self._path):
            if self._database.in_transaction:
                self._database.rollback()
            self._database.close()

    def _entry(self, slot: int) -> Entry:
        entry = self._index.entry(slot)
        if entry.payload is not _ON_DISK:
            return entry
        age = self._index.slots.ids[slot] >> SLOT_BITS
        row = self._execute("SELECT payload FROM request WHERE age = ?", (age,)).fetchone()
        if row is None:
            raise FrontierError(
                f"frontier {self._path} has lost the row of request "
                f"{entry.fingerprint.hex()}: was it changed by another program?"
            )
        return entry._replace(payload=row[0])

    def _put(self, requests: Iterable[int]) -> None:
        """Write the rows of waiting requests, and let go of their payloads."""
        slots = self._index.slots
        rows = []
        for request in requests:
            slot = slot_of(request)
            payload = slots.payloads[slot]
            if isinstance(payload, bytes):
                fingerprint, host, priority, _ = self._index.entry(slot)
                age = request >> SLOT_BITS
                rows.append((age, fingerprint, host, priority, "waiting", payload))
                slots.payloads[slot] = _ON_DISK
        self._write(_PUT, rows)

    def _delete(self, requests: list[int]) -> None:
        self._write(_DELETE, [(request >> SLOT_BITS,) for request in requests])

    def _write(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        if not self._database.in_transaction:
            self._execute("BEGIN IMMEDIATE")
        with self._explained():
            self._database.executemany(statement, rows)

    def _execute(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        with self._explained():
            return self._database.execute(statement, values)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Refuse every later call after an error: what memory holds is ahead of the file."""
        try:
            with explained(self._path):
                yield
        except FrontierError as error:
            self._unusable = str(error)
            raise

    def _check_usable(self) -> None:
        if self._unusable:
            raise FrontierError(self._unusable)

    def _load(self) -> None:
        """Fill the index from the file."""
        index, next_age = self._index, 0
        cursor = self._execute(
            "SELECT age, fingerprint, host, priority, state FROM request ORDER BY age"
        )
        while rows := cursor.fetchmany(_ROWS_A_READ):
            index.restore([row[:4] for row in rows if row[4] == "waiting"], _ON_DISK)
            for outcome in (Outcome.DONE, Outcome.DROPPED):
                finished = [row[1] for row in rows if row[4] == outcome.value]
                index.restore_finished(finished, outcome)
            next_age = rows[-1][0] + 1
        evicted = self._evicted_written = int(self.recall(_EVICTED) or 0)
        self._recall_priorities()
        self._delete(index.restored(next_age, evicted))
        self.flush()

    def _remember_priorities(self) -> None:
        """Keep the ages and priorities of all that is not finished, 16 bytes each."""
        table = self._index.slots.ages_and_priorities().astype("<i8")  # (2, n)
        self.remember(_PRIORITIES, table.tobytes())

    def _recall_priorities(self) -> None:
        """Take them up again, once: rows that are raised later are newer."""
        kept = self.recall(_PRIORITIES)
        if kept is None:
            return
        table = np.frombuffer(kept, dtype="<i8").astype(np.int64).reshape(2, -1)
        self._index.slots.set_priorities(*table)
        self._write("DELETE FROM meta WHERE name = ?", [(_PRIORITIES,)])
        self._reranked = True
