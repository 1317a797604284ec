"""What a link points to, and what makes two URLs, or two requests, one and the same.

A link is resolved as a browser does it: whitespace and control characters go, a backslash
is a slash, dot segments are resolved, hosts are in ASCII and lower case, and the fragment
is cut off. It is not made canonical: the order of a query's parameters is the page's.
That two orders are one page is the fingerprint's business.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from hashlib import sha1
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit, urlunsplit

from scrapy import Request
from scrapy.utils.request import RequestFingerprinter
from w3lib.url import safe_url_string

from focusspider.errors import FocusError
from focusspider.keytable import fingerprint_key

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "MAX_URL_LENGTH",
    "BaseURL",
    "Fingerprinter",
    "RefusedURLError",
    "host_of",
    "is_loopback",
    "resolve",
]

#: Scrapy's default for ``URLLENGTH_LIMIT``.
MAX_URL_LENGTH = 2083

#: URLs whose fingerprint is remembered.
FINGERPRINTS = 50_000

# An authority that needs no work: in lower case, without credentials, a default port, or
# what IDNA and the many spellings of an IPv4 address would change.
_HOST = (
    r"(?:(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}"
    r"|(?:(?:[1-9]?\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!\Z|[:/])|(?=[:/]))){4}|localhost)"
    r"(?::(?!80/|443/)(?:[1-9]\d{1,3}|[1-5]\d{4}))?"
)
# A path, without dot segments, of characters that no step changes, and a query of such.
_PATH = r"(?:/(?!(?:\.|%2[eE]){1,2}(?:[/?]|\Z))[A-Za-z0-9._~!$&()*+,;=:@%-]*)+"
_QUERY = r"(?:\?[A-Za-z0-9._~!$&()*+,;=:@%/-]+)?"
_PLAIN = re.compile(rf"https?://{_HOST}{_PATH}{_QUERY}", re.ASCII)
_PLAIN_PATH = re.compile(rf"{_PATH}{_QUERY}", re.ASCII)
# What canonicalisation leaves as it is: no query, or one parameter of unreserved characters.
_CANONICAL = re.compile(
    rf"https?://{_HOST}(?:/(?!\.{{1,2}}(?:/|\Z))[A-Za-z0-9._~-]*)+"
    r"(?:\?[A-Za-z0-9._-]+=[A-Za-z0-9._-]*)?",
    re.ASCII,
)
_PLAIN_HOST = re.compile(r"https?://([a-z0-9.-]+)(?::\d*)?(?=[/?#]|\Z)", re.ASCII)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_EDGES = "".join(map(chr, range(0x21)))
_REMOVED = re.compile(r"[\t\n\r]")
_CONTROL = re.compile(r"[\x00-\x20]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FORBIDDEN_HOST = re.compile(r"[\x00-\x20\"#%/<>?@\[\\\]^`{|}\x7f]|[^\x00-\x7f]")
_ASCII = r"a+~&=\.."  # what UTF-7, HZ, Punycode or IDNA would not leave alone
_DEFAULT_PORTS = {"http": 80, "https": 443}


class RefusedURLError(FocusError, ValueError):
    """A link leads nowhere that can be requested; ``reason`` is a short word for the stats.

    ``empty``, ``scheme`` (neither http nor https), ``credentials``, ``too_long``,
    ``invalid`` (host, port or base).
    """

    def __init__(self, reason: str, href: str) -> None:
        self.reason = reason
        self.href = href
        super().__init__(reason, href)

    def __str__(self) -> str:
        return f"link {self.href[:200]!r} is refused: {self.reason}"


class BaseURL:
    """The URL that the links of a page are relative to.

    Parameters
    ----------
    url : str
        Absolute URL of the page, or of its ``<base>``.
    max_length : int
        Longest URL, in characters, that is returned.
    encoding : str
        Of the page: browsers write what is not ASCII in a query in it, and in a path
        always in UTF-8. For one that does not leave ASCII alone, such as UTF-16, they take
        UTF-8 too.

    Attributes
    ----------
    url : str
        The URL as it would be requested; as it was given, where it cannot be.
    """

    __slots__ = ("_directory", "_origin", "_path", "encoding", "max_length", "url")

    def __init__(self, url: str, max_length: int = MAX_URL_LENGTH, encoding: str = "utf-8") -> None:
        self.url = url.partition("#")[0]
        self.max_length = max_length
        self.encoding = _query_encoding(encoding)
        self._origin = self._path = self._directory = ""
        if not _PLAIN.fullmatch(self.url):
            try:
                self.url = _resolve("", url, max_length, encoding)
            except RefusedURLError:
                return
        start = self.url.index("/", 8)
        self._origin, self._path = self.url[:start], self.url[start:]
        self._directory = self._path[: self._path.partition("?")[0].rindex("/")]

    def resolve(self, href: str) -> str:
        """Return the absolute URL that a browser would request for ``href``.

        Raises
        ------
        RefusedURLError
            Where there is none, or none that a crawler should ask for.
        """
        target = href.partition("#")[0]
        if target.startswith(("http://", "https://")):
            if len(target) <= self.max_length and _PLAIN.fullmatch(target):
                return target
            return _resolve_absolute(href, self.max_length, self.encoding)
        if self._origin and href:
            path = self._joined(target)
            if (
                path
                and len(self._origin) + len(path) <= self.max_length
                and _PLAIN_PATH.fullmatch(path)
            ):
                return self._origin + path
        return _resolve(self.url, href, self.max_length, self.encoding)

    def _joined(self, target: str) -> str:
        """Join a relative reference to the path; nothing where that takes more than this."""
        if not target:
            return self._path
        if target[0] == "/":
            return "" if target.startswith("//") else target
        if target[0] == "?":
            return self._path.partition("?")[0] + target
        if ":" in target:
            return ""
        directory = self._directory
        while True:
            if target.startswith("../"):
                target = target[3:]
                directory = directory[: directory.rfind("/") if directory else 0]
            elif target.startswith("./"):
                target = target[2:]
            else:
                return f"{directory}/{target}"


def resolve(base: str, href: str, max_length: int = MAX_URL_LENGTH) -> str:
    """Return the absolute URL that a link of the page ``base`` leads to.

    >>> resolve("http://a.example/b/c.html", " ../D.html#top ")
    'http://a.example/D.html'
    >>> resolve("http://a.example/b/", "mailto:x@a.example")
    Traceback (most recent call last):
    focusspider.urls.RefusedURLError: link 'mailto:x@a.example' is refused: scheme
    """
    return _base(base, max_length).resolve(href)


@lru_cache(maxsize=256)
def _base(url: str, max_length: int) -> BaseURL:
    return BaseURL(url, max_length)


@lru_cache(maxsize=64)
def _query_encoding(encoding: str) -> str:
    try:
        return encoding if _ASCII.encode(encoding) == _ASCII.encode() else "utf-8"
    except (LookupError, ValueError):
        return "utf-8"


@lru_cache(maxsize=10_000)
def _resolve_absolute(href: str, max_length: int, encoding: str) -> str:
    return _resolve("", href, max_length, encoding)


def _resolve(base: str, href: str, max_length: int, encoding: str) -> str:
    """Resolve any link, however odd; the steps are those of the URL standard."""
    stripped = href.strip(_EDGES)
    if not stripped:
        raise RefusedURLError("empty", href)
    target = _SURROGATE.sub("\ufffd", _REMOVED.sub("", stripped)).partition("#")[0]
    target = _CONTROL.sub(_escaped, target)
    scheme = _SCHEME.match(target)
    if scheme and scheme[1].lower() not in _DEFAULT_PORTS:
        raise RefusedURLError("scheme", href)
    if len(target) > max_length:
        raise RefusedURLError("too_long", href)
    try:
        parts = urlsplit(_join(base, target))
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:
        raise RefusedURLError("invalid", href) from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise RefusedURLError("scheme" if parts.scheme else "invalid", href)
    if "@" in parts.netloc:
        raise RefusedURLError("credentials", href)
    if not host:
        raise RefusedURLError("invalid", href)
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        host = f"{host}:{port}"
    url = urlunsplit((parts.scheme, host, _without_dots(parts.path) or "/", parts.query, ""))
    try:
        url = safe_url_string(url, encoding)
    except UnicodeError:  # the page's charset lacks a character
        url = safe_url_string(url)
    if len(url) > max_length:
        raise RefusedURLError("too_long", href)
    return url


def _escaped(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def _join(base: str, target: str) -> str:
    """Join as browsers do: unlike ``urljoin`` it keeps empty segments, as in ``a//b``."""
    path, mark, query = target.partition("?")
    path = path.replace("\\", "/")
    parts = urlsplit(base)
    scheme = _SCHEME.match(path)
    if scheme:
        path = path[scheme.end() :]
        if path.startswith("//") or scheme[1].lower() != parts.scheme:
            return f"{scheme[0]}//{path.lstrip('/')}{mark}{query}"
    if path.startswith("//"):
        return f"{parts.scheme}://{path.lstrip('/')}{mark}{query}"
    if not path:
        path = parts.path
        if not mark:
            query = parts.query
    elif not path.startswith("/"):
        path = f"{parts.path[: parts.path.rfind('/') + 1] or '/'}{path}"
    return urlunsplit((parts.scheme, parts.netloc, path, query, ""))


def _host(host: str) -> str:
    """Return a host in ASCII, or ``""`` where no name server could know it."""
    if ":" in host and "%" not in host:  # a zone has no meaning for others
        try:
            return f"[{ipaddress.IPv6Address(host)}]"
        except ValueError:
            return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    host = host.lower()
    labels = host.removesuffix(".").split(".")
    if _FORBIDDEN_HOST.search(host) or not all(0 < len(label) < 64 for label in labels):
        return ""
    return host


def _without_dots(path: str) -> str:
    """Resolve the dot segments of an absolute path (RFC 3986, 5.2.4), ``%2e`` too."""
    if "/." not in path and "/%2" not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        plain = segment.replace("%2e", ".").replace("%2E", ".")
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(segment)
    if segments[-1].replace("%2e", ".").replace("%2E", ".") in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def host_of(url: str) -> str:
    """Return the host of a URL, without port: the name of Scrapy's downloader slot.

    >>> host_of("https://a.example:8080/b"), host_of("nonsense")
    ('a.example', '')
    """
    plain = _PLAIN_HOST.match(url)
    if plain:
        return plain[1]
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, by its name or address alone.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "10.0.0.1", "a.example")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _RequestFingerprinter(Protocol):
    def fingerprint(self, request: Request) -> bytes: ...


class Fingerprinter:
    """Scrapy's fingerprints, faster for plain URLs.

    Parameters
    ----------
    request_fingerprinter : object
        ``crawler.request_fingerprinter``. Where it is Scrapy's own class, a URL that is
        canonical as it stands gets the same SHA1 without a Request. With any other class
        each URL goes through a Request, and what is not 20 bytes long, as the frontier
        takes it, is hashed once more.
    """

    def __init__(self, request_fingerprinter: _RequestFingerprinter | Any) -> None:
        self._fingerprint = request_fingerprinter.fingerprint
        self._shortcut = type(request_fingerprinter) is RequestFingerprinter
        self._cached = lru_cache(maxsize=FINGERPRINTS)(self._computed)

    def of_url(self, url: str) -> bytes:
        """Return the fingerprint of a GET request for a URL."""
        return self._cached(url)

    def key_of(self, url: str) -> int:
        """Return the key of a GET request for a URL; see :mod:`~focusspider.keytable`."""
        return fingerprint_key(self.of_url(url))

    def of_request(self, request: Request) -> bytes:
        """Return the fingerprint of a request."""
        if request.method == "GET" and not request.body and self._is_canonical(request.url):
            return self._cached(request.url)
        return _in_20_bytes(self._fingerprint(request))

    def _is_canonical(self, url: str) -> bool:
        return self._shortcut and _CANONICAL.fullmatch(url) is not None

    def _computed(self, url: str) -> bytes:
        if self._is_canonical(url):
            # What scrapy.utils.request.fingerprint hashes: sorted keys, ASCII, no escapes.
            data = f'{{"body": "", "headers": {{}}, "method": "GET", "url": "{url}"}}'
            return sha1(data.encode("ascii"), usedforsecurity=False).digest()
        return _in_20_bytes(self._fingerprint(Request(url)))


def _in_20_bytes(fingerprint: bytes) -> bytes:
    if len(fingerprint) == 20:
        return bytes(fingerprint)
    return sha1(fingerprint, usedforsecurity=False).digest()
