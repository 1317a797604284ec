"""The file of a web graph: making it, opening it, and saying in one line what is wrong."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from focusspider import sqlitefile
from focusspider.errors import WebGraphError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = [
    "APPLICATION_ID",
    "FORMAT_VERSION",
    "create_database",
    "explained",
    "is_database",
    "is_graph",
    "open_database",
]

#: "FOCG", which ``file`` and SQLite's own tools show.
APPLICATION_ID = 0x464F4347
FORMAT_VERSION = 1

_MAGIC = b"SQLite format 3\0"
# of SQLite's header
_PAGE_SIZE, _PAGE_COUNT, _APPLICATION, _HEADER = slice(16, 18), slice(28, 32), slice(68, 72), 100

# Nodes are numbered from 0 in the order in which they were added: a page's id less 1.
# target: 0 none, 1 given by the user, 2 found to be like one. An alias is a URL that leads to
# pages without being one: a redirect to one, a frameset to its frames.
_SCHEMA = f"""
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    fingerprint BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 20),
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    status INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    content_language TEXT NOT NULL,
    target INTEGER NOT NULL CHECK (target IN (0, 1, 2)),
    layer INTEGER,
    body BLOB NOT NULL
);
CREATE TABLE edge (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES page (id),
    destination INTEGER NOT NULL REFERENCES page (id),
    anchor TEXT NOT NULL,
    UNIQUE (source, destination)
);
CREATE TABLE alias (
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 20),
    url TEXT NOT NULL,
    page INTEGER NOT NULL REFERENCES page (id),
    PRIMARY KEY (fingerprint, page)
);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
"""

_REASONS = {
    sqlite3.SQLITE_BUSY: "is in use by another process: wait until that one has ended",
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full: what was committed is safe; make room",
    sqlite3.SQLITE_NOTADB: "is no web graph; it was left as it is: name another file",
    sqlite3.SQLITE_CORRUPT: (
        "is damaged or cut short; it was left as it is: restore a copy, or collect it anew"
    ),
}


def explained(path: Path) -> AbstractContextManager[None]:
    """Turn an error of SQLite into one that says what to do."""
    return sqlitefile.explained(
        f"web graph {path}",
        WebGraphError,
        _REASONS,
        "failed: it is damaged, or was changed by another program",
    )


def is_database(path: Path) -> bool:
    """Return whether a file is one of SQLite's, of whatever program."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def is_graph(path: Path) -> bool:
    """Return whether a file is a web graph, be it damaged, cut short or of another version."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError:
        return False
    return header.startswith(_MAGIC) and header[_APPLICATION] == APPLICATION_ID.to_bytes(4, "big")


def create_database(path: Path) -> sqlite3.Connection:
    """Make the file of an empty graph, and its folder; a file that is there is an error."""
    if path.exists():
        raise WebGraphError(
            f"web graph {path} is there already; it was left as it is: open it, remove it, or "
            "name another file"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WebGraphError(
            f"web graph {path}: its folder cannot be made ({error.strerror}); name another file"
        ) from None
    with explained(path):
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def open_database(path: Path, *, writable: bool) -> sqlite3.Connection:
    """Open the file of a graph, which must be ours, of this version, and whole."""
    _check_header(path)
    mode = "rw" if writable else "ro"
    with explained(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None
        )
        try:
            _check(connection, path)
            if writable:
                connection.executescript("BEGIN IMMEDIATE; COMMIT;")  # may it be written?
                _prepare(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")


def _check_header(path: Path) -> None:
    """Refuse what SQLite would take for an empty database, or find damaged later on."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
        size = path.stat().st_size
    except FileNotFoundError:
        raise WebGraphError(
            f"web graph {path} is not there (relative to {Path.cwd()}): mend the path, or make "
            "it with scrapy focus-collect"
        ) from None
    except OSError as error:
        raise WebGraphError(
            f"web graph {path} cannot be read: {error.strerror}; name a file that can"
        ) from None
    if not header.startswith(_MAGIC):
        raise WebGraphError(f"web graph {path} is no web graph; name one that focus-collect made")
    page_size = int.from_bytes(header[_PAGE_SIZE], "big")
    whole = (65_536 if page_size == 1 else page_size) * int.from_bytes(header[_PAGE_COUNT], "big")
    if size < whole:
        raise WebGraphError(
            f"web graph {path} is cut short: {size:,} of {whole:,} bytes are there; copy it "
            "again, or collect it anew"
        )


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise WebGraphError(
            f"web graph {path} is a database of another program; it was left as it is: name "
            "another file"
        )
    if version != FORMAT_VERSION:
        raise WebGraphError(
            f"web graph {path} has format {version}, and this focusspider reads format "
            f"{FORMAT_VERSION}: collect it anew, or use the version that made it"
        )
