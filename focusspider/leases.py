"""The requests that the downloader has of us, until the engine is done with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from focusspider.frontier import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from scrapy import Request

    from focusspider.frontier import Entry, Frontier
    from focusspider.politeness import Politeness
    from focusspider.scope import Scope

__all__ = ["Leases"]


@dataclass(slots=True)
class _Lease:
    request: Request
    fingerprint: bytes
    host: str
    counted: bool = True  # in the scope, as a page that its host may still bring
    page: bool = False  # whether it has brought one
    downloading: bool = True
    outcome: Outcome | None = Outcome.DROPPED  # until it is answered; None: it waits again


class Leases:
    """Follows each leased request to its end, and tells the frontier.

    A request is settled when the engine is done with it: it was downloaded, its callback
    has run to the end, and its items have left the pipelines. So whatever it brought is in
    the frontier and in the journal before it is called done. It is done if it was answered
    at all, also by an error or a redirect, and dropped if not.

    It is the frontier's :class:`~focusspider.frontier.HostFilter` too: a host is ready
    where it may be asked now, and where what was asked of it already leaves a page of its
    limit.

    ``settled`` is told each request that will not come back.
    """

    def __init__(
        self,
        frontier: Frontier,
        politeness: Politeness,
        scope: Scope,
        *,
        settled: Callable[[Request], None] | None = None,
    ) -> None:
        self._frontier = frontier
        self._politeness = politeness
        self._scope = scope
        self._settled = settled
        self._of: dict[Request, _Lease] = {}
        self._by_fingerprint: dict[bytes, _Lease] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, request: Request) -> bool:
        return request in self._of

    def ready(self, host: str) -> bool:
        """Return whether one more request of this host can be leased now."""
        if self._scope.host_full(host):
            return True  # to be dropped, and not to wait for ever
        return self._scope.may_ask(host) and self._politeness.ready(host)

    def woken(self) -> Iterable[str]:
        """Return, once, the hosts that were refused before and may be ready now."""
        return self._politeness.woken()

    def add(self, entry: Entry, request: Request) -> None:
        """Follow a leased entry, which the downloader is given as this request."""
        lease = _Lease(request, entry.fingerprint, entry.host)
        self._of[request] = self._by_fingerprint[entry.fingerprint] = lease
        self._politeness.started(entry.host)
        self._scope.asked(entry.host)

    def reached_downloader(self, request: Request) -> None:
        """Note a request in a slot that did not come from us, such as for robots.txt."""
        if request not in self._of:
            self._politeness.started(request.meta["download_slot"])

    def left_downloader(self, request: Request) -> None:
        """Note that its host has a slot free."""
        lease = self._of.get(request)
        if lease is None:
            self._politeness.finished(request.meta["download_slot"])
        elif lease.downloading:
            lease.downloading = False
            self._politeness.finished(lease.host)

    def answered(self, request: Request) -> None:
        """Note that it has brought a response."""
        lease = self._of.get(request)
        if lease is not None and lease.outcome is not None:
            lease.outcome = Outcome.DONE

    def fingerprint(self, request: Request | None) -> bytes | None:
        """Return what a leased request is in the frontier."""
        lease = self._of.get(request) if request is not None else None
        return lease.fingerprint if lease is not None else None

    def brought_page(self, request: Request | None) -> None:
        """Note that its response is a page of the crawl."""
        lease = self._of.get(request) if request is not None else None
        if lease is not None and lease.counted:
            lease.counted, lease.page = False, True
            self._scope.had(lease.host)
            if self._scope.host_full(lease.host):
                self._politeness.wake(lease.host)  # what waits for it is to be dropped

    def redirected(self, fingerprint: bytes) -> None:
        """Note that it was answered by a redirect, which is no page of its host."""
        lease = self._by_fingerprint.get(fingerprint)
        if lease is not None:
            lease.outcome = Outcome.DONE
            self._give_back(lease)

    def tried(self, fingerprint: bytes, request: Request) -> Request | None:
        """Return the leased request that this one is to try once more, if it is a retry."""
        lease = self._by_fingerprint.get(fingerprint)
        if lease is None:
            return None
        tried, meta = lease.request.meta, request.meta
        is_next = meta.get("retry_times", 0) == tried.get("retry_times", 0) + 1
        is_same = meta.get("redirect_times", 0) == tried.get("redirect_times", 0)
        return lease.request if is_next and is_same else None

    def again(self, entry: Entry) -> None:
        """Let a leased request wait once more, as this entry, at the age that it had."""
        lease = self._by_fingerprint.pop(entry.fingerprint)
        self._frontier.settle(entry.fingerprint, Outcome.AGAIN, entry)
        lease.outcome = None
        self._give_back(lease)

    def returned(self, request: Request) -> None:
        """Let a leased request wait once more, since its host can't start it now."""
        lease = self._of.pop(request)
        del self._by_fingerprint[lease.fingerprint]
        self._frontier.settle(lease.fingerprint, Outcome.AGAIN)
        self._politeness.finished(lease.host, asked=False)
        self._give_back(lease)

    def settle(self, busy: Container[Request]) -> None:
        """Settle the requests that are not busy any more."""
        for request in [request for request in self._of if request not in busy]:
            lease = self._of.pop(request)
            if lease.downloading:
                self._politeness.finished(lease.host, asked=False)
            self._give_back(lease)
            if lease.outcome is None:
                continue
            del self._by_fingerprint[lease.fingerprint]
            self._frontier.settle(lease.fingerprint, lease.outcome)
            if lease.page:
                self._scope.settled(lease.host)
            if self._settled is not None:
                self._settled(request)

    def _give_back(self, lease: _Lease) -> None:
        """Let its host bring another page in its place, where it brought none."""
        if lease.counted:
            lease.counted = False
            self._scope.failed(lease.host)
            self._politeness.wake(lease.host)
