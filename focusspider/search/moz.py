"""Back-links of Moz's Links API (version 2, endpoint ``links``).

A POST of ``{"target", "target_scope", "limit", "next_token"}`` with the key in the header
``x-moz-token`` is answered by ``{"results": [{"source": {"page": …}, …}], "next_token": …}``,
50 results at most; see https://moz.com/help/links-api/making-calls/links. Its pages and
targets are URLs without a scheme. Links within one site are not among its results.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from focusspider.errors import ServiceError
from focusspider.search.jsonservice import JsonService, RefusedError
from focusspider.urls import RefusedURLError, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MozLinks"]

logger = logging.getLogger(__name__)

URL = "https://lsapi.seomoz.com/v2/links"
_PAGE = 50  # results of an answer, at most


class MozLinks:
    """A :class:`~focusspider.webgraph.layers.BacklinkSource` behind Moz's Links API.

    Parameters
    ----------
    key
        The token of an account.
    url
        The endpoint, or another service's that speaks the same.
    options
        Those of :class:`~focusspider.search.jsonservice.JsonService`: ``delay``, ``tries`` …
    """

    name = "moz"

    def __init__(self, key: str, url: str | None = None, **options: Any) -> None:
        self.service = JsonService(
            "the back-link service moz",
            url or URL,
            settings="FOCUS_BACKLINKS",
            headers={"x-moz-token": key},
            secret=key,
            **options,
        )

    def backlinks(self, url: str, n: int) -> Sequence[str]:
        """Return up to n pages that link to a URL, in the service's order.

        None for a URL that the service refuses, with a line in the log. Raises
        ServiceError where it refuses to work at all.
        """
        found: dict[str, None] = {}
        token: str | None = None
        question = {"target": url.partition("://")[2], "target_scope": "page"}
        while len(found) < n:
            ask: dict[str, Any] = {**question, "limit": min(_PAGE, n - len(found))}
            if token:
                ask["next_token"] = token
            try:
                answer = self.service.ask(ask)
            except RefusedError as error:
                logger.warning("No back-links of %s: %s", url, error)
                break
            pages = _pages(answer)
            found.update(dict.fromkeys(pages))
            following = answer.get("next_token")
            if not pages or not isinstance(following, str) or following in {"", token}:
                break
            token = following
        return list(found)[:n]


def _pages(answer: dict[str, Any]) -> list[str]:
    """Return the linking pages of an answer, as URLs; what is none is passed over."""
    results = answer.get("results")
    if not isinstance(results, list):
        raise ServiceError(
            "the back-link service moz answered without 'results': check FOCUS_BACKLINKS_URL"
        )
    urls = []
    for result in results:
        source = result.get("source") if isinstance(result, dict) else None
        page = source.get("page") if isinstance(source, dict) else None
        if isinstance(page, str):
            try:
                urls.append(resolve("", page if "://" in page else f"http://{page}"))
            except RefusedURLError:
                continue
    return urls
