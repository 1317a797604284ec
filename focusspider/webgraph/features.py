"""Features of pages and links, by name: what MEMM and CRF look at (Liu and Milios 2010, 3.2).

A feature is named ``family:token``, as ``words:linux``. The families are those of the paper's
table 1 and, beyond it, six that can be switched on:

==============  =====================================================================
``text``        cosine of the page's text with the most similar target (O1, real)
``description`` cosine of its meta description and keywords with the topic's (O2, real)
``words``       words of its title, headings, meta description and keywords, and
                important words of the targets that are in its text (Ow)
``page_urls``   one of the URLs in the page holds a keyword of the topic (O3)
``url``         the URL of the page itself holds one (O4)
``pointing``    words of the anchor that led to the page (O5)
``child``       words of the anchor that leads on from it (O6); with look-ahead words of
                all its anchors, which is how table 1 itself words it
``body``        all words of the page's text
``url_words``   words of the page's URL
``context``     words around the link that led to the page
``tag_path``    the last tags that lead to that link
``shape``       how its anchor and URL are written, and where the URL is
                (:func:`~focusspider.webgraph.shapes.link_shapes`)
``ahead``       words of its anchor and URL once more, as of a page that is not fetched
==============  =====================================================================

Values are 1 where nothing else is said. The edge features of table 1 are the models' own
(their parameter ``edge``). ``url``, ``pointing``, ``url_words`` and those of :data:`AHEAD` are
known of a page before it is fetched: its parent shows them. What a weight of ``pointing`` or
``url_words`` is worth is learnt mostly of pages that were fetched, where the text says the same
and better. With ``ahead`` they have weights of their own where they are all that there is, as
in domain adaptation (Daumé 2007, "Frustratingly easy domain adaptation").
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from focusspider.errors import UnknownNameError
from focusspider.registry import check_flag, check_texts
from focusspider.text import Terms, cosine
from focusspider.webgraph.shapes import link_shapes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from focusspider.page import Link, Page
    from focusspider.profile import TargetPage, TopicProfile
    from focusspider.text import Analyzer

__all__ = [
    "AHEAD",
    "FAMILIES",
    "TABLE_1",
    "PageFeatures",
    "Row",
    "TargetSimilarities",
    "important_words",
]

#: The families of the paper, and all that there are.
TABLE_1 = ("text", "description", "words", "page_urls", "url", "pointing", "child")
#: What is known of a page until it is fetched, and then no more: it helps look-ahead alone.
AHEAD = ("context", "tag_path", "shape", "ahead")
FAMILIES = (*TABLE_1, "body", "url_words", *AHEAD)
#: Values of features by name; those that are not there are 0.
Row = dict[str, float]

#: Keywords up to so many characters must be a word of a URL; longer ones may be part of one.
SHORT_KEYWORD = 3
#: Links of a page whose URLs and anchors are looked at, and characters of a URL.
MAX_LINKS = 2_000
MAX_URL = 500
_TAGS = 3
_WORD = re.compile(r"[^\W\d_]{2,30}")


class TargetSimilarities(Protocol):
    """Compares a text with targets, as :class:`focusspider.relevance.TargetVectors` does."""

    urls: Sequence[str]

    def similarities(self, terms: Mapping[str, int]) -> Iterable[float]:
        """Return the similarity to each target, (n_targets,), in [0, 1]."""
        ...


class PageFeatures:
    """Makes features of pages and links for one topic.

    Parameters
    ----------
    profile : TopicProfile
        Its keywords (or, without any, keywords and description) are looked for in URLs; its
        description (or the keywords) is compared with those of pages; its targets with
        their text.
    families : sequence of str
        Which of :data:`FAMILIES` are made.
    lookahead : bool
        Whether the next page of a path is predicted from what its parent shows of it. If
        not, a page's features hold the anchor of the link that is followed from it
        (``child``), and priorities of links are beliefs about the page that has them: the
        literal reading of 3.3.
    important : collection of str
        Terms that count wherever in a page they are; see :func:`important_words`.
    targets : TargetSimilarities, optional
        Takes the place of the cosine with the profile's targets; quicker for many.

    Notes
    -----
    A page that is itself a target is compared with the others, so that what is learnt of
    targets holds for pages that are not known to be one; with one target only, there is
    nothing else to compare with.
    """

    def __init__(
        self,
        profile: TopicProfile,
        *,
        families: Sequence[str] = TABLE_1,
        lookahead: bool = True,
        important: Collection[str] = (),
        targets: TargetSimilarities | None = None,
    ) -> None:
        check_texts("families", list(families))
        for family in families:
            if family not in FAMILIES:
                raise UnknownNameError("family of features", family, FAMILIES)
        check_flag("lookahead", lookahead)
        self.families = tuple(family for family in FAMILIES if family in families)
        self.lookahead = lookahead
        self.important = frozenset(important)
        self._on = frozenset(families)
        self._analyzer = profile.analyzer
        self._targets = _Cosines(profile.targets) if targets is None else targets
        self._description = profile.description or profile.keywords
        self._keywords = _pattern(profile.keywords or profile.query)

    def parameters(self) -> dict[str, Any]:
        """Return what it was made with, the profile aside; fit for JSON."""
        return {
            "families": list(self.families),
            "lookahead": self.lookahead,
            "important": sorted(self.important),
        }

    def of_page(self, page: Page) -> Row:
        """Return what a page shows of itself."""
        on = self._on
        row: Row = {}
        if "text" in on:
            row["text:"] = self._text(page)
        if "description" in on:
            own = self._terms(f"{page.description}\n{page.keywords}", page)
            row["description:"] = cosine(self._description, own)
        if "words" in on:
            parts = (page.title, page.description, page.keywords, *page.headings)
            words = self._terms("\n".join(parts), page).keys()
            _add(row, "words:", words)
            if self.important:
                _add(row, "words:", self.important & page.terms.keys())
        if "body" in on:
            _add(row, "body:", page.terms)
        if "page_urls" in on and self._keywords:
            urls = "\n".join([link.url[:MAX_URL] for link in page.links[:MAX_LINKS]])
            if self._keywords.search(_readable(urls)):
                row["page_urls:"] = 1.0
        if "child" in on and self.lookahead:
            for link in page.links[:MAX_LINKS]:
                _add(row, "child:", page.anchor_terms(link))
        return {name: value for name, value in row.items() if value}

    def of_link(self, page: Page, link: Link) -> Row:
        """Return what a page shows of the page that one of its links leads to."""
        on = self._on
        row = self.of_url(link.url)
        if "pointing" in on:
            _add(row, "pointing:", page.anchor_terms(link))
        if "context" in on:
            _add(row, "context:", page.context_terms(link))
        if "tag_path" in on and link.tag_path:
            row["tag_path:" + "/".join(link.tag_path.split("/")[-_TAGS:])] = 1.0
        if "shape" in on:
            _add(row, "shape:", link_shapes(page.url, link.url, link.anchor))
        if "ahead" in on:
            row["ahead:"] = 1.0
            _add(row, "ahead:url=", _url_words(_readable(link.url[:MAX_URL])))
            _add(row, "ahead:anchor=", page.anchor_terms(link))
        return row

    def of_url(self, url: str) -> Row:
        """Return what is known of a page that no link has led to, such as a seed."""
        row: Row = {}
        readable = _readable(url[:MAX_URL])
        if "url" in self._on and self._keywords and self._keywords.search(readable):
            row["url:"] = 1.0
        if "url_words" in self._on:
            _add(row, "url_words:", _url_words(readable))
        return row

    def of_anchor(self, url: str, anchor: str) -> Row:
        """Return what a request keeps of :meth:`of_link` until its page is fetched.

        The anchor is taken for one in the topic's language.
        """
        row = self.of_url(url)
        if "pointing" in self._on:
            _add(row, "pointing:", self._analyzer.terms(anchor))
        return row

    def of_next(self, page: Page, link: Link) -> Row:
        """Return what a page shows by the link that is followed; nothing with look-ahead."""
        row: Row = {}
        if "child" in self._on and not self.lookahead:
            _add(row, "child:", page.anchor_terms(link))
        return row

    def _text(self, page: Page) -> float:
        urls = self._targets.urls
        if not urls:
            return 0.0
        similarities = list(self._targets.similarities(page.terms))
        if page.url in urls and len(urls) > 1:
            similarities.pop(list(urls).index(page.url))
        return float(max(similarities))

    def _terms(self, text: str, page: Page) -> Terms:
        return self._analyzer.terms(text, page.language)


class _Cosines:
    """Cosines with targets, one after the other."""

    def __init__(self, targets: Iterable[TargetPage]) -> None:
        self._targets = tuple(targets)
        self.urls = tuple(target.url for target in self._targets)

    def similarities(self, terms: Mapping[str, int]) -> list[float]:
        own = terms if isinstance(terms, Terms) else Terms(terms)
        return [cosine(target.terms, own) for target in self._targets]


def important_words(pages: Iterable[Page], analyzer: Analyzer, *, limit: int = 500) -> list[str]:
    """Return the words of target pages that the paper calls important.

    They are those of title, headings, meta description and keywords: the ``limit`` that are
    in most of the pages, ties by alphabet.
    """
    counts: Counter[str] = Counter()
    for page in pages:
        text = "\n".join((page.title, page.description, page.keywords, *page.headings))
        counts.update(analyzer.terms(text, page.language).keys())
    return sorted(counts, key=lambda word: (-counts[word], word))[:limit]


def _add(row: Row, prefix: str, tokens: Iterable[str]) -> None:
    for token in tokens:
        row[prefix + token] = 1.0


def _url_words(url: str) -> list[str]:
    """Return the words of the path and query of a readable URL, and a tilde."""
    path = "/" + url.partition("://")[2].partition("/")[2]
    words = _WORD.findall(path)
    return [*words, "~"] if "/~" in path else words


def _readable(url: str) -> str:
    return (unquote(url, errors="replace") if "%" in url else url).lower()


def _pattern(keywords: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds a keyword in a URL: its stem, or of a short one the word."""
    parts = [
        re.escape(stem)
        if len(stem) > SHORT_KEYWORD
        else rf"(?<![^\W\d_]){re.escape(stem)}(?![^\W\d_])"
        for stem in sorted(keywords)
    ]
    return re.compile("|".join(parts)) if parts else None
