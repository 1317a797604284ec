"""The judge that classifies words: where its model comes from, and what it says."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import FocusError, ModelFileError, TopicError
from focusspider.models.modelfile import write_model
from focusspider.models.page_classifier import PageClassifier
from focusspider.relevance import build_relevance
from focusspider.relevance.classifier import FILE_NAME, ClassifierRelevance, page_words
from tests.pages import page, profile

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.page import Page

TARGETS = [
    page(f"<h2>Synopsis</h2><h2>Options</h2><p>The command {verb} files and prints {verb}.")
    for verb in ("copies", "moves", "links", "removes")
]
ON = page("<h1>Synopsis</h1><h2>Options</h2><p>The command sorts files and prints lines.")
OFF = page("<h1>News</h1><p>Tea and cake for the command of the week.")


@pytest.fixture
def others(tmp_path: Path) -> Path:
    folder = tmp_path / "others"
    (folder / "deep").mkdir(parents=True)
    for name in ("tea", "deep/cake"):
        text = f"<h1>News</h1><p>{name} for the week, the command of files"
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    (folder / "notes.txt").write_text("no page", encoding="utf-8")
    return folder


def judge(folder: Path | None = None, *, targets: list[Page] = TARGETS, **params: Any) -> Any:
    made = ClassifierRelevance(base_dir=folder, models_dir=folder, **params)
    made.start(profile("command", targets=targets))
    return made


def test_targets_alone_are_enough() -> None:
    made = judge()
    assert made.judge(ON).relevant
    assert not made.judge(OFF).relevant
    why = made.judge(ON).why
    assert why.startswith("naive-bayes 0.")
    assert "≥ threshold 0.5: " in why
    assert "synopsi (heading)" in why


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, "logistic-regression"),
        ({"algorithm": "naive-bayes"}, "naive-bayes"),
        ({"algorithm": "logistic-regression"}, "logistic-regression"),
    ],
)
def test_with_pages_that_are_not_wanted(
    others: Path, params: dict[str, Any], expected: str
) -> None:
    made = judge(others.parent, negatives="others", **params)
    assert made.judge(ON).why.startswith(expected)
    assert made.judge(ON).relevant
    assert not made.judge(OFF).relevant
    assert "news (heading)" in made.judge(OFF).why


def test_negatives_are_files_and_folders(others: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        judge(others.parent, negatives=["others/tea.html", "others/deep"])
        judge(others.parent, negatives="others")
    told = "trained from 4 targets and 2 pages that are not wanted."
    assert [told in record.message for record in caplog.records] == [True, True]


def test_a_file_that_was_trained_decides(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    # What it has learnt is the other way round.
    learnt = PageClassifier(algorithm="naive-bayes").fit([page_words(OFF)] * 3, [])
    write_model(tmp_path / FILE_NAME, learnt.to_file(date="2026-01-31"))
    with caplog.at_level(logging.INFO):
        made = judge(tmp_path)
    assert f"judged by {tmp_path / FILE_NAME} of 2026-01-31" in caplog.text
    assert made.judge(OFF).relevant
    assert not made.judge(ON).relevant
    (tmp_path / "models").mkdir()
    (tmp_path / FILE_NAME).rename(tmp_path / "models" / "m.npz")
    assert judge(tmp_path).judge(ON).relevant
    assert judge(tmp_path, model="models/m.npz").judge(OFF).relevant
    with pytest.raises(ValueError, match=r"algorithm is 'logistic-regression', and .* learnt by"):
        judge(tmp_path, model="models/m.npz", algorithm="logistic-regression")


def test_a_file_of_another_language_is_refused(tmp_path: Path) -> None:
    learnt = PageClassifier(algorithm="naive-bayes").fit([page_words(OFF)] * 3, [])
    file = learnt.to_file()
    write_model(tmp_path / FILE_NAME, type(file)(
        kind=file.kind, arrays=file.arrays, parameters={**file.parameters, "language": "german"}
    ))  # fmt: skip
    with pytest.raises(ModelFileError, match=r"stems of german, and the topic's language is eng"):
        judge(tmp_path)


def test_a_damaged_file_stops_the_crawl(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no model")
    with pytest.raises(TopicError, match="not a model file, or damaged"):
        build_relevance("classifier", None, {}, models_dir=tmp_path, where="t.toml")


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"algorithm": "svm"}, "algorithm must be one of naive-bayes, logistic-regression"),
        ({"negatives": "gone"}, r"there is no .*gone; give HTML files, or folders of them"),
        ({"negatives": ["http://a.example/"]}, "is a URL; save the page as an HTML file"),
        ({"negatives": 5}, "negatives must be a list of texts, got 5"),
        ({"negatives": "empty"}, "'empty' is a folder without HTML files"),
        ({"model": "gone.npz"}, r"there is no .*gone.npz; train it with"),
        ({"model": ""}, "model must be a path, got ''"),
    ],
)
def test_wrong_values_are_refused(tmp_path: Path, params: dict[str, Any], says: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(TopicError, match=f"^t.toml: relevance 'classifier': .*{says}"):
        build_relevance("classifier", None, params, base_dir=tmp_path, where="t.toml")


@pytest.mark.parametrize(
    ("targets", "params", "says"),
    [
        (TARGETS[:2], {}, "from 3 wanted pages with words or more, and there are 2"),
        ([page("<img src=x>")] * 5, {}, "and there are 0"),
        (TARGETS, {"algorithm": "logistic-regression"}, "needs pages that are not wanted; give"),
        (TARGETS, {"negatives": ["others/tea.html"]}, "not wanted or more, or from none, and"),
    ],
)
def test_too_little_to_learn_from_is_one_line(
    others: Path, targets: list[Page], params: dict[str, Any], says: str
) -> None:
    with pytest.raises(FocusError, match=says) as caught:
        judge(others.parent, targets=targets, **params)
    assert str(caught.value).startswith("test.toml: relevance 'classifier': it learns") or (
        "'logistic-regression' needs" in str(caught.value)
    )
    assert "\n" not in str(caught.value)


def test_files_that_are_no_pages_are_passed_over(others: Path) -> None:
    (others / "broken.html").write_bytes(b"%PDF-1.4 \x00\x01")
    (others / "blank.html").write_bytes(b"")
    assert judge(others.parent, negatives="others").judge(ON).relevant
