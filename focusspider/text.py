"""Tokens, stems and term vectors: the bag of words that every method here starts from.

A token is a run of letters, digits and combining marks, lower-cased, of 2 to 64
characters, and not a number. Longer ones are dropped: they are keys and encoded data.
An apostrophe does not end a token; of what it joins the longest part is kept, so that
*dog's* and *l'homme* become *dog* and *homme*. Languages that write no spaces are not
segmented: a run between two punctuation marks is one token.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

import Stemmer

from focusspider.errors import UnknownNameError
from focusspider.stopwords import stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Analyzer", "Terms", "cosine", "language_name", "plain"]

MIN_TOKEN = 2
MAX_TOKEN = 64
#: Texts up to this length are analysed once and then remembered.
SHORT_TEXT = 64
#: Tokens whose stem is remembered, and short texts whose terms are,
#: a language; then it starts again from none.
CACHE_SIZE = 50_000

#: ISO 639-1 codes of the languages that PyStemmer stems or that have stop words.
_CODES = {
    "ar": "arabic", "bg": "bulgarian", "ca": "catalan", "cs": "czech", "da": "danish",
    "de": "german", "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "gu": "gujarati", "he": "hebrew", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean",
    "lt": "lithuanian", "ms": "malaysian", "nb": "norwegian", "ne": "nepali", "nl": "dutch",
    "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sk": "slovak", "sr": "serbian", "st": "sesotho",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "uk": "ukrainian", "vi": "vietnamese",
    "yi": "yiddish", "zh": "chinese",
}  # fmt: skip
_STEMMED = frozenset(Stemmer.algorithms())
_NAMES = frozenset(_CODES.values()) | _STEMMED

# ASCII letters to lower case, digits and the apostrophe as they are, every other ASCII
# character to a space. Bytes of longer UTF-8 sequences pass: such tokens are rare in most
# pages, and are taken apart once each, when their stem is first looked up.
_TABLE = bytes(
    code
    if code >= 0x80 or chr(code).isdigit() or chr(code).islower() or chr(code) == "'"
    else ord(chr(code).lower())
    if chr(code).isupper()
    else 0x20
    for code in range(256)
)


_NO_WORD = re.compile(r"[\W_]+")


def language_name(code: str | None) -> str | None:
    """Return the name of a language, as PyStemmer has it, from a code or a name.

    Languages that PyStemmer lacks but that have stop words are named too; their tokens
    are not stemmed. None: not known.

    >>> language_name("en-GB"), language_name("de_AT"), language_name("French")
    ('english', 'german', 'french')
    >>> language_name("tlh") is None
    True
    """
    if not code:
        return None
    name = code.strip().lower()
    if name in _NAMES:
        return name
    return _CODES.get(name.replace("_", "-").partition("-")[0])


def plain(text: str) -> str:
    """Return the words of a text in small letters with one space between, as they are compared.

    >>> plain("Sensor size:"), plain("sensor-size")
    ('sensor size', 'sensor size')
    """
    return _NO_WORD.sub(" ", text).strip().casefold()


class Terms(dict[str, int]):
    """Counts of terms, not to be changed once made: their norm is remembered."""

    __slots__ = ("_norm", "_total")
    _norm: float
    _total: int

    @classmethod
    def of(cls, terms: Iterable[str]) -> Terms:
        """Count terms.

        >>> Terms.of(["a", "b", "a"])
        {'a': 2, 'b': 1}
        """
        return cls(Counter(terms))

    @classmethod
    def merged(cls, parts: Iterable[Terms]) -> Terms:
        """Add up the counts of several.

        >>> Terms.merged([Terms(a=1), Terms(a=2, b=1)])
        {'a': 3, 'b': 1}
        """
        counts: dict[str, int] = {}
        for part in parts:
            for term, count in part.items():
                counts[term] = counts.get(term, 0) + count
        return cls(counts)

    @property
    def norm(self) -> float:
        """Euclidean length.

        >>> Terms(a=3, b=4).norm
        5.0
        """
        try:
            return self._norm
        except AttributeError:
            self._norm = math.sqrt(sum([count * count for count in self.values()]))
            return self._norm

    @property
    def total(self) -> int:
        """Number of terms, each counted as often as it occurs."""
        try:
            return self._total
        except AttributeError:
            self._total = sum(self.values())
            return self._total


def cosine(a: Terms, b: Terms) -> float:
    """Return the cosine of two vectors of term frequencies, in [0, 1]; 0 for an empty one.

    >>> cosine(Terms(a=1, b=2), Terms(b=3, c=4))
    0.5366563145999494
    """
    if not a or not b:
        return 0.0
    if len(a) > len(b):
        a, b = b, a
    get = b.get
    product = sum([count * get(term, 0) for term, count in a.items()])
    return min(product / (a.norm * b.norm), 1.0)


class Analyzer:
    """Makes terms of text: tokens, without stop words, stemmed.

    Parameters
    ----------
    language : str or None
        What a text is in when its own language is not given: a name of PyStemmer's
        (``"english"`` is Porter's second stemmer, ``"porter"`` his first) or an ISO 639-1
        code. None neither stems nor drops stop words.
    """

    def __init__(self, language: str | None = "english") -> None:
        name = language_name(language)
        if language is not None and name is None:
            raise UnknownNameError("language", language, sorted(_NAMES))
        self.language = name
        self._stems: dict[str | None, _Stems] = {}

    def terms(self, text: str, language: str | None = None) -> Terms:
        """Return the counts of the stems of a text."""
        stems = self._stems_of(language)
        if len(text) > SHORT_TEXT:
            return _count(text, stems)
        terms = stems.short.get(text)
        if terms is None:
            if len(stems.short) >= CACHE_SIZE:
                stems.short.clear()
            terms = stems.short[text] = _count(text, stems)
        return terms

    def stems(self, text: str, language: str | None = None) -> list[str]:
        """Return the stems of a text in their order."""
        stems = self._stems_of(language)
        found: list[str] = []
        for token in _tokens(text):
            stem = stems[token]
            if isinstance(stem, str):
                if stem:
                    found.append(stem)
            else:
                found.extend(stem)
        return found

    def _stems_of(self, language: str | None) -> _Stems:
        stems = self._stems.get(language)
        if stems is None:
            name = language_name(language) or self.language
            stems = self._stems.get(name)
            if stems is None:
                stems = self._stems[name] = _Stems(name)
            if language is None:
                self._stems[None] = stems
        return stems


def _tokens(text: str) -> list[bytes]:
    return text.encode("utf-8", "replace").translate(_TABLE).split()


def _count(text: str, stems: _Stems) -> Terms:
    counts: dict[Any, int] = Counter(map(stems.__getitem__, _tokens(text)))
    counts.pop("", None)
    for several in [stem for stem in counts if stem.__class__ is tuple]:
        count = counts.pop(several)
        for stem in several:
            counts[stem] = counts.get(stem, 0) + count
    return Terms(counts)


class _Stems(dict[bytes, "str | tuple[str, ...]"]):
    """Token → its stem, ``""`` for none, or several where the token must be taken apart."""

    __slots__ = ("_stem", "_stop_words", "short")

    def __init__(self, language: str | None) -> None:
        super().__init__()
        #: Terms of short texts: anchors and menus are the same on page after page.
        self.short: dict[str, Terms] = {}
        self._stop_words = stop_words(language)
        self._stem = Stemmer.Stemmer(language, 0).stemWord if language in _STEMMED else str

    def __missing__(self, token: bytes) -> str | tuple[str, ...]:
        stems: str | tuple[str, ...]
        if token.isalnum():
            stems = self._stem_of(token.decode("ascii"))
        else:
            found = tuple(filter(None, map(self._stem_of, _words(token.decode("utf-8")))))
            stems = found[0] if len(found) == 1 else found or ""
        if len(token) <= 4 * MAX_TOKEN:
            if len(self) >= CACHE_SIZE:
                self.clear()
            self[token] = stems
        return stems

    def _stem_of(self, word: str) -> str:
        if "'" in word:
            if word in self._stop_words:
                return ""
            word = max(word.split("'"), key=len)
        if not MIN_TOKEN <= len(word) <= MAX_TOKEN or word.isnumeric() or word in self._stop_words:
            return ""
        return self._stem(word)


def _words(token: str) -> list[str]:
    """Take a token apart that holds an apostrophe or more than ASCII."""
    characters = []
    for character in unicodedata.normalize("NFKC", token).lower():
        category = unicodedata.category(character)
        if category[0] in "LNM" or character == "'":
            characters.append(character)
        elif character == "’":
            characters.append("'")
        elif category != "Cf" or character == "\u200b":  # soft hyphens and joiners: nothing
            characters.append(" ")
    return [word.strip("'") for word in "".join(characters).split()]
