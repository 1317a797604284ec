"""The requests that the downloader has of us, until the engine is done with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from focusspider.frontier import Outcome

if TYPE_CHECKING:
    from collections.abc import Container

    from scrapy import Request

    from focusspider.frontier import Entry, Frontier
    from focusspider.politeness import Politeness
    from focusspider.scope import Scope

__all__ = ["Leases"]


@dataclass(slots=True)
class _Lease:
    fingerprint: bytes
    host: str
    downloading: bool = True
    outcome: Outcome | None = Outcome.DROPPED  # until it is answered; None: it waits again


class Leases:
    """Follows each leased request to its end, and tells the frontier.

    A request is settled when the engine is done with it: it was downloaded, its callback
    has run to the end, and its items have left the pipelines. So whatever it brought is in
    the frontier and in the journal before it is called done. It is done if it was answered
    at all, also by an error or a redirect, and dropped if not.
    """

    def __init__(self, frontier: Frontier, politeness: Politeness, scope: Scope) -> None:
        self._frontier = frontier
        self._politeness = politeness
        self._scope = scope
        self._of: dict[Request, _Lease] = {}
        self._by_fingerprint: dict[bytes, _Lease] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, fingerprint: bytes) -> bool:
        return fingerprint in self._by_fingerprint

    def add(self, entry: Entry, request: Request) -> None:
        """Follow a leased entry, which the downloader is given as this request."""
        lease = _Lease(entry.fingerprint, entry.host)
        self._of[request] = self._by_fingerprint[entry.fingerprint] = lease
        self._politeness.started(entry.host)
        self._scope.asked(entry.host)

    def left_downloader(self, request: Request) -> None:
        """Note that its host has a slot free."""
        lease = self._of.get(request)
        if lease is not None and lease.downloading:
            lease.downloading = False
            self._politeness.finished(lease.host)

    def answered(self, request: Request) -> None:
        """Note that it has brought a response."""
        lease = self._of.get(request)
        if lease is not None and lease.outcome is not None:
            lease.outcome = Outcome.DONE

    def redirected(self, fingerprint: bytes) -> None:
        """Note that it was answered by a redirect, which is no page of its host."""
        lease = self._by_fingerprint.get(fingerprint)
        if lease is not None:
            lease.outcome = Outcome.DONE
            self._scope.failed(lease.host)

    def again(self, entry: Entry) -> None:
        """Let a leased request wait once more, as this entry, at the age that it had."""
        lease = self._by_fingerprint.pop(entry.fingerprint)
        self._frontier.settle(entry.fingerprint, Outcome.AGAIN, entry)
        lease.outcome = None
        self._scope.failed(lease.host)

    def settle(self, busy: Container[Request]) -> None:
        """Settle the requests that are not busy any more."""
        for request in [request for request in self._of if request not in busy]:
            lease = self._of.pop(request)
            if lease.downloading:
                self._politeness.finished(lease.host)
            if lease.outcome is None:
                continue
            del self._by_fingerprint[lease.fingerprint]
            self._frontier.settle(lease.fingerprint, lease.outcome)
            if lease.outcome is Outcome.DROPPED:
                self._scope.failed(lease.host)
