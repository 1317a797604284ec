"""A SearXNG instance, by its JSON API.

``GET /search?q=…&format=json&pageno=1`` is answered by ``{"query", "number_of_results",
"results": [{"url", "title", …}, …], "unresponsive_engines": [[name, why], …], …}``; see
https://docs.searxng.org/dev/search_api.html. An instance gives JSON where its
``settings.yml`` lists it (``search: formats: [html, json]``); most public ones do not.

``number_of_results`` is what the engines behind the instance say, and 0 where none says
anything: then the total is not known.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from focusspider import __version__
from focusspider.errors import ServiceError, SettingError
from focusspider.search.base import Answer, hits_of
from focusspider.search.jsonservice import JsonService, RefusedError

if TYPE_CHECKING:
    from focusspider.search.base import Hit

__all__ = ["SearxngEngine"]

logger = logging.getLogger(__name__)

_NAME = "the search engine searxng"
_PAGES = 5  # of results, at most, for one query
_ENDLESS = 1e15  # pages; more is no number of pages
_REMEDIES = {
    403: (
        "the instance gives no JSON, or not to us: list json in search.formats of its "
        "settings.yml, switch its limiter off for this machine, or mend FOCUS_SEARCH_KEY"
    ),
    404: "there is no instance: check FOCUS_SEARCH_URL",
}


class SearxngEngine:
    """Asks an instance for pages.

    Parameters
    ----------
    url
        Of the instance, such as ``http://127.0.0.1:8888``; with or without ``/search``.
    key
        Sent as a bearer token, for an instance behind a proxy that wants one.
    delay
        Least seconds between two requests.
    options
        The rest of :class:`~focusspider.search.jsonservice.JsonService`: ``tries`` …
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        key: str | None = None,
        delay: float = 2.0,
        **options: Any,
    ) -> None:
        if not url:
            raise SettingError(
                "the search engine searxng needs an instance: set FOCUS_SEARCH_URL, such as "
                "http://127.0.0.1:8888"
            )
        headers = {"Accept": "application/json", "User-Agent": f"focusspider/{__version__}"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self.service = JsonService(
            _NAME,
            url.rstrip("/").removesuffix("/search") + "/search",
            settings="FOCUS_SEARCH",
            headers=headers,
            secret=key or "",
            method="GET",
            remedies=_REMEDIES,
            delay=delay,
            **options,
        )
        self._silent: set[str] = set()  # engines behind the instance that we warned of

    def search(self, query: str, n: int) -> Answer:
        """Return up to n hits, of as many pages of results as that takes, and five at most."""
        found: dict[str, Hit] = {}
        total: int | None = None
        for number in range(1, _PAGES + 1):
            try:
                page = self.service.ask({"q": query, "format": "json", "pageno": number})
            except RefusedError as error:
                logger.warning("No results of %r: %s", query, error)
                break
            results = page.get("results")
            if not isinstance(results, list):
                raise ServiceError(f"{_NAME} answered without 'results': check FOCUS_SEARCH_URL")
            tables = [result for result in results if isinstance(result, dict)]
            hits = hits_of(((one.get("url"), one.get("title")) for one in tables), len(tables))
            if number == 1:
                total = self._total(page, len(results))
            known = len(found)
            for hit in hits:
                found.setdefault(hit.url, hit)
            if len(found) >= n or len(found) == known:
                break
        return Answer(tuple(found.values())[:n], total)

    def close(self) -> None:
        """There is nothing to close."""

    def _total(self, page: dict[str, Any], n_results: int) -> int | None:
        """Return how many pages there are, None where nobody says so."""
        silent = self._unresponsive(page)
        said = page.get("number_of_results")
        if isinstance(said, (int, float)) and not isinstance(said, bool) and 0 < said < _ENDLESS:
            return int(said)
        return 0 if not n_results and not silent else None

    def _unresponsive(self, page: dict[str, Any]) -> bool:
        """Return whether engines behind the instance did not answer; warn of each once."""
        engines = page.get("unresponsive_engines")
        if not isinstance(engines, list) or not engines:
            return False
        for engine in engines:
            words = engine if isinstance(engine, list) else [engine]
            shown = ": ".join(str(word) for word in words)[:100]
            if shown not in self._silent:
                self._silent.add(shown)
                logger.warning("The instance's engine %r gives nothing", shown)
        return True
