"""The contract of a relevance judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.profile import TopicProfile

__all__ = ["Judgement", "Relevance"]


class Judgement(NamedTuple):
    """What a judge says of a page.

    ``relevance`` is in [0, 1]. ``why`` names the rule, the target or the label that
    decided, in words for a person. ``failed`` says that the judge could not tell, for a
    reason of its own: the page is counted, and not relevant.
    """

    relevance: float
    relevant: bool
    why: str
    failed: bool = False


class Relevance(Protocol):
    """Decides whether a page is what the user wants.

    One that looks at tables may also have ``facts(page)``, which returns those of ``page.tables``
    that hold what is wanted; see :mod:`focusspider.facts`.
    """

    def start(self, profile: TopicProfile) -> None:
        """Learn the topic; called once, before the first page, when targets are known."""
        ...

    def judge(self, page: Page) -> Judgement:
        """Judge a page."""
        ...
