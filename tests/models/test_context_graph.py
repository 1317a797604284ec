"""The context graph against naive Bayes worked by hand, and another library's."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from focusspider.errors import ModelFileError
from focusspider.models.context_graph import ContextGraph, Layer
from focusspider.models.modelfile import read_model, write_model
from tests.models.collections import counts, page_about

if TYPE_CHECKING:
    from pathlib import Path


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def fit(pages: list[dict[str, int]], layers: list[int], **given: Any) -> ContextGraph:
    return ContextGraph(**given).fit(counts(pages), np.array(layers), random_state=rng())


# Layer 0 has 5 words, robot 4 times; layer 1 has 3, robot once.
PAGES, LAYERS = [{"robot": 4, "arm": 1}, {"robot": 1, "tea": 2}], [0, 1]


def test_naive_bayes_with_one_word() -> None:
    model = fit(PAGES, LAYERS, n_layers=1)
    # With λ = 1 for each of 3 terms: P(robot | 0) = 5/8, P(robot | 1) = 2/6.
    expected = (5 / 8) / (5 / 8 + 2 / 6)
    assert_allclose(model.posterior({"robot": 1}), [expected, 1 - expected], rtol=1e-12)
    assert model.predict({"robot": 1}) == (0, pytest.approx(expected, rel=1e-12))
    # Of tea they have 1 of 8, and 3 of 6.
    assert model.predict({"tea": 1}) == (1, pytest.approx((3 / 6) / (1 / 8 + 3 / 6), rel=1e-12))


def test_naive_bayes_of_more_words_by_hand() -> None:
    model = fit(PAGES, LAYERS, n_layers=1)
    joint = [(5 / 8) ** 2 * (1 / 8) ** 3, (2 / 6) ** 2 * (3 / 6) ** 3]
    expected = [p / sum(joint) for p in joint]
    assert_allclose(model.posterior({"robot": 2, "tea": 3, "unheard": 9}), expected, rtol=1e-12)


def test_the_prior_by_hand() -> None:
    pages, layers = [*PAGES, {"robot": 1, "tea": 2}], [0, 1, 1]
    for prior, of_layer in [("uniform", [1 / 2, 1 / 2]), ("counted", [1 / 3, 2 / 3])]:
        model = fit(pages, layers, n_layers=1, prior=prior)
        assert_allclose(model.prior_, of_layer, rtol=1e-12)
        joint = [of_layer[0] * 5 / 8, of_layer[1] * 3 / 9]  # robot is 2 of 6 in layer 1 now
        assert model.posterior({"robot": 1})[0] == pytest.approx(joint[0] / sum(joint), rel=1e-12)
        assert_allclose(model.posterior({}), of_layer, rtol=1e-12)


def test_weak_matches_are_other() -> None:
    model = fit(PAGES, LAYERS, n_layers=1, threshold=0.7)
    assert model.other == 2
    assert model.predict({"robot": 1}) == Layer(2, pytest.approx(15 / 23))  # below 0.7
    assert model.predict({"robot": 2}).number == 0
    assert model.predict({}) == Layer(2, 0.5)
    exactly = fit(PAGES, LAYERS, n_layers=1, threshold=0.5)
    assert exactly.predict({}) == Layer(0, 0.5)  # not below it; of equals the nearer
    assert fit(PAGES, LAYERS).predict({"robot": 1}).number == 0


def test_it_is_scikit_learns() -> None:
    from sklearn.naive_bayes import MultinomialNB

    random = rng(1)
    matrix = random.poisson(0.4, size=(60, 25))
    layers = np.arange(60) % 5
    pages = [{f"w{c}": int(n) for c, n in enumerate(row) if n} for row in matrix]
    new = random.poisson(0.4, size=(20, 25))
    for prior in ("uniform", "counted"):
        model = fit(pages, layers.tolist(), n_features=25, prior=prior)
        theirs = MultinomialNB(fit_prior=prior == "counted").fit(matrix, layers)
        expected = theirs.predict_proba(new)
        for row, of_page in zip(new, expected, strict=True):
            found = model.posterior({f"w{c}": int(n) for c, n in enumerate(row) if n})
            assert_allclose(found, of_page, rtol=1e-9)


def test_features_are_the_largest_tf_idf() -> None:
    # N = 4. "page" is in all: log(4/4) = 0; "robot" in 2: log 2; each other word in 1: log 4.
    pages = [
        {"page": 9, "robot": 3, "arm": 1, "leg": 2},
        {"page": 9, "robot": 1, "tea": 1},
        {"page": 9, "milk": 1},
        {"page": 9},
    ]
    model = fit(pages, [0, 1, 1, 1], n_layers=1, n_features=2)
    assert_allclose(model.idf_[model.terms_.index("robot")], log(2), rtol=1e-12)
    found = dict(zip(model.terms_, model.layer_counts_.T.tolist(), strict=True))
    # The first: leg 2 · log 4, robot 3 · log 2, arm log 4. The second: tea, robot. The third
    # and the fourth have "page" as well, since there is room.
    assert found == {
        "page": [0, 18],
        "robot": [3, 1],
        "leg": [2, 0],
        "arm": [0, 0],
        "tea": [0, 1],
        "milk": [0, 1],
    }
    # Of a new page too, two terms count: milk and tea, not page nor robot.
    only = fit(pages, [0, 1, 1, 1], n_layers=1, n_features=2)
    assert_array_equal(
        only.posterior({"page": 5, "robot": 1, "tea": 1, "milk": 1}),
        only.posterior({"tea": 1, "milk": 1}),
    )


def test_a_layer_with_many_pages_is_drawn_from() -> None:
    pages = [{f"page{number}": 1} for number in range(50)]
    layers = [0] * 5 + [1] * 45
    model = fit(pages, layers, n_layers=1, max_pages=10)
    assert model.layer_pages_.tolist() == [5, 10]
    assert model.layer_counts_.sum(axis=1).tolist() == [5, 10]
    again = fit(pages, layers, n_layers=1, max_pages=10)
    assert_array_equal(again.layer_counts_, model.layer_counts_)
    other = ContextGraph(n_layers=1, max_pages=10).fit(
        counts(pages), np.array(layers), random_state=rng(1)
    )
    assert (other.layer_counts_ != model.layer_counts_).any()


def test_pages_beyond_the_last_layer_are_left_out() -> None:
    model = fit([*PAGES, {"tea": 50}], [0, 1, 2], n_layers=1)
    assert model.layer_pages_.tolist() == [1, 1]
    assert model.layer_counts_[:, model.terms_.index("tea")].tolist() == [0, 2]


@pytest.mark.parametrize("prior", ["uniform", "counted"])
def test_a_layer_without_pages_is_never_predicted(prior: str) -> None:
    model = fit(PAGES, [0, 3], prior=prior)
    assert model.layer_pages_.tolist() == [1, 0, 0, 1, 0]
    posterior = model.posterior({"robot": 1})
    assert posterior[[1, 2, 4]].tolist() == [0, 0, 0]
    assert posterior.sum() == pytest.approx(1)


def test_long_pages_do_not_run_out_of_numbers() -> None:
    model = fit(PAGES, LAYERS, n_layers=1)
    posterior = model.posterior({"robot": 100_000, "tea": 3})
    assert posterior[0] == 1
    assert posterior[1] == 0 <= exp(-1e5)


def test_pages_are_found_in_their_layer() -> None:
    random = rng(3)
    topics = ["paper", "people", "department", "university", "sports"]
    pages = [page_about(topic, random) for topic in topics * 30]
    model = fit(pages, [0, 1, 2, 3, 4] * 30)
    new = [page_about(topic, random) for topic in topics * 20]
    found = model.predict_all(counts(new))
    assert np.mean([layer.number for layer in found] == np.arange(100) % 5) >= 0.97
    assert found == [model.predict(page) for page in new]


def test_a_saved_model_is_the_same(tmp_path: Path) -> None:
    model = fit(PAGES, [0, 3], threshold=0.6, prior="counted", smoothing=0.5)
    write_model(tmp_path / "m.npz", model.to_file(topic="robots", date="2026-11-28"))
    file = read_model(tmp_path / "m.npz", kind="context-graph")
    again = ContextGraph.from_file(file)
    assert {name: getattr(again, name) for name in ContextGraph.PARAMETERS} == file.parameters
    for page in [{}, {"robot": 2}, {"tea": 1, "arm": 3, "unheard": 1}]:
        assert_array_equal(again.posterior(page), model.posterior(page))
        assert again.predict(page) == model.predict(page)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"idf": np.zeros(2)}, "idf has the shape"),
        ({"layer_pages": np.zeros(2, dtype=np.int64)}, "it has learnt from no targets"),
        ({"layer_counts": np.full((2, 3), -1)}, "what should be counts is not from 0 to"),
        ({"layer_pages": np.full(2, 2**62)}, "what should be counts is not from 0 to"),
        ({"terms_utf8": np.frombuffer(b"aabbb", dtype=np.uint8)}, "terms_utf8 and terms_ends"),
        (
            {
                "terms_utf8": np.frombuffer(b"aab", dtype=np.uint8),
                "terms_ends": np.array([1, 2, 3]),
            },
            "a term is in it twice",
        ),
    ],
)
def test_a_damaged_model(change: dict[str, Any], message: str) -> None:
    file = fit(PAGES, LAYERS, n_layers=1).to_file()
    with pytest.raises(ModelFileError, match=message):
        ContextGraph.from_file(replace(file, arrays={**file.arrays, **change}))
    wrong = replace(file, parameters={**file.parameters, "n_layers": 7})
    with pytest.raises(ModelFileError, match="it has 2 layers, and n_layers=7"):
        ContextGraph.from_file(wrong)
    wrong = replace(file, parameters={**file.parameters, "threshold": 2})
    with pytest.raises(ModelFileError, match="threshold must be a number from 0 to 1, got 2"):
        ContextGraph.from_file(wrong)


@pytest.mark.parametrize(
    ("pages", "layers", "message"),
    [
        (PAGES, [0], "each of 2 pages has a layer from 0 on, got"),
        (PAGES, [0, -1], "each of 2 pages has a layer from 0 on"),
        (PAGES, [1, 1], "none of 2 pages is a target"),
        ([{}, {}], [0, 1], "2 pages have no words to learn from"),
    ],
)
def test_wrong_data(pages: list[dict[str, int]], layers: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(pages, layers)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_layers": 0}, "n_layers must be a whole number of at least 1"),
        ({"max_pages": 0}, "max_pages must be"),
        ({"n_features": "all"}, "n_features must be a whole number of at least 1, got 'all'"),
        ({"smoothing": 0}, "smoothing must be a number of at least"),
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1, got 1.5"),
        ({"prior": "flat"}, "prior must be one of uniform, counted, got 'flat'"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ContextGraph(**parameters)
