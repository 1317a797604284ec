"""What is shown of models whose numbers are known, whatever is in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from focusspider.errors import ModelFileError
from focusspider.inspection import KINDS, inspect_model
from focusspider.inspection.page import as_page
from focusspider.inspection.sections import Lists, Table
from focusspider.inspection.text import as_text
from focusspider.models.crf import CRF
from focusspider.models.lessons import GROUPS, Lessons, Record, Weights
from focusspider.models.lsi import LatentSemanticIndex
from focusspider.models.memm import MEMM
from focusspider.models.modelfile import ModelFile, pack_texts, write_model
from focusspider.models.page_classifier import PageClassifier, PageWords
from focusspider.models.wordweights import log_odds_ratios, mutual_information
from tests.models.collections import counts
from tests.report.hostile import TEXTS
from tests.report.htmlcheck import Parsed
from tests.strategies.tinymodels import context_graph_file, hmm_file

if TYPE_CHECKING:
    from pathlib import Path

#: Of six features over three states; "near" is seen in T0 only, "far" in T2 only.
NAMES = ("words:near", "words:between", "words:far", "url:k", "pointing:home page", "text:")
FEATURES = csr_array(
    np.tile([[0, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 0], [1, 0, 0, 1, 0, 0.5]], (30, 1))
)
LENGTHS, LABELS = np.full(30, 3), np.tile([2, 1, 0], 30)


def chain_file(kind: type[MEMM] | type[CRF], names: tuple[str, ...] = NAMES) -> ModelFile:
    return kind(k=3).fit(FEATURES, LENGTHS, LABELS, names=names).to_file(topic="robots")


def relevance_file() -> ModelFile:
    wanted = [PageWords(("robot", "arm"), ("reach",)), PageWords(("robot", "leg"), ("reach",))]
    others = [PageWords(("tea", "arm"), ("milk",)), PageWords(("tea", "cup"), ("milk",))]
    return PageClassifier(algorithm="naive-bayes").fit(wanted, others).to_file(topic="t")


def shown(file: ModelFile, folder: Path, n: int = 30) -> dict[str, Any]:
    """Return the tables and lists that are shown of a model, by their headings."""
    path = folder / "model.npz"
    write_model(path, file)
    return {section.title: section.body for section in inspect_model(path, n).sections}


def rows(table: Table) -> dict[str, list[Any]]:
    return {str(first): others for first, *others in table.rows}


def words(lists: Lists) -> dict[str, list[str]]:
    return {group: [name for name, _ in entries] for group, entries in lists.groups}


def test_the_matrices_of_hmm(tmp_path: Path) -> None:
    found = shown(hmm_file(), tmp_path)
    assert rows(found["Transitions"]) == {
        "T0": [0.5, 0.3, 0.2],
        "T1": [0.6, 0.3, 0.1],
        "T2": [0.1, 0.3, 0.6],
    }
    assert rows(found["Emissions"]) == {"T0": [0.8, 0.2], "T1": [0.5, 0.5], "T2": [0.1, 0.9]}
    assert rows(found["States"]) == {
        "T0": ["0", 1, pytest.approx(1 / 3)],
        "T1": ["1", 1, pytest.approx(1 / 3)],
        "T2": ["2 or more", 1, pytest.approx(1 / 3)],
    }
    assert rows(found["Clusters"]) == {"0, targets": [1, 10], "1": [1, 10]}


def test_the_words_of_clusters_are_those_of_the_papers_appendix(tmp_path: Path) -> None:
    file = hmm_file()
    found = shown(file, tmp_path)
    counted = file.arrays["cluster_counts"]
    for title, weights in [
        ("Words of each cluster, by log odds ratio", log_odds_ratios(counted)),
        ("Words of each cluster, by mutual information", mutual_information(counted)),
    ]:
        (_, targets), (_, others) = found[title].groups
        assert [name for name, _ in targets] == ["robot", "arm"]
        assert [name for name, _ in others] == ["tea", "cake"]
        assert [weight for _, weight in targets] == pytest.approx(weights[0, :2].tolist())


def test_how_many_words_are_listed(tmp_path: Path) -> None:
    found = shown(hmm_file(), tmp_path, 1)
    assert words(found["Words of each cluster, by log odds ratio"]) == {
        "Cluster 0, targets": ["robot"],
        "Cluster 1": ["tea"],
    }


def test_the_layers_of_the_context_graph(tmp_path: Path) -> None:
    found = shown(context_graph_file(), tmp_path)
    assert rows(found["Layers"]) == {"Layer 0, targets": [3, 0.5, 12], "Layer 1": [3, 0.5, 10]}
    likely = found["Most likely words of each layer"].groups
    # (8 + 1) / (12 + 4) of layer 0, and (6 + 1) / (10 + 4) of layer 1.
    assert likely[0][1][0] == ("robot", pytest.approx(9 / 16))
    assert likely[1][1][0] == ("tea", pytest.approx(7 / 14))


def test_the_features_of_memm(tmp_path: Path) -> None:
    found = shown(chain_file(MEMM), tmp_path)
    assert rows(found["Transitions in the training data"]) == {
        "T0": [0, 0, 0],
        "T1": [30, 0, 0],
        "T2": [0, 30, 0],
        "start": [0, 0, 30],
    }
    bare = rows(found["Transitions without features"])
    assert all(sum(row) == pytest.approx(1) for row in bare.values())
    assert words(found["Features that speak for each state"])["T0"][0] == "words:near"
    assert words(found["Features that speak for each state"])["T2"][0] in {NAMES[2], NAMES[4]}
    assert "words:far" in words(found["Features that speak against each state"])["T0"]
    pairs = words(found["Features of each transition"])
    assert list(pairs) == ["T1 → T0", "T2 → T1", "start → T2"]  # those that there were
    assert pairs["T1 → T0"][0] == "words:near"


def test_the_features_of_crf(tmp_path: Path) -> None:
    found = shown(chain_file(CRF), tmp_path)
    transitions = rows(found["Transitions"])
    assert max(transitions["T2"]) == transitions["T2"][1] > 0  # T1 comes after T2
    assert [row[1] for row in rows(found["States"]).values()] == ["yes"] * 3
    assert words(found["Features that speak for each state"])["T0"][0] == "words:near"


def test_features_without_names_have_numbers(tmp_path: Path) -> None:
    found = shown(chain_file(CRF, ()), tmp_path)
    assert words(found["Features that speak for each state"])["T0"][0] == "feature 0"


def test_the_words_of_relevance(tmp_path: Path) -> None:
    found = shown(relevance_file(), tmp_path)
    assert rows(found["Pages"]) == {"wanted": [2], "other": [2]}
    # "arm" is in a page of each, so that it tells nothing.
    assert words(found["Strongest words"]) == {
        "For, in text": ["robot", "leg"],
        "For, in headings": ["reach"],
        "Against, in text": ["tea", "cup"],
        "Against, in headings": ["milk"],
    }


def test_the_head_says_where_a_model_is_from(tmp_path: Path) -> None:
    file = hmm_file(
        topic="robots",
        date="2026-01-02T03:04:05Z",
        training_data="a1b2",
        metrics={"held_out_accuracy": 0.123456, "rows": {"a": 1}, "none": None},
    )
    write_model(tmp_path / "m.npz", file)
    inspection = inspect_model(tmp_path / "m.npz")
    about = dict(inspection.about)
    assert inspection.title == "hmm: robots"
    assert about["trained"] == "2026-01-02T03:04:05Z"
    assert about["training data"] == "a1b2"
    assert about["measures: held_out_accuracy"] == "0.1235"
    assert about["measures: rows, a"] == "1"
    assert about["parameters: n_states"] == "3"
    text, page = as_text(inspection), Parsed(as_page(inspection)).text
    for value in ("robots", "2026-01-02T03:04:05Z", "a1b2", "0.1235"):
        assert value in text
        assert value in page


def lessons_file(name: str = "mill", **about: Any) -> ModelFile:
    """Of a crawl that learnt twice, and knows two groups of each kind."""
    record = Record([name, f"{name}2"], np.array([[8.0, 4.0], [3.0, 0.25]]), np.array([1.5, -0.5]))
    return Lessons(
        weights=Weights([name, "depth"], ["words", "position"], np.array([0.5, -0.75])),
        records=dict.fromkeys(GROUPS, record),
        course=np.array(
            [[5, 1, 0.2, 0.5, 0.5, 0.333, 0.0], [1200, 90, 0.1, 0.75, 0.625, 0.978, 0.875]]
        ),
        models=[name],
    ).to_file(**about)


def files() -> dict[str, ModelFile]:
    return {
        "hmm": hmm_file(topic="t"),
        "context-graph": context_graph_file(topic="t"),
        "memm": chain_file(MEMM),
        "crf": chain_file(CRF),
        "relevance": relevance_file(),
        "auto": lessons_file(),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_text_and_page_say_the_same(kind: str, tmp_path: Path) -> None:
    write_model(tmp_path / "m.npz", files()[kind])
    inspection = inspect_model(tmp_path / "m.npz")
    text, parsed = as_text(inspection), Parsed(as_page(inspection))
    parsed.check()
    assert max(map(len, text.splitlines())) <= 110 + len(str(tmp_path))
    for section in inspection.sections:
        assert section.title in text
        assert section.title in parsed.text
        if isinstance(section.body, Lists):
            for group, entries in section.body.groups:
                assert group in parsed.text
                for name, _ in entries:
                    assert name in text
                    assert name in parsed.text
        else:
            for value in [value for row in section.body.rows for value in row]:
                expected = f"{value:.3f}" if isinstance(value, float) else str(value)
                assert expected in text
                assert expected in parsed.text


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_hostile_text_stays_text(text: str, tmp_path: Path) -> None:
    word = text.encode("utf-8", "replace").decode()
    terms = (word, "arm", "tea", f"{word}2")
    about = {"topic": text, "date": text, "training_data": text, "metrics": {text: text}}
    for file in (
        lessons_file(text.encode("utf-8", "replace").decode()),
        hmm_file(arrays=pack_texts("lsi_terms", terms), parameters={text: [text]}, **about),
        context_graph_file(arrays=pack_texts("terms", terms), **about),
        chain_file(MEMM, (word, *NAMES[1:])),
        chain_file(CRF, (word, *NAMES[1:])),
    ):
        write_model(tmp_path / "m.npz", file)
        inspection = inspect_model(tmp_path / "m.npz")
        page, lines = as_page(inspection), as_text(inspection)
        page.encode("utf-8")
        lines.encode("utf-8")
        Parsed(page).check()
        assert len(Parsed(page).scripts) == 2
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", lines)
        assert len(lines) < 20_000


def test_a_kind_that_cannot_be_shown_lists_those_that_can(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    space = LatentSemanticIndex(n_topics=1).fit(counts([{"a": 1}, {"b": 1}]), random_state=random)
    write_model(tmp_path / "lsi.npz", space.to_file())
    with pytest.raises(ModelFileError, match=r"kind 'lsi'.*: hmm, memm, crf, context-graph"):
        inspect_model(tmp_path / "lsi.npz")


def test_more_words_than_any_training_has(tmp_path: Path) -> None:
    many = np.full((2, 4), 2**60)
    write_model(tmp_path / "m.npz", hmm_file(arrays={"cluster_counts": many}))
    with pytest.raises(ModelFileError, match=r"m\.npz: not a sound 'hmm' model"):
        inspect_model(tmp_path / "m.npz")


def test_a_model_of_one_layer(tmp_path: Path) -> None:
    """One group of pages has nothing to be told from."""
    from focusspider.inspection.words import word_sections

    (section,) = word_sections(
        hmm_file(), np.array([[3, 0, 1]]), ["Cluster 0"], ["a", "b", "c"], 5, what="cluster"
    )
    assert words(section.body) == {"Cluster 0": ["a", "c"]}
