"""The joint model against sums over all (document, term, factor), and planted factors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from focusspider.models.plsi_phits import PlsiPhits

TEXT = np.array([[3, 0, 1, 0], [0, 2, 1, 0], [1, 1, 0, 4], [0, 0, 0, 0]])
LINKS = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 0, 1]])


def fit(
    text: np.ndarray, links: np.ndarray, k: int = 2, seed: int = 0, **given: object
) -> PlsiPhits:
    model = PlsiPhits(k, **given)
    return model.fit(csr_array(text), csr_array(links), random_state=np.random.default_rng(seed))


def step(
    counts: np.ndarray, p_topic: np.ndarray, factors: np.ndarray, beta: float
) -> tuple[np.ndarray, np.ndarray]:
    """One expectation, as it is written down: a posterior for each count."""
    k = len(factors)
    of_document, of_column = np.zeros((len(counts), k)), np.zeros((k, counts.shape[1]))
    for d, c in itertools.product(*map(range, counts.shape)):
        joint = [(factors[z, c] * p_topic[d, z]) ** beta for z in range(k)]
        for z in range(k):
            if counts[d, c]:
                expected = counts[d, c] * joint[z] / sum(joint)
                of_document[d, z] += expected
                of_column[z, c] += expected
    return of_document, of_column


@pytest.mark.parametrize("beta", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.8, 1.0])
def test_an_iteration_is_what_the_equations_say(alpha: float, beta: float) -> None:
    one = fit(TEXT, LINKS, alpha=alpha, beta=beta, beta_min=beta, max_iter=3, tol=0.0)
    two = fit(TEXT, LINKS, alpha=alpha, beta=beta, beta_min=beta, max_iter=4, tol=0.0)
    of_text, of_term = step(TEXT, one.p_topic_, one.p_term_, beta)
    of_links, of_link = step(LINKS, one.p_topic_, one.p_link_, beta)
    p_topic = alpha * of_text + (1 - alpha) * of_links
    sums = p_topic.sum(axis=1, keepdims=True)
    p_topic = np.where(sums > 0, p_topic / np.where(sums > 0, sums, 1), 1 / 2)
    assert_allclose(two.p_topic_, p_topic, rtol=1e-12)
    assert_allclose(two.p_term_, of_term / of_term.sum(axis=1, keepdims=True), rtol=1e-12)
    assert_allclose(two.p_link_, of_link / of_link.sum(axis=1, keepdims=True), rtol=1e-12)


def test_the_likelihood_is_what_the_equation_says() -> None:
    model = fit(TEXT, LINKS, alpha=0.3)
    expected = 0.0
    for weight, counts, factors in ((0.3, TEXT, model.p_term_), (0.7, LINKS, model.p_link_)):
        mixtures = model.p_topic_ @ factors
        expected += weight * sum(
            n * np.log(mixtures[place]) for place, n in np.ndenumerate(counts) if n
        )
    found = model.log_likelihood(csr_array(TEXT), csr_array(LINKS))
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_never_falls_at_beta_1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text, links = rng.poisson(0.7, (12, 9)), rng.poisson(0.3, (12, 12))
    likelihoods = [
        fit(text, links, k=3, seed=seed, beta_min=1.0, max_iter=n, tol=0.0).log_likelihood(
            csr_array(text), csr_array(links)
        )
        for n in range(1, 40)
    ]
    assert (np.diff(likelihoods) >= -1e-9).all()
    assert likelihoods[-1] > likelihoods[0] + 1


def planted(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Ten documents of terms 0 to 4 that link to each other, and ten of terms 5 to 9."""
    side = np.repeat([0, 1], 10)
    text = np.zeros((20, 10), dtype=int)
    for document, of in enumerate(side):
        text[document, 5 * of : 5 * of + 5] = rng.poisson(3, 5) + 1
    links = ((side[:, None] == side) & (rng.random((20, 20)) < 0.4)).astype(int)
    return text, links


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_two_planted_factors_are_found(alpha: float) -> None:
    text, links = planted(np.random.default_rng(1))
    model = fit(text, links, alpha=alpha, seed=3)
    side = model.p_topic_.argmax(axis=1)
    assert (side == np.repeat([side[0], 1 - side[0]], 10)).all()
    assert model.p_topic_.max(axis=1).min() > 0.9
    one, other = model.p_term_[side[0]], model.p_term_[1 - side[0]]
    assert one[:5].sum() > 0.9
    assert other[5:].sum() > 0.9


def test_a_document_with_links_only_is_folded_in_where_its_links_are() -> None:
    text, links = planted(np.random.default_rng(1))
    model = fit(text, links, seed=3)
    side = model.p_topic_.argmax(axis=1)
    new = np.zeros((2, 20))
    new[0, [1, 2]] = new[1, [11, 12, 13]] = 1
    folded = model.fold_in(None, csr_array(new))
    assert folded.argmax(axis=1).tolist() == [side[0], 1 - side[0]]
    topic = model.fold_in(csr_array(np.eye(10)[:1]), None)
    assert topic.argmax() == side[0]


def test_folding_in_finds_what_is_most_likely() -> None:
    model = fit(TEXT, LINKS, beta_min=1.0, max_iter=200, tol=0.0)
    counts = np.array([[2.0, 1, 1, 3]])
    folded = model.fold_in(csr_array(counts), None, max_iter=2000)[0]
    grid = np.linspace(0, 1, 10_001)[1:-1, None]
    mixtures = grid * model.p_term_[0] + (1 - grid) * model.p_term_[1]
    best = grid[(counts * np.log(np.maximum(mixtures, 1e-300))).sum(axis=1).argmax(), 0]
    assert folded[0] == pytest.approx(best, abs=0.02)


def test_what_shows_nothing_is_thought_to_be_the_mean() -> None:
    model = fit(TEXT, LINKS[:, :2])
    nothing = csr_array(np.zeros((1, 4)))
    assert_allclose(model.fold_in(nothing, None)[0], model.p_topic_.mean(axis=0), rtol=1e-12)
    unseen = fit(TEXT * [1, 1, 1, 0], LINKS).fold_in(csr_array(np.eye(4)[3:]), None)
    assert np.isfinite(unseen).all()


def test_where_one_kind_is_given_its_weight_does_not_matter() -> None:
    for alpha in (0.0, 1.0):
        model = fit(*planted(np.random.default_rng(1)), alpha=alpha, seed=3)
        folded = model.fold_in(csr_array(np.eye(10)[:1]), None)
        assert folded.max() > 0.9


def test_beta_falls_by_eta_to_its_least() -> None:
    assert fit(TEXT, LINKS).beta_ == pytest.approx(0.81)  # 1, 0.9, 0.81; 0.729 is below 0.8
    assert fit(TEXT, LINKS, beta_min=1.0).beta_ == 1
    assert fit(TEXT, LINKS, eta=0.5).beta_ == 1


def test_it_may_begin_with_the_factors_of_another_fit() -> None:
    text, links = planted(np.random.default_rng(1))
    model = fit(text, links, seed=3)
    again = PlsiPhits(2).fit(
        csr_array(text),
        csr_array(links),
        random_state=np.random.default_rng(99),
        p_term=model.p_term_,
    )
    # the factors keep their numbers, whatever the seed
    assert (again.p_topic_.argmax(axis=1) == model.p_topic_.argmax(axis=1)).all()


def test_it_goes_on_from_what_another_fit_found() -> None:
    # One iteration more from P(t|z), P(z|d) and all links alike, at the last β.
    model = fit(TEXT, np.zeros((4, 3), dtype=int), max_iter=3, tol=0.0)
    again = PlsiPhits(2, max_iter=1).fit(
        csr_array(np.vstack([TEXT, [[0, 5, 0, 0]]])),
        csr_array((5, 3)),
        random_state=np.random.default_rng(99),
        p_term=model.p_term_,
        p_topic=model.p_topic_,
    )
    of_text, _ = step(TEXT, model.p_topic_, model.p_term_, 0.81)
    expected = of_text[:3] / of_text[:3].sum(axis=1, keepdims=True)
    assert_allclose(again.p_topic_[:3], expected, rtol=1e-9)
    new, _ = step(np.array([[0, 5, 0, 0]]), np.full((1, 2), 0.5), model.p_term_, 0.81)
    assert_allclose(again.p_topic_[4], new[0] / 5, rtol=1e-9)


@pytest.mark.parametrize("n_documents", [0, 1])
def test_documents_without_anything(n_documents: int) -> None:
    model = fit(np.zeros((n_documents, 3)), np.zeros((n_documents, 0)))
    assert model.p_topic_.tolist() == [[0.5, 0.5]] * n_documents
    assert model.fold_in(None, csr_array((2, 0))).tolist() == [[0.5, 0.5]] * 2


def test_the_same_seed_gives_the_same() -> None:
    assert np.array_equal(fit(TEXT, LINKS, seed=4).p_topic_, fit(TEXT, LINKS, seed=4).p_topic_)
