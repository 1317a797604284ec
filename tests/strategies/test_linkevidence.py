"""What is written down of a page and its links."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from focusspider.strategies import linkevidence, linknames
from focusspider.strategies.linkcandidates import Candidates, candidates
from focusspider.strategies.linkcredit import PageValues
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.strategies.linkforgetting import without_rows
from focusspider.strategies.linkgroups import FIRST_OF, SAME_DIRECTORY, SAME_HOST
from focusspider.strategies.linknames import LinkNames, WordHashes
from focusspider.strategies.linksuccesses import Successes
from focusspider.strategies.linktables import Snapshot
from focusspider.text import Terms
from tests.pages import page

SITE = "http://a.example"


def seen_of(*pages: tuple[str, str]) -> Snapshot:
    evidence = LinkEvidence(Terms(robot=1), max_links=1000)
    for url, html in pages:
        evidence.add_page(page(html, url), relevance=0.0, relevant=False, hub=0.0)
    return evidence.snapshot()


def test_a_text_is_kept_once_with_its_words() -> None:
    menu = "<ul><li><a href='/1'>red robot</a></li></ul>"
    other = "<ul><li><a href='/2'>robot</a></li><li><a href='/3'></a></li></ul>"
    seen = seen_of((f"{SITE}/", menu), (f"{SITE}/b", menu + other))
    anchors = seen.link_anchor.tolist()
    assert anchors[0] == anchors[1] != anchors[2] != anchors[3]
    assert len(seen.text_key) == 3  # a context here is its anchor's text
    words = np.split(seen.text_words, seen.text_end[:-1])
    assert words[anchors[0]].tolist() == [crc32(b"red"), crc32(b"robot")]
    assert words[anchors[2]].tolist() == [crc32(b"robot")]
    assert words[anchors[3]].tolist() == []
    np.testing.assert_allclose(seen.text_cosine[anchors], [0.5**0.5, 0.5**0.5, 1.0, 0.0])
    np.testing.assert_allclose(seen.text_length[anchors], np.log1p([9, 9, 5, 0]), rtol=1e-6)


@pytest.mark.parametrize(
    ("url", "stays"),
    [
        ("/b/2", SAME_HOST | SAME_DIRECTORY),
        ("2?x=/y", SAME_HOST | SAME_DIRECTORY),
        ("/c/2", SAME_HOST),
        ("/b/c/2", SAME_HOST),
        ("http://b.example/b/2", 0),
        ("http://a.example:8080/b/2", 0),
    ],
)
def test_whether_a_link_stays_where_its_page_is(url: str, stays: int) -> None:
    seen = seen_of((f"{SITE}/b/1", f"<a href='{url}'>robot</a>"))
    assert seen.link_flags[0] & (SAME_HOST | SAME_DIRECTORY) == stays


def test_which_link_is_the_first_of_its_groups() -> None:
    twice = "<p><a href='/1'>robot</a></p>"
    seen = seen_of(
        (f"{SITE}/", twice + twice),
        (f"{SITE}/b", "<p><a href='/1'>robot</a></p><div><a href='/1'>arm</a></div>"),
    )
    first = [
        {name for bit, name in enumerate(FIRST_OF) if flags >> bit & 1}
        for flags in seen.link_flags.tolist()
    ]
    assert first == [
        set(FIRST_OF),
        set(),
        {"page", "path"},  # of a page that had none; host, directory and texts are known
        {"path", "host path", "directory path", "anchor", "context"},
    ]


def test_hashes_of_words_are_bounded_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linknames, "_MOST_HASHES", 2)
    names = LinkNames()
    hashes = WordHashes(names)
    for word in ("robot", "arm", "robot", "naïve", "\ud800"):
        assert hashes[word] == crc32(word.encode("utf-8", "replace"))
        assert len(hashes) <= 2
    assert dict(zip(*names.of("word"), strict=True))[crc32(b"arm")] == "arm"


def words_of(seen: Snapshot, row: int) -> dict[int, int]:
    start = int(seen.page_end[row - 1]) if row else 0
    part = slice(start, int(seen.page_end[row]))
    return dict(zip(seen.page_words[part].tolist(), seen.page_counts[part].tolist(), strict=True))


def test_the_most_frequent_words_of_a_page_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linkevidence, "_PAGE_WORDS", 2)
    seen = seen_of((f"{SITE}/", f"arm robot robot {'tea ' * 300}"), (f"{SITE}/b", ""))
    assert words_of(seen, 0) == {crc32(b"tea"): 255, crc32(b"robot"): 2}
    assert words_of(seen, 1) == {}
    assert seen.until(1).page_words.tolist() == seen.page_words.tolist()
    assert len(seen.until(0).page_words) == len(seen.until(0).page_counts) == 0


def test_pages_of_long_ago_lose_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linkevidence, "_MOST_PAGE_WORDS", 8)
    pages = [(f"{SITE}/{i}", f"robot{'abcdefghij'[i]} tea") for i in range(10)]
    seen = seen_of(*pages)
    assert len(seen.page_end) == seen.n_rows == 10
    assert len(seen.page_words) == len(seen.page_counts) == seen.page_end[-1] <= 8
    assert words_of(seen, 0) == {}
    assert set(words_of(seen, 9)) == {crc32(b"robotj"), crc32(b"tea")}


def test_the_words_of_forgotten_pages_are_forgotten() -> None:
    pages = [(f"{SITE}/{i}", f"robot{'abcdefghij'[i]} <a href='/x{i}'>tea</a>") for i in range(10)]
    seen = seen_of(*pages)
    kept, _ = without_rows(seen.arrays, seen.node_row, 4)
    after = Snapshot(kept, np.zeros(0, dtype=np.int32))
    assert [words_of(after, row) for row in range(6)] == [
        words_of(seen, row + 4) for row in range(6)
    ]


def test_pages_like_those_that_paid_are_told_by_their_words() -> None:
    pages = [(f"{SITE}/{i}", ("staff list" if i % 2 else "weather news")) for i in range(20)]
    seen, more = seen_of(*pages), seen_of(*pages, (f"{SITE}/20", "staff"), (f"{SITE}/21", "news"))
    found = np.array([float(i % 2) for i in range(20)])
    values = PageValues(found, 0.0, found, np.zeros(20), np.full(20, -1, dtype=np.int32))
    successes = Successes(seen, values, mean=0.5, prior=1.0, word_prior=2.0)
    likeness = successes.likeness(more, np.array([21, 3, 20, 2, 20], dtype=np.int32))
    assert (likeness[[1, 2, 4]] > 0.3).all()
    assert (likeness[[0, 3]] < -0.3).all()
    assert likeness[2] == likeness[4]


def test_figures_of_links_for_their_node() -> None:
    many = Candidates(np.array([7, 8, 9]), np.arange(3), np.array([0, 0, 2]))
    values = np.array([1.0, -3.0, 2.0])
    assert many.counts.tolist() == [2, 0, 1]
    assert many.starts.tolist() == [0, 2]
    assert not many.has_one_each
    assert many.mean(values).tolist() == [-1, 0, 2]
    assert many.largest(values).tolist() == [1, 0, 2]
    each = Candidates.of_page(np.array([8, 7, 8]), 5)
    assert each.links.tolist() == [5, 6, 7]
    assert each.has_one_each
    assert each.mean(values).tolist() == each.largest(values).tolist() == values.tolist()
    none = Candidates.of_page(np.zeros(0, dtype=np.int64), 0)
    assert none.mean(np.zeros(0)).tolist() == none.largest(np.zeros(0)).tolist() == []


def test_a_node_has_the_links_to_it_in_order() -> None:
    links = "<a href='/2'>a</a><a href='/1'>b</a>"
    seen = seen_of((f"{SITE}/", links + links))
    one, two = seen.link_node[1], seen.link_node[0]
    of = candidates(seen, np.array([one, two]), np.arange(4))
    assert of.links.tolist() == [1, 3, 0, 2]
    assert of.owners.tolist() == [0, 0, 1, 1]
