"""The contract of an archive, and how a request finds its page in one.

A request is answered as the server of the stored site would have answered it:

1. the page that is stored under the URL;
2. else, where the archive knows the page under another spelling, a redirect (301) to it:
   ``/dir``, ``/dir/``, ``/dir//`` and ``/dir/index.html`` are one page, and so are its ``http`` and
   ``https`` URLs. The request's own scheme comes first;
3. else, for ``/robots.txt``, an empty 404: what nobody stored forbids nothing;
4. else nothing: the caller decides how a missing page fails.

Spellings that RFC 3986 (6.2.2, 6.2.3) makes equivalent are the same URL, and are not
redirected: case of scheme and host, default port, ``%7E`` for ``~``. A fragment is never
sent to a server, so it does not count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import urlsplit, urlunsplit

from w3lib.url import safe_url_string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["INDEX_NAMES", "Archive", "Archives", "Stored", "answer", "page_key", "spellings"]

#: What a server looks for when a folder is asked for, best first.
INDEX_NAMES = ("index.html", "index.htm", "default.html", "default.htm")

_PORTS = {"http": "80", "https": "443"}
_OTHER_SCHEME = {"http": "https", "https": "http"}
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Stored(NamedTuple):
    """A response as it was stored.

    ``url`` is spelt as :func:`page_key` does. ``headers`` are those that describe the page:
    what described only the connection (``Transfer-Encoding``, ``Content-Length``) is left
    out. ``body`` is still compressed where a ``Content-Encoding`` is among the headers.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """Return the value of a header, or ``""``; the name's case does not matter."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")

    @property
    def is_redirect(self) -> bool:
        """Whether the server sent the crawler elsewhere."""
        return self.status in {301, 302, 303, 307, 308} and bool(self.header("Location"))


class Archive(Protocol):
    """Stored responses by URL; reading one may read a file, so that few are in memory."""

    def get(self, url: str) -> Stored | None:
        """Return what is stored under a URL, in any of its equivalent spellings."""
        ...

    def urls(self) -> Iterator[str]:
        """Yield every URL that is stored, as :func:`page_key` spells it."""
        ...

    def __len__(self) -> int:
        """Return how many URLs are stored."""
        ...


class Archives:
    """Several archives as one; where a URL is stored twice, the later archive counts."""

    def __init__(self, archives: Sequence[Archive]) -> None:
        self._archives = tuple(archives)
        self._urls = dict.fromkeys(url for archive in self._archives for url in archive.urls())

    def get(self, url: str) -> Stored | None:
        """Return what the last archive that knows the URL holds."""
        for archive in reversed(self._archives):
            stored = archive.get(url)
            if stored is not None:
                return stored
        return None

    def urls(self) -> Iterator[str]:
        """Yield every URL once."""
        return iter(self._urls)

    def __len__(self) -> int:
        """Return how many URLs are stored."""
        return len(self._urls)


def page_key(url: str) -> str:
    """Return the one spelling of a URL under which an archive knows it.

    Raises ValueError where the text is no ``http`` or ``https`` URL.

    >>> page_key("HTTP://WWW.Thornby.Example:80/%7eoak?q=a%2fb#top")
    'http://www.thornby.example/~oak?q=a%2Fb'
    """
    scheme, netloc, path, query, _ = urlsplit(safe_url_string(url))
    host = netloc.rpartition("@")[2].lower()
    if scheme not in _PORTS or not host:
        raise ValueError(f"{url!r} is not an http or https URL with a host")
    host = host.removesuffix(":").removesuffix(f":{_PORTS[scheme]}")
    return _ESCAPE.sub(_normal_escape, urlunsplit((scheme, host, path or "/", query, "")))


def spellings(key: str) -> Iterator[str]:
    """Yield the other URLs under which the same page may be stored, likeliest first.

    >>> list(spellings("http://a.example/b"))[:3]
    ['http://a.example/b/', 'http://a.example/b/index.html', 'http://a.example/b/index.htm']
    """
    scheme, netloc, path, query, _ = urlsplit(key)
    paths = list(_paths(path))
    schemes = [scheme]
    if ":" not in netloc:  # a port belongs to one scheme
        other = _OTHER_SCHEME[scheme]
        schemes.append(other)
    for name in schemes:
        if name != scheme:
            yield urlunsplit((name, netloc, path, query, ""))
        for spelling in paths:
            yield urlunsplit((name, netloc, spelling, query, ""))


def answer(archive: Archive, url: str) -> Stored | None:
    """Return the response to a request for a URL, or None where the archive has none."""
    try:
        key = page_key(url)
    except ValueError:
        return None
    stored = archive.get(key)
    if stored is not None:
        return stored
    for spelling in spellings(key):
        found = archive.get(spelling)
        # A stored redirect may lead back to the URL that was asked for: never an alias.
        if found is not None and not found.is_redirect:
            return Stored(key, 301, (("Location", found.url),), b"")
    if urlsplit(key).path == "/robots.txt":
        return Stored(key, 404, (("Content-Type", "text/plain"),), b"")
    return None


def _paths(path: str) -> Iterator[str]:
    folder, _, name = path.rpartition("/")
    if name in INDEX_NAMES or not name:
        if name:
            yield f"{folder}/"
        if folder:
            yield folder
        base = f"{folder}/"
    else:
        base = f"{path}/"
        yield base
    for index in INDEX_NAMES:
        if index != name:
            yield base + index
    yield f"{base}/"  # servers of the nineties answered to it, and crawlers kept it


def _normal_escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()
