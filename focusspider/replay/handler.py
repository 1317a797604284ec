"""Scrapy's download handler for a stored web.

Set by :func:`~focusspider.replay.spec.replay_settings`. A request that comes here has passed
robots.txt, the downloader middlewares and its slot's delay; a response goes back through the
same middlewares, which decompress it and follow its redirects.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, NotConfigured
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached

from focusspider.config import FocusConfig
from focusspider.errors import FocusError
from focusspider.replay.archive import Stored, answer
from focusspider.replay.spec import open_archive

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["ReplayDownloadHandler"]


class ReplayDownloadHandler(BaseDownloadHandler):
    """Answers requests from ``FOCUS_REPLAY``.

    What is not stored is a 404 without a body, or with ``FOCUS_REPLAY_MISSING = "dns"`` the
    error of a host that cannot be resolved, which Scrapy retries. With ``"refuse"`` such links
    do not come so far, and what else is not stored is a 404. Only GET and HEAD are
    answered; for another method a stored page is a 405. A body above ``DOWNLOAD_MAXSIZE``
    fails as it does on the web.

    Scrapy makes one handler for http and one for https; they share the archive. An archive
    that cannot be opened makes both schemes unsupported: open it before the crawl, with
    :func:`~focusspider.replay.spec.open_archive`, to stop there.
    """

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        try:
            config = FocusConfig.from_settings(crawler.settings)
            self._archive = open_archive(config.replay)
        except FocusError as error:
            raise NotConfigured(str(error)) from None
        self._missing = config.replay_missing
        self._max_size = crawler.settings.getint("DOWNLOAD_MAXSIZE")

    async def download_request(self, request: Request) -> Response:
        """Answer a request as the stored site would have."""
        begun = time.monotonic()
        stored = self._answer(request)
        max_size = request.meta.get("download_maxsize", self._max_size)
        if max_size and len(stored.body) > max_size:
            raise DownloadCancelledError(
                f"{request.url}: its {len(stored.body)} bytes exceed DOWNLOAD_MAXSIZE, {max_size}"
            )
        headers = Headers()
        for name, value in stored.headers:
            headers.appendlist(name, value)
        body = b"" if request.method == "HEAD" else stored.body
        kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
        request.meta["download_latency"] = time.monotonic() - begun
        return kind(request.url, status=stored.status, headers=headers, body=body)

    def _answer(self, request: Request) -> Stored:
        stored = answer(self._archive, request.url)
        if stored is None:
            if self._missing == "dns":
                host = urlparse_cached(request).hostname
                raise CannotResolveHostError(f"{host}: {request.url} is not in FOCUS_REPLAY")
            return Stored(request.url, 404, (("Content-Type", "text/html"),), b"")
        if request.method not in {"GET", "HEAD"}:
            return Stored(request.url, 405, (("Allow", "GET, HEAD"),), b"")
        return stored
