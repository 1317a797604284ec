"""Where what a page asks for goes in the queue: links by score, the rest as its spider says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider.payload import ScoredLink
from focusspider.priority import FIRST, among_scores, around_scores, scalar_priorities

if TYPE_CHECKING:
    from scrapy import Request

    from focusspider.page import Link
    from focusspider.session import Session
    from focusspider.strategies.base import LinkScores
    from focusspider.urls import Fingerprinter
    from focusspider.visits import Visit

__all__ = ["PageScorer"]

#: Of what a response asks for that is no page, such as a sitemap: there is nothing to judge.
_UNKNOWN = 0.5


class PageScorer:
    """The scores of one page's links, computed when the first is asked for."""

    def __init__(self, session: Session, visit: Visit, fingerprinter: Fingerprinter) -> None:
        self.visit = visit
        self._session = session
        self._fingerprinter = fingerprinter
        self._scores: LinkScores | None = None
        self._by_url: dict[str, Link] = {}
        self._by_fingerprint: dict[bytes, Link] = {}

    @property
    def scores(self) -> LinkScores:
        """What the strategy gave the links, by their position."""
        if self._scores is None:
            scores = self._session.score(self.visit)
            self._scores = scores._replace(priorities=among_scores(scores.priorities))
        return self._scores

    def scored(self, link: Link) -> ScoredLink:
        """Return a link as the frontier takes it."""
        explain = self._explain(link) if self._session.config.explain else None
        return ScoredLink(link.url, self._priority(link), link.anchor, explain)

    def focus(self, request: Request, link: Link | None = None) -> dict[str, Any]:
        """Return what a Request carries of its origin and its place in the queue.

        A link of the page has its score. What the spider gave a ``priority`` comes before
        every link, or after every link if it is negative. Of the rest, the next step of
        what a callback began (a form, a callback's arguments, what must not be filtered)
        comes before every link as well, and a plain URL is as good as its page.
        """
        focus: dict[str, Any] = {"parent": self.visit.n}
        plain = request.method == "GET" and not request.body
        if link is None and plain:
            link = self._link_of(request)
        if link is not None:
            focus |= {"priority": self._priority(link), "anchor": link.anchor}
            if self.scores.state is not None:
                focus["state"] = list(self.scores.state)
            if self._session.config.explain:
                focus["explain"] = self._explain(link)
        if request.priority:
            focus["place"] = around_scores(request.priority)
        elif link is None:
            step = not plain or request.dont_filter or bool(request.cb_kwargs)
            focus["place"] = FIRST if step else self._page_priority()
        return focus

    def _priority(self, link: Link) -> int:
        return int(self.scores.priorities[link.position])

    def _page_priority(self) -> int:
        score = self.visit.judgement.relevance if self.visit.page is not None else _UNKNOWN
        return int(among_scores(scalar_priorities(score))[0])

    def _explain(self, link: Link) -> dict[str, float]:
        return {
            name: round(float(values[link.position]), 6)
            for name, values in self.scores.parts.items()
        }

    def _link_of(self, request: Request) -> Link | None:
        """Return the page's link that a Request follows, the best where it has several."""
        page = self.visit.page
        if page is None or not page.links:
            return None
        if not self._by_url:
            for link in page.links:
                known = self._by_url.get(link.url)
                if known is None or self._priority(known) < self._priority(link):
                    self._by_url[link.url] = link
        found = self._by_url.get(request.url.partition("#")[0])
        if found is not None:
            return found
        if not self._by_fingerprint:  # spelt differently, but the same to the frontier
            for url, link in self._by_url.items():
                self._by_fingerprint.setdefault(self._fingerprinter.of_url(url), link)
        return self._by_fingerprint.get(self._fingerprinter.of_request(request))
