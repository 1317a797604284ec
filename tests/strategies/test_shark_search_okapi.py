"""Shark-search with Okapi weights against numbers worked out by hand.

The crawl has read two pages: this one, and one of a term that no other has. With the empty
document there are three, so log(n / n_i) is log 3 for every term. The page has 8 terms
(robot 3, arm 2, photo, tea, cake), the other 2: on average 5, so NDL is 8/5.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import CorpusError, SettingError
from focusspider.priority import to_score
from focusspider.relevance.base import Judgement
from focusspider.strategies import build_strategy
from tests.pages import page, profile

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.strategies.base import LinkScores

PAGE = page(
    "<p>robot robot arm <a href='/a'>robot</a></p>"
    "<p>arm <a href='/b'>photo</a></p>"
    "<p>tea <a href='/c'>cake</a></p>"
)
OTHER = page("<p>clock clock</p>", "http://a.example/other")


def okapi(tf: float, ndl: float) -> float:
    """Eq. 3 for CFW = 1, k1 = 2 and b = 0.75."""
    return 3 * tf / (2 * (0.25 + 0.75 * ndl) + tf)


def started(**params: Any) -> Any:
    strategy = build_strategy("shark-search-okapi", params)
    strategy.start(profile("robot", "arm"), np.random.default_rng(0))
    return strategy


def read(**params: Any) -> Any:
    strategy = started(**params)
    for at in (PAGE, OTHER):
        strategy.observe(at, Judgement(0.5, True, "test"))
    return strategy


def assert_scores(found: LinkScores, expected: Any) -> None:
    scores = [to_score(int(priority)) for priority in found.priorities]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-14)


def page_similarity() -> float:
    weights = [okapi(tf, 8 / 5) for tf in (3, 2, 1, 1, 1)]
    return (weights[0] + weights[1]) / (sqrt(2) * sqrt(sum(w * w for w in weights)))


def test_without_a_corpus_the_collection_is_what_was_read() -> None:
    inherited = page_similarity() / 2
    # The context of /a has robot 3 and arm 1, that of /b arm 1 and photo 1.
    three, one = okapi(3, 4 / 5), okapi(1, 4 / 5)
    contexts = [1, 1 / 2, 0]  # /a has an anchor on topic, so its surroundings count fully
    anchors = [1 / sqrt(2), 0, 0]
    expected = [
        inherited / 2 + (0.8 * anchor + 0.2 * context) / 2
        for anchor, context in zip(anchors, contexts, strict=True)
    ]
    found = read().score(PAGE, None)
    assert_scores(found, expected)
    assert found.state == pytest.approx((inherited,))
    context_of_a = (three + one) / (sqrt(2) * sqrt(three**2 + one**2))
    assert read().similarity(PAGE.context_terms(PAGE.links[0])) == pytest.approx(context_of_a)


def test_with_gamma_1_there_is_inheritance_alone() -> None:
    assert_scores(read(gamma=1.0).score(PAGE, None), [page_similarity() / 2] * 3)
    assert_scores(read(gamma=1.0).score(OTHER, (0.4,)), [])
    faded = page("<p>clock <a href='/x'>clock</a></p>")
    assert_scores(read(gamma=1.0).score(faded, (0.4,)), [0.2])


def test_a_term_of_every_page_weighs_less_than_a_rare_one() -> None:
    strategy = started()
    for n, text in enumerate(["robot arm", "robot tea", "robot cake"]):
        at = page(f"<p>{text}</p>", f"http://a.example/{n}")
        strategy.observe(at, Judgement(0.5, True, "test"))
    # n = 4 with the empty one: robot log(4/3), arm log 4.
    robot, arm = (strategy.similarity(page(f"<p>{w} tea</p>").terms) for w in ("robot", "arm"))
    assert robot == pytest.approx(log(4 / 3) / (sqrt(2) * sqrt(log(4 / 3) ** 2 + log(4) ** 2)))
    assert arm == pytest.approx(1 / 2)


CORPUS = {
    "1": "robot arm gripper gripper",  # the best answer to robot, arm
    "2": "robot kettle",  # the second
    "3": "tea kettle",
    "4": "tea tea",
}


def corpus(folder: Path) -> str:
    for name, text in CORPUS.items():
        (folder / f"{name}.txt").write_text(text)
    return str(folder)


def test_a_page_is_compared_with_the_documents_that_answer_best(tmp_path: Path) -> None:
    # n = 4, mean length 10/4. Robot, tea and kettle are in two, arm and gripper in one.
    two, one = log(2), log(4)
    first = {"robot": two * okapi(1, 1.6), "arm": one * okapi(1, 1.6)}
    first["gripper"] = one * okapi(2, 1.6)
    second = {"robot": two * okapi(1, 0.8), "kettle": two * okapi(1, 0.8)}
    strategy = started(corpus=corpus(tmp_path), examples=1)
    length = sqrt(sum(w * w for w in first.values()))
    at = page("<p>gripper</p>").terms
    assert strategy.page_similarity(at) == pytest.approx(first["gripper"] / length)
    assert strategy.similarity(at) == 0  # anchors and contexts: with the keywords
    mean = {term: weight / length / 2 for term, weight in first.items()}
    length = sqrt(sum(w * w for w in second.values()))
    for term, weight in second.items():
        mean[term] = mean.get(term, 0) + weight / length / 2
    strategy = started(corpus=corpus(tmp_path), examples=2)
    length = sqrt(sum(w * w for w in mean.values()))
    at = page("<p>kettle</p>").terms
    assert strategy.page_similarity(at) == pytest.approx(mean["kettle"] / length)
    assert strategy.page_similarity(page("<p>tea</p>").terms) == 0  # answers nothing


def test_more_examples_than_answers(tmp_path: Path) -> None:
    few, many = (started(corpus=corpus(tmp_path), examples=n) for n in (2, 100))
    at = page("<p>robot arm kettle</p>").terms
    assert few.page_similarity(at) == many.page_similarity(at) > 0


def test_a_corpus_without_an_answer_says_what_is_usual(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("tea tea")
    (tmp_path / "2.txt").write_text("tea cake")
    strategy = started(corpus=str(tmp_path))
    assert strategy.page_similarity(page("<p>robot</p>").terms) == pytest.approx(1 / sqrt(2))


def test_only_the_most_frequent_terms_and_the_keywords_count(tmp_path: Path) -> None:
    strategy = started(corpus=corpus(tmp_path), n_terms=1)  # tea, robot, arm
    known, unknown = (page(f"<p>robot {w}</p>").terms for w in ("tea", "kettle"))
    assert strategy.similarity(known) < strategy.similarity(unknown) == pytest.approx(1 / sqrt(2))


def test_pages_do_not_change_what_a_corpus_says(tmp_path: Path) -> None:
    strategy = started(corpus=corpus(tmp_path))
    before = strategy.score(PAGE, None)
    for _ in range(5):
        strategy.observe(PAGE, Judgement(0.5, True, "test"))
    assert strategy.score(PAGE, None).priorities.tolist() == before.priorities.tolist()


@pytest.mark.parametrize("name", ["shark-search-okapi", "hcla", "plsi-phits"])
def test_a_corpus_that_is_not_there_stops_before_the_first_request(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(
        SettingError, match=rf"{name}'.*: corpus: there is no .*gone; give a folder"
    ):
        build_strategy(name, {"corpus": "gone"}, base_dir=tmp_path)
    (tmp_path / "empty").mkdir()
    strategy = build_strategy(name, {"corpus": "empty"}, base_dir=tmp_path)
    with pytest.raises(CorpusError, match="empty: no words to learn from"):
        strategy.start(profile("robot"), np.random.default_rng(0))
