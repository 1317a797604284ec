"""A search engine over a stored web: all that ``FOCUS_REPLAY`` names, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.errors import SettingError
from focusspider.replay.spec import archive_identity, open_archive
from focusspider.resources import is_packaged
from focusspider.search.base import Answer, Hit
from focusspider.search.index import build_index, explained, open_index

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["LocalEngine"]

_FOLDER = "search-index"  # of FOCUS_MODELS_DIR


class LocalEngine:
    """Finds the pages that hold all words of a query, the best by BM25 first.

    The words are looked up in an SQLite file (FTS5), made when the archive is first searched
    and kept for as long as the archive stays the same. Endings of English words do not count,
    nor do accents. Pages that are made on demand and not listed are not found.

    Parameters
    ----------
    replay
        What ``FOCUS_REPLAY`` says.
    models_dir
        Where the folder ``search-index`` with the file is.
    told
        Is given how many stored answers are read, and of how many, while the file is made.

    Raises
    ------
    ReplayError
        The archive can't be opened, or the file can't be written.
    """

    def __init__(
        self,
        *,
        replay: Sequence[str],
        models_dir: Path,
        told: Callable[[int, int], None] | None = None,
    ) -> None:
        if not replay:
            raise SettingError(
                "the search engine local searches a stored web: set FOCUS_REPLAY "
                "(-s FOCUS_REPLAY=sample), or FOCUS_SEARCH_ENGINE to another engine"
            )
        if is_packaged(models_dir):
            raise SettingError(
                f"FOCUS_MODELS_DIR = {str(models_dir)!r} is in a package, where no search index "
                "can be written: set it to a folder"
            )
        identity = archive_identity(replay)
        self.path = models_dir / _FOLDER / f"{identity[:32]}.sqlite"
        connection = open_index(self.path, identity)
        if connection is None:
            build_index(self.path, open_archive(replay), identity, told=told)
            connection = open_index(self.path, identity)
        if connection is None:
            raise SettingError(f"search index {self.path} cannot be read back: remove it")
        self._connection: sqlite3.Connection = connection

    def search(self, query: str, n: int) -> Answer:
        """Return up to n pages, and how many there are in all."""
        # a word in quotes is a word, whatever it means to FTS5
        words = " ".join('"' + word.replace('"', '""') + '"' for word in _plain(query).split())
        if not words:
            return Answer((), 0)
        with explained(self.path):
            (total,) = self._connection.execute(
                "SELECT count(*) FROM words WHERE words MATCH ?", (words,)
            ).fetchone()
            rows = self._connection.execute(
                "SELECT page.url, page.title FROM words JOIN page ON page.id = words.rowid "
                "WHERE words MATCH ? ORDER BY rank, words.rowid LIMIT ?",
                (words, n),
            ).fetchall()
        return Answer(tuple(Hit(url, title) for url, title in rows), total)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _plain(query: str) -> str:
    return query.replace("\0", " ").encode("utf-8", "replace").decode()
