"""What a crawl remembers of its pages: their numbers, where they came from, what they held."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from pathlib import Path

    from focusspider.page import Page

__all__ = ["CrawlRecord", "content_of"]

_RECENT = 100  # pages of the harvest rate that shows how it goes now
_DIGEST_BYTES = 8
#: Characters of text that say what a page is. Fewer may be the same on pages that differ: a
#: set of frames, a picture, a page that a script fills.
_MIN_TEXT = 200


class _Page(NamedTuple):
    url: str
    parent: int  # number of the page whose link led here, 0 for none


def content_of(page: Page | None, body: bytes) -> bytes:
    """Return what is the same where two URLs bring the same content.

    That is title and text as a reader sees them: two copies of a page are seldom equal in
    bytes, since links carry sessions and scripts carry tokens. Where there is hardly any
    text, or no page at all, it is the body.
    """
    if page is None or len(page.text) < _MIN_TEXT:
        return body
    return f"{page.title}\n{page.text}".encode("utf-8", "replace")


class CrawlRecord:
    """The pages of a crawl by their number in the order of fetching, from 1.

    A page that a crash has lost is fetched again under a number of its own; the one that
    it had stays known, since links that it brought may carry it.
    """

    def __init__(self) -> None:
        self.fetched = 0
        self.relevant = 0
        self.recent: deque[bool] = deque(maxlen=_RECENT)
        self._pages: dict[int, _Page] = {}
        self._last = 0
        self._first_with: dict[bytes, int] = {}
        self._open: dict[Hashable, int] = {}
        self._lost: set[int] = set()

    def add(
        self, url: str, parent: int, content: bytes, *, owner: Hashable | None
    ) -> tuple[int, str, int]:
        """Give a page its number; return it, the digest, and the first page with that digest.

        The digest is that of ``content``, see :func:`content_of`.
        """
        self._last += 1
        n = self._last
        digest = hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()
        first = self._first_with.setdefault(digest, n)
        self._pages[n] = _Page(url, parent)
        if owner is not None:
            self._open[owner] = n
        self.fetched += 1
        return n, digest.hex(), first

    def learn(self, n: int, url: str, parent: int) -> None:
        """Know a page that another worker has fetched: its number here is below 0."""
        self._pages[n] = _Page(url, parent)

    def judged(self, relevant: bool) -> None:
        """Count a judgement."""
        self.relevant += relevant
        self.recent.append(relevant)

    def settled(self, owner: Hashable) -> None:
        """Note that a page will not be fetched again."""
        self._open.pop(owner, None)

    def url(self, n: int) -> str | None:
        """Return the URL of a page by its number; None for 0."""
        page = self._pages.get(n)
        return page.url if page else None

    def urls(self) -> list[str]:
        """Return the URLs of the pages that will not be fetched again, in their order."""
        lost = set(self._open.values()) | self._lost
        return [page.url for n, page in self._pages.items() if n > 0 and n not in lost]

    def path(self, n: int) -> list[str]:
        """Return the URLs from the seed to a page, the page's own last; none for 0.

        A page that a crash has lost may be fetched again by a link of a page that it led to
        before. After one more crash only its later number is known, and the path would lead
        in a circle: it begins where it would come to a page again.
        """
        found: dict[int, str] = {}
        while (page := self._pages.get(n)) and n not in found:
            found[n] = page.url
            n = page.parent
        return list(found.values())[::-1]

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps, JSON-safe; the rest is in ``crawl.jsonl``."""
        lost = sorted(self._open.values())
        return {
            "last": self._last,
            "open": [(n, *self._pages[n]) for n in lost],
            "fetched": self.fetched,
            "relevant": self.relevant,
        }

    def restore(self, state: Mapping[str, Any], log: Path | None) -> None:
        """Take up what a checkpoint kept, and what ``crawl.jsonl`` holds of settled pages.

        Without that file the counts go on, those of pages that are fetched again included;
        paths begin anew, and what is the same is not known.
        """
        self._last = state["last"]
        if log is None:
            self.fetched, self.relevant = state["fetched"], state["relevant"]
            return
        parents: dict[str, int] = {}
        waiting: list[tuple[int, str | None]] = []
        for n, url, parent in state["open"]:
            self._pages[n] = _Page(url, parent)
            self._lost.add(n)
            parents.setdefault(url, n)
        with log.open(encoding="utf-8") as lines:
            for text in lines:
                line = json.loads(text)
                n = line["n"]
                self._pages[n] = _Page(line["url"], 0)
                parents[line["url"]] = n
                waiting.append((n, line["parent"]))
                self._first_with.setdefault(bytes.fromhex(line["digest"]), n)
                self.fetched += 1
                self.judged(line["relevant"])
        for n, url in waiting:
            if url is not None:
                self._pages[n] = self._pages[n]._replace(parent=parents.get(url, 0))
