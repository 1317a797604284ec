"""The topic as terms: what strategies and judges compare pages with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from focusspider.errors import TopicError
from focusspider.urls import host_of, resolve

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.text import Analyzer, Terms
    from focusspider.topic import Topic

__all__ = ["TargetPage", "TopicProfile"]


class TargetPage(NamedTuple):
    """A page that is what the user wants."""

    url: str
    terms: Terms
    page: Page


class TopicProfile:
    """What strategies and judges know of a topic; complete before the first page.

    Parameters
    ----------
    topic
        The topic; its keywords and description are analysed in its language.
    analyzer
        Makes terms of text.

    Attributes
    ----------
    keywords, description, query
        Terms of the keywords, of the description, and of both.
    phrases
        The stems of each keyword, in their order; keywords of stop words alone are left out.
    seed_hosts
        Fully qualified host names of the seeds, spelt as those of links are.
    targets
        The target pages, in the order in which they were read.
    """

    def __init__(self, topic: Topic, analyzer: Analyzer) -> None:
        self.topic = topic
        self.analyzer = analyzer
        phrases = (tuple(analyzer.stems(keyword)) for keyword in topic.keywords)
        self.phrases: tuple[tuple[str, ...], ...] = tuple(filter(None, phrases))
        keywords = "\n".join(topic.keywords)
        self.keywords: Terms = analyzer.terms(keywords)
        self.description: Terms = analyzer.terms(topic.description)
        self.query: Terms = analyzer.terms(f"{keywords}\n{topic.description}")
        self.seed_hosts: frozenset[str] = frozenset(
            host_of(resolve(url, "/")) for url in topic.seeds
        )
        self.targets: tuple[TargetPage, ...] = ()
        if not self.query and not topic.targets:
            raise TopicError(
                f"{topic.source}: keywords and description leave no terms, since stop words, "
                f"numbers and punctuation do not count; give words that the pages wanted use"
            )

    def add_target(self, page: Page) -> None:
        """Add a page that is what the user wants; before the first page is judged."""
        self.targets += (TargetPage(page.url, page.terms, page),)
