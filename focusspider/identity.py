"""Which requests the frontier takes for the same."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from focusspider.visits import META

if TYPE_CHECKING:
    from scrapy import Request

    from focusspider.urls import Fingerprinter

__all__ = ["Identity"]


class Identity:
    """Scrapy's fingerprints, except for requests with ``dont_filter``.

    Each of those is a request of its own, as Scrapy has it: it is fetched whether or not
    its URL is known, and does not make it known.
    """

    def __init__(self, fingerprinter: Fingerprinter) -> None:
        self._fingerprinter = fingerprinter

    def of_url(self, url: str) -> bytes:
        """Return what a link to a URL is in the frontier."""
        return self._fingerprinter.of_url(url)

    def of(self, request: Request) -> bytes:
        """Return what a request is in the frontier."""
        return self._apart(self._fingerprinter.of_request(request), request)

    def of_earlier(self, url: str, request: Request) -> bytes:
        """Return what a request was in the frontier when it had another URL."""
        return self._apart(self._fingerprinter.of_url(url), request)

    def set_apart(self, request: Request, number: int) -> bytes:
        """Give a request an identity of its own, by a number that no other one has."""
        request.meta[META] = {**(request.meta.get(META) or {}), "apart": number}
        return self.of(request)

    @staticmethod
    def _apart(fingerprint: bytes, request: Request) -> bytes:
        number = (request.meta.get(META) or {}).get("apart") if request.dont_filter else None
        if number is None:
            return fingerprint
        return hashlib.sha1(fingerprint + b"%d" % number, usedforsecurity=False).digest()
