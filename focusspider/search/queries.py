"""From sample documents to queries for a search engine (AQG, automatic query generation).

K. Shchekotykhin, D. Jannach, G. Friedrich: xCrawl: A High-Recall Crawling Method for Web
Mining, section 4. The tokens of the sample documents have a TF-IDF weight and a search weight,
their number of hits by that of the token with the most. They are ordered by the harmonic mean
of both, and queries are made from the middle of that list outwards: what is at its ends is too
general, or too specific.

The paper does not say how many documents a TF-IDF weight is of, nor how it is brought into
[0, 1]. Here a document is a vector of length 1 of counts times ``ln((1 + N) / (1 + df)) + 1``,
with N sample documents of which df hold the token; a token's weight is its mean over the
documents, by that of the heaviest token. Stems are weighed, since the forms of a word are one
token to most engines; a query has the form that is the most frequent.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from focusspider.text import Analyzer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focusspider.page import Page

__all__ = ["Token", "WeighedToken", "harmonic_mean", "outwards", "queries", "tokens_of", "weigh"]


class Token(NamedTuple):
    """A word of the sample documents.

    ``tfidf`` is its weight in (0, 1], ``share`` the share of the documents that hold it.
    """

    word: str
    tfidf: float
    share: float = 1.0


class WeighedToken(NamedTuple):
    """A word with its weights, a row of the paper's table 1.

    ``hits`` is None where the engine does not count; ``search`` is the search weight in [0, 1],
    and ``mean`` the harmonic mean of it and ``tfidf``.
    """

    word: str
    tfidf: float
    hits: int | None
    search: float
    mean: float


def tokens_of(documents: Sequence[Page], analyzer: Analyzer, n: int) -> list[Token]:
    """Return the n tokens of sample documents that weigh most, the heaviest first."""
    words = Analyzer(None)
    totals: dict[str, float] = {}
    shares: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    counts = [document.terms for document in documents]
    for terms in counts:
        shares.update(terms.keys())
    idf = {stem: math.log((1 + len(counts)) / (1 + df)) + 1 for stem, df in shares.items()}
    for document, terms in zip(documents, counts, strict=True):
        weights = {stem: count * idf[stem] for stem, count in terms.items()}
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        for stem, weight in weights.items():
            totals[stem] = totals.get(stem, 0.0) + weight / length
        for word, count in words.terms(f"{document.title} {document.text}").items():
            for stem in analyzer.stems(word, document.language):
                forms.setdefault(stem, Counter())[word] += count
    heaviest = sorted(totals, key=lambda stem: (-totals[stem], stem))[:n]
    return [
        Token(
            min(forms.get(stem, {stem: 1}).items(), key=lambda form: (-form[1], form[0]))[0],
            totals[stem] / totals[heaviest[0]],
            shares[stem] / len(counts),
        )
        for stem in heaviest
    ]


def harmonic_mean(a: float, b: float) -> float:
    """Return the harmonic mean of two weights, 0 where one of them is.

    >>> round(harmonic_mean(1.0, 0.09), 3)
    0.165
    """
    return 2 * a * b / (a + b) if a and b else 0.0


def weigh(tokens: Sequence[Token], hits: Sequence[int] | None) -> list[WeighedToken]:
    """Return tokens with their weights, the greatest harmonic mean first.

    Parameters
    ----------
    hits
        How many pages the engine has for each token. A token without a hit is left out: no
        query with it has one. None where the engine does not count. Then the share of the
        sample documents that hold the token stands for the share of the web's that do.
    """
    counted: Sequence[int | None] = [None] * len(tokens) if hits is None else hits
    most = max(hits, default=0) if hits else 0
    rows = []
    for token, count in zip(tokens, counted, strict=True):
        if count == 0:
            continue
        search = token.share if count is None else count / most
        mean = harmonic_mean(token.tfidf, search)
        rows.append(WeighedToken(token.word, token.tfidf, count, search, mean))
    return sorted(rows, key=lambda row: -row.mean)  # equals stay in their order


def outwards(tokens: Sequence[WeighedToken]) -> list[WeighedToken]:
    """Return an ordered list from its middle to both of its ends.

    Of two that are equally far, the one comes first whose mean is nearer to that of the
    middle. Of an even number the upper one of the two in the middle is the middle.
    """
    middle = (len(tokens) - 1) // 2
    places = sorted(
        range(len(tokens)),
        key=lambda place: (
            abs(place - middle),
            abs(tokens[place].mean - tokens[middle].mean),
            place,
        ),
    )
    return [tokens[place] for place in places]


def queries(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Yield all combinations of up to ``length`` words, those of the first words first.

    The first is of the first ``length`` words, and then come those of a part of them; after
    that, with each word that follows, all that are of it and of words before it, the longest
    first.

    >>> [" ".join(query) for query in queries("abc", 2)]
    ['a b', 'a', 'b', 'a c', 'b c', 'c']
    """
    first = min(length, len(words))
    for size in range(first, 0, -1):
        yield from combinations(words[:first], size)
    for last in range(first, len(words)):
        for size in range(length - 1, -1, -1):
            for others in combinations(words[:last], size):
                yield (*others, words[last])
