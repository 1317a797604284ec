"""The file in which the words of an archive's pages are looked up.

It is made of the archive alone, so that it may be removed at any time: one that is missing,
damaged, or of another version, is made anew.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from focusspider import sqlitefile
from focusspider.errors import ReplayError, SettingError
from focusspider.page import PageParser
from focusspider.replay.reading import PageReader
from focusspider.text import Analyzer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from focusspider.replay.archive import Archive

__all__ = ["build_index", "explained", "open_index"]

#: "FOCI", which ``file`` and SQLite's own tools show.
APPLICATION_ID = 0x464F4349
FORMAT_VERSION = 1

# The words are those of SQLite's own tokenizer: runs of letters and digits, folded and
# stemmed as English. The texts themselves are not kept.
_SCHEMA = f"""
CREATE TABLE meta (identity TEXT NOT NULL);
CREATE TABLE page (id INTEGER PRIMARY KEY, url TEXT NOT NULL, title TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(
    title, text, content='', tokenize='porter unicode61 remove_diacritics 2'
);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
"""

_REASONS = {
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full: make room",
    sqlite3.SQLITE_CORRUPT: "is damaged: remove it, and it is made anew",
    sqlite3.SQLITE_NOTADB: "is damaged: remove it, and it is made anew",
}


def explained(path: Path) -> AbstractContextManager[None]:
    """Turn an error of SQLite into one that says what to do."""
    return sqlitefile.explained(
        f"search index {path}",
        ReplayError,
        _REASONS,
        "failed: remove it, and it is made anew",
    )


def open_index(path: Path, identity: str) -> sqlite3.Connection | None:
    """Open the index of an archive; None where it is not there, or not sound."""
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
        )
    except sqlite3.Error:
        return None
    with contextlib.suppress(sqlite3.Error):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if (application, version) == (APPLICATION_ID, FORMAT_VERSION):
            row = connection.execute("SELECT identity FROM meta").fetchone()
            connection.execute("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").fetchone()
            if row == (identity,):
                return connection
    connection.close()
    return None


def build_index(
    path: Path,
    archive: Archive,
    identity: str,
    *,
    told: Callable[[int, int], None] | None = None,
) -> None:
    """Write the index of an archive's pages, in the place of another.

    ``told`` is given how many stored answers are read, and of how many. Raises SettingError
    where the file can't be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with explained(path):
            _write(part, archive, identity, told)
        part.replace(path)
    except OSError as error:
        raise SettingError(
            f"search index {path} cannot be written: {error.strerror}; set FOCUS_MODELS_DIR to a "
            "folder that can be written"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def _write(
    part: Path, archive: Archive, identity: str, told: Callable[[int, int], None] | None
) -> None:
    part.unlink(missing_ok=True)
    connection = sqlite3.connect(part, isolation_level=None)
    try:
        # it is nothing until it is whole
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        connection.executescript(_SCHEMA)
        connection.execute("BEGIN")
        connection.execute("INSERT INTO meta VALUES (?)", (identity,))
        for number, (url, title, text) in enumerate(_pages(archive, told), 1):
            connection.execute("INSERT INTO page VALUES (?, ?, ?)", (number, url, title))
            connection.execute(
                "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", (number, title, text)
            )
        connection.execute("COMMIT")
        connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    finally:
        connection.close()


def _pages(
    archive: Archive, told: Callable[[int, int], None] | None
) -> Iterator[tuple[str, str, str]]:
    """Yield URL, title and text of each page that is stored, in the order of the URLs."""
    reader = PageReader(PageParser(analyzer=Analyzer(None)))
    for done, url in enumerate(sorted(archive.urls()), 1):
        stored = archive.get(url)
        if stored is not None and 200 <= stored.status < 300:
            page = reader.read(stored)
            if page is not None:
                yield url, _text(page.title), _text(page.text)
        if told is not None:
            told(done, len(archive))


def _text(text: str) -> str:
    """Return a text as SQLite can hold it: a NUL would end it."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
