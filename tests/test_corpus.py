from __future__ import annotations

import contextlib
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from focusspider import corpus as corpus_module
from focusspider.corpus import (
    Corpus,
    corpus_path,
    frequent_terms,
    pack_terms,
    read_corpus,
    unpack_terms,
)
from focusspider.errors import CorpusError
from focusspider.text import Analyzer

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = [{"robot": 2, "arm": 1}, {}, {"arm": 1, "tea": 3}]


def made(language: str | None = "english") -> Corpus:
    corpus = Corpus(language)
    for document in DOCUMENTS:
        corpus.add(document)
    return corpus


def documents(corpus: Corpus) -> list[dict[str, int]]:
    counts = corpus.counts()
    return [
        {counts.terms[column]: int(n) for column, n in enumerate(row) if n}
        for row in counts.matrix.toarray().tolist()
    ]


def test_documents_come_back_as_they_went() -> None:
    corpus = made()
    assert len(corpus) == 3
    assert documents(corpus) == DOCUMENTS
    assert corpus.counts().lengths().tolist() == [3, 0, 4]
    assert corpus.counts().totals().tolist() == [2, 2, 3]


def test_counts_stay_what_they_were() -> None:
    corpus = made()
    counts = corpus.counts()
    corpus.add({"cake": 1, "tea": 1})
    assert counts.matrix.shape == (3, 3)
    assert counts.select(["cake", "tea"]).toarray().tolist() == [[0, 0], [0, 0], [0, 3]]
    assert corpus.counts().select(["cake"]).toarray().tolist() == [[0], [0], [0], [1]]


def test_of_a_page_of_too_many_terms_the_most_frequent_count(monkeypatch: Any) -> None:
    monkeypatch.setattr(corpus_module, "MAX_TERMS", 2)
    corpus = Corpus()
    corpus.add({"once": 1, "b": 2, "a": 2, "often": 9})
    assert documents(corpus) == [{"often": 9, "a": 2}]


def test_the_most_frequent_terms_of_several_corpora() -> None:
    other = Corpus()
    other.add({"arm": 2, "cake": 1, "bun": 1})
    corpora = [made().counts(), other.counts()]
    assert frequent_terms(corpora, 2) == ["arm", "tea"]
    assert frequent_terms(corpora, 4) == ["arm", "tea", "robot", "bun"]  # equals by name
    assert frequent_terms(corpora, 1, always=["milk", "arm", "tea"]) == ["arm", "milk", "tea"]
    assert frequent_terms([], 3) == []


@pytest.mark.parametrize("terms", [[], ["a"], ["über", "ロボット", "x"]])
def test_terms_are_packed_and_unpacked(terms: list[str]) -> None:
    assert unpack_terms(pack_terms(terms)) == terms


@pytest.mark.parametrize("name", ["texts.npz", "texts"])
def test_a_saved_corpus_is_the_same(tmp_path: Path, name: str) -> None:
    made().save(tmp_path / name)
    again = Corpus.load(tmp_path / name)
    assert documents(again) == DOCUMENTS
    assert again.language == "english"
    again.add({"robot": 1, "new": 1})  # it goes on
    assert documents(again)[-1] == {"robot": 1, "new": 1}


def rewritten(path: Path, **changes: Any) -> Path:
    made().save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays |= changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


HEADER = {"class": "focusspider.corpus.Corpus", "version": 1, "language": None}
WRONG: dict[str, dict[str, Any]] = {
    "no header": {"header": None},
    "no counts": {"counts": None},
    "another class": {"header": np.array(json.dumps(HEADER | {"class": "x"}))},
    "a later version": {"header": np.array(json.dumps(HEADER | {"version": 2}))},
    "no object": {"header": np.array("[1]")},
    "no JSON": {"header": np.array("{")},
    "a column too many": {"columns": np.array([0, 1, 1, 3], dtype=np.int32)},
    "a negative column": {"columns": np.array([0, 1, 1, -1], dtype=np.int32)},
    "ends that fall": {"ends": np.array([0, 3, 2, 4])},
    "ends beyond": {"ends": np.array([0, 2, 2, 5])},
    "no ends": {"ends": np.array([], dtype=np.int64)},
    "other numbers": {"counts": np.ones(4)},
    "no number": {"counts": np.array([1, 1, np.nan, 1], dtype=np.float32)},
    "nothing counted": {"counts": np.array([1, 1, 0, 1], dtype=np.float32)},
    "a table": {"ends": np.array([[0, 2, 2, 4]])},
    "a term twice": {"terms": np.frombuffer(b"a\na\nb", dtype=np.uint8)},
    "no UTF-8": {"terms": np.frombuffer(b"a\n\xff\nb", dtype=np.uint8)},
    "terms of another kind": {"terms": np.array(["a", "b", "c"])},
    "objects": {"terms": np.array([{}, [], None], dtype=object)},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = rewritten(tmp_path / "texts.npz", **changes)
    with pytest.raises(CorpusError, match=r"texts\.npz: .*make it anew"):
        Corpus.load(path)


@pytest.mark.parametrize("size", [0, 1, 30, 200, 600])
def test_a_file_that_is_cut_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "texts.npz"
    made().save(path)
    data = path.read_bytes()
    assert size < len(data)
    path.write_bytes(data[:size])
    with pytest.raises(CorpusError, match=r"texts\.npz: not a corpus, or damaged"):
        Corpus.load(path)


@pytest.mark.parametrize("place", range(100, 900, 50))
def test_a_damaged_file_is_refused_or_the_same(tmp_path: Path, place: int) -> None:
    path = tmp_path / "texts.npz"
    made().save(path)
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)
    found = DOCUMENTS
    with contextlib.suppress(CorpusError):  # and no other error
        found = documents(Corpus.load(path))
    assert found == DOCUMENTS


def test_a_file_that_unpacks_to_too_much_is_refused_unread(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(corpus_module, "MAX_SIZE", 1000)
    path = tmp_path / "texts.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("terms.npy", bytes(1001))
    with pytest.raises(CorpusError, match="1001 bytes unpacked, and 1000 are the most"):
        Corpus.load(path)


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "b.HTM").write_text("<title>Teas</title><p>Tea <script>x</script>")
    (tmp_path / "a.txt").write_text("Robots, robot arms and <b>", encoding="utf-8")
    (tmp_path / "a.png").write_bytes(b"robots")
    (tmp_path / "z.html").write_bytes(b"<p>\xff cakes")
    (tmp_path / "folder.html").mkdir()
    counts = read_corpus(tmp_path, Analyzer("english"))
    rows = counts.select(["robot", "arm", "tea", "cake"]).toarray().tolist()
    assert rows == [[2, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("name", ["empty", "wordless"])
def test_a_folder_without_words_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    if name == "wordless":
        (folder / "a.txt").write_text("1 + 1")
    with pytest.raises(CorpusError, match=rf"{name}: no words to learn from; give HTML files"):
        read_corpus(folder, Analyzer("english"))


def test_a_corpus_of_another_language_is_refused(tmp_path: Path) -> None:
    made("german").save(tmp_path / "texts.npz")
    with pytest.raises(CorpusError, match="stems of german, and the topic's language is english"):
        read_corpus(tmp_path / "texts.npz", Analyzer("english"))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"gone\.npz: cannot be read: No such file"):
        read_corpus(tmp_path / "gone.npz", Analyzer("english"))


def test_where_the_corpus_of_a_strategy_is(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    assert corpus_path(None, tmp_path) is None
    assert corpus_path("texts", tmp_path) == tmp_path / "texts"
    assert corpus_path(str(tmp_path / "texts"), None) == tmp_path / "texts"
    with pytest.raises(ValueError, match=r"there is no .*text; give a folder of HTML files"):
        corpus_path("text", tmp_path)
    for wrong in ("", 3, ["texts"]):
        with pytest.raises(ValueError, match="corpus must be a path, got"):
            corpus_path(wrong, tmp_path)  # type: ignore[arg-type]
