"""Training of ``hmm`` on a web whose structure is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from focusspider.errors import SettingError, TrainingError
from focusspider.models.modelfile import read_model, write_model
from focusspider.models.user_model import UserModel
from focusspider.page import PageParser
from focusspider.strategies.hmm import Hmm
from focusspider.training import build_trainer
from focusspider.training.base import Trained, TrainingData
from focusspider.training.hmm import HmmTrainer
from focusspider.webgraph import WebGraph
from tests.pages import ANALYZER, page, profile
from tests.training.smalldata import TOPIC, WORDS, data, edges, pages

if TYPE_CHECKING:
    from pathlib import Path


def quiet(doing: str, done: int, total: int) -> None:
    assert doing
    assert 0 <= done <= total


def trained(of: TrainingData | None = None, seed: int = 0, **params: Any) -> Trained:
    random_state = np.random.default_rng(seed)
    return HmmTrainer(**params).train(of or data(), random_state=random_state, told=quiet)


def test_transitions_are_the_links_of_the_graph_by_hand() -> None:
    model = UserModel.from_file(trained(n_states=4).model)
    # 54 links lead from departments (T2) to laboratories (T1), 54 from these to robots (T0), 72
    # from sports to sports (T3, "3 or more"); with 1 added to each of 4.
    assert_allclose(
        model.hmm_.transitions_ * [[4], [58], [58], [76]],
        [[1, 1, 1, 1], [55, 1, 1, 1], [1, 55, 1, 1], [1, 1, 1, 73]],
        rtol=1e-12,
    )
    assert model.hmm_.state_counts_.tolist() == [12, 18, 18, 24]


def test_clusters_are_the_kinds_of_pages_and_targets_are_cluster_0() -> None:
    model = UserModel.from_file(trained(n_states=4, observed="clusters").model)
    assert model.nearest_.n_clusters_ == 4
    clusters = model.nearest_.clusters_
    kinds = np.repeat(np.arange(4), [12, 18, 18, 24])
    assert {*zip(kinds.tolist(), clusters.tolist(), strict=True)} == {
        (0, 0),
        *((kind, int(clusters[kinds == kind][0])) for kind in (1, 2, 3)),
    }
    # Each state shows one cluster: (n + 1) / (n + 4) of it.
    assert_allclose(model.hmm_.emissions_.max(axis=1), [13 / 16, 19 / 22, 19 / 22, 25 / 28])


def test_what_is_held_out_is_told_better_than_by_guessing() -> None:
    metrics = trained(n_states=4, observed="clusters").model.metrics
    # A fifth of each kind: 2 + 3 + 3 + 4, of which the last ten have three links each.
    assert metrics["held_out_pages"] == 12
    assert metrics["held_out_links"] == 30
    assert metrics["held_out_accuracy"] == 1  # each kind is in one state, and shows one cluster
    assert metrics["held_out_order"] == 1
    assert metrics["guessed_accuracy"] == pytest.approx(4 / 12)  # sports are the most
    assert -0.5 < metrics["held_out_log_likelihood"] < 0
    kept = np.array([10, 15, 15, 20]) + 1
    assert metrics["guessed_log_likelihood"] == pytest.approx(
        float(np.log(kept / kept.sum()) @ [2, 3, 3, 4]) / 12
    )


def test_chance_where_words_tell_nothing() -> None:
    random = np.random.default_rng(5)
    pages_of_noise = [
        page(f"<p>{' '.join(random.choice(WORDS['sport'], 30))}", f"http://a.example/{n}")
        for n in range(72)
    ]
    metrics = trained(data(pages=pages_of_noise), n_states=4).model.metrics
    assert metrics["held_out_accuracy"] < 0.75
    assert 0.2 < metrics["held_out_order"] < 0.8


def test_nothing_is_measured_where_nothing_is_held_out() -> None:
    assert trained(held_out=0).model.metrics == {}


@pytest.mark.parametrize("observed", ["clusters", "neighbours", "shares"])
def test_the_same_data_and_seed_give_the_same_bytes(observed: str, tmp_path: Path) -> None:
    written = []
    for _ in range(2):
        write_model(tmp_path / "m.npz", trained(data(), 7, observed=observed).model)
        written.append((tmp_path / "m.npz").read_bytes())
    assert written[0] == written[1]


def test_the_data_stay_as_they_were() -> None:
    of = data()
    before = (of.pages, of.sources.copy(), of.destinations.copy(), of.targets.copy())
    trained(of)
    assert before[0] == of.pages
    for old, new in zip(before[1:], (of.sources, of.destinations, of.targets), strict=True):
        assert_array_equal(old, new)


def test_the_strategy_follows_the_way_to_targets(tmp_path: Path) -> None:
    write_model(tmp_path / "hmm.npz", trained().model)
    assert read_model(tmp_path / "hmm.npz").parameters["language"] == "english"
    strategy = Hmm(models_dir=tmp_path)
    strategy.start(profile("robot"), np.random.default_rng(0))
    at = {kind: page(f"<p>{' '.join(words)} <a href='/x'>x</a>") for kind, words in WORDS.items()}
    state = strategy.score(at["department"], None).state
    first = {kind: int(strategy.score(at[kind], state).priorities[0]) for kind in at}
    assert max(first, key=first.__getitem__) == "laboratory"
    assert first["sport"] < first["department"]


def test_counted_starts_are_those_of_paths_to_targets() -> None:
    model = UserModel.from_file(trained(start="counted", n_states=4).model)
    start = model.hmm_.start_
    # Paths of two pages or more to a robot start at a laboratory or a department.
    assert start[1] + start[2] > 0.95
    assert start.sum() == pytest.approx(1)


def test_a_browsing_session_is_learnt_from_as_it_is(tmp_path: Path) -> None:
    with WebGraph.create(tmp_path / "g.sqlite", topic="robots", source="session") as graph:
        for number, one in enumerate(pages()):
            graph.add_page(one.url, f"<title>{one.title}</title><p>{one.text}", target=number < 12)
        urls = [one.url for one in pages()]
        for source, destination in edges():
            graph.add_edge(urls[source], urls[destination])
        of = TrainingData.of_graph(graph, TOPIC, PageParser(analyzer=ANALYZER), told=quiet)
    one, other = trained(of).model, trained(data()).model
    assert one.metrics == other.metrics
    for name in other.arrays:
        assert_array_equal(one.arrays[name], other.arrays[name])


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"n_targets": 0}, "graph.sqlite has too little to learn from: 0 targets, and at least 1"),
        ({"pages": pages()[:20], "edges": []}, "8 pages with words that are no targets, and at l"),
        ({"edges": edges()[:3]}, "3 links between pages, and at least 10 are needed"),
        ({"pages": [page("")] * 72}, "0 pages with words that are no targets, and at least 10"),
    ],
)
def test_too_little_data_says_how_much_is_needed(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(TrainingError) as caught:
        trained(data(**changed))
    assert says in str(caught.value)
    assert "scrapy focus-collect robots" in str(caught.value)


def test_a_distance_without_pages_is_a_warning() -> None:
    of = trained(n_states=6)
    (warning,) = of.warnings
    assert warning.startswith("no page is 3 or 4 links away from a target")
    without_sports = data(pages=pages()[:48], edges=edges()[:108])
    (warning,) = trained(without_sports, n_states=4).warnings
    assert warning.startswith("no page is 3 or more links away from a target")
    assert "(n_states)" in warning


def test_one_cluster_is_a_warning() -> None:
    alike = [*pages()[:12], *[page("<p>one text", f"http://a.example/{n}") for n in range(60)]]
    of = trained(data(pages=alike), n_states=4)
    assert of.warnings[0].startswith("the pages that are no targets are one cluster")


def test_pages_without_words_are_a_warning() -> None:
    empty = [*pages()[:60], *[page("", f"http://a.example/{n}") for n in range(12)]]
    of = trained(data(pages=empty), n_states=4)
    (warning,) = of.warnings
    assert warning.startswith("12 of 72 pages have no words, so that they are in no cluster")
    assert warning.endswith("record them in a browser: scrapy focus-record")


def test_one_target_is_enough() -> None:
    model = UserModel.from_file(trained(data(n_targets=1)).model)
    assert model.hmm_.state_counts_[0] == 1


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"n_states": 1}, "n_states must be 2 or more, targets and others, got 1"),
        ({"k_max": 2}, "k_max must be a whole number of at least 3, got 2"),
        ({"observed": "cluster"}, "observed must be one of clusters, neighbours, shares, got"),
        ({"start": "counts"}, "start must be one of uniform, counted, got 'counts'"),
        ({"held_out": 1}, "held_out must be below 1"),
        ({"held_out": -0.1}, "held_out must be a number from 0 to 1, got -0.1"),
        ({"clusters": 8}, "the trainer of 'hmm' has no parameter 'clusters'"),
    ],
)
def test_a_wrong_parameter_is_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError) as caught:
        build_trainer("hmm", params)
    assert says in str(caught.value)
