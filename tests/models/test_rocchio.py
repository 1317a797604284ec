"""Rocchio's query: against one that is made of dense vectors, fold by fold."""

from __future__ import annotations

import numpy as np
import pytest

from focusspider.models.rocchio import Documents, Rocchio

PLACES = 1 << 10  # of so few words


def drawn(n: int, seed: int, vocabulary: int = 60) -> Documents:
    random = np.random.default_rng(seed)
    each = [random.choice(vocabulary, size=random.integers(1, 12), replace=False) for _ in range(n)]
    return Documents(
        np.concatenate(each).astype(np.uint32) * 65_539,
        random.integers(1, 256, size=sum(map(len, each))).astype(np.uint8),
        np.cumsum([len(words) for words in each]),
    )


def dense(documents: Documents, idf: np.ndarray) -> np.ndarray:
    vectors = np.zeros((len(documents.ends), PLACES))
    for owner, word, count in zip(documents.owners, documents.words, documents.counts, strict=True):
        place = int(word) % PLACES
        vectors[owner, place] += (1 + np.log(int(count))) * idf[place]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def query(vectors: np.ndarray, worth: np.ndarray) -> np.ndarray:
    good = (vectors * worth[:, None]).sum(axis=0) / (worth.sum() + 0.5)
    bad = (vectors * (1 - worth)[:, None]).sum(axis=0) / ((1 - worth).sum() + 0.5)
    return (good - bad) / np.linalg.norm(good - bad)


def test_cosines_are_those_of_dense_vectors() -> None:
    random = np.random.default_rng(1)
    documents, worth, folds = drawn(40, 2), random.random(40), random.integers(5, size=40)
    frequency = np.bincount(documents.words % np.uint32(PLACES), minlength=PLACES)
    idf = np.log(41 / (frequency + 0.5))
    vectors = dense(documents, idf)
    found = Rocchio(documents, worth, folds)
    for fold in range(5):
        others, own = folds != fold, folds == fold
        expected = vectors[own] @ query(vectors[others], worth[others])
        np.testing.assert_allclose(found.cosines[own], expected, rtol=0, atol=1e-9)
    later = drawn(7, 3)
    expected = dense(later, idf) @ query(vectors, worth)
    np.testing.assert_allclose(found.cosines_of(later), expected, rtol=0, atol=1e-9)


def test_a_document_tells_nothing_of_its_own_worth() -> None:
    random = np.random.default_rng(4)
    worth = (random.random(300) < 0.3).astype(np.float64)
    found = Rocchio(drawn(300, 5, vocabulary=4000), worth, random.integers(5, size=300))
    assert abs(np.corrcoef(found.cosines, worth)[0, 1]) < 0.2


def test_words_of_documents_of_worth_are_near() -> None:
    words = np.array([1, 2, 1, 3, 1, 2, 1, 3], dtype=np.uint32)
    documents = Documents(words, np.ones(8, dtype=np.uint8), np.array([2, 4, 6, 8]))
    found = Rocchio(documents, np.array([1.0, 0.0, 1.0, 0.0]), np.arange(4))
    one = Documents(words[1:4:2], np.ones(2, dtype=np.uint8), np.array([1, 2]))
    good, bad = found.cosines_of(one)
    assert good > 0.5
    assert bad < -0.5
    assert (found.cosines[::2] > 0.3).all()
    assert (found.cosines[1::2] < -0.3).all()


@pytest.mark.parametrize("ends", [[], [0], [0, 0, 0]])
def test_documents_without_words_are_near_to_nothing(ends: list[int]) -> None:
    none = Documents(np.zeros(0, np.uint32), np.zeros(0, np.uint8), np.array(ends, dtype=np.int64))
    n = len(ends)
    found = Rocchio(none, np.zeros(n), np.zeros(n, dtype=np.int64))
    assert found.cosines.tolist() == found.cosines_of(none).tolist() == [0.0] * n
