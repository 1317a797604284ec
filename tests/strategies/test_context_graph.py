"""The strategy ``context-graph`` against naive Bayes worked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from focusspider.errors import ModelFileError, SettingError
from focusspider.models.modelfile import write_model
from focusspider.priority import to_score
from focusspider.strategies import build_strategy
from focusspider.strategies.context_graph import ContextGraph
from tests.pages import page, profile
from tests.strategies.tinymodels import FOLDER, context_graph_file

if TYPE_CHECKING:
    from pathlib import Path

LINKS = "<a href='/1'>1</a> <a href='/2'>2</a>"


def scored(text: str, folder: Path = FOLDER) -> Any:
    made = ContextGraph(models_dir=folder)
    made.start(profile("robot"), np.random.default_rng(0))
    return made.score(page(f"<p>{text} {LINKS}"), None)


def test_a_page_of_layer_0_by_hand() -> None:
    # Of 12 words and 10, with 1 added to each of 4 terms: P(robot | 0) = 9/16, P(robot | 1) =
    # 2/14. There are 2 layers and "other", so the queues begin at 2/3, 1/3 and 0.
    sure = (9 / 16) / (9 / 16 + 2 / 14)
    found = scored("robots")
    assert found.parts["layer"].tolist() == [0, 0]
    assert_allclose(found.parts["confidence"], sure, rtol=1e-12)
    assert [to_score(p) for p in found.priorities.tolist()] == pytest.approx(
        [(2 + sure) / 3] * 2, abs=1e-14
    )
    assert found.state is None


def test_the_order_of_pages() -> None:
    # The more of robots the surer; tea is of layer 1; of two words alike nothing is sure, and
    # with a threshold of 0.9 that is "other".
    texts = ["robots and robots", "robots", "tea", "tea and arms"]
    priorities = [int(scored(text).priorities[0]) for text in texts]
    assert priorities == sorted(priorities, reverse=True)
    assert len(set(priorities)) == len(texts)


def test_weak_matches_come_last(tmp_path: Path) -> None:
    write_model(tmp_path / "context-graph.npz", context_graph_file(parameters={"threshold": 0.75}))
    sure, weak = scored("tea", tmp_path), scored("arms and tea", tmp_path)
    assert sure.parts["layer"].tolist() == [1, 1]
    # P(arm | 0) P(tea | 0) = 5/16 · 1/16, and 2/14 · 7/14 of layer 1.
    confidence = (2 * 7 / 14**2) / (2 * 7 / 14**2 + 5 / 16**2)
    assert 0.5 < confidence < 0.8
    sharp = context_graph_file(parameters={"threshold": 0.8})
    write_model(tmp_path / "context-graph.npz", sharp)
    weak = scored("arms and tea", tmp_path)
    assert weak.parts["layer"].tolist() == [2, 2]
    assert_allclose(weak.parts["confidence"], confidence, rtol=1e-12)
    assert to_score(int(weak.priorities[0])) == pytest.approx(confidence / 3, abs=1e-14)
    assert weak.priorities[0] < sure.priorities[0]


def test_a_page_without_known_words_is_as_likely_in_any_layer() -> None:
    found = scored("zyx")
    assert found.parts["confidence"].tolist() == [0.5, 0.5]
    assert found.parts["layer"].tolist() == [0, 0]  # not below the threshold of 0.5: the nearer


def test_a_model_of_another_language_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "context-graph.npz", context_graph_file(parameters={"language": None}))
    with pytest.raises(ModelFileError, match=r"stems of no language, and the topic's language is"):
        scored("robots", tmp_path)


def test_a_model_that_is_not_there() -> None:
    with pytest.raises(SettingError, match=r"'context-graph' learns before a crawl, and there is"):
        build_strategy("context-graph", {"model": "gone.npz"})
