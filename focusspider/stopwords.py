"""Words that carry no topic: left out before stemming.

For English the list is our own, of the closed classes only. The list of the
``stop-words`` library has 1,333 English words, and among them are *research*, *home*,
*page*, *computer*, *course*, *system*, *information* and *text*: the very words that
topics of the focused-crawling papers are made of. For the other languages its lists are
short and closed-class, and are used as they are.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["ENGLISH", "stop_words"]

_ARTICLES = "a an the"
_PRONOUNS = """
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what that this these those one ones
    someone somebody something anyone anybody anything everyone everybody everything
    none nobody nothing whoever whatever whichever
"""
_QUANTIFIERS = """
    all any both each either neither every few many more most much other others another
    some such several own same no
"""
_PREPOSITIONS = """
    about above across after against along among around as at before behind below beneath
    beside besides between beyond by despite down during except for from in inside into
    like near of off on onto out outside over past per since than through throughout to
    toward towards under until up upon via with within without
"""
_CONJUNCTIONS = """
    and but or nor so yet if unless although though because while whereas whether
    when whenever where wherever why how
"""
_AUXILIARIES = """
    am is are was were be been being do does did doing done have has had having
    can could may might must shall should will would ought cannot
"""
_ADVERBS = """
    not only also too very just even still again ever never then there here now
    however therefore thus hence quite rather almost already always often perhaps
    else instead further once
"""
# What is left of a contraction is a stop word without these (it's, we'll, they've).
_CONTRACTIONS = """
    aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
    needn't shan't shouldn't wasn't weren't won't wouldn't
    arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont
    wouldnt im ive youre youve theyre theyve
"""

ENGLISH = frozenset(
    " ".join(
        (
            _ARTICLES,
            _PRONOUNS,
            _QUANTIFIERS,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _AUXILIARIES,
            _ADVERBS,
            _CONTRACTIONS,
        )
    ).split()
)


@lru_cache(maxsize=64)
def stop_words(language: str | None) -> frozenset[str]:
    """Return the stop words of a language by its name; none for a language without a list.

    >>> "the" in stop_words("english"), "research" in stop_words("english")
    (True, False)
    >>> "und" in stop_words("german")
    True
    >>> stop_words("esperanto")
    frozenset()
    """
    if language in {"english", "porter"}:
        return ENGLISH
    import stop_words as library

    name = "dutch" if language == "dutch_porter" else language
    if name not in library.AVAILABLE_LANGUAGES:
        return frozenset()
    return frozenset(word.lower() for word in library.get_stop_words(name))
