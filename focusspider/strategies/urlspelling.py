"""What the spelling of a URL tells: which URLs are of one kind, and its words."""

from __future__ import annotations

import re
from math import log
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MAX_WORDS", "URL_GROUPS", "Spelling", "place_of", "url_spelling"]

#: Kinds of URLs: those in one directory; in one parent of it; on one host; alike but for
#: digits and the values of a query; with one file name, but for digits; in one first folder.
URL_GROUPS = ("directory", "parent", "host", "digits", "file", "section")
#: Words kept of a URL, or of another text: the first ones.
MAX_WORDS = 24

#: Slashes that are counted: those of a hostile URL are more than 16 bits hold.
_MOST_SLASHES = 100

_DIGITS = re.compile(r"\d+")
_VALUES = re.compile(r"=[^&]*")
_WORD = re.compile(r"[a-z]{2,}")


class Spelling(NamedTuple):
    """What :func:`url_spelling` returns; groups and words are 32-bit hashes."""

    groups: tuple[int, ...]
    numbers: tuple[float, float, float, float]
    words: list[int]


def url_spelling(url: str, keywords: Iterable[str]) -> Spelling:
    """Return the groups of a URL, in the order of :data:`URL_GROUPS`, numbers, and words.

    The numbers are those of its slashes, up to 100, the log of its length, how many of the
    keywords are in it, up to 3, and whether it has a query.
    """
    path, host, query = _parts(url)
    directory, _, name = path.rpartition("/")
    above = directory.rpartition("/")[0]
    section = path.split("/", 2)[1] if path.count("/") > 1 else ""
    shape = _DIGITS.sub("#", f"{path}?{_VALUES.sub('=', query)}")
    names = (
        f"d{host}{directory}",
        f"p{host}{above}",
        f"h{host}",
        f"n{host}{shape}",
        f"f{_DIGITS.sub('#', name)}",
        f"s{host}/{section}",
    )
    lower = url.lower()
    found = sum(1 for word in keywords if word in lower)
    words = list(dict.fromkeys(_WORD.findall(f"{path} {query}".lower())))
    return Spelling(
        tuple(crc32(name.encode("utf-8", "replace")) for name in names),
        (
            min(path.count("/"), _MOST_SLASHES),
            log(max(len(url), 1)),
            min(found, 3),
            float(bool(query)),
        ),
        [crc32(word.encode()) for word in words[:MAX_WORDS]],
    )


def place_of(url: str) -> tuple[bytes, bytes]:
    """Return the host of a URL, with its port, and its directory.

    >>> place_of("http://a.example/b/c?d=/e")
    (b'a.example', b'/b')
    """
    path, host, _ = _parts(url)
    return host.encode("utf-8", "replace"), path.rpartition("/")[0].encode("utf-8", "replace")


def _parts(url: str) -> tuple[str, str, str]:
    """Return path, host and query; a URL that is none at all has them empty."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", "", ""
    return parts.path, parts.netloc, parts.query
