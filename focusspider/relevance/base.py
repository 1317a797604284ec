"""The contract of a relevance judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from focusspider.page import Page
    from focusspider.profile import TopicProfile

__all__ = ["Judgement", "Relevance", "sound"]


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


def sound(judgement: Judgement) -> Judgement:
    """Return a judgement, or that its judge has failed where its relevance is not in [0, 1].

    >>> sound(Judgement(float("nan"), True, "of mine"))[:2]
    (0.0, False)
    """
    if 0 <= judgement.relevance <= 1:  # false of NaN
        return judgement
    why = f"the relevance {judgement.relevance!r} is not in [0, 1] ({judgement.why})"
    return Judgement(0.0, False, why[:200], failed=True)


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
