"""Pages and topics for tests, made by the real parser and the real analyzer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.page import Page, PageParser
from focusspider.profile import TopicProfile
from focusspider.text import Analyzer
from focusspider.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence

ANALYZER = Analyzer("english")


def page(html: str, url: str = "http://a.example/", *, aggregation: str = "parent") -> Page:
    """Parse a page."""
    return PageParser(analyzer=ANALYZER, aggregation=aggregation).parse_html(html, url)


def profile(
    *keywords: str,
    description: str = "",
    seeds: Sequence[str] = ("http://a.example/",),
    targets: Sequence[Page] = (),
) -> TopicProfile:
    """Make the profile of a topic; without keywords it needs a description or targets."""
    topic = Topic(
        name="test",
        keywords=keywords,
        description=description,
        seeds=tuple(seeds),
        targets=tuple(target.url for target in targets) or ("http://gone.example/",),
        source="test.toml",
    )
    made = TopicProfile(topic, ANALYZER)
    for target in targets:
        made.add_target(target)
    return made
