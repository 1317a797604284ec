"""The hidden Markov model against the sum over all sequences of states, and counts by hand."""

from __future__ import annotations

from itertools import product
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from focusspider.errors import ModelFileError
from focusspider.models.hmm import HopDistanceHMM
from focusspider.models.modelfile import ModelFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def array(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, dtype=np.int64)


def random_model(n_states: int, n_clusters: int, seed: int) -> HopDistanceHMM:
    rng = np.random.default_rng(seed)
    model = HopDistanceHMM(n_states=n_states)
    model.transitions_ = rng.dirichlet(np.full(n_states, 0.7), n_states)
    model.emissions_ = rng.dirichlet(np.full(n_clusters, 0.7), n_states)
    model.start_ = rng.dirichlet(np.ones(n_states))
    model.state_counts_ = rng.integers(9, size=n_states)
    return model


def all_paths(
    model: HopDistanceHMM, clusters: list[Any], n: int
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield each sequence of n states, and its probability together with the clusters.

    A page beyond the clusters, or with a negative one, is not observed; where it is shares
    of clusters, what it shows is the mean of them, weighted by the shares.
    """
    for path in product(range(model.n_states), repeat=n):
        probability = 1.0
        for t, state in enumerate(path):
            step = model.transitions_[path[t - 1], state] if t else model.start_[state]
            probability *= step
            if t < len(clusters) and isinstance(clusters[t], list):
                if any(clusters[t]):
                    shown = zip(clusters[t], model.emissions_[state], strict=True)
                    probability *= sum(share * emission for share, emission in shown)
            elif t < len(clusters) and clusters[t] >= 0:
                probability *= model.emissions_[state, clusters[t]]
        yield path, probability


CASES = [
    (n_states, n_clusters, n_pages, seed)
    for seed, (n_states, n_clusters, n_pages) in enumerate(
        [(2, 2, 1), (2, 3, 6), (3, 2, 5), (4, 9, 5), (5, 9, 4), (5, 4, 6), (1, 3, 4)]
    )
]


@pytest.mark.parametrize("observed", ["clusters", "shares"])
@pytest.mark.parametrize(("n_states", "n_clusters", "n_pages", "seed"), CASES)
def test_against_all_sequences_of_states(
    n_states: int, n_clusters: int, n_pages: int, seed: int, observed: str
) -> None:
    model = random_model(n_states, n_clusters, seed)
    rng = np.random.default_rng(seed)
    clusters: NDArray[Any] = rng.integers(-1, n_clusters, size=n_pages)
    if observed == "shares":
        clusters = rng.multinomial(3, np.full(n_clusters, 1 / n_clusters), size=n_pages) / 3
        clusters[n_pages // 2] = 0
    beliefs = model.filter(clusters)
    best = model.filter(clusters, mode="viterbi")
    for t in range(1, n_pages + 1):
        seen = clusters[:t].tolist()
        ending, best_ending = np.zeros(n_states), np.zeros(n_states)
        for path, probability in all_paths(model, seen, t):
            ending[path[-1]] += probability
            best_ending[path[-1]] = max(best_ending[path[-1]], probability)
        assert_allclose(beliefs[t - 1], ending / ending.sum(), rtol=1e-10)
        assert_allclose(best[t - 1], best_ending / best_ending.sum(), rtol=1e-10)
        assert_allclose(model.log_prob(clusters[:t], array(t)), log(ending.sum()), rtol=1e-10)

        children, best_children = np.zeros(n_states), np.zeros(n_states)  # eq. 8
        for path, probability in all_paths(model, seen, t + 1):
            children[path[-1]] += probability
            best_children[path[-1]] = max(best_children[path[-1]], probability)
        assert_allclose(model.ahead(beliefs[t - 1]), children / children.sum(), rtol=1e-10)
        assert_allclose(
            model.ahead(best[t - 1], mode="viterbi"),
            best_children / best_children.sum(),
            rtol=1e-10,
        )
    winner, _ = max(all_paths(model, clusters.tolist(), n_pages), key=lambda found: found[1])
    assert_array_equal(model.viterbi(clusters), winner)


def test_log_prob_sums_over_sequences() -> None:
    model = random_model(3, 4, 5)
    clusters = array(0, 3, 1, 1, 2)
    parts = model.log_prob(clusters[:2], array(2)) + model.log_prob(clusters[2:], array(3))
    assert model.log_prob(clusters, array(2, 3)) == pytest.approx(parts, rel=1e-12)
    assert model.log_prob(array(), array()) == 0


def test_a_long_path_does_not_run_out_of_numbers() -> None:
    model = random_model(5, 9, 1)
    clusters = np.random.default_rng(0).integers(9, size=5_000)
    for mode in ("marginal", "viterbi"):
        beliefs = model.filter(clusters, mode=mode)
        assert_allclose(beliefs.sum(axis=1), 1, rtol=1e-12)
    assert -np.inf < model.log_prob(clusters, array(5_000)) < -5_000
    assert len(model.viterbi(clusters)) == 5_000


def test_a_filter_with_one_state_is_certain() -> None:
    model = HopDistanceHMM(n_states=1).fit(array(3, 1, 0), array(1, 0, 0), array(3), n_clusters=2)
    for mode in ("marginal", "viterbi"):
        beliefs = model.filter(array(0, 1, -1, 0), mode=mode)
        assert beliefs.tolist() == [[1], [1], [1], [1]]
        assert model.ahead(beliefs[0], mode=mode).tolist() == [1]
    assert model.viterbi(array(0, 1, 1)).tolist() == [0, 0, 0]


# Two sequences: 2 → 1 → 0 and 7 → 1, where 7 hops count as 2, with their clusters.
STATES, CLUSTERS, LENGTHS = array(2, 1, 0, 7, 1), array(2, 1, 0, 2, 2), array(3, 2)


def test_counts_by_hand() -> None:
    model = HopDistanceHMM(n_states=3, start="counted").fit(STATES, CLUSTERS, LENGTHS, n_clusters=4)
    # From T1 once to T0, from T2 twice to T1; λ = 1 for each of 3 states.
    assert_allclose(
        model.transitions_,
        [[1 / 3, 1 / 3, 1 / 3], [2 / 4, 1 / 4, 1 / 4], [1 / 5, 3 / 5, 1 / 5]],
        rtol=1e-12,
    )
    # T0 shows cluster 0 once, T1 clusters 1 and 2, T2 cluster 2 twice; λ for each of 4.
    assert_allclose(
        model.emissions_,
        [
            [2 / 5, 1 / 5, 1 / 5, 1 / 5],
            [1 / 6, 2 / 6, 2 / 6, 1 / 6],
            [1 / 6, 1 / 6, 3 / 6, 1 / 6],
        ],
        rtol=1e-12,
    )
    assert_allclose(model.start_, [1 / 5, 1 / 5, 3 / 5], rtol=1e-12)  # both start in T2
    assert model.state_counts_.tolist() == [1, 2, 2]


def test_counts_without_smoothing() -> None:
    model = HopDistanceHMM(n_states=4, smoothing=0).fit(STATES, CLUSTERS, LENGTHS, n_clusters=3)
    assert model.transitions_[1].tolist() == [1, 0, 0, 0]
    assert model.transitions_[0].tolist() == [1 / 4] * 4  # T0 was never left
    assert model.emissions_[1].tolist() == [0, 1 / 2, 1 / 2]
    assert model.emissions_[2].tolist() == [0, 0, 1]  # 7 hops are T3 now
    assert model.start_.tolist() == [1 / 4] * 4
    # T2 cannot show cluster 0: the belief stays what the parent makes of it.
    assert model.follow(np.array([0, 0, 0, 1.0]), 0).tolist() == [0, 1, 0, 0]
    assert model.log_prob(array(0, 0), array(2)) == pytest.approx(log(1 / 4 * 1) + log(1 / 4))


def test_smoothing_goes_to_uniform() -> None:
    model = HopDistanceHMM(n_states=3, smoothing=1e12).fit(STATES, CLUSTERS, LENGTHS, n_clusters=4)
    assert_allclose(model.transitions_, 1 / 3, rtol=1e-9)
    assert_allclose(model.emissions_, 1 / 4, rtol=1e-9)


def test_counts_in_a_graph_by_hand() -> None:
    # Pages 0 (a target), 1 and 2 link 1 → 0, 2 → 1, 2 → 0, 0 → 2; their clusters are 0, 1, 1.
    edges = np.array([[1, 0], [2, 1], [2, 0], [0, 2]])
    model = HopDistanceHMM(n_states=2).fit_graph(
        array(0, 1, 1), array(0, 1, 1), edges, n_clusters=2
    )
    # T0 → T1 once; T1 → T0 twice, T1 → T1 once.
    assert_allclose(model.transitions_, [[1 / 3, 2 / 3], [3 / 5, 2 / 5]], rtol=1e-12)
    assert_allclose(model.emissions_, [[2 / 3, 1 / 3], [1 / 4, 3 / 4]], rtol=1e-12)
    assert model.start_.tolist() == [1 / 2, 1 / 2]
    assert model.state_counts_.tolist() == [1, 2]
    alone = HopDistanceHMM(n_states=2).fit_graph(
        array(0), array(0), np.zeros((0, 2), dtype=np.int64), n_clusters=1
    )
    assert alone.transitions_.tolist() == [[1 / 2] * 2] * 2


def test_edges_and_the_sequences_of_two_pages_are_the_same_transitions() -> None:
    rng = np.random.default_rng(0)
    states, clusters = rng.integers(5, size=40), rng.integers(6, size=40)
    edges = rng.integers(40, size=(200, 2))
    of_graph = HopDistanceHMM().fit_graph(states, clusters, edges, n_clusters=6)
    pages = edges.ravel()
    of_pairs = HopDistanceHMM().fit(states[pages], clusters[pages], np.full(200, 2), n_clusters=6)
    assert_allclose(of_graph.transitions_, of_pairs.transitions_, rtol=1e-12)


def test_unknown_clusters_are_not_counted() -> None:
    model = HopDistanceHMM(n_states=2).fit(array(1, 0), array(-1, 0), array(2), n_clusters=2)
    assert_allclose(model.emissions_, [[2 / 3, 1 / 3], [1 / 2, 1 / 2]], rtol=1e-12)
    assert_allclose(model.transitions_[1], [2 / 3, 1 / 3], rtol=1e-12)


def test_shares_of_one_cluster_are_that_cluster() -> None:
    rng = np.random.default_rng(0)
    states, clusters = rng.integers(5, size=60), rng.integers(-1, 6, size=60)
    shares = np.zeros((60, 6))
    shares[clusters >= 0] = np.eye(6)[clusters[clusters >= 0]]
    lengths = np.full(12, 5)
    whole = HopDistanceHMM().fit(states, clusters, lengths, n_clusters=6)
    shared = HopDistanceHMM().fit(states, shares, lengths, n_clusters=6)
    assert_allclose(shared.emissions_, whole.emissions_, rtol=1e-12)
    assert_array_equal(shared.transitions_, whole.transitions_)
    assert_allclose(shared.filter(shares), shared.filter(clusters), rtol=1e-12)
    assert shared.log_prob(shares, lengths) == pytest.approx(shared.log_prob(clusters, lengths))


def test_shares_are_counted_by_hand() -> None:
    shares = np.array([[1 / 2, 1 / 2, 0], [1 / 4, 0, 3 / 4], [0, 0, 0], [0, 0, 1]])
    model = HopDistanceHMM(n_states=2).fit(array(0, 0, 0, 1), shares, array(4), n_clusters=3)
    expected = [[1.75 / 5, 1.5 / 5, 1.75 / 5], [1 / 4, 1 / 4, 2 / 4]]
    assert_allclose(model.emissions_, expected, rtol=1e-12)


def test_rows_sum_to_1() -> None:
    rng = np.random.default_rng(0)
    model = HopDistanceHMM(smoothing=0.5).fit(
        rng.integers(9, size=500), rng.integers(8, size=500), np.full(100, 5), n_clusters=8
    )
    assert_allclose(model.transitions_.sum(axis=1), 1, rtol=1e-12)
    assert_allclose(model.emissions_.sum(axis=1), 1, rtol=1e-12)


def test_it_learns_which_clusters_lead_to_targets() -> None:
    """Of two clusters of pages one step away from a target, only one is ever followed by one."""
    paths = [([1, 0], [1, 0])] * 20 + [([4, 4], [2, 2])] * 20
    states = array(*(s for path, _ in paths for s in path))
    clusters = array(*(c for _, path in paths for c in path))
    model = HopDistanceHMM().fit(states, clusters, np.full(40, 2), n_clusters=3)
    good, bad = (model.ahead(model.begin(cluster)) for cluster in (1, 2))
    assert good[0] > 0.5 > 0.2 > bad[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_states": 0}, "n_states must be a whole number of at least 1, got 0"),
        ({"smoothing": -1}, "smoothing must be a number of at least 0, got -1"),
        ({"start": "unifrom"}, r"got 'unifrom' \(did you mean 'uniform'\?\)"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HopDistanceHMM(**parameters)


@pytest.mark.parametrize(
    ("states", "clusters", "lengths", "message"),
    [
        (array(1), array(1, 2), array(1), "each page has a state and a cluster"),
        (array(-1), array(1), array(1), "states are from 0 on"),
        (array(1), array(3), array(1), "clusters below 3, got 1 and 3"),
        (array(1, 2), array(1, 2), array(1), "lengths must sum to the 2 pages, got 1"),
        (array(1, 2), array(1, 2), array(2, 0), "lengths must sum to the 2 pages"),
    ],
)
def test_wrong_data(
    states: NDArray[np.int64], clusters: NDArray[np.int64], lengths: NDArray[np.int64], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        HopDistanceHMM().fit(states, clusters, lengths, n_clusters=3)


def test_wrong_graphs_and_modes() -> None:
    with pytest.raises(ValueError, match="edges must be between the 1 pages, got 1"):
        HopDistanceHMM().fit_graph(array(0), array(0), np.array([[0, 1]]), n_clusters=1)
    with pytest.raises(ValueError, match="start must be 'uniform'"):
        HopDistanceHMM(start="counted").fit_graph(array(0), array(0), array(), n_clusters=1)
    with pytest.raises(ValueError, match="mode must be one of marginal, viterbi, got 'max'"):
        random_model(2, 2, 0).ahead(np.ones(2), mode="max")


def test_arrays_make_the_model_again() -> None:
    model = HopDistanceHMM(n_states=3, smoothing=0.5).fit(STATES, CLUSTERS, LENGTHS, n_clusters=4)
    parameters = {name: getattr(model, name) for name in HopDistanceHMM.PARAMETERS}
    file = ModelFile(kind="hmm", arrays=model.to_arrays(), parameters=parameters)
    again = HopDistanceHMM.of(file, file.take(HopDistanceHMM.SHAPES))
    assert (again.n_states, again.smoothing, again.start) == (3, 0.5, "uniform")
    assert_array_equal(again.filter(CLUSTERS), model.filter(CLUSTERS))
    assert_array_equal(again.state_counts_, model.state_counts_)

    wrong = ModelFile(kind="hmm", arrays=file.arrays, parameters={**parameters, "n_states": 4})
    with pytest.raises(ModelFileError, match="it has 3 states, and n_states=4"):
        HopDistanceHMM.of(wrong, wrong.take(HopDistanceHMM.SHAPES))
    for name in ("hmm_transitions", "hmm_emissions", "hmm_start"):
        arrays = {**file.arrays, name: file.arrays[name] * 2}
        wrong = ModelFile(kind="hmm", arrays=arrays, parameters=parameters)
        with pytest.raises(ModelFileError, match="does not sum to 1"):
            HopDistanceHMM.of(wrong, wrong.take(HopDistanceHMM.SHAPES))
