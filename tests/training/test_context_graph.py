"""Training of ``context-graph`` on a web whose structure is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider.errors import SettingError, TrainingError
from focusspider.models.context_graph import ContextGraph
from focusspider.models.modelfile import write_model
from focusspider.training import build_trainer
from focusspider.training.context_graph import ContextGraphTrainer
from tests.pages import page
from tests.training.smalldata import WORDS, data, edges, pages
from tests.training.test_hmm import quiet

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.training.base import Trained, TrainingData


def trained(of: TrainingData | None = None, seed: int = 0, **params: Any) -> Trained:
    random_state = np.random.default_rng(seed)
    return ContextGraphTrainer(**params).train(of or data(), random_state=random_state, told=quiet)


def test_layers_are_hop_distances_and_sports_are_left_out() -> None:
    of = trained(n_layers=2)
    model = ContextGraph.from_file(of.model)
    assert model.layer_pages_.tolist() == [12, 18, 18]
    assert of.learnt[0] == "pages by layer: 0: 12, 1: 18, 2: 18"
    assert of.learnt[1].startswith("24 of 72 pages lead to no target in 2 links")
    assert of.warnings == ()
    for layer, kind in enumerate(("robot", "laboratory", "department")):
        assert model.predict(dict.fromkeys(WORDS[kind], 1)).number == layer


def test_what_is_held_out_is_told_better_than_by_guessing() -> None:
    metrics = trained(n_layers=2).model.metrics
    assert metrics["held_out_pages"] == 8  # a fifth of each layer: 2 + 3 + 3
    assert metrics["held_out_accuracy"] == 1
    assert metrics["guessed_accuracy"] == 3 / 8
    assert -0.1 < metrics["held_out_log_likelihood"] <= 0
    assert metrics["held_out_other"] == 0
    assert trained(held_out=0).model.metrics == {}


def test_the_same_data_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for _ in range(2):
        write_model(tmp_path / "m.npz", trained(data(), 7, max_pages=10).model)
        written.append((tmp_path / "m.npz").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"n_targets": 0}, "graph.sqlite has too little to learn from: 0 targets with words"),
        ({"edges": edges()[:3]}, "1 pages with words in the layers around the targets, and at"),
        ({"pages": [page("")] * 72}, "0 targets with words, and at least 1 are needed"),
    ],
)
def test_too_little_data_says_how_much_is_needed(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(TrainingError) as caught:
        trained(data(**changed))
    assert says in str(caught.value)


def test_a_layer_without_pages_is_a_warning() -> None:
    (warning,) = trained().warnings
    assert warning.startswith("no page is 3 or 4 links away from a target")
    assert "(n_layers)" in warning


def test_a_sample_of_a_large_layer() -> None:
    model = ContextGraph.from_file(trained(n_layers=2, max_pages=5).model)
    assert model.layer_pages_.tolist() == [5, 5, 5]


def test_one_target_is_enough() -> None:
    assert ContextGraph.from_file(trained(data(n_targets=1)).model).layer_pages_[0] == 1


def test_a_wrong_parameter_is_refused() -> None:
    with pytest.raises(SettingError, match="the trainer of 'context-graph': n_layers must be a"):
        build_trainer("context-graph", {"n_layers": 0})
    with pytest.raises(SettingError, match="held_out must be below 1"):
        build_trainer("context-graph", {"held_out": 1})


def test_pages_do_not_change() -> None:
    of = data()
    before = [dict(one.terms) for one in pages()]
    trained(of)
    assert [dict(one.terms) for one in of.pages] == before
