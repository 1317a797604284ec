"""Reading a HAR file an entry at a time, however large it is.

A session of an hour is a file of hundreds of megabytes, most of it pictures. The file is
mapped into memory, not read; a scan over strings and brackets finds where each entry begins and
ends, and one entry at a time becomes objects.
"""

from __future__ import annotations

import json
import mmap
import re
from typing import TYPE_CHECKING, Any

from focusspider.errors import WebGraphError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["MAX_ENTRY", "har_entries"]

#: Bytes of an entry that is read; a larger one, such as a film, is passed over.
MAX_ENTRY = 100_000_000
_DEPTH = 3  # of the brackets around an entry: the file, its log, the list of entries
_LIST = ord("[")
_ANEW = 'save it anew, in the browser\'s network tools with "Save all as HAR"'

# A string as a whole, a bracket, or a quote whose string does not end.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]|"', re.DOTALL)
_COLON = re.compile(rb"\s*:")
_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")


def har_entries(
    path: Path, told: Callable[[int, int], object] | None = None
) -> Iterator[dict[str, Any] | None]:
    """Yield the entries of a HAR file; None for one above :data:`MAX_ENTRY`.

    ``told`` is called before each with the bytes read so far and in all. Raises WebGraphError
    where the file cannot be read, is no HAR, is damaged or cut short; the whole entries before
    that come first.
    """
    text = _mapped(path)
    for start, end, where in _places(text, path):
        if told is not None:
            told(end, len(text))
        yield _entry(text[start:end], where) if end - start <= MAX_ENTRY else None


def _places(text: mmap.mmap, path: Path) -> Iterator[tuple[int, int, str]]:
    """Yield where each entry begins and ends, and its name for messages."""
    if not _START.match(text):
        raise WebGraphError(f"{path} is no HAR, it begins with {text[:12]!r}: {_ANEW}")
    opened = bytearray()  # the brackets that are open
    in_log = in_entries = found = False
    start = count = 0
    for token in _TOKEN.finditer(text):
        mark = text[token.start()]
        if mark in b"{[":
            if in_entries and len(opened) == _DEPTH:
                start = token.start()
            opened.append(mark)
            if in_entries and len(opened) == _DEPTH:
                in_entries = mark == _LIST
                found = found or in_entries
        elif mark in b"}]":
            if not opened or mark - opened.pop() != 2:  # in ASCII, of { and }, of [ and ]
                raise WebGraphError(
                    f"{path} is damaged, {chr(mark)!r} at byte {token.start():,} closes "
                    f"nothing: {_ANEW}"
                )
            if in_entries and len(opened) == _DEPTH:
                count += 1
                yield start, token.end(), f"{path}: entry {count}"
        elif token.end() - token.start() == 1:
            break
        elif len(opened) < _DEPTH and _COLON.match(text, token.end()):
            in_log = token[0] == b'"log"' if len(opened) == 1 else in_log
            in_entries = in_log and token[0] == b'"entries"'
    if opened or not found:
        problem = f"cut short after {count:,} entries" if opened else "without entries in a log"
        raise WebGraphError(f"{path} is {problem}: {_ANEW}")


def _mapped(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            # Not closed by a ``with``: a scan that is not at its end still holds it.
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise WebGraphError(f"{path} cannot be read: {error.strerror}; mend the path") from None
    except ValueError as error:  # an empty file, or a path with a NUL
        raise WebGraphError(f"{path} cannot be read: {error}; {_ANEW}") from None


def _entry(text: bytes, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WebGraphError(f"{where} is no JSON: {error}; {_ANEW}") from None
    if not isinstance(entry, dict):
        raise WebGraphError(f"{where} is no object: {_ANEW}")
    return entry
