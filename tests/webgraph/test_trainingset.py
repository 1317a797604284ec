"""From sequences to matrices: each row is what its page, its link and its place say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from focusspider.webgraph.features import FAMILIES, PageFeatures
from focusspider.webgraph.sequences import Sequences
from focusspider.webgraph.trainingset import TrainingSet, links_by_key, training_set
from focusspider.webgraph.vocabulary import Vocabulary
from tests.pages import page, profile

PROFILE = profile("robot", targets=[page("<body>robot arm</body>", "http://a.example/0")])
PAGES = [
    page("<title>Arm</title><body>robot <a href=/1>back</a></body>", "http://a.example/0"),
    page("<title>Leg</title><body><a href=/0></a><a href=/0>the arm</a></body>", "http://a.example/1"),
    page("<title>Foot</title><body><a href=/1>the leg</a></body>", "http://a.example/2"),
    page("<title>Toe</title>", "http://a.example/3"),  # leads to 2 by a redirect
]  # fmt: skip
SEQUENCES = Sequences(
    pages=np.array([2, 1, 0, 1, 0, 3, 2]), lengths=np.array([3, 2, 2]), possible=9, exact=True
)
LABELS = [2, 1, 0, 1, 0, 3, 2]


def made(seed: int = 0, lookahead: bool = True, **given: Any) -> TrainingSet:
    return training_set(
        SEQUENCES,
        LABELS,
        PAGES.__getitem__,
        PageFeatures(PROFILE, families=FAMILIES, lookahead=lookahead),
        link_of=links_by_key([each.key for each in PAGES]),
        random_state=np.random.default_rng(seed),
        **{"min_count": 1, **given},
    )


def rows(training: TrainingSet) -> list[dict[str, float]]:
    names = training.vocabulary.names
    return [
        {names[c]: row[c] for c in np.flatnonzero(row).tolist()}
        for row in training.features.toarray()
    ]


def expected(lookahead: bool) -> list[dict[str, float]]:
    f = PageFeatures(PROFILE, families=FAMILIES, lookahead=lookahead)
    toe, foot, leg, arm = PAGES[3], PAGES[2], PAGES[1], PAGES[0]
    (to_leg,), (_, to_arm) = foot.links, leg.links
    foot_leg, leg_arm = (f.of_anchor(link.url, link.anchor) for link in (to_leg, to_arm))
    return [
        f.of_page(foot) | f.of_url(foot.url) | f.of_next(foot, to_leg),
        f.of_page(leg) | foot_leg | f.of_next(leg, to_arm),
        f.of_page(arm) | leg_arm,
        f.of_page(leg) | f.of_url(leg.url) | f.of_next(leg, to_arm),
        f.of_page(arm) | leg_arm,
        f.of_page(toe) | f.of_url(toe.url),
        f.of_page(foot) | f.of_url(foot.url),  # the link was not found
    ]


@pytest.mark.parametrize("lookahead", [True, False])
def test_rows_are_pages_and_the_links_to_them(lookahead: bool) -> None:
    training = made(lookahead=lookahead, share=0.0)
    assert rows(training) == expected(lookahead)
    assert_array_equal(training.labels, LABELS)
    assert_array_equal(training.lengths, [3, 2, 2])
    assert training.features.has_sorted_indices


def test_with_look_ahead_the_last_page_was_not_fetched() -> None:
    found = rows(made(share=1.0))
    full = expected(lookahead=True)
    f = PageFeatures(PROFILE, families=FAMILIES)
    link = f.of_link(PAGES[1], PAGES[1].links[1])
    for last, row in ((2, link), (4, link), (6, f.of_url(PAGES[2].url))):
        assert found[last] == row
    for other in (0, 1, 3, 5):
        assert found[other] == full[other]


def test_in_a_share_of_the_sequences() -> None:
    n = 2_000
    many = Sequences(pages=np.tile([2, 1], n), lengths=np.full(n, 2), possible=1, exact=True)
    training = training_set(
        many,
        np.zeros(2 * n),
        PAGES.__getitem__,
        PageFeatures(PROFILE),
        link_of=links_by_key([each.key for each in PAGES]),
        random_state=np.random.default_rng(0),
        share=0.3,
        min_count=1,
    )
    column = training.vocabulary.names.index("words:leg")
    unseen = n - training.features[:, [column]].sum()
    assert abs(unseen - 0.3 * n) < 5 * np.sqrt(0.21 * n)
    with pytest.raises(ValueError, match="share must be a number from 0 to 1, got 2"):
        made(share=2)


def test_the_literal_reading_has_no_unseen_page() -> None:
    assert rows(made(lookahead=False, share=1.0)) == expected(lookahead=False)


def test_the_same_seed_gives_the_same_data() -> None:
    assert rows(made(3)) == rows(made(3))


def test_a_vocabulary_may_be_given() -> None:
    training = made(vocabulary=Vocabulary(["words:leg", "words:zebra"]))
    assert training.features.shape == (7, 2)
    assert training.vocabulary.names == ("words:leg", "words:zebra")


def test_a_page_in_many_sequences_counts_once() -> None:
    assert "words:leg" not in made(min_count=2).vocabulary.names
    assert "url_words:~" not in made().vocabulary.names


def test_parts() -> None:
    training = made(share=0.0)
    part = training.part([2, 0])
    assert part.lengths.tolist() == [3, 2]
    assert part.labels.tolist() == [2, 1, 0, 3, 2]
    assert rows(part) == [rows(training)[i] for i in (0, 1, 2, 5, 6)]
    assert training.part(np.array([False, True, False])).labels.tolist() == [1, 0]


def test_of_several_links_the_first_with_an_anchor() -> None:
    link_of = links_by_key([each.key for each in PAGES])
    assert link_of(PAGES[1], 0) == PAGES[1].links[1]
    assert link_of(PAGES[0], 1) == PAGES[0].links[0]
    assert link_of(PAGES[3], 2) is None


def test_a_vocabulary_keeps_what_is_common() -> None:
    counted = [{"a": 1.0, "b": 1.0}, {"b": 1.0, "c": 1.0}, {"c": 1.0, "b": 0.5}, {"d": 2.0, "a": 1}]
    assert Vocabulary.of(counted, min_count=1).names == ("a", "b", "c", "d")
    assert Vocabulary.of(counted, min_count=2).names == ("a", "b", "c")
    assert Vocabulary.of(counted, min_count=1, max_features=2).names == ("a", "b")
    assert len(Vocabulary.of([])) == 0
    for wrong in ({"min_count": 0}, {"max_features": 0}):
        with pytest.raises(ValueError, match="must be a whole number of at least 1"):
            Vocabulary.of(counted, **wrong)
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(["a", "a"])


def test_a_matrix_of_rows() -> None:
    vocabulary = Vocabulary(["c", "a"])
    found = vocabulary.matrix([{"a": 0.5, "x": 1.0}, {}, {"c": 1.0, "a": 2.0}])
    assert_array_equal(found.toarray(), [[0, 0.5], [0, 0], [1, 2]])
    assert vocabulary.matrix([]).shape == (0, 2)
