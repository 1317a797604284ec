"""Small collections of pages that a test knows the structure of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.corpus import Corpus

if TYPE_CHECKING:
    import numpy as np

    from focusspider.corpus import Counts


def counts(pages: list[dict[str, int]]) -> Counts:
    corpus = Corpus()
    for page in pages:
        corpus.add(page)
    return corpus.counts()


def page_about(topic: str, random: np.random.Generator, *, n_words: int = 30) -> dict[str, int]:
    """Return a page that takes two thirds of its words from a topic's vocabulary."""
    own = random.zipf(1.5, n_words * 2 // 3) % 20
    shared = random.integers(30, size=n_words // 3)
    page: dict[str, int] = {}
    for word in [*(f"{topic}{w}" for w in own), *(f"shared{w}" for w in shared)]:
        page[word] = page.get(word, 0) + 1
    return page
