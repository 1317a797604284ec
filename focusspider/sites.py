"""Which sites a topic allows: domains, URL prefixes and patterns.

An entry is one of

- a domain, ``example.org``, which stands for its subdomains too (``*.example.org`` and
  ``.example.org`` mean the same);
- a URL prefix, ``http://example.org/wiki/``, of one host, with http and https alike;
- ``re:`` and a regular expression that is searched in the URL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from focusspider.urls import RefusedURLError, resolve

__all__ = ["Sites", "check_entry"]

_PATTERN = "re:"
#: Scheme, user, host, port; the rest is path and query.
_URL = re.compile(r"(https?)://(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^/?#:]*)(:\d*)?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_LABEL = re.compile(r"(?!-)[\w-]{1,63}(?<!-)", re.ASCII)
_CACHED_HOSTS = 65_536  # a wildcard DNS entry makes host names without end


@dataclass(frozen=True, kw_only=True)
class Sites:
    """What may be crawled: deny wins over allow, and an empty allow is everything.

    >>> sites = Sites(allow=("example.org",), deny=("http://example.org/calendar/",))
    >>> sites.allows("https://www.example.org/a"), sites.allows("https://example.com/")
    (True, False)
    >>> sites.allows("https://example.org/calendar/2031")
    False
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    _allowed: _Rules = field(init=False, repr=False, compare=False)
    _denied: _Rules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_allowed", _Rules(self.allow))
        object.__setattr__(self, "_denied", _Rules(self.deny))

    def allows(self, url: str) -> bool:
        """Return whether a URL may be crawled; one that is not http or https may not."""
        if not self.allow and not self.deny:
            return True
        match = _URL.match(url)
        if match is None:
            return False
        if self.deny and self._denied.match(url, match):
            return False
        return not self.allow or self._allowed.match(url, match)


class _Rules:
    """Entries, looked up by the labels of the host; what a host gives is remembered."""

    def __init__(self, entries: tuple[str, ...]) -> None:
        self.domains: set[str] = set()
        self.prefixes: dict[str, tuple[str, ...]] = {}  # host:port to paths
        self.patterns: list[re.Pattern[str]] = []
        self.hosts: dict[str, bool] = {}
        for entry in entries:
            parsed = _parse(entry)
            if isinstance(parsed, re.Pattern):
                self.patterns.append(parsed)
            elif isinstance(parsed, tuple):
                site, path = parsed
                self.prefixes[site] = (*self.prefixes.get(site, ()), path)
            else:
                self.domains.add(parsed)

    def match(self, url: str, match: re.Match[str]) -> bool:
        host = match[2]
        found = self.hosts.get(host)
        if found is None:
            if len(self.hosts) >= _CACHED_HOSTS:
                self.hosts.clear()
            found = self.hosts[host] = self._has_host(_ascii(host))
        if found:
            return True
        if self.prefixes:
            paths = self.prefixes.get(_site(match))
            if paths and (url[match.end() :] or "/").startswith(paths):
                return True
        return any(pattern.search(url) for pattern in self.patterns)

    def _has_host(self, host: str) -> bool:
        while host:
            if host in self.domains:
                return True
            host = host.partition(".")[2]
        return False


def check_entry(entry: str) -> None:
    """Raise ValueError, with the remedy, where a text is no entry of sites."""
    _parse(entry)


def _parse(entry: str) -> str | tuple[str, str] | re.Pattern[str]:
    entry = entry.strip()
    if entry.startswith(_PATTERN):
        return _pattern(entry.removeprefix(_PATTERN))
    if "://" in entry:
        match = _URL.match(entry)
        if match is None or not match[2] or "@" in entry[: match.end()]:
            raise ValueError("is no URL prefix; write http://HOST/PATH")
        return _site(match), _path(entry, match)
    domain = _ascii(entry.removeprefix("*").removeprefix(".").removesuffix("."))
    labels = domain.split(".")
    if ":" in domain or "/" in domain:
        raise ValueError(f"is neither a domain nor a URL prefix; write http://{entry}")
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(
            "is no domain; write one such as example.org, a URL prefix such as "
            "http://example.org/wiki/, or re: and a regular expression"
        )
    return domain


def _pattern(pattern: str) -> re.Pattern[str]:
    if not pattern:
        raise ValueError("has no regular expression after re:")
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is no regular expression: {error}") from None


def _site(match: re.Match[str]) -> str:
    port = match[3] or ""
    if port == ":" or port == _DEFAULT_PORTS[match[1].lower()]:
        port = ""
    return _ascii(match[2]) + port


def _path(entry: str, match: re.Match[str]) -> str:
    """Return the path of a URL prefix, with what may follow it, as a request spells it."""
    try:
        spelt = resolve("", entry)
    except RefusedURLError:  # such as one that is too long; it is compared as it is
        return entry[match.end() :] or "/"
    found = _URL.match(spelt)
    assert found is not None
    return spelt[found.end() :] or "/"


def _ascii(host: str) -> str:
    """Return a host as DNS spells it, so that both spellings of a name meet."""
    host = host.lower().removesuffix(".")
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host
