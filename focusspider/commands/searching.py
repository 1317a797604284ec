"""What ``focus-search`` does: from sample documents and a search engine to authorities."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from focusspider.errors import TopicError
from focusspider.relevance import started_relevance
from focusspider.search.authorities import AuthoritySearch, Findings, Verdict
from focusspider.search.base import Answer, Hit
from focusspider.search.queries import Token, tokens_of
from focusspider.urls import BaseURL
from focusspider.webgraph.layers import Failed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from focusspider.commands.answers import Answers
    from focusspider.page import Page, PageParser
    from focusspider.relevance.base import Relevance
    from focusspider.search.authorities import Asked, SearchPlan
    from focusspider.search.base import SearchEngine
    from focusspider.topic import Topic

    _Fetch = Callable[[Sequence[str]], Awaitable[Sequence[Page | Failed]]]

__all__ = ["Searching"]

logger = logging.getLogger(__name__)


class Searching:
    """One search for the authorities of a topic.

    Parameters
    ----------
    urls
        Sample documents to fetch; those that are files are the topic's.
    answers
        What the engine has said already.

    Attributes
    ----------
    found : Findings
        It grows while the search goes on.
    samples : int
        Sample documents that were read, 0 where the topic's keywords take their place.
    failed : Counter
        Results that did not come: how many, by reason.
    """

    def __init__(
        self,
        *,
        topic: Topic,
        parser: PageParser,
        models_dir: Path,
        urls: Sequence[str],
        engine: SearchEngine,
        answers: Answers,
        plan: SearchPlan,
    ) -> None:
        self._topic = topic
        self._parser = parser
        self._models_dir = models_dir
        self._urls = tuple(urls)
        self._engine = engine
        self._answers = answers
        self._plan = plan
        self._fetch: _Fetch
        self._relevance: Relevance
        self._known = {BaseURL(url).url for url in urls}
        self.found = Findings()
        self.samples = 0
        self.failed: Counter[str] = Counter()

    async def work(self, fetch: _Fetch) -> None:
        """Read the sample documents, and search."""
        self._fetch = fetch
        documents = await self._documents()
        self.samples = len(documents)
        self._relevance = started_relevance(
            self._topic, self._parser.analyzer, documents, models_dir=self._models_dir
        )
        search = AuthoritySearch(
            self._plan,
            ask=self._ask,
            validate=self._validate,
            skip=lambda url: url in self._known or not self._topic.sites.allows(url),
            told=_told,
        )
        self.found = search.found
        await search.run(self._tokens(documents))

    def _tokens(self, documents: Sequence[Page]) -> list[Token]:
        if documents:
            return tokens_of(documents, self._parser.analyzer, self._plan.tokens)
        return [Token(keyword, 1.0) for keyword in self._topic.keywords[: self._plan.tokens]]

    async def _documents(self) -> list[Page]:
        """Return the sample documents, of which some may not come."""
        documents = [
            self._parser.parse_html(path.read_bytes(), path.absolute().as_uri())
            for path in self._topic.target_files
        ]
        reasons: Counter[str] = Counter()
        came = await self._fetch(self._urls) if self._urls else []
        for url, page in zip(self._urls, came, strict=True):
            if isinstance(page, Failed):
                logger.warning("Target %s is left out: %s", url, page.reason)
                reasons[page.reason] += 1
            else:
                self._known.update((page.url, *page.moved_from))
                documents.append(page)
        if self._urls and not documents:
            why = ", ".join(f"{count} × {reason}" for reason, count in reasons.most_common())
            raise TopicError(
                f"{self._topic.source}: none of the {len(self._urls)} targets came ({why}): mend "
                "their URLs"
            )
        return documents

    async def _ask(self, query: str, n: int) -> Answer:
        known = _answer_of(self._answers.get(query, n))
        if known is not None:
            return known
        answer = await asyncio.to_thread(self._engine.search, query, n)
        self._answers.keep(query, n, {"hits": answer.hits, "total": answer.total})
        return answer

    async def _validate(self, urls: Sequence[str]) -> list[Verdict]:
        verdicts = []
        for url, page in zip(urls, await self._fetch(urls), strict=True):
            if isinstance(page, Failed):
                self.failed[page.reason] += 1
                verdicts.append(Verdict(url, accepted=False))
                continue
            inside = page.url not in self._known and self._topic.sites.allows(page.url)
            verdicts.append(
                Verdict(page.url, accepted=inside and self._relevance.judge(page).relevant)
            )
        return verdicts


def _answer_of(kept: Any) -> Answer | None:
    """Return an answer as it was kept; None for what is none."""
    try:
        hits = tuple(Hit(str(url), str(title)) for url, title in kept["hits"])
        total = kept["total"]
    except (TypeError, KeyError, ValueError):
        return None
    return Answer(hits, total if isinstance(total, int) else None)


def _told(asked: Asked) -> None:
    total = "unknown" if asked.total is None else f"{asked.total:,}"
    logger.info(
        "%s: hits %s, results %d, accepted %d, new %d",
        asked.query, total, asked.results, asked.accepted, asked.new,
    )  # fmt: skip
