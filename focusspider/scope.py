"""Which requests belong to the crawl at all: the limits at the frontier's two doors."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from focusspider.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from focusspider.topic import Limits, Sites

__all__ = ["Scope"]


class Scope:
    """What Scrapy's middlewares refuse of Requests, and the topic's own limits.

    Parameters
    ----------
    sites, limits
        of the topic; None: no such bound
    allowed_domains
        the spider's, as Scrapy's offsite middleware reads them
    max_depth
        Scrapy's ``DEPTH_LIMIT``, 0 for none; the stricter of it and the topic's counts
    stored
        URLs that a replay holds, where others are refused (``FOCUS_REPLAY_MISSING``)
    counts_hosts
        whether the limit of hosts is held here, and not where the frontier is
    max_segment_repeats
        how often one segment may stand in a URL's path before it is taken for a trap
    """

    def __init__(
        self,
        *,
        sites: Sites | None = None,
        limits: Limits | None = None,
        allowed_domains: Iterable[str] = (),
        max_depth: int = 0,
        max_segment_repeats: int = 0,
        stored: Container[str] | None = None,
        counts_hosts: bool = True,
    ) -> None:
        self._sites = sites
        self._stored = stored
        depths = [d for d in (max_depth, limits.depth if limits else None) if d]
        self._max_depth = min(depths) if depths else None
        self._max_hosts = limits.hosts if limits and counts_hosts else None
        self._max_pages_per_host = limits.pages_per_host if limits else None
        self._max_segment_repeats = max_segment_repeats
        self._domains = tuple(
            domain.lower().lstrip(".") for domain in allowed_domains if domain is not None
        )
        self._domain_allows: dict[str, bool] = {}
        self._hosts: set[str] = set()
        self._pages: dict[str, int] = {}
        self._asked: dict[str, int] = {}
        self._open: dict[str, int] = {}

    def refuses(self, url: str, host: str, depth: int) -> str | None:
        """Return why a link is refused, a key of the ``focus/link/refused`` stats, or None."""
        if self._domains and not self._in_domains(host):
            return "offsite"
        return self.refuses_request(url, host, depth, is_link=True)

    def refuses_request(self, url: str, host: str, depth: int, *, is_link: bool) -> str | None:
        """Return why a Request is refused, which Scrapy's offsite middleware has let pass.

        What its spider made of something else than a link is no trap.
        """
        if self._max_depth is not None and depth > self._max_depth:
            return "depth"
        if self._sites is not None and not self._sites.allows(url):
            return "offsite"
        if is_link and self._max_segment_repeats and self._is_trap(url):
            return "segment_repeats"
        if self._stored is not None and url not in self._stored:
            return "not_stored"
        if self._max_hosts is not None and host not in self._hosts:
            if len(self._hosts) >= self._max_hosts:
                return "hosts"
            self._hosts.add(host)
        if self.host_full(host):
            return "host_full"
        return None

    def takes(self, host: str) -> None:
        """Count the host of what belongs to the crawl whatever its limits, such as its start."""
        if self._max_hosts is not None:
            self._hosts.add(host)

    def host_full(self, host: str) -> bool:
        """Return whether this host has brought as many pages as it may."""
        if self._max_pages_per_host is None:
            return False
        return self._pages.get(host, 0) >= self._max_pages_per_host

    def may_ask(self, host: str) -> bool:
        """Return whether what this host was asked for already may leave a page of its limit."""
        if self._max_pages_per_host is None:
            return True
        asked = self._pages.get(host, 0) + self._asked.get(host, 0)
        return asked < self._max_pages_per_host

    def asked(self, host: str) -> None:
        """Count a page that was asked of a host."""
        if self._max_pages_per_host is not None:
            self._asked[host] = self._asked.get(host, 0) + 1

    def had(self, host: str) -> None:
        """Count a page that a host was asked for and brought; it is settled later."""
        if self._max_pages_per_host is not None:
            self._asked[host] -= 1
            self._pages[host] = self._pages.get(host, 0) + 1
            self._open[host] = self._open.get(host, 0) + 1

    def settled(self, host: str) -> None:
        """Note that a page which a host has brought will not be fetched again."""
        if self._max_pages_per_host is not None:
            self._open[host] -= 1

    def failed(self, host: str) -> None:
        """Give back a page that a host was asked for and did not bring."""
        if self._max_pages_per_host is not None:
            self._asked[host] -= 1

    def met(self, host: str, pages: int) -> None:
        """Take in how many pages a host has brought, here or to another worker."""
        if self._max_pages_per_host is not None:
            self._pages[host] = max(self._pages.get(host, 0), pages)

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of the limits, JSON-safe; None of what has none.

        Pages that are not settled would be fetched again after a crash, and do not count.
        """
        hosts = None if self._max_hosts is None else sorted(self._hosts)
        if self._max_pages_per_host is None:
            return {"hosts": hosts, "pages": None}
        pages = {host: n - self._open.get(host, 0) for host, n in self._pages.items()}
        return {"hosts": hosts, "pages": pages}

    def restore(self, state: Mapping[str, Any], fetched: Iterable[str]) -> None:
        """Take up what a checkpoint kept.

        ``fetched`` are the URLs of the pages so far: of a limit that is new, they are what
        there is to count.
        """
        hosts, pages = state["hosts"], state["pages"]
        if hosts is None or pages is None:
            counts = Counter(map(host_of, fetched))
            hosts = counts.keys() if hosts is None else hosts
            pages = counts if pages is None else pages
        self._hosts.update(hosts)
        self._pages.update(pages)

    def _in_domains(self, host: str) -> bool:
        allowed = self._domain_allows.get(host)
        if allowed is None:
            allowed = any(host == d or host.endswith(f".{d}") for d in self._domains)
            self._domain_allows[host] = allowed
        return allowed

    def _is_trap(self, url: str) -> bool:
        segments = [s for s in urlsplit(url).path.split("/") if s]
        if len(segments) <= self._max_segment_repeats:
            return False
        return max(segments.count(s) for s in segments) > self._max_segment_repeats
