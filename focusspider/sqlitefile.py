"""What SQLite says is wrong with a file, in one line that says what to do."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from focusspider.errors import FocusError

__all__ = ["explained"]

_REASONS = {
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened: check that its folder exists and that you may write there"
    ),
    sqlite3.SQLITE_READONLY: (
        "cannot be written: check the permissions of the file and of its folder"
    ),
}


@contextlib.contextmanager
def explained(
    file: str, kind: type[FocusError], reasons: Mapping[int, str], otherwise: str
) -> Iterator[None]:
    """Turn an error of SQLite into one of ours.

    Parameters
    ----------
    file
        What the file is, and its path.
    reasons
        What is wrong and what to do, by SQLite's primary result code; the rest are the same
        for every file.
    otherwise
        The same, for a code that is not known.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the extended part
        reason = reasons.get(code) or _REASONS.get(code, otherwise)
        raise kind(f"{file} {reason} (SQLite: {error})") from error
