"""The package ddgs, which asks several public search engines at once.

Public engines tell programs no numbers of hits, so that totals are never known, and refuse
who asks too often: ask slowly, and seldom. A refusal by all engines may look to ddgs like no
results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider.errors import MissingExtraError, UnknownNameError
from focusspider.registry import check_whole
from focusspider.search.base import Answer, hits_of
from focusspider.search.patience import AgainError, Patience

if TYPE_CHECKING:
    from focusspider.search.base import Hit

__all__ = ["DdgsEngine"]

_NAME = "the search engine ddgs"
_NOTHING = "No results found."  # says ddgs where its engines answered, and have no page
_SHOWN = 200  # characters of an error in a message


class DdgsEngine:
    """Asks by the package ddgs, which is the extra ``search``.

    Parameters
    ----------
    backend
        Engines of ddgs, comma-separated, or ``"auto"``.
    timeout
        Whole seconds without an answer after which an engine has failed.
    delay
        Least seconds between two queries.
    patience
        The rest of :class:`~focusspider.search.patience.Patience`: ``tries`` …
    """

    def __init__(
        self, *, backend: str = "auto", timeout: int = 10, delay: float = 2.0, **patience: Any
    ) -> None:
        check_whole("timeout", timeout)
        try:
            from ddgs import DDGS
        except ImportError:
            raise MissingExtraError("search", "the search engine ddgs") from None
        self._ddgs = DDGS(timeout=timeout)
        _check_backend(backend)
        self._backend = backend
        self._patience = Patience(_NAME, delay=delay, **patience)

    def search(self, query: str, n: int) -> Answer:
        """Return up to n hits, and no total."""
        return Answer(self._patience.ask(lambda: self._once(query, n)), None)

    def close(self) -> None:
        """There is nothing to close."""

    def _once(self, query: str, n: int) -> tuple[Hit, ...]:
        from ddgs.exceptions import DDGSException

        try:
            found = self._ddgs.text(query, max_results=n, backend=self._backend)
        except DDGSException as error:
            if str(error) == _NOTHING:
                return ()
            words = " ".join(str(error).split()) or type(error).__name__
            raise AgainError(words[:_SHOWN]) from None
        return hits_of(((one.get("href"), one.get("title")) for one in found), n)


def _check_backend(backend: str) -> None:
    """Refuse an engine that ddgs does not know: it would take all of them in its place."""
    from ddgs.engines import ENGINES

    known = ["auto", *sorted(ENGINES["text"])]
    for name in str(backend).split(","):
        if name.strip() not in known:
            raise UnknownNameError(
                "backend of ddgs", name.strip(), known, where="FOCUS_SEARCH_PARAMS"
            )
