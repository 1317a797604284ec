from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from focusspider.errors import FrontierError, WebGraphError
from focusspider.sqlitefile import explained

if TYPE_CHECKING:
    from pathlib import Path


def failure(folder: Path, code: int) -> None:
    """Let SQLite fail with a result code."""
    path = folder / "file"
    if code == sqlite3.SQLITE_CANTOPEN:
        sqlite3.connect(folder / "none" / "file")
    path.write_bytes(b"no database at all, of which SQLite would read a header" * 9)
    if code == sqlite3.SQLITE_READONLY:
        path.unlink()
        sqlite3.connect(path).close()
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    else:
        connection = sqlite3.connect(path if code == sqlite3.SQLITE_NOTADB else ":memory:")
    try:
        connection.execute("nonsense" if code == sqlite3.SQLITE_ERROR else "CREATE TABLE t (c)")
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened: check that its folder exists and"),
        (sqlite3.SQLITE_READONLY, "cannot be written: check the permissions of"),
        (sqlite3.SQLITE_NOTADB, "is no mill: build one (SQLite: "),
        (sqlite3.SQLITE_ERROR, "failed: mend the wheel (SQLite: near "),
    ],
)
@pytest.mark.parametrize("kind", [FrontierError, WebGraphError])
def test_what_is_wrong_and_what_to_do(
    tmp_path: Path, kind: type[Exception], code: int, reason: str
) -> None:
    reasons = {sqlite3.SQLITE_NOTADB: "is no mill: build one"}
    with (
        pytest.raises(kind) as caught,
        explained("mill m", kind, reasons, "failed: mend the wheel"),
    ):
        failure(tmp_path, code)
    assert str(caught.value).startswith(f"mill m {reason}")


def test_other_errors_are_let_through() -> None:
    with pytest.raises(OSError, match="dry"), explained("mill m", FrontierError, {}, "failed"):
        raise OSError("dry")
