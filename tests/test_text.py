from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusspider import stopwords, text
from focusspider.errors import UnknownNameError
from focusspider.text import Analyzer, Terms, cosine, language_name


@pytest.mark.parametrize(
    ("language", "source", "stems"),
    [
        ("english", "The researchers' research, RESEARCHED!", ["research", "research", "research"]),
        ("english", "machine-learning foo_bar x/y C++", ["machin", "learn", "foo", "bar"]),
        ("english", "in 1996, 42 pages; 3d and mp3 at 10am", ["page", "3d", "mp3", "10am"]),
        ("english", "don't we'll it's can’t they've CANNOT", []),
        ("english", "the dog's dogs' o'reilly 'quoted'", ["dog", "dog", "reilli", "quot"]),
        ("english", "naïve café—Ångström’s", ["naïv", "café", "ångström"]),
        ("english", "in\xadfor\xadma\xadtion zero\u200bwidth", ["inform", "zero", "width"]),
        ("english", "ﬁsh ＷＩＤＥ cafe\u0301", ["fish", "wide", "café"]),
        ("english", "a\x00b\tcd\x0bef\u2028gh", ["cd", "ef", "gh"]),
        ("english", "\ud800ok\udfff", ["ok"]),
        ("english", "x" * 64 + " " + "y" * 65 + " " + "é" * 65, ["x" * 64]),
        ("english", "² ½ ٣٤ 12", []),
        ("porter", "generously", ["gener"]),
        ("english", "generously", ["generous"]),
        ("german", "Die Häuser der Universität", ["haus", "universitat"]),
        ("french", "l'homme et les chevaux d’hiver", ["homm", "cheval", "hiv"]),
        ("russian", "исследования и исследование", ["исследован", "исследован"]),
        ("hindi", "हिन्दी भाषा", ["हिन्द", "भाष"]),
        ("japanese", "東京大学。研究", ["東京大学", "研究"]),
        (None, "The researchers", ["the", "researchers"]),
    ],
)
def test_stems(language, source, stems) -> None:
    assert Analyzer(language).stems(source) == stems
    assert Analyzer(language).terms(source) == {stem: stems.count(stem) for stem in stems}


def test_a_text_is_analysed_in_its_own_language() -> None:
    analyzer = Analyzer("english")
    assert analyzer.stems("Häuser der Universität", "german") == ["haus", "universitat"]
    assert analyzer.stems("Häuser der Universität", "de-AT") == ["haus", "universitat"]
    assert analyzer.stems("houses", "klingon") == ["hous"]
    assert analyzer.stems("houses") == ["hous"]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("en", "english"), ("en-GB", "english"), ("EN_us", "english"), ("English", "english"),
        ("porter", "porter"), ("pt-BR", "portuguese"), ("nb", "norwegian"), ("no", "norwegian"),
        ("zh-Hans-CN", "chinese"), ("ja", "japanese"), (" de ", "german"), ("", None),
        (None, None), ("tlh", None), ("x-default", None), ("*", None),
    ],
)  # fmt: skip
def test_language_names(code, name) -> None:
    assert language_name(code) == name


def test_an_unknown_language_lists_the_known() -> None:
    with pytest.raises(UnknownNameError, match=r"'englsh'.*did you mean 'english'.*swedish"):
        Analyzer("englsh")


@pytest.mark.parametrize("name", sorted(set(text._CODES.values())))
def test_every_language_has_an_analyzer(name) -> None:
    assert Analyzer(name).stems("xyzzyx") != []


def test_content_words_of_the_papers_topics_are_no_stop_words() -> None:
    # The stop-words library has each of these in its English list.
    words = "research home page computer course system information text web"
    assert not stopwords.ENGLISH & set(words.split())
    assert 150 <= len(stopwords.ENGLISH) <= 260
    assert all(word == word.lower() for word in stopwords.ENGLISH)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"x": 3, "y": 4}, {"x": 3, "y": 4}, 1.0),
        ({"x": 3, "y": 4}, {"x": 1}, 0.6),  # 3 / 5
        ({"x": 1, "y": 2}, {"y": 3, "z": 4}, 6 / (math.sqrt(5) * 5)),
        ({"x": 1}, {"y": 1}, 0.0),
        ({"x": 1}, {}, 0.0),
        ({}, {}, 0.0),
        ({"x": 10**6}, {"x": 1}, 1.0),
    ],
)
def test_cosine_by_hand(a, b, expected) -> None:
    assert cosine(Terms(a), Terms(b)) == pytest.approx(expected, rel=1e-12)
    assert cosine(Terms(b), Terms(a)) == pytest.approx(expected, rel=1e-12)


counts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 1000), max_size=8)


@given(counts, counts)
def test_cosine_is_a_cosine(a, b) -> None:
    value = cosine(Terms(a), Terms(b))
    assert 0.0 <= value <= 1.0
    assert value == cosine(Terms(b), Terms(a))
    if a:
        assert cosine(Terms(a), Terms({term: 7 * n for term, n in a.items()})) == pytest.approx(
            1.0, rel=1e-12
        )


def test_terms_are_counts() -> None:
    terms = Terms.of(["a", "b", "a"])
    assert terms == {"a": 2, "b": 1}
    assert terms.total == 3
    assert terms.norm == pytest.approx(math.sqrt(5), rel=1e-12)
    assert Terms.merged([terms, Terms(b=1), Terms()]) == {"a": 2, "b": 2}
    assert Terms.merged([]).norm == 0.0


@given(st.text())
def test_any_text_has_terms(source) -> None:
    analyzer = Analyzer("english")
    stems = analyzer.stems(source)
    terms = analyzer.terms(source)
    assert terms == {stem: stems.count(stem) for stem in stems}
    assert all(0 < len(stem) <= 64 for stem in stems)


def test_what_is_remembered_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(text, "CACHE_SIZE", 100)
    analyzer = Analyzer("english")
    for n in range(1_000):
        analyzer.terms(f"word{n} and long{'x' * 300}{n}")
        analyzer.terms(f"short{n}")
    (stems,) = {id(stems): stems for stems in analyzer._stems.values()}.values()
    assert 0 < len(stems) <= 100
    assert 0 < len(stems.short) <= 100
    assert analyzer.terms("word1 word1") == {"word1": 2}
