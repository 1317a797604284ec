"""Shapes of anchors and URLs: what lists have in common on sites that share no word."""

from __future__ import annotations

import pytest

from focusspider.webgraph.shapes import link_shapes, shape

HERE = "http://a.example/dept/people/index.html"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Grace", "Aa"),
        ("HOPPER", "A"),
        ("CS-101:", "A-9:"),
        ("Émile", "Aa"),
        ("日本", "a"),  # letters that have no capitals
        ("x" * 500 + "9", "a9"),
        ("a1" * 50, "a9a9a9a9a9a9"),
    ],
)
def test_shape_of_a_word(text: str, expected: str) -> None:
    assert shape(text) == expected


def test_names_of_people_are_alike_and_courses_are_not() -> None:
    def of(url: str, anchor: str) -> set[str]:
        return set(link_shapes(HERE, url, anchor))

    ann = of("http://a.example/~ann/", "Ann Ek")
    bob = of("http://a.example/~bob/", "Robert Sund")
    course = of("http://a.example/courses/cs101.html", "CS 101 Logic")
    assert ann == bob
    assert ann & course == {"is=across", "depth=2", "word=Aa"}


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://a.example/dept/people/ann.html", "beside"),
        ("http://a.example/dept/people/phd/ann.html", "below"),
        ("http://a.example/dept/", "above"),
        ("http://a.example/dept/peoples/", "across"),
        ("http://b.example/dept/people/ann.html", "elsewhere"),
    ],
)
def test_where_a_url_is(url: str, place: str) -> None:
    assert f"is={place}" in set(link_shapes(HERE, url, ""))


@pytest.mark.parametrize("url", ["", "http://[", "x:y", "é", "http://a.example/%00%FF" + "/b" * 99])
def test_a_url_may_be_anything(url: str) -> None:
    found = list(link_shapes(HERE, url, "a " * 1_000))
    assert "words=8" in found
    assert len(found) < 25
