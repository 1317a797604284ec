"""The cosine judge against numbers worked out by hand."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import TopicError
from focusspider.relevance import build_relevance
from focusspider.relevance.cosine import WITH_TARGETS, WITHOUT_TARGETS, CosineRelevance
from focusspider.relevance.target_vectors import TargetVectors
from tests.pages import page, profile

if TYPE_CHECKING:
    from focusspider.page import Page

# robot 2, arm 1; tea 1, cake 1; robot 1.
TARGETS = [
    page("<p>robot robot arm</p>", "http://t.example/1"),
    page("<p>tea cake</p>", "http://t.example/2"),
    page("<p>robot</p>", "http://t.example/3"),
]
# robot 1, tea 3, milk 2: the norm is √14.
PAGE = page("<p>robot tea tea tea milk milk</p>")


def judge(at: Page, topic: Any, **params: Any) -> Any:
    made = CosineRelevance(**params)
    made.start(topic)
    return made.judge(at)


def test_the_most_similar_target_decides() -> None:
    # (2 · 1) / (√5 · √14), 3 / (√2 · √14), 1 / √14
    judgement = judge(PAGE, profile("robot", targets=TARGETS), threshold=0.5)
    assert judgement.relevance == pytest.approx(3 / sqrt(28), rel=1e-14, abs=0)
    assert judgement.relevant
    assert judgement.why == "cosine 0.567 with http://t.example/2 ≥ threshold 0.5"


def test_similarities_are_those_of_each_target() -> None:
    found = TargetVectors(profile(targets=TARGETS), purpose="test").similarities(PAGE.terms)
    expected = [2 / sqrt(70), 3 / sqrt(28), 1 / sqrt(14)]
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)


def test_tf_idf_weighs_by_the_targets() -> None:
    # Of 3 targets 2 have robot, 1 has arm, tea and cake each, none has milk.
    robot, one, none = log(4 / 3) + 1, log(4 / 2) + 1, log(4) + 1
    norm = sqrt(robot**2 + (3 * one) ** 2 + (2 * none) ** 2)
    expected = [
        2 * robot * robot / (sqrt((2 * robot) ** 2 + one**2) * norm),
        3 * one * one / (sqrt(2 * one**2) * norm),
        robot / norm,
    ]
    vectors = TargetVectors(profile(targets=TARGETS), purpose="test", weighting="tf-idf")
    found = vectors.similarities(PAGE.terms)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)
    judgement = judge(PAGE, profile(targets=TARGETS), weighting="tf-idf")
    assert judgement.relevance == pytest.approx(max(expected), rel=1e-14, abs=0)


def test_tf_idf_is_scikit_learns() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(0)
    words = [f"word{n}x" for n in range(30)]
    texts = [" ".join(rng.choice(words, size=40)) for _ in range(12)]
    pages = [page(f"<p>{text}</p>", f"http://t.example/{n}") for n, text in enumerate(texts)]
    vectorizer = TfidfVectorizer(analyzer=lambda at: list(at.elements()))
    from collections import Counter

    fitted = vectorizer.fit_transform([Counter(at.terms) for at in pages[:8]])
    expected = (vectorizer.transform([Counter(at.terms) for at in pages[8:]]) @ fitted.T).toarray()
    vectors = TargetVectors(profile(targets=pages[:8]), purpose="test", weighting="tf-idf")
    found = [vectors.similarities(at.terms) for at in pages[8:]]
    # All 30 words occur in the 8 targets, so scikit-learn drops none of a page's words.
    assert len(vectorizer.vocabulary_) == 30
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


def test_a_target_is_wholly_similar_to_itself() -> None:
    for weighting in WITH_TARGETS:
        found = judge(TARGETS[0], profile(targets=TARGETS), weighting=weighting).relevance
        assert found <= 1
        assert found == pytest.approx(1, rel=1e-14, abs=0)


def test_of_equal_targets_the_first_is_named() -> None:
    twins = [page("<p>robot</p>", f"http://t.example/{n}") for n in (7, 8)]
    assert "http://t.example/7" in judge(PAGE, profile(targets=twins)).why


def test_without_targets_keywords_and_description_decide() -> None:
    # robot 1, tea 1 with the page's robot 1, tea 3, milk 2: 4 / (√2 · √14)
    judgement = judge(PAGE, profile("robot", description="Tea."), threshold=0.8)
    assert judgement.relevance == pytest.approx(4 / sqrt(28), rel=1e-14, abs=0)
    assert not judgement.relevant
    assert judgement.why == "cosine 0.756 with the keywords < threshold 0.8"


@pytest.mark.parametrize(
    ("targets", "weighting", "gamma"),
    [
        ([], "tf", WITHOUT_TARGETS),
        (TARGETS, "tf", WITH_TARGETS["tf"]),
        (TARGETS, "tf-idf", WITH_TARGETS["tf-idf"]),
    ],
)
def test_default_thresholds(targets: list[Page], weighting: str, gamma: float) -> None:
    why = judge(PAGE, profile("robot", targets=targets), weighting=weighting).why
    assert why.endswith(f"threshold {gamma:g}")


def test_relevant_from_the_threshold_on() -> None:
    at = page("<p>robot tea tea tea tea milk milk milk</p>")
    topic = profile("tea", targets=[page("<p>tea</p>", "http://t.example/1")])
    relevance = judge(at, topic).relevance
    assert judge(at, topic, threshold=relevance).relevant
    assert not judge(at, topic, threshold=float(np.nextafter(relevance, 1))).relevant


def test_targets_without_text_are_left_out() -> None:
    targets = [page("<img src=x>", "http://t.example/0"), *TARGETS]
    assert judge(PAGE, profile(targets=targets)) == judge(PAGE, profile(targets=TARGETS))


@pytest.mark.parametrize(
    ("topic", "params", "says"),
    [
        (profile("robot"), {"weighting": "tf-idf"}, "give targets, or weighting = 'tf'"),
        (profile(), {}, "no keywords, no description and no target page; give keywords or targets"),
        (
            profile("robot", targets=[page("<img src=x>", "http://t.example/0")]),
            {},
            "none of its target pages has text; give targets",
        ),
    ],
)
def test_what_cannot_be_compared_with_is_refused(
    topic: Any, params: dict[str, Any], says: str
) -> None:
    made = CosineRelevance(**params)
    with pytest.raises(TopicError) as caught:
        made.start(topic)
    assert str(caught.value).startswith("test.toml: ")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("threshold", "params", "says"),
    [
        (1.5, {}, "threshold must be a number from 0 to 1, got 1.5"),
        (None, {"weighting": "tfidf"}, "weighting must be one of tf, tf-idf, got 'tfidf' (did you"),
    ],
)
def test_wrong_values_are_refused(
    threshold: float | None, params: dict[str, Any], says: str
) -> None:
    with pytest.raises(TopicError) as caught:
        build_relevance("cosine", threshold, params, where="test.toml: [relevance]")
    assert str(caught.value).startswith(f"test.toml: [relevance]: relevance 'cosine': {says}")
