"""Sentences from small hand-written themes, the same on every machine.

A theme is a file in ``themes/``: sentences and titles with ``{slots}``, and what may fill each
slot. Text is drawn with the generator's ``random()`` alone, the one method whose sequence
Python promises not to change.
"""

from __future__ import annotations

import random
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Dice", "Theme"]

T = TypeVar("T")

_SLOT = re.compile(r"{(\w+)}")
_TITLE_TRIES = 200


class Dice:
    """Draws that depend on a text alone, such as a page's URL."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n − 1."""
        return int(self._random() * n)

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """Return n different items, or all of them where there are fewer, in random order."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(min(n, len(rest)))]


class Theme:
    """What can be said about one thing."""

    def __init__(self, name: str) -> None:
        text = files(__package__).joinpath("themes", f"{name}.toml").read_text("utf-8")
        table = tomllib.loads(text)
        self._titles: list[str] = table["titles"]
        self._sentences: list[str] = table["sentences"]
        self._slots: dict[str, list[str]] = table["slots"]

    @classmethod
    @cache
    def named(cls, name: str) -> Theme:
        """Return a theme, read once."""
        return cls(name)

    def title(self, dice: Dice, taken: set[str]) -> str:
        """Return a title that is not taken, and take it."""
        for _ in range(_TITLE_TRIES):
            title = self._fill(dice.pick(self._titles), dice)
            if title not in taken:
                taken.add(title)
                return title
        raise ValueError(f"no title left after {len(taken)}: give the theme more of them")

    def paragraphs(self, dice: Dice, lengths: Sequence[int]) -> list[str]:
        """Return paragraphs of so many sentences; none is repeated while others are left."""
        deck: list[str] = []
        paragraphs = []
        for length in lengths:
            drawn = []
            for _ in range(length):
                deck = deck or dice.sample(self._sentences, len(self._sentences))
                drawn.append(self._fill(deck.pop(), dice))
            paragraphs.append(" ".join(drawn))
        return paragraphs

    def _fill(self, text: str, dice: Dice) -> str:
        return _SLOT.sub(lambda slot: dice.pick(self._slots[slot[1]]), text)
