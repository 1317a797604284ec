"""MEMM and CRF against the sum over all sequences of states, and against crfsuite."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pycrfsuite
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from focusspider.errors import ModelFileError
from focusspider.models.chain import ChainModel, previous_states
from focusspider.models.crf import CRF
from focusspider.models.memm import MEMM, negative_posterior
from focusspider.models.modelfile import ModelFile, read_model, write_model

if TYPE_CHECKING:
    from pathlib import Path

N_FEATURES = 8
MODELS = [MEMM, CRF]
NAMES = [f"words:{n}" for n in range(N_FEATURES)]


def data(seed: int = 0, n: int = 60, k: int = 3) -> tuple[csr_array, list[int], np.ndarray]:
    """Sequences whose states hang on what is seen and on the state before."""
    rng = np.random.default_rng(seed)
    rows, labels, lengths = [], [], []
    for _ in range(n):
        length = int(rng.integers(2, 7))
        state = int(rng.integers(k))
        for _ in range(length):
            row = (rng.random(N_FEATURES) < 0.25) * 1.0
            row[state] = rng.random() < 0.7
            row[-1] = rng.random()  # a real value
            rows.append(row)
            labels.append(state)
            state = max(0, state - int(rng.random() < 0.6))
        lengths.append(length)
    return csr_array(np.array(rows)), lengths, np.array(labels)


@pytest.fixture(params=MODELS, ids=lambda m: m.kind)
def model(request: pytest.FixtureRequest) -> ChainModel:
    return request.param(3).fit(*data(), names=NAMES)


def joint(model: ChainModel, rows: np.ndarray) -> dict[tuple[int, ...], float]:
    """p(s | o) of every sequence of states, from the weights as the papers define them."""
    k = model.k
    x = np.column_stack([rows, np.ones(len(rows))])  # (n, n_features + 1)
    found = {}
    for states in itertools.product(range(k), repeat=len(rows)):
        log_p, before = 0.0, k
        for t, state in enumerate(states):
            if isinstance(model, MEMM):
                each = [x[t] @ model.weights_[:, before * k + s] for s in range(k)]
                log_p += each[state] - np.log(np.exp(each).sum())
            else:
                assert isinstance(model, CRF)
                log_p += x[t] @ model.weights_[:, state]
                if before < k:
                    log_p += model.transitions_[before, state]
            before = state
        found[states] = np.exp(log_p)
    total = sum(found.values())
    if isinstance(model, MEMM):
        assert total == pytest.approx(1, rel=1e-12)
    return {states: p / total for states, p in found.items()}


def observed(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((n, N_FEATURES)) * (rng.random((n, N_FEATURES)) < 0.4)


@pytest.mark.parametrize("seed", range(3))
def test_beliefs_are_sums_over_all_sequences(model: ChainModel, seed: int) -> None:
    rows = observed(seed, 5)
    belief = best = None
    for t in range(5):
        of_prefix = joint(model, rows[: t + 1])
        x = csr_array(rows[t : t + 1])
        belief = model.forward(belief, x)[0]
        best = model.viterbi(best, x)[0]
        sums = [sum(p for s, p in of_prefix.items() if s[-1] == state) for state in range(3)]
        peaks = [max(p for s, p in of_prefix.items() if s[-1] == state) for state in range(3)]
        assert_allclose(belief, sums, rtol=1e-9)
        assert_allclose(best, np.divide(peaks, sum(peaks)), rtol=1e-9)
        belief = tuple(belief.tolist())  # as a request carries it


def test_whole_sequences_are_followed_as_step_by_step(model: ChainModel) -> None:
    features, lengths, _ = data(5, n=9)
    for mode in ("marginal", "viterbi"):
        found = model.beliefs(features, lengths, mode=mode)
        start = 0
        for length in lengths:
            belief = None
            for item in range(start, start + length):
                belief = model.forward(belief, features[[item]], mode=mode)[0]
                assert_allclose(found[item], belief, rtol=1e-9)
            start += length


def test_the_best_sequence_and_the_likelihood(model: ChainModel) -> None:
    features, lengths, labels = data(6, n=12)
    decoded = model.decode(features, lengths)
    start, log_likelihood = 0, 0.0
    for length in lengths:
        items = slice(start, start + length)
        every = joint(model, features[items].toarray())
        assert tuple(decoded[items].tolist()) == max(every, key=every.__getitem__)
        log_likelihood += np.log(every[tuple(labels[items].tolist())])
        start += length
    found = model.log_likelihood(features, lengths, labels)
    assert found == pytest.approx(log_likelihood, rel=1e-9)


def test_all_sequences_together_have_probability_1(model: ChainModel) -> None:
    rows = csr_array(observed(9, 4))
    every = [model.log_likelihood(rows, [4], s) for s in itertools.product(range(3), repeat=4)]
    assert np.exp(every).sum() == pytest.approx(1, rel=1e-9)


def test_links_are_rows_with_one_belief_before(model: ChainModel) -> None:
    belief = model.forward(None, csr_array(observed(1, 1)))[0]
    links = csr_array(np.vstack([observed(2, 3), np.zeros(N_FEATURES)]))
    found = model.predict_child(belief, links)
    for i in range(4):
        assert_allclose(found[i], model.forward(belief, links[[i]])[0], rtol=1e-12)
    assert found.shape == (4, 3)
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert model.predict_child(belief, csr_array((0, N_FEATURES))).shape == (0, 3)


def test_evidence_adds_up(model: ChainModel) -> None:
    rows = observed(3, 1)
    link, page = rows.copy(), rows.copy()
    link[:, 3:] = 0
    page[:, :3] = 0
    belief = [0.2, 0.5, 0.3]
    kept = model.evidence(csr_array(link))[0].tolist()
    assert_allclose(
        model.forward(belief, csr_array(page), evidence=kept),
        model.forward(belief, csr_array(rows)),
        rtol=1e-9,
    )


def test_the_scale_of_a_belief_does_not_matter(model: ChainModel) -> None:
    rows = csr_array(observed(3, 1))
    small = model.forward([2e-300, 5e-300, 3e-300], rows)
    assert_allclose(small, model.forward([0.2, 0.5, 0.3], rows), rtol=1e-9)


@pytest.mark.parametrize("belief", [[0, 0, 0], [1, 2], [1, np.nan, 0], [1, -1, 1], [[[1, 1, 1]]]])
def test_what_is_no_belief(model: ChainModel, belief: Any) -> None:
    with pytest.raises(ValueError, match="a belief has"):
        model.forward(belief, csr_array(observed(3, 1)))


def test_an_unknown_mode(model: ChainModel) -> None:
    with pytest.raises(ValueError, match="mode must be one of marginal, viterbi, got 'mean'"):
        model.forward(None, csr_array(observed(3, 1)), mode="mean")


def test_long_paths_neither_underflow_nor_lose_their_sum(model: ChainModel) -> None:
    features = csr_array(observed(4, 3_000))
    for mode in ("marginal", "viterbi"):
        found = model.beliefs(features, [3_000], mode=mode)
        assert np.isfinite(found).all()
        assert_allclose(found.sum(axis=1), 1, rtol=1e-9)


@pytest.mark.parametrize("cls", MODELS)
def test_one_state_is_certain(cls: type[Any]) -> None:
    features, lengths, labels = data()
    model = cls(1).fit(features, lengths, labels * 0)
    assert_array_equal(model.beliefs(features, lengths), 1)
    assert model.log_likelihood(features, lengths, labels * 0) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("cls", MODELS)
def test_the_same_data_give_the_same_model(cls: type[Any]) -> None:
    assert_array_equal(cls(3).fit(*data()).weights_, cls(3).fit(*data()).weights_)


@pytest.mark.parametrize("cls", MODELS)
def test_too_few_iterations_warn(cls: type[Any]) -> None:
    with pytest.warns(RuntimeWarning, match="has not converged in"):
        model = cls(3, max_iter=2).fit(*data())
    assert not model.converged_


@pytest.mark.parametrize("cls", MODELS)
def test_what_is_learnt_is_there_to_be_seen(cls: type[Any]) -> None:
    model = cls(3).fit(*data(n=300))
    features, lengths, labels = data(1, n=100)
    right = model.beliefs(features, lengths).argmax(axis=1) == labels
    alone = cls(3, edge=False).fit(*data(n=300))
    right_alone = alone.beliefs(features, lengths).argmax(axis=1) == labels
    assert right.mean() > np.bincount(labels).max() / len(labels) + 0.08
    assert right.mean() > right_alone.mean() + 0.02  # the state before says something
    assert model.log_likelihood(features, lengths, labels) > alone.log_likelihood(
        features, lengths, labels
    )


@pytest.mark.parametrize("cls", MODELS)
def test_without_edges_the_state_before_says_nothing(cls: type[Any]) -> None:
    model = cls(3, edge=False).fit(*data())
    rows = csr_array(observed(3, 2))
    first = model.forward(None, rows)
    assert_allclose(model.forward([1, 0, 0], rows), first, rtol=1e-9)
    assert_allclose(model.forward([0, 0.5, 0.5], rows), first, rtol=1e-9)


@pytest.mark.parametrize("cls", MODELS)
def test_progress_is_told(cls: type[Any]) -> None:
    told: list[int] = []
    model = cls(3).fit(*data(), progress=told.append)
    assert told == list(range(1, model.n_iter_ + 1))
    assert told


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lengths": [1, 1]}, "lengths that sum to 2, 4 rows, 4 labels"),
        ({"lengths": [0, 4]}, "lengths that sum to 4"),
        ({"lengths": [], "labels": []}, "there must be sequences"),
        ({"labels": [0, 1, 3, 0]}, "labels must be states from 0 to 2"),
        ({"labels": [0, 1, -1, 0]}, "labels must be states from 0 to 2"),
        ({"names": ["a"]}, "1 names for 4 features"),
        ({"features": csr_array(np.full((4, 2), np.nan))}, "features must be finite"),
    ],
)
def test_data_that_do_not_fit_together(
    cls: type[Any], change: dict[str, Any], message: str
) -> None:
    given = {"features": csr_array(np.eye(4)), "lengths": [2, 2], "labels": [0, 1, 2, 0]}
    with pytest.raises(ValueError, match=message):
        cls(3).fit(**{**given, **change})


@pytest.mark.parametrize(
    ("cls", "parameters", "message"),
    [
        (MEMM, {"k": 0}, "k must be a whole number of at least 1, got 0"),
        (CRF, {"k": 2.5}, "k must be a whole number"),
        (MEMM, {"variance": 0}, "variance must be a number"),
        (CRF, {"variance": float("inf")}, "variance must be a number"),
        (MEMM, {"prior": "flat"}, "prior must be one of pooled, zero, got 'flat'"),
        (CRF, {"edge": 1}, "edge must be true or false, got 1"),
        (MEMM, {"max_iter": 0}, "max_iter must be a whole number"),
        (CRF, {"tol": -1}, "tol must be a number"),
    ],
)
def test_wrong_parameters(cls: type[Any], parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(**parameters)


# MEMM alone


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_finite_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, _, labels = data(seed, n=8)
    mean = rng.normal(size=(N_FEATURES, 3))
    at = rng.normal(size=mean.size)
    arguments = (features, features.T.tocsr(), labels, mean, 0.7)
    _, gradient = negative_posterior(at, *arguments)
    step = 1e-6
    for i in range(at.size):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] -= step
        slope = negative_posterior(up, *arguments)[0] - negative_posterior(down, *arguments)[0]
        assert gradient[i] == pytest.approx(slope / (2 * step), rel=1e-5, abs=1e-6)


def test_expected_counts_are_empirical_counts_at_the_optimum() -> None:
    """Eq. 17: without a prior, features are as often with a state as the model expects."""
    features, lengths, labels = data()
    model = MEMM(3, variance=1e9, prior="zero", tol=0, max_iter=3_000).fit(
        features, lengths, labels
    )
    previous = previous_states(labels, np.array(lengths), 3)
    p = np.exp(model.log_potentials(model.evidence(features)))  # (n, 4, 3)
    p = p[np.arange(len(labels)), previous]
    for state in range(4):
        rows = previous == state
        x = features.toarray()[rows]
        assert_allclose(x.T @ p[rows], x.T @ np.eye(3)[labels[rows]], atol=0.02)


def test_a_previous_state_without_data_is_as_all_together() -> None:
    features, lengths, labels = data(k=2)  # no label is 2
    pooled = MEMM(3, edge=False).fit(features, lengths, labels)
    model = MEMM(3).fit(features, lengths, labels)
    rows = csr_array(observed(0, 4))
    assert_allclose(model.forward([0, 0, 1], rows), pooled.forward(None, rows), rtol=1e-9)
    assert model.counts_[2].tolist() == [0, 0, 0]
    literal = MEMM(3, prior="zero").fit(features, lengths, labels)
    assert_allclose(literal.forward([0, 0, 1], rows), 1 / 3, rtol=1e-9)


def test_transitions_are_counted() -> None:
    model = MEMM(2).fit(csr_array(np.ones((5, 1))), [3, 2], [1, 0, 0, 1, 1])
    assert model.counts_.tolist() == [[1, 0], [1, 1], [0, 2]]


# CRF alone


def test_beliefs_are_those_of_crfsuite_on_every_prefix(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept: dict[str, bytes] = {}
    info = pycrfsuite.Tagger.open

    class Tagger(pycrfsuite.Tagger):
        def open(self, name: str) -> Any:
            kept["model"] = (tmp_path / "x").parent.joinpath(name).read_bytes()
            return info(self, name)

    monkeypatch.setattr(pycrfsuite, "Tagger", Tagger)
    features, lengths, labels = data(n=100)
    model = CRF(3).fit(features, lengths, labels)
    (tmp_path / "model").write_bytes(kept["model"])
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    features, lengths, _ = data(8, n=40)
    found = model.beliefs(features, lengths)
    start = 0
    for length in lengths:
        rows = [
            {str(i): v for i, v in enumerate([*row, 1.0]) if v}
            for row in features[start : start + length].toarray().tolist()
        ]
        for t in range(length):
            tagger.set(pycrfsuite.ItemSequence(rows[: t + 1]))
            expected = [tagger.marginal(str(state), t) for state in range(3)]
            assert_allclose(found[start + t], expected, atol=1e-5)
        start += length


@pytest.mark.parametrize("possible_states", [True, False])
def test_crfsuite_found_an_optimum(possible_states: bool) -> None:
    """The slope of eq. 36 is near 0, by finite differences of the likelihood."""
    features, lengths, labels = data(n=30)
    model = CRF(3, tol=1e-9, max_iter=1_000, possible_states=possible_states, variance=0.5)
    model.fit(features, lengths, labels)

    def posterior() -> float:
        squares = (model.weights_**2).sum() + (model.transitions_**2).sum()
        return model.log_likelihood(features, lengths, labels) - squares / (2 * 0.5)

    for weights in (model.weights_, model.transitions_):
        for place in np.ndindex(*weights.shape):
            if weights[place]:
                before, slope = weights[place], 0.0
                for sign in (1, -1):
                    weights[place] = before + sign * 1e-4
                    slope += sign * posterior() / 2e-4
                weights[place] = before
                assert slope == pytest.approx(0, abs=0.02)


def test_a_state_that_no_label_has_is_never_believed() -> None:
    features, lengths, labels = data(k=2)
    model = CRF(3).fit(features, lengths, labels)
    assert model.seen_.tolist() == [True, True, False]
    found = model.forward([0, 0, 1], csr_array(observed(0, 4)))
    assert (found[:, 2] == 0).all()
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert model.log_likelihood(features[:2], [2], [0, 2]) == -np.inf


# Files


def test_a_model_is_read_as_it_was_written(model: ChainModel, tmp_path: Path) -> None:
    more = {"parameters": {"families": ["words"]}, "topic": "robots", "date": "2026-11-28"}
    write_model(tmp_path / "x.npz", model.to_file(**more))
    file = read_model(tmp_path / "x.npz", kind=model.kind)
    assert (file.topic, file.parameters["families"]) == ("robots", ["words"])
    again = type(model).from_file(file)
    rows = csr_array(observed(0, 4))
    assert_array_equal(again.forward([0.2, 0.5, 0.3], rows), model.forward([0.2, 0.5, 0.3], rows))
    assert again.names_ == tuple(NAMES)
    assert again.variance == model.variance  # type: ignore[attr-defined]


def test_files_that_hold_no_such_model(model: ChainModel) -> None:
    file = model.to_file()

    def changed(**given: Any) -> ModelFile:
        fields = {"arrays": file.arrays, "parameters": file.parameters, "kind": file.kind}
        return ModelFile(**{**fields, **given})

    arrays = dict(file.arrays)
    wrong = [
        changed(kind="hmm"),
        changed(parameters={**file.parameters, "k": 4}),
        changed(parameters={**file.parameters, "k": "3"}),
        changed(arrays={name: a for name, a in arrays.items() if name != "weights"}),
        changed(arrays={**arrays, "more": np.zeros(1)}),
        changed(parameters={n: p for n, p in file.parameters.items() if n != "variance"}),
        changed(arrays={**arrays, "weights": arrays["weights"] * np.nan}),
        changed(arrays={**arrays, "weights": arrays["weights"] * 1e300}),
        changed(arrays={**arrays, "weights": arrays["weights"][:-1]}),
        changed(arrays={**arrays, "weights": arrays["weights"][:0]}),
        changed(arrays={**arrays, "weights": arrays["weights"][:, :-1].copy()}),
    ]
    for sick in wrong:
        with pytest.raises(ModelFileError, match="not a sound"):
            type(model).from_file(sick)
