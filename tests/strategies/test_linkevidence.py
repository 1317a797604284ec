"""What is written down of a page and its links."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import pytest

from focusspider.strategies import linknames
from focusspider.strategies.linkcandidates import Candidates, candidates
from focusspider.strategies.linkevidence import LinkEvidence
from focusspider.strategies.linkgroups import FIRST_OF, SAME_DIRECTORY, SAME_HOST
from focusspider.strategies.linknames import LinkNames, WordHashes
from focusspider.text import Terms
from tests.pages import page

if TYPE_CHECKING:
    from focusspider.strategies.linktables import Snapshot

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
