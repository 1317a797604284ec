"""Training of ``memm`` and ``crf`` on a web whose structure is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from focusspider.errors import SettingError, TrainingError
from focusspider.models.modelfile import read_model, write_model
from focusspider.strategies import STRATEGIES
from focusspider.training import build_trainer
from tests.pages import page, profile
from tests.training.smalldata import WORDS, data, edges, pages

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.training.base import Trained, TrainingData

EVERY = pytest.mark.parametrize("name", ["crf", "memm"])


def quiet(doing: str, done: int, total: int) -> None:
    assert doing
    assert 0 <= done <= total


def trained(name: str, of: TrainingData | None = None, **params: Any) -> Trained:
    random_state = np.random.default_rng(params.pop("seed", 0))
    params = {"k": 4, "n_sequences": 300} | params
    return build_trainer(name, params).train(of or data(), random_state=random_state, told=quiet)


@EVERY
def test_what_is_held_out_is_told_better_than_by_guessing(name: str) -> None:
    metrics = trained(name).model.metrics
    # A fifth of each kind, of which those that have links: 3 + 3 + 4, of three links each.
    assert metrics["held_out_pages"] == 10
    assert metrics["held_out_links"] == 30
    assert metrics["held_out_accuracy"] > 0.9  # titles name the kinds
    assert metrics["guessed_accuracy"] == pytest.approx(0.4)
    assert metrics["held_out_log_likelihood"] > metrics["guessed_log_likelihood"]
    assert metrics["held_out_order"] > 0.9


@EVERY
def test_the_same_data_and_seed_give_the_same_bytes_and_data_stay(
    name: str, tmp_path: Path
) -> None:
    of, written = data(), []
    before = (of.sources.copy(), of.destinations.copy(), of.targets.copy())
    for _ in range(2):
        write_model(tmp_path / "m.npz", trained(name, of, seed=7).model)
        written.append((tmp_path / "m.npz").read_bytes())
    assert written[0] == written[1]
    for old, new in zip(before, (of.sources, of.destinations, of.targets), strict=True):
        assert_array_equal(old, new)


@EVERY
def test_the_strategy_follows_the_way_to_targets(name: str, tmp_path: Path) -> None:
    write_model(tmp_path / f"{name}.npz", trained(name).model)
    strategy = STRATEGIES[name](models_dir=tmp_path)
    strategy.start(profile("robot"), np.random.default_rng(0))
    first = {
        kind: int(
            strategy.score(page(f"<title>{kind}</title><a href='/x'>x</a>"), None).priorities[0]
        )
        for kind in WORDS
    }
    assert first["laboratory"] > first["department"] > first["sport"]


@EVERY
def test_the_file_says_how_features_are_made(name: str, tmp_path: Path) -> None:
    write_model(tmp_path / "m.npz", trained(name, families=["text", "words"]).model)
    parameters = read_model(tmp_path / "m.npz").parameters
    assert parameters["families"] == ["words"]  # the topic names no target
    assert parameters["language"] == "english"
    assert parameters["lookahead"] is True
    assert parameters["important"] == ["robot"]


@EVERY
def test_text_alone_needs_targets_that_the_topic_names(name: str) -> None:
    with pytest.raises(TrainingError, match="none of the targets that topic 'robots' names"):
        trained(name, families=["text"])


@EVERY
def test_text_is_learnt_where_the_topic_names_targets_of_the_graph(name: str) -> None:
    of = data()
    of.topic = replace(of.topic, targets=tuple(one.url for one in of.pages[:3]))
    file = trained(name, of, families=["text"]).model
    assert file.parameters["families"] == ["text"]
    assert list(file.texts("names")) == ["text:"]
    assert file.metrics["held_out_order"] > 0.6


@EVERY
def test_nothing_is_measured_where_nothing_is_held_out(name: str) -> None:
    assert trained(name, held_out=0).model.metrics == {}


@EVERY
def test_what_is_doubtful_is_a_warning(name: str) -> None:
    said = trained(name, k=6, max_iter=1, held_out=0).warnings
    assert "has not converged in 1 iterations" in said[0]
    assert said[-1].startswith("no page is 3 or 4 links away from a target")


@EVERY
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"n_targets": 0}, "0 targets, and at least 1"),
        ({"pages": pages()[:20], "edges": []}, "8 pages that are no targets, and at least 10"),
        ({"edges": edges()[:3]}, "3 sequences of linked pages, and at least 20"),
    ],
)
def test_too_little_data_says_how_much_is_needed(
    name: str, changed: dict[str, Any], says: str
) -> None:
    with pytest.raises(TrainingError, match=says):
        trained(name, data(**changed))


@EVERY
@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"k": 1}, "k must be a whole number of at least 2, got 1"),
        ({"n_sequences": 100_001}, "n_sequences must be at most 100,000, got 100,001"),
        ({"families": ["contexts"]}, "families must be some of text, description, words"),
        (
            {"families": ["context"], "lookahead": False},
            "families without look-ahead must be some of text, description, words",
        ),
        ({"families": []}, "families must be some of"),
        ({"lookahead": 1}, "lookahead must be true or false, got 1"),
        ({"variance": 0}, "variance must be"),
        ({"held_out": 1}, "held_out must be below 1"),
    ],
)
def test_a_wrong_parameter_is_refused(name: str, params: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        build_trainer(name, params)
