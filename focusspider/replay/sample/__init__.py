"""A web of about 600 pages on 12 hosts, made in memory, the same every time.

It is there to try a crawl without the network: ``FOCUS_REPLAY = "sample"``. Its topic is the
restoration of mechanical clocks. About a tenth of its pages are on topic, most of them behind
link lists that are not; others share a word or two with it. It holds what crawls stumble over:
a calendar without end, redirects in chains and loops, frames, broken HTML, four charsets, pages
that exist twice, a robots.txt with something in it, images that say they are HTML.

All names are made up, and all hosts end in ``.example``, which no real host does.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from focusspider.replay.archive import page_key
from focusspider.replay.sample.craft import FORUM, MUSEUM, WIKI, build_craft
from focusspider.replay.sample.markup import render
from focusspider.replay.sample.oddities import attach_oddities, html, made_on_demand, oddities
from focusspider.replay.sample.town import THORNBY, build_town
from focusspider.replay.sample.web import Web

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focusspider.page import Page
    from focusspider.replay.archive import Stored

__all__ = [
    "SAMPLE_KEYWORDS",
    "SAMPLE_SEEDS",
    "SampleWeb",
    "is_relevant",
    "relevant_urls",
    "sample_web",
]

SAMPLE_SEEDS = (MUSEUM, FORUM, THORNBY, f"{WIKI}Main_Page")
SAMPLE_KEYWORDS = (
    "clock",
    "clockmaker",
    "restoration",
    "movement",
    "escapement",
    "pendulum",
    "mainspring",
    "pivot",
)


class SampleWeb:
    """The sample web, as an archive.

    Pages of which there are more than can be listed, such as the months of the calendar, are
    made when they are asked for, and are not among :meth:`urls`.
    """

    def __init__(self) -> None:
        self._web = Web()
        build_craft(self._web)
        build_town(self._web)
        attach_oddities(self._web)
        self._stored: dict[str, Stored] = {}
        relevant = []
        for site in self._web.sites:
            for page in site.pages:
                url = page_key(page.url)
                charset = "utf-8" if site.layout in {"modern", "posts"} else ""
                if page.charset != "utf-8":
                    charset = ""
                self._stored[url] = html(url, render(page, site), charset)
                if page.relevant:
                    relevant.append(url)
        for stored in oddities(self._web):
            self._stored[stored.url] = stored
        bodies = {self._stored[url].body for url in relevant}
        self.relevant = frozenset(
            url for url, stored in self._stored.items() if stored.body in bodies
        )

    def get(self, url: str) -> Stored | None:
        """Return a page."""
        key = page_key(url)
        return self._stored.get(key) or made_on_demand(key, self._web)

    def urls(self) -> Iterator[str]:
        """Yield the URLs, host by host."""
        return iter(self._stored)

    def __len__(self) -> int:
        """Return how many URLs there are, without those that are made on demand."""
        return len(self._stored)


@cache
def sample_web() -> SampleWeb:
    """Return the sample web, made once."""
    return SampleWeb()


def relevant_urls() -> frozenset[str]:
    """Return the URLs of the pages that are on topic, by how they were made."""
    return sample_web().relevant


def is_relevant(page: Page) -> bool:
    """Return whether a page is on topic, by how it was made: a judge for benchmarks."""
    return page_key(page.url) in relevant_urls()
