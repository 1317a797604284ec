"""Okapi weights against numbers worked out by hand."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from focusspider.models import okapi
from focusspider.models.okapi import Collection, combined_weight, okapi_weights, weighted_cosine

# Three documents of lengths 4, 2 and 6: mean 4, normalised 1, 1/2 and 3/2.
DOCUMENTS = [{"robot": 3, "arm": 1}, {"arm": 2}, {"robot": 1, "tea": 5}]
TERMS = ["robot", "arm", "tea"]
COUNTS = csr_array(np.array([[d.get(t, 0) for t in TERMS] for d in DOCUMENTS]))
LENGTHS = np.array([4.0, 2, 6])
# log(n / n_i): robot and arm are in two of three, tea in one.
CFW = {"robot": log(3 / 2), "arm": log(3 / 2), "tea": log(3)}


def collection(**given: int) -> Collection:
    made = Collection(**given)
    for document in DOCUMENTS:
        made.add(document)
    return made


@pytest.mark.parametrize(
    ("tf", "ndl", "k1", "b", "expected"),
    [
        (1, 1, 2, 0.75, 1),  # 3 / (2 + 1)
        (2, 1, 2, 0.75, 6 / 4),
        (4, 1, 2, 0.75, 12 / 6),
        (1, 3, 2, 0.75, 3 / (2 * 2.5 + 1)),  # a document three times the mean length
        (1, 3, 2, 0, 1),  # b = 0: lengths do not matter
        (7, 3, 0, 0.75, 1),  # k1 = 0: only whether it occurs
        (0, 1, 2, 0.75, 0),
    ],
)
def test_the_combined_weight(tf: float, ndl: float, k1: float, b: float, expected: float) -> None:
    assert combined_weight(1.0, float(tf), float(ndl), k1=k1, b=b) == pytest.approx(expected)
    assert combined_weight(0.5, float(tf), float(ndl), k1=k1, b=b) == pytest.approx(expected / 2)


def test_it_grows_with_the_term_frequency_up_to_k1_plus_1() -> None:
    weights = [combined_weight(1.0, float(tf), 1.0, k1=2.0, b=0.75) for tf in range(1, 1000)]
    assert all(np.diff(weights) > 0)
    assert 2.99 < weights[-1] < 3


def test_the_weights_of_a_document() -> None:
    weights = collection().weights(DOCUMENTS[0], k1=2, b=0.75)
    assert weights == pytest.approx({"robot": CFW["robot"] * 9 / 5, "arm": CFW["arm"] * 3 / 3})
    longest = collection().weights(DOCUMENTS[2], k1=2, b=0.75)
    # 2 · (0.25 + 0.75 · 1.5) = 2.75
    assert longest == pytest.approx(
        {"robot": CFW["robot"] * 3 / 3.75, "tea": CFW["tea"] * 15 / 7.75}
    )


def test_the_length_of_a_document_may_be_more_than_its_terms_here() -> None:
    short = collection().weights({"tea": 1}, k1=2, b=0.75)
    within = collection().weights({"tea": 1}, k1=2, b=0.75, length=8)
    assert short["tea"] == pytest.approx(CFW["tea"] * 3 / (2 * (0.25 + 0.75 / 4) + 1))
    assert within["tea"] == pytest.approx(CFW["tea"] * 3 / (2 * (0.25 + 0.75 * 2) + 1))


def test_a_new_term_weighs_as_one_of_a_single_document() -> None:
    weights = collection().weights({"tea": 1, "new": 1}, k1=2, b=0.75)
    assert weights["new"] == weights["tea"] > 0


def test_of_a_first_document_nothing_weighs_unless_an_empty_one_is_added() -> None:
    alone, extra = Collection(), Collection(extra=1)
    for made in (alone, extra):
        made.add({"robot": 1})
    assert alone.weights({"robot": 1}, k1=2, b=0.75) == {"robot": 0}
    assert extra.weights({"robot": 1}, k1=2, b=0.75) == pytest.approx({"robot": log(2)})
    assert Collection(extra=1).weights({"robot": 1}, k1=2, b=0.75) == {}


def test_the_matrix_has_the_same_weights() -> None:
    matrix = okapi_weights(COUNTS, LENGTHS, k1=2, b=0.75).toarray()
    for row, document in zip(matrix, DOCUMENTS, strict=True):
        weights = collection().weights(document, k1=2, b=0.75)
        assert_allclose(row, [weights.get(term, 0) for term in TERMS], rtol=1e-12)


def test_a_collection_without_words_has_no_weights() -> None:
    assert okapi_weights(csr_array((2, 3)), np.zeros(2), k1=2, b=0.75).nnz == 0


def test_a_collection_forgets_what_it_met_once_when_it_has_too_many_terms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(okapi, "MAX_TERMS", 3)
    made = Collection()
    made.add({"a": 1, "b": 1, "c": 1})
    made.add({"a": 2})
    made.add({"a": 1, "d": 1})
    assert made.frequencies == {"a": 3}
    assert made.n == 3


def test_the_cosine_of_weights() -> None:
    a, b = {"x": 1.0, "y": 2.0}, {"y": 3.0, "z": 4.0}
    assert weighted_cosine(a, b) == weighted_cosine(b, a) == pytest.approx(6 / (sqrt(5) * 5))
    assert weighted_cosine(a, {}) == weighted_cosine({"x": 0.0}, a) == 0
    assert weighted_cosine({"x": 0.1}, {"x": 0.7}) <= 1
