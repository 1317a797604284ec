"""Opening the file of a frontier, and saying in one line why it cannot be used."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from focusspider import sqlitefile
from focusspider.errors import FrontierError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

__all__ = ["APPLICATION_ID", "FORMAT_VERSION", "explained", "open_database"]

#: "FOCU", which ``file`` and SQLite's own tools show.
APPLICATION_ID = 0x464F4355
FORMAT_VERSION = 1

# A request's age is its row: what is read of a request, on a lease, is found by it.
# State is that of the request when the transaction ended: what is leased still waits here.
_SCHEMA = f"""
CREATE TABLE request (
    age INTEGER PRIMARY KEY,
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 20),
    host TEXT NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'dropped')),
    payload BLOB
);
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
"""

_REASONS = {
    sqlite3.SQLITE_BUSY: (
        "is in use by another process: wait until that crawl has ended, or take another JOBDIR"
    ),
    sqlite3.SQLITE_FULL: (
        "cannot grow, the disk is full: what was committed is safe; make room and resume"
    ),
    sqlite3.SQLITE_NOTADB: (
        "is not an SQLite database; it was left as it is: take another JOBDIR, or move it away"
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged or cut short; it was left as it is: restore a copy, or take another JOBDIR"
    ),
}


def explained(path: Path) -> AbstractContextManager[None]:
    """Turn an error of SQLite into one that says what to do."""
    return sqlitefile.explained(
        f"frontier {path}",
        FrontierError,
        _REASONS,
        "failed: what was committed is safe, and can be resumed",
    )


def open_database(path: Path) -> sqlite3.Connection:
    """Open or make the file of a frontier, and lock it until the process ends.

    The lock is SQLite's own on the file (``locking_mode = EXCLUSIVE``), so that it goes
    with the process however that ends. Nothing is written before the file is known to be
    ours, and of this version.
    """
    with explained(path):
        connection = sqlite3.connect(path, isolation_level=None, timeout=0.0)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    fresh = not tables and not application and not version
    if not fresh and application != APPLICATION_ID:
        raise FrontierError(
            f"frontier {path} is a database of another program; it was left as it is: take "
            "another JOBDIR, or move it away"
        )
    if not fresh and version != FORMAT_VERSION:
        raise FrontierError(
            f"frontier {path} has format {version}, and this focusspider reads format "
            f"{FORMAT_VERSION}; it was left as it is: finish that crawl with the version that "
            "began it, or take another JOBDIR"
        )
    # What a commit has written survives the death of the process. A power cut may undo
    # the last commits, and leaves the file whole.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -16000")  # KiB
    if fresh:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
    else:
        connection.executescript("BEGIN IMMEDIATE; COMMIT;")  # takes the lock
