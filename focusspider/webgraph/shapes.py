"""How anchors and URLs are written: capitals, digits and signs, whatever the words are.

What a list has in common is often not a word: people's names are two words with capitals, courses
letters and a number, personal pages a tilde. Such shapes are the same on sites that share no
word. They are those of named entity recognition (Collins 2002, "Ranking Algorithms for Named-
Entity Extraction", where they are called word types): each letter, digit or space becomes
its class, and a run of one class is one sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["link_shapes", "shape"]

#: Signs of a shape, words of an anchor whose shapes count, and segments of a path.
_SIGNS, _WORDS, _SEGMENTS = 12, 8, 8
#: Words that an anchor begins with, whose shapes count together.
_BEGINNING = 3


def shape(text: str) -> str:
    """Return the classes of the signs of a text, a run of one class as one.

    >>> shape("McDonald"), shape("CS302"), shape("~ann-b"), shape("v1.10")
    ('AaAa', 'A9', '~a-a', 'a9.9')
    """
    found: list[str] = []
    for sign in text:
        if sign.isalpha():
            kind = "A" if sign.isupper() else "a"
        else:
            kind = "9" if sign.isdigit() else sign
        if not found or found[-1] != kind:
            if len(found) == _SIGNS:
                break
            found.append(kind)
    return "".join(found)


def link_shapes(page_url: str, url: str, anchor: str) -> Iterator[str]:
    """Yield the shapes of a link: of its anchor, of its URL, and where that is from its page.

    >>> list(link_shapes("http://a.example/x/", "http://a.example/x/~bo/2.html", "Bo Ek"))[:4]
    ['anchor=Aa Aa', 'words=2', 'word=Aa', 'word=Aa']
    >>> list(link_shapes("http://a.example/x/", "http://a.example/x/~bo/2.html", "Bo Ek"))[4:]
    ['is=below', 'depth=3', 'in=a', 'in=~a', 'file=9.a']
    """
    words = anchor.split(maxsplit=_WORDS)[:_WORDS]
    shapes = [shape(word) for word in words]
    yield "anchor=" + " ".join(shapes[:_BEGINNING])
    yield f"words={len(words)}"
    for one in shapes:
        yield f"word={one}"
    try:
        own, other = urlsplit(page_url), urlsplit(url)
    except ValueError:  # not an address at all
        return
    yield f"is={_place(own, other)}"
    *above, last = unquote(other.path).removeprefix("/").split("/")
    yield f"depth={min(len(above) + 1, _SEGMENTS)}"
    for segment in above[:_SEGMENTS]:
        yield f"in={shape(segment)}"
    yield f"file={shape(last)}"


def _place(own: SplitResult, other: SplitResult) -> str:
    """Return where a URL is, as seen from a page."""
    if own.netloc != other.netloc:
        return "elsewhere"
    here, there = (one.path.rpartition("/")[0] + "/" for one in (own, other))
    if here == there:
        return "beside"
    if there.startswith(here):
        return "below"
    return "above" if here.startswith(there) else "across"
