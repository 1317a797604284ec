"""Files of lines that a crash can neither lose from nor add to.

A page's lines are written when the page is judged, long before it is settled. If the process
dies in between, the page is fetched again, and its lines would be there twice. So a journal
knows which lines belong to pages that are not yet settled: its :class:`Mark`, which is
committed together with the frontier, says how long the file was and which lines to cut.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["Journal", "Mark", "recover"]

_BLOCK = 1 << 20


class Mark(NamedTuple):
    """The file as a commit found it: its length, and the lines of unsettled pages in it.

    ``cuts`` are (start, end) in bytes, in order, and do not overlap.
    """

    length: int
    cuts: tuple[tuple[int, int], ...] = ()


class Journal:
    """Appends lines to a file, each for an owner that is settled later.

    Parameters
    ----------
    path
        the file; it is made, or appended to
    mark
        what the last commit of an interrupted crawl knew of the file: whatever is not in
        it is cut before the first line is written
    """

    def __init__(self, path: Path, mark: Mark | None = None) -> None:
        self.path = path
        if mark is not None:
            recover(path, mark)
        self._file = path.open("ab")
        self._length = self._file.seek(0, os.SEEK_END)
        self._open: dict[Hashable, list[tuple[int, int]]] = {}

    def append(self, line: str, owner: Hashable | None = None) -> None:
        """Write a line (without its end); one without an owner is settled at once."""
        data = line.encode() + b"\n"
        self._file.write(data)
        start, self._length = self._length, self._length + len(data)
        if owner is not None:
            self._open.setdefault(owner, []).append((start, self._length))

    def settled(self, owner: Hashable) -> None:
        """Keep an owner's lines: its page is settled."""
        self._open.pop(owner, None)

    def mark(self) -> Mark:
        """Hand every line to the operating system, and say what a commit may rely on."""
        self._file.flush()
        cuts = sorted(cut for cuts in self._open.values() for cut in cuts)
        return Mark(self._length, tuple(cuts))

    def flush(self) -> None:
        """Hand every line to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()


def recover(path: Path, mark: Mark) -> None:
    """Cut what came after the mark, and the lines that the mark does not vouch for.

    The process may die in here too, and the same mark be applied once more. So the file is
    replaced whole, and one that is as long as the result is the result: before it was
    recovered it was at least as long as the mark.
    """
    if not path.exists():
        return
    cut = sum(stop - start for start, stop in mark.cuts)
    size = path.stat().st_size
    if not mark.cuts:
        if size > mark.length:
            os.truncate(path, mark.length)
        return
    if size <= mark.length - cut:
        return
    draft = path.with_name(f"{path.name}.part")
    with path.open("rb") as old, draft.open("wb") as new:
        for start, stop in _kept(mark):
            old.seek(start)
            _copy(old, new, stop - start)
        new.flush()
        os.fsync(new.fileno())
    draft.replace(path)


def _kept(mark: Mark) -> Iterator[tuple[int, int]]:
    """Return what lies between the cuts, as (start, end) in bytes."""
    at = 0
    for start, stop in mark.cuts:
        yield at, start
        at = stop
    yield at, mark.length


def _copy(old: BinaryIO, new: BinaryIO, count: int) -> None:
    while count > 0 and (block := old.read(min(count, _BLOCK))):
        new.write(block)
        count -= len(block)
