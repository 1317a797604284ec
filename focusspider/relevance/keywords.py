"""Relevance by words and patterns that a page must have."""

from __future__ import annotations

import logging
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from focusspider.errors import TopicError
from focusspider.registry import check_choice, check_texts
from focusspider.relevance.base import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focusspider.page import Page
    from focusspider.profile import TopicProfile

__all__ = ["FIELDS", "MAX_SEARCHED", "KeywordRelevance"]

logger = logging.getLogger(__name__)

FIELDS = ("title", "url", "body")
#: How many characters of a field are searched.
MAX_SEARCHED = 100_000
_SHOWN = 5  # words in an explanation
_LONG = 5  # words; a longer keyword is hardly meant as a phrase
_BETWEEN = str.maketrans("-_+/", "    ")  # what stands between the words of a URL
# Scripts that write no space between words, and Korean, which joins particles to them.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


class KeywordRelevance:
    """A page is relevant where each rule that is given holds.

    Words are literal: they are not stemmed, their case does not matter, and they must
    stand alone, so that *cat* is not in *category*. The words of a phrase must follow one
    another; in a URL, ``-``, ``_``, ``+`` or ``/`` may be between them. In scripts without
    spaces between words, a word may stand anywhere.

    Without any rule, a page must have one of the topic's keywords.

    Parameters
    ----------
    all : list of str
        Words or phrases; each must be in one of the fields.
    any : list of str
        Words or phrases; one must be in one of the fields.
    patterns : list of str
        Regular expressions of Python's; one must match somewhere in one of the fields.
        Case does not matter. They run on pages that are not yours: one with a repetition
        inside a repetition, such as ``(a+)+b``, may never end on some of them.
    fields : list of str
        Which of ``"title"``, ``"url"`` and ``"body"`` are searched, each up to its first
        100,000 characters.
    """

    def __init__(
        self,
        *,
        all: Sequence[str] = (),  # noqa: A002 - the names that users write
        any: Sequence[str] = (),  # noqa: A002
        patterns: Sequence[str] = (),
        fields: Sequence[str] = FIELDS,
    ) -> None:
        self.all = all
        self.any = any
        self.patterns = patterns
        self.fields = fields
        for name, texts in (("all", all), ("any", any), ("patterns", patterns), ("fields", fields)):
            check_texts(name, texts)
        for field in fields:
            check_choice("fields", field, FIELDS)
        if not fields:
            raise ValueError(f"fields must name some of {', '.join(FIELDS)}, got none")
        self._all = [_Word.of(text) for text in all]
        self._any = [_Word.of(text) for text in any]
        self._patterns = [_Pattern.of(text) for text in patterns]

    def start(self, profile: TopicProfile) -> None:
        """Take the topic's keywords where there is no rule; raise where it has none."""
        if self._all or self._any or self._patterns:
            return
        if not profile.topic.keywords:
            raise TopicError(
                f"{profile.topic.source}: relevance 'keywords' has no rule, and the topic has no "
                f"keywords; give all, any or patterns, or keywords"
            )
        self._any = [_Word.of(phrase) for phrase in profile.topic.keywords]
        for phrase in profile.topic.keywords:
            if len(phrase.split()) >= _LONG:
                logger.warning(
                    "relevance 'keywords' looks for %r as one phrase; give its words one by one "
                    "where one of them will do",
                    phrase,
                )

    def judge(self, page: Page) -> Judgement:
        """Apply the rules to a page."""
        fields = [_Field.of(name, page) for name in self.fields]
        found: list[str] = []
        groups: list[Sequence[_Word | _Pattern]] = [[word] for word in self._all]
        for rules in (*groups, self._any, self._patterns):
            if not rules:
                continue
            hit = next(((rule, f) for rule in rules for f in fields if rule.is_in(f)), None)
            if hit is None:
                missing = [rule.shown for rule in rules]
                more = f" or {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
                return Judgement(0.0, False, f"no {' or '.join(missing[:_SHOWN])}{more}")
            found.append(f"{hit[0].shown} in {hit[1].name}")
        return Judgement(1.0, True, ", ".join(found))


class _Field(NamedTuple):
    """A part of a page, as it is for patterns and made plain for words."""

    name: str
    text: str
    plain: str

    @classmethod
    def of(cls, name: str, page: Page) -> _Field:
        if name == "url":
            text = unquote(page.url)[:MAX_SEARCHED]
            return cls(name, text, _plain(f"{text} {text.translate(_BETWEEN)}"))
        text = (page.title if name == "title" else page.text)[:MAX_SEARCHED]
        return cls(name, text, _plain(text))


class _Word(NamedTuple):
    """A word or phrase, and whether other letters may touch its ends."""

    shown: str
    needle: str
    joins_left: bool
    joins_right: bool

    @classmethod
    def of(cls, text: str) -> _Word:
        needle = _plain(" ".join(text.split()))
        return cls(repr(text), needle, _joins(needle[0]), _joins(needle[-1]))

    def is_in(self, field: _Field) -> bool:
        text = field.plain
        start = text.find(self.needle)
        while start >= 0:
            end = start + len(self.needle)
            if (self.joins_left or not text[max(start - 1, 0) : start].isalnum()) and (
                self.joins_right or not text[end : end + 1].isalnum()
            ):
                return True
            start = text.find(self.needle, start + 1)
        return False


class _Pattern(NamedTuple):
    """A regular expression."""

    shown: str
    regex: re.Pattern[str]

    @classmethod
    def of(cls, text: str) -> _Pattern:
        try:
            return cls(f"/{text}/", re.compile(text, re.IGNORECASE))
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(
                f"patterns: {text!r} is not a regular expression: {error}; mend it"
            ) from None

    def is_in(self, field: _Field) -> bool:
        return self.regex.search(field.text) is not None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _joins(character: str) -> bool:
    """Return whether a letter may touch this one and still be of another word."""
    return not character.isalnum() or _UNSPACED.match(character) is not None
