"""The latent semantic space against gensim's own, a dense decomposition, and eq. 1 by hand."""

from __future__ import annotations

from functools import partial
from math import log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from focusspider.corpus import Corpus
from focusspider.errors import ModelFileError
from focusspider.models.lsi import LatentSemanticIndex, unit_rows
from focusspider.models.modelfile import read_model, write_model

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.corpus import Counts


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def documents(n: int = 60, n_topics: int = 4) -> list[dict[str, int]]:
    """Return pages that take most of their words from one of a few vocabularies."""
    random = rng(1)
    made = []
    for number in range(n):
        own = [f"topic{number % n_topics}word{w}" for w in random.zipf(1.5, 30) % 20]
        shared = [f"shared{w}" for w in random.integers(30, size=15)]
        page: dict[str, int] = {}
        for word in own + shared:
            page[word] = page.get(word, 0) + 1
        made.append(page)
    return made


def counts(pages: list[dict[str, int]]) -> Counts:
    corpus = Corpus()
    for page in pages:
        corpus.add(page)
    return corpus.counts()


PAGES = documents()


def test_the_weights_by_hand() -> None:
    pages = [{"a": 3, "b": 1}, {"a": 1}, {"a": 1, "c": 2}, {"d": 1}]
    index = LatentSemanticIndex(n_topics=2).fit(counts(pages), random_state=rng())
    assert index.terms_ == ["a", "c", "b", "d"]  # the most frequent first, equals by name
    # N = 4; a is in 3 pages, each of the others in 1: log2(4/3) + 1, and 2 + 1 = 3.
    of_a = log2(4 / 3) + 1
    assert_allclose(index.idf_, [of_a, 3, 3, 3], rtol=1e-12)
    weights = index.weights(counts(pages).select(index.terms_)).toarray()
    length = sqrt((3 * of_a) ** 2 + 3**2)
    assert_allclose(weights[0], [3 * of_a / length, 0, 3 / length, 0], rtol=1e-12)
    assert_allclose(weights[1], [1, 0, 0, 0], rtol=1e-12)


def test_it_is_gensims_space() -> None:
    from gensim.corpora import Dictionary
    from gensim.models import LsiModel, TfidfModel
    from gensim.models.tfidfmodel import df2idf

    texts = [[term for term, n in page.items() for _ in range(n)] for page in PAGES]
    dictionary = Dictionary(texts)
    bags = [dictionary.doc2bow(text) for text in texts]
    tfidf = TfidfModel(bags, wglobal=partial(df2idf, add=1.0))
    theirs = LsiModel(
        [tfidf[bag] for bag in bags], id2word=dictionary, num_topics=6, power_iters=8, random_seed=1
    )
    ours = LatentSemanticIndex(n_topics=6).fit(counts(PAGES), random_state=rng())
    assert_allclose(ours.singular_values_, theirs.projection.s, rtol=1e-9)
    signs = np.sign([ours.components_[:, k] @ _columns(theirs, ours)[:, k] for k in range(6)])
    new = [{"topic1word3": 2, "shared4": 1, "unheard": 7}, {"topic0word1": 1}, *PAGES[:5]]
    for page in new:
        text = [term for term, n in page.items() for _ in range(n)]
        expected = np.zeros(6)
        for topic, value in theirs[tfidf[dictionary.doc2bow(text)]]:
            expected[topic] = value
        assert_allclose(ours.fold_in(page) * signs, expected, rtol=1e-6, atol=1e-9)


def _columns(theirs: Any, ours: LatentSemanticIndex) -> np.ndarray:
    ids = theirs.id2word.token2id
    return np.array([theirs.projection.u[ids[term]] for term in ours.terms_])


def test_it_is_the_dense_decomposition() -> None:
    index = LatentSemanticIndex(n_topics=8).fit(counts(PAGES), random_state=rng())
    weights = index.weights(counts(PAGES).select(index.terms_)).toarray().T  # a column a page
    u, s, vt = np.linalg.svd(weights, full_matrices=False)
    assert_allclose(index.singular_values_, s[:8], rtol=1e-6)
    assert_allclose(index.components_.T @ index.components_, np.eye(8), atol=1e-9)
    assert_allclose(np.abs((index.components_[:, :4] * u[:, :4]).sum(axis=0)), 1, rtol=1e-9)
    points = index.transform(counts(PAGES))
    expected = (s[:4, None] * vt[:4]).T
    signs = np.sign((points[:, :4] * expected).sum(axis=0))
    assert_allclose(points[:, :4], expected * signs, atol=1e-5)


def test_a_page_of_the_collection_is_folded_in_where_it_is() -> None:
    index = LatentSemanticIndex(n_topics=5).fit(counts(PAGES), random_state=rng())
    points = index.transform(counts(PAGES))
    for page, point in zip(PAGES, points, strict=True):
        assert_allclose(index.fold_in(page), point, rtol=1e-9, atol=1e-12)


def test_pages_of_one_topic_lie_together() -> None:
    index = LatentSemanticIndex(n_topics=5).fit(counts(PAGES), random_state=rng())
    points = unit_rows(index.transform(counts(PAGES)))
    cosines = points @ points.T
    alike = np.equal.outer(np.arange(60) % 4, np.arange(60) % 4)
    assert cosines[alike].mean() > cosines[~alike].mean() + 0.3


def test_words_that_are_not_known_say_nothing() -> None:
    index = LatentSemanticIndex(n_topics=5).fit(counts(PAGES), random_state=rng())
    assert index.fold_in({}).tolist() == [0] * 5
    assert index.fold_in({"unheard": 3}).tolist() == [0] * 5
    assert_array_equal(index.fold_in({"shared1": 2, "unheard": 3}), index.fold_in({"shared1": 1}))
    assert_array_equal(index.transform(counts([{}, {"unheard": 1}])), np.zeros((2, 5)))


@pytest.mark.parametrize(
    ("pages", "n_topics"),
    [
        ([{"a": 1}], 1),
        ([{"a": 1}, {"a": 3}], 1),  # of rank 1
        ([{"a": 1}, {"b": 1}, {}], 2),
        ([{"a": 1, "b": 2}, {"b": 1}, {"a": 1, "c": 1}, {"c": 4}], 3),
    ],
)
def test_a_small_collection_has_fewer_dimensions(
    pages: list[dict[str, int]], n_topics: int
) -> None:
    index = LatentSemanticIndex(n_topics=50).fit(counts(pages), random_state=rng())
    assert index.singular_values_.shape == (n_topics,)
    assert np.isfinite(index.transform(counts(pages))).all()


def test_the_terms_that_occur_most_are_kept() -> None:
    index = LatentSemanticIndex(n_topics=5, n_terms=10).fit(counts(PAGES), random_state=rng())
    totals: dict[str, int] = {}
    for page in PAGES:
        for term, n in page.items():
            totals[term] = totals.get(term, 0) + n
    assert index.terms_ == sorted(totals, key=lambda term: (-totals[term], term))[:10]
    assert index.components_.shape == (10, 5)


def test_the_same_seed_gives_the_same_space() -> None:
    first, second = (
        LatentSemanticIndex(n_topics=5).fit(counts(PAGES), random_state=rng(3)) for _ in range(2)
    )
    assert_array_equal(first.components_, second.components_)
    other = LatentSemanticIndex(n_topics=5).fit(counts(PAGES), random_state=rng(4))
    assert_allclose(other.components_[:, :3], first.components_[:, :3], atol=1e-6)


def test_a_saved_space_is_the_same(tmp_path: Path) -> None:
    index = LatentSemanticIndex(n_topics=5).fit(counts(PAGES), random_state=rng())
    write_model(tmp_path / "lsi.npz", index.to_file(topic="robots"))
    again = LatentSemanticIndex.from_file(read_model(tmp_path / "lsi.npz", kind="lsi"))
    assert (again.n_topics, again.n_terms, again.terms_) == (5, 10_000, index.terms_)
    for page in [*PAGES[:5], {"shared1": 2, "unheard": 1}]:
        assert_array_equal(again.fold_in(page), index.fold_in(page))
    assert_array_equal(again.transform(counts(PAGES)), index.transform(counts(PAGES)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lsi_idf": np.ones(3)}, "where n_terms is"),
        ({"lsi_singular_values": np.ones(2)}, "where n_topics is 5"),
        ({"lsi_components": np.full((1, 1), np.inf)}, "lsi_components has the shape"),
    ],
)
def test_a_damaged_space(change: dict[str, Any], message: str) -> None:
    from dataclasses import replace

    index = LatentSemanticIndex(n_topics=5).fit(counts(PAGES), random_state=rng())
    file = index.to_file()
    with pytest.raises(ModelFileError, match=message):
        LatentSemanticIndex.from_file(replace(file, arrays={**file.arrays, **change}))
    for idf in (0.0, -1.0, 1e300):
        arrays = {**file.arrays, "lsi_idf": np.full_like(file.arrays["lsi_idf"], idf)}
        with pytest.raises(ModelFileError, match="lsi_idf has numbers that are not above 0"):
            LatentSemanticIndex.from_file(replace(file, arrays=arrays))
    with pytest.raises(ModelFileError, match="n_topics must be a whole number of at least 1"):
        LatentSemanticIndex.from_file(replace(file, parameters={"n_topics": 0, "n_terms": 1}))


def test_no_words() -> None:
    with pytest.raises(ValueError, match="2 pages have no words to learn from"):
        LatentSemanticIndex().fit(counts([{}, {}]), random_state=rng())
    with pytest.raises(ValueError, match="0 pages have no words"):
        LatentSemanticIndex().fit(counts([]), random_state=rng())
