"""The user model on a web whose structure is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from focusspider.errors import ModelFileError
from focusspider.models.modelfile import read_model, write_model
from focusspider.models.nearest import UNKNOWN
from focusspider.models.user_model import UserModel
from focusspider.models.wordweights import log_odds_ratios, top_words
from tests.models.collections import counts, page_about

if TYPE_CHECKING:
    from pathlib import Path

# A web of paths university → department → people → paper, and sports → sports → …
TOPICS = ["paper", "people", "department", "university", "sports"]
STATES = {"paper": 0, "people": 1, "department": 2, "university": 3, "sports": 9}
N_EACH = 40


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def web() -> tuple[list[dict[str, int]], np.ndarray, np.ndarray]:
    """Return pages, their states and edges; page n has the topic n % 5."""
    random = rng(2)
    topics = [TOPICS[number % 5] for number in range(5 * N_EACH)]
    pages = [page_about(topic, random) for topic in topics]
    states = np.array([STATES[topic] for topic in topics])
    edges = []
    for start in range(0, len(pages), 5):
        paper, people, department, university, sports = range(start, start + 5)
        edges += [(university, department), (department, people), (people, paper)]
        edges += [(university, sports), (sports, (sports + 5) % len(pages))]
    return pages, states, np.array(edges)


PAGES, LABELS, EDGES = web()


@pytest.fixture(scope="module")
def model() -> UserModel:
    return UserModel(n_topics=10, k_max=4).fit(
        counts(PAGES), LABELS, edges=EDGES, random_state=rng()
    )


def test_clusters_are_the_topics_and_targets_are_cluster_0(model: UserModel) -> None:
    clusters = model.nearest_.clusters_
    assert (clusters[LABELS == 0] == 0).all()
    assert model.nearest_.n_clusters_ == 5
    for topic in range(5):
        assert len(set(clusters[topic::5].tolist())) == 1
    assert model.cluster_counts_.shape == (5, len(model.lsi_.terms_))
    assert model.cluster_counts_.sum() == sum(sum(page.values()) for page in PAGES)


def test_new_pages_get_the_cluster_of_their_topic(model: UserModel) -> None:
    random = rng(9)
    new = [page_about(topic, random) for topic in TOPICS * 20]
    expected = model.nearest_.clusters_[np.arange(100) % 5]
    found = model.observe_all(counts(new))
    assert np.mean(found == expected) >= 0.99
    assert [model.observe(page) for page in new] == found.tolist()
    assert model.observe({}) == model.observe({"unheard": 3}) == UNKNOWN


def test_the_hidden_markov_model_is_that_of_the_graph(model: UserModel) -> None:
    # Of 40 links from each: T3 → T2 and T3 → T4 (sports are 9 hops away), T4 → T4.
    hmm = model.hmm_
    assert_allclose(hmm.transitions_[3], np.array([0, 0, 40, 0, 40]) / 85 + 1 / 85, rtol=1e-12)
    assert_allclose(hmm.transitions_[4], np.array([0, 0, 0, 0, 40]) / 45 + 1 / 45, rtol=1e-12)
    assert hmm.state_counts_.tolist() == [N_EACH] * 5
    assert_allclose(hmm.emissions_.max(axis=1), 41 / 45, rtol=1e-12)


def test_belief_of_a_path(model: UserModel) -> None:
    random = rng(5)
    belief = model.hmm_.begin(model.observe(page_about("university", random)))
    for topic, ahead in [("department", 1), ("people", 0)]:
        belief = model.hmm_.follow(belief, model.observe(page_about(topic, random)))
        assert model.hmm_.ahead(belief).argmax() == ahead
    sports = model.hmm_.begin(model.observe(page_about("sports", random)))
    assert model.hmm_.ahead(sports)[0] < 0.1 < model.hmm_.ahead(belief)[0]


def test_the_words_of_a_cluster(model: UserModel) -> None:
    words = top_words(log_odds_ratios(model.cluster_counts_), model.lsi_.terms_, 5)
    assert all(word.startswith("paper") for word, _ in words[0])


def test_sequences_of_two_pages_are_edges() -> None:
    given = {"sequences": EDGES.ravel(), "lengths": np.full(len(EDGES), 2)}
    of_sequences = UserModel(n_topics=10, k_max=4).fit(
        counts(PAGES), LABELS, **given, random_state=rng()
    )
    of_graph = UserModel(n_topics=10, k_max=4).fit(
        counts(PAGES), LABELS, edges=EDGES, random_state=rng()
    )
    assert_allclose(of_sequences.hmm_.transitions_, of_graph.hmm_.transitions_, rtol=1e-12)
    assert_array_equal(of_sequences.nearest_.clusters_, of_graph.nearest_.clusters_)


def test_emissions_of_what_the_neighbours_say() -> None:
    rare = [page_about("people", rng(n)) for n in range(10)]  # targets that look like people
    pages = PAGES + rare
    states = np.concatenate([LABELS, np.zeros(10, dtype=np.int64)])
    own, said = (
        UserModel(n_topics=10, k_max=4, observed=observed).fit(
            counts(pages), states, edges=EDGES, random_state=rng()
        )
        for observed in ("clusters", "neighbours")
    )
    of_people = own.nearest_.clusters_[1]
    assert_allclose(own.hmm_.emissions_[0, of_people], 1 / 55, rtol=1e-12)
    assert said.hmm_.emissions_[0, of_people] > 9 / 55  # the neighbours take them for people
    said_of_all = said.nearest_.leave_one_out()[states == 0]
    assert_allclose(
        said.hmm_.emissions_[0],
        (np.bincount(said_of_all, minlength=5) + 1) / 55,
        rtol=1e-12,
    )


def test_pages_observed_as_shares(tmp_path: Path) -> None:
    model = UserModel(n_topics=10, k_max=4, n_neighbors=20, observed="shares")
    model.fit(counts([*PAGES, {}]), np.append(LABELS, 1), edges=EDGES, random_state=rng())
    shares = model.nearest_.leave_one_out_shares()
    for state in range(5):
        counted = shares[np.minimum(LABELS, 4) == state].sum(axis=0)
        assert_allclose(model.hmm_.emissions_[state], (counted + 1) / 45, rtol=1e-12)
    new = [page_about(topic, rng(8)) for topic in TOPICS]
    found = model.observe_all(counts([*new, {}]))
    assert_allclose(found.sum(axis=1), [1, 1, 1, 1, 1, 0], rtol=1e-12)
    write_model(tmp_path / "hmm.npz", model.to_file())
    again = UserModel.from_file(read_model(tmp_path / "hmm.npz", kind="hmm"))
    for page, of_page in zip([*new, {}], found, strict=True):
        assert_array_equal(model.observe(page), of_page)
        assert_array_equal(again.observe(page), of_page)
        assert_array_equal(again.hmm_.begin(of_page), model.hmm_.begin(of_page))
    assert_array_equal(model.hmm_.begin(model.observe({})), model.hmm_.start_)


def test_pages_without_words_are_in_no_cluster() -> None:
    pages = [*PAGES, {}, {}]
    states = np.concatenate([LABELS, [0, 1]])
    model = UserModel(n_topics=10, k_max=4).fit(
        counts(pages), states, edges=EDGES, random_state=rng()
    )
    assert len(model.nearest_.points_) == 201  # the target without words is a target
    assert model.nearest_.n_clusters_ == 5
    assert model.hmm_.state_counts_.tolist() == [41, 41, 40, 40, 40]


def test_a_saved_model_is_the_same(model: UserModel, tmp_path: Path) -> None:
    file = model.to_file(topic="papers", training_data="ab12", metrics={"accuracy": 0.5})
    write_model(tmp_path / "hmm.npz", file)
    again = UserModel.from_file(read_model(tmp_path / "hmm.npz", kind="hmm"))
    assert {name: getattr(again, name) for name in UserModel.PARAMETERS} == file.parameters
    for page in PAGES[:20]:
        cluster = model.observe(page)
        assert again.observe(page) == cluster
        assert_array_equal(again.hmm_.begin(cluster), model.hmm_.begin(cluster))
    assert_array_equal(again.cluster_counts_, model.cluster_counts_)
    again_written = again.to_file(topic="papers", training_data="ab12")
    assert again_written.arrays.keys() == file.arrays.keys()


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        made = UserModel(n_topics=10, k_max=4).fit(
            counts(PAGES), LABELS, edges=EDGES, random_state=rng(1)
        )
        write_model(tmp_path / name, made.to_file())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hmm_start": np.full(4, 1 / 4)}, "hmm_start has the shape"),
        ({"nearest_clusters": np.full(200, 5)}, "not in 5 clusters"),
        ({"nearest_clusters": np.full(200, -1)}, "each point has a cluster from 0 on"),
        ({"cluster_counts": np.zeros((4, 130), dtype=np.int64)}, "cluster_counts has the shape"),
    ],
)
def test_a_damaged_model(model: UserModel, change: dict[str, Any], message: str) -> None:
    file = model.to_file()
    with pytest.raises(ModelFileError, match=message):
        UserModel.from_file(replace(file, arrays={**file.arrays, **change}))
    file = replace(file, parameters={k: v for k, v in file.parameters.items() if k != "observed"})
    with pytest.raises(ModelFileError, match="it lacks the parameters observed"):
        UserModel.from_file(file)


@pytest.mark.parametrize(
    ("states", "given", "message"),
    [
        (LABELS[:3], {"edges": EDGES}, "each of 200 pages has a state"),
        (LABELS + 1, {"edges": EDGES}, "0 of 200 pages are targets; there must be some"),
        (LABELS * 0, {"edges": EDGES}, "200 of 200 pages are targets"),
        (LABELS, {}, "give either edges, or sequences and their lengths"),
        (LABELS, {"edges": EDGES, "lengths": EDGES}, "give either edges, or sequences"),
        (LABELS, {"sequences": EDGES}, "give either edges, or sequences"),
    ],
)
def test_wrong_training_data(states: np.ndarray, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        UserModel().fit(counts(PAGES), states, **given, random_state=rng())


def test_others_without_words() -> None:
    with pytest.raises(ValueError, match="none of the pages that are no targets has words"):
        UserModel().fit(
            counts([{"a": 1}, {}]), np.array([0, 1]), edges=np.array([[1, 0]]), random_state=rng()
        )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"observed": "neighbors"}, r"did you mean 'neighbours'\?"),
        ({"k_max": 2}, "k_max must be a whole number of at least 3, got 2"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"n_topics": 0}, "n_topics must be"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        UserModel(**parameters)
