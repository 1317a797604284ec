"""What the spelling of a URL tells."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from focusspider.strategies.urlspelling import MAX_WORDS, URL_GROUPS, place_of, url_spelling

HOST = "http://a.example"


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("/x/p1.html", "/x/p2.html", {"directory", "parent", "host", "digits", "file", "section"}),
        ("/x/a.html", "/x/b.html", {"directory", "parent", "host", "section"}),
        ("/x/y/a", "/x/z/a", {"parent", "host", "file", "section"}),
        ("/x/a", "/y/a", {"parent", "host", "file"}),
        ("/a?q=1", "/a?q=two", {"directory", "parent", "host", "digits", "file", "section"}),
        ("/a?q=1", "/a?r=1", {"directory", "parent", "host", "file", "section"}),
    ],
)
def test_urls_share_the_groups_of_what_they_have_in_common(
    one: str, other: str, shared: set[str]
) -> None:
    groups = (url_spelling(HOST + url, ()).groups for url in (one, other))
    same = {name for name, a, b in zip(URL_GROUPS, *groups, strict=True) if a == b}
    assert same == shared


def test_on_another_host_only_the_file_name_is_the_same() -> None:
    one, other = (url_spelling(f"http://{host}.example/x/7.html", ()).groups for host in "ab")
    same = {name for name, a, b in zip(URL_GROUPS, one, other, strict=True) if a == b}
    assert same == {"file"}


def test_numbers_are_slashes_length_keywords_and_query() -> None:
    url = f"{HOST}/Robot/arms?x=1"
    numbers = url_spelling(url, ["robot", "arm", "tea"]).numbers
    assert numbers == (2, log(len(url)), 2, 1.0)
    assert url_spelling(HOST, ["a", "e", "x", "m", "p"]).numbers == (0, log(len(HOST)), 3, 0.0)


def test_slashes_of_a_hostile_url_stay_a_number() -> None:
    numbers = url_spelling(HOST + "/" * 100_000, ()).numbers
    assert numbers[0] == 100
    assert np.isfinite(np.array(numbers, dtype=np.float16)).all()


def test_words_are_those_of_path_and_query_once_each_and_not_too_many() -> None:
    assert len(url_spelling(f"{HOST}/robot/arm-robot?of=tea7", ()).words) == 4
    many = "/".join("ab" + chr(97 + i // 26) + chr(97 + i % 26) for i in range(60))
    assert len(url_spelling(f"{HOST}/{many}", ()).words) == MAX_WORDS


@pytest.mark.parametrize("url", ["", "http://[", "x", "http://\udcff/\udcff", HOST])
def test_what_is_hardly_a_url_is_spelt_too(url: str) -> None:
    assert len(url_spelling(url, ("x",)).groups) == len(URL_GROUPS)
    assert all(isinstance(part, bytes) for part in place_of(url))
