"""The strategy ``hmm`` against beliefs summed over all sequences of states, and by hand."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from focusspider.errors import ModelFileError, SettingError
from focusspider.models.modelfile import write_model
from focusspider.strategies import build_strategy
from focusspider.strategies.hmm import Hmm
from tests.pages import page, profile
from tests.strategies.tinymodels import EMISSIONS, FOLDER, TRANSITIONS, hmm_file

if TYPE_CHECKING:
    from pathlib import Path

LINKS = "<a href='/1'>one</a> <a href='/2'>two</a>"
#: By the cluster that they show: robots, tea, and what is in no cluster.
SHOWN = {
    0: page(f"<p>robot arms {LINKS}"),
    1: page(f"<p>tea and cake {LINKS}"),
    -1: page(f"<p>zyx {LINKS}"),
}


def strategy(**params: Any) -> Hmm:
    made = Hmm(models_dir=FOLDER, **params)
    made.start(profile("robot"), np.random.default_rng(0))
    return made


def crawl(made: Hmm, clusters: tuple[int, ...]) -> Any:
    """Return what is said of the links of the last page of a path, over JSON at each step."""
    state, scores = None, None
    for cluster in clusters:
        scores = made.score(SHOWN[cluster], state)
        state = tuple(json.loads(json.dumps(scores.state)))
    return scores


def unpacked(priority: int, n: int) -> list[int]:
    return [priority >> (50 - 10 * (i + 1)) & 1023 for i in range(n)]


def enumerated(clusters: tuple[int, ...], mode: str) -> np.ndarray:
    """Return the belief about the page after a path, from all sequences of states."""
    found = np.zeros(3)
    for path in product(range(3), repeat=len(clusters) + 1):
        p = 1 / 3
        for t, state in enumerate(path):
            p *= TRANSITIONS[path[t - 1], state] if t else 1
            if t < len(clusters) and clusters[t] >= 0:
                p *= EMISSIONS[state, clusters[t]]
        found[path[-1]] = found[path[-1]] + p if mode == "marginal" else max(found[path[-1]], p)
    return found / found.sum()


@pytest.mark.parametrize("mode", ["marginal", "viterbi"])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_beliefs_are_those_of_all_sequences_of_states(n: int, mode: str) -> None:
    made = strategy(mode=mode)
    for clusters in product((0, 1, -1), repeat=n):
        scores = crawl(made, clusters)
        expected = enumerated(clusters, mode)
        assert_allclose([scores.parts[f"T{j}"][0] for j in range(3)], expected, rtol=1e-9)
        for priority in scores.priorities.tolist():
            assert_allclose(unpacked(priority, 3), expected * 1000, rtol=0, atol=0.5 + 1e-9)
            assert unpacked(priority, 5)[3:] == [0, 0]


def test_a_seed_by_hand() -> None:
    # π is uniform: α is (0.8, 0.5, 0.1) / 1.4, and α' what follows from the rows of A.
    scores = strategy().score(SHOWN[0], None)
    assert_allclose(scores.state, [8 / 14, 5 / 14, 1 / 14], rtol=1e-12)
    p0 = (0.8 * 0.5 + 0.5 * 0.6 + 0.1 * 0.1) / 1.4
    assert_allclose(scores.parts["T0"], p0, rtol=1e-12)
    assert unpacked(int(scores.priorities[0]), 1) == [round(1000 * p0)] == [507]
    assert scores.parts["cluster"].tolist() == [0, 0]


def test_all_links_of_a_page_share_its_priority_and_better_pages_come_first() -> None:
    made = strategy()
    robot, tea = (made.score(SHOWN[cluster], None).priorities for cluster in (0, 1))
    assert len(set(robot.tolist())) == len(set(tea.tolist())) == 1
    assert robot[0] > tea[0]


@pytest.mark.parametrize(
    "state", [(), (1.0,), (0.0, 0.0, 0.0), (-1.0, 1.0, 1.0), (float("nan"),) * 3]
)
def test_a_state_of_another_model_begins_a_path(state: tuple[float, ...]) -> None:
    made = strategy()
    assert made.score(SHOWN[0], state).state == made.score(SHOWN[0], None).state


def test_a_path_that_has_no_end_keeps_its_beliefs() -> None:
    made, state = strategy(), None
    for _ in range(2_000):
        state = made.score(SHOWN[1], state).state
    assert sum(state) == pytest.approx(1, rel=1e-12)
    assert min(state) > 0.01


def test_shares_are_observed_where_the_model_says_so(tmp_path: Path) -> None:
    write_model(tmp_path / "hmm.npz", hmm_file(parameters={"observed": "shares"}))
    made = Hmm(models_dir=tmp_path)
    both = page(f"<p>robot tea {LINKS}")
    scores = made.score(both, None)
    assert "cluster" not in scores.parts
    # One neighbour in each of the two clusters: half of each column of the emissions, the same
    # in each state.
    assert_allclose(scores.state, 1 / 3, rtol=1e-12)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({}, "needs the parameter 'model': the file that 'scrapy focus-train TOPIC --strategy hmm"),
        ({"model": "gone.npz"}, "there is no gone.npz; train it with 'scrapy focus-train TOPIC"),
        ({"model": 3}, "model must be a path, got 3"),
        ({"model": ""}, "model must be a path, got ''"),
        ({"model": str(FOLDER / "hmm.npz"), "mode": "best"}, "mode must be one of marginal, vit"),
        ({"model": str(FOLDER / "context-graph.npz")}, "'context-graph', and 'hmm' is asked for"),
    ],
)
def test_what_is_wrong_is_one_message(params: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError) as caught:
        build_strategy("hmm", params, where="topic.toml: strategy")
    assert str(caught.value).startswith("topic.toml: strategy: ")
    assert says in str(caught.value)


def test_without_a_model_the_path_is_named_where_it_should_be(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=rf"there is no {tmp_path}/hmm\.npz"):
        build_strategy("hmm", {}, models_dir=tmp_path)


def test_a_model_of_another_language_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "hmm.npz", hmm_file(parameters={"language": "german"}))
    made = Hmm(models_dir=tmp_path)
    with pytest.raises(ModelFileError, match=r"stems of german, and the topic's language is eng"):
        made.start(profile("robot"), np.random.default_rng(0))


def test_a_relative_path_is_relative_to_the_topic() -> None:
    made = Hmm(model="hmm.npz", base_dir=FOLDER, models_dir="/nowhere")
    assert made.score(SHOWN[0], None).state
