from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from focusspider.corpus import Corpus
from focusspider.errors import BenchmarkError, FocusError
from focusspider.evaluation.benchmarkfile import load_benchmark
from focusspider.evaluation.runner import Evaluation, Options
from tests.evaluation.smallweb import BENCHMARK, write

if TYPE_CHECKING:
    from pathlib import Path

HCLA = """strategies = ["breadth-first", { name = "hcla", corpus = "{texts.all}" }]

[texts.all]
"""
LEARNING = BENCHMARK.replace('strategies = ["breadth-first", "dom"]', HCLA)
PAGES = {
    "b.example/index.html": "<p>tides</p>",
    "b.example/clocks.html": "<p>pendulum</p>",
    "c.example/index.html": "<p>ships</p>",
}


def web(folder: Path, text: str) -> Path:
    """Write the small web, and two sites that nobody who starts at its index comes to."""
    path = write(folder, text)
    for name, body in PAGES.items():
        page = folder / "corpora/web" / name
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"<html><body>{body}</body></html>")
    return path


def texts(path: Path, out: Path) -> list[list[list[str]]]:
    """Run a benchmark, and return the terms of each document of each file of texts."""
    evaluation = Evaluation(load_benchmark(path), Options(out=out))
    evaluation.run(lambda name, problem: None)
    evaluation.write()
    assert not evaluation.failures
    found = []
    for file in sorted((out / "texts").iterdir()):
        counts = Corpus.load(file).counts()
        found.append([[counts.terms[i] for i in row.indices] for row in counts.matrix])
    return found


def test_what_a_crawl_can_come_to_is_left_out(tmp_path: Path) -> None:
    # news links to b.example, so its index is reached; nothing links on from there
    path = web(tmp_path, LEARNING)
    assert texts(path, tmp_path / "out") == [[["pendulum"], ["ship"]]]
    run = json.loads((tmp_path / "out/crawls/clocks/hcla/run.json").read_text(encoding="utf-8"))
    assert run["topic"]["strategy"]["corpus"].endswith(".npz")


def test_what_is_in_the_scope_of_a_crawl_is_left_out(tmp_path: Path) -> None:
    text = LEARNING.replace("[[crawls]]", '[[crawls]]\nallow = ["a.example"]')
    path = web(tmp_path, text)
    assert texts(path, tmp_path / "out") == [[["pendulum"], ["tide"], ["ship"]]]


def test_texts_of_some_sites(tmp_path: Path) -> None:
    path = web(tmp_path, LEARNING.replace("[texts.all]", '[texts.all]\nallow = ["c.example"]'))
    assert texts(path, tmp_path / "out") == [[["ship"]]]


def test_they_are_used_again_and_told_from_others(tmp_path: Path) -> None:
    path = web(tmp_path, LEARNING)
    texts(path, tmp_path / "out")
    again = Evaluation(load_benchmark(path), Options(out=tmp_path / "out"))
    assert again.to_do == 0
    moved = (tmp_path / "out").rename(tmp_path / "moved")
    assert Evaluation(load_benchmark(path), Options(out=moved)).to_do == 0
    path.write_text(LEARNING.replace("[texts.all]", '[texts.all]\ndeny = ["c.example"]'))
    assert len(Evaluation(load_benchmark(path), Options(out=moved)).reused) == 1


def test_fresh_texts_are_made_anew(tmp_path: Path) -> None:
    benchmark, out = load_benchmark(web(tmp_path, LEARNING)), tmp_path / "out"
    Evaluation(benchmark, Options(out=out)).run(lambda name, problem: None)
    (file,) = (out / "texts").iterdir()
    file.write_bytes(b"of another state of the code")
    Evaluation(benchmark, Options(out=out, fresh=True)).run(lambda name, problem: None)
    assert len(Corpus.load(file)) == 2


def test_crawls_of_one_scope_share_them_and_who_needs_none_has_none(tmp_path: Path) -> None:
    other = BENCHMARK[BENCHMARK.index("[[crawls]]") :].replace('"clocks"', '"more"')
    benchmark = load_benchmark(web(tmp_path, LEARNING + other))
    evaluation = Evaluation(benchmark, Options(out=tmp_path / "out"))
    evaluation.run(lambda name, problem: None)
    assert len(list((tmp_path / "out/texts").iterdir())) == 1
    narrowed = benchmark.narrowed(strategies=benchmark.strategies[:1])
    Evaluation(narrowed, Options(out=tmp_path / "none")).run(lambda name, problem: None)
    assert not (tmp_path / "none/texts").exists()


def test_tables_are_the_same_where_strategies_learn_and_reorder(tmp_path: Path) -> None:
    learning = """strategies = [
      { name = "shark-search-okapi", corpus = "{texts.all}" },
      { name = "backlink", rerank_every = 1 },
      { name = "pagerank", rerank_every = 1 },
      { name = "hcla", rerank_every = 1, k = 2, corpus = "{texts.all}" },
      { name = "plsi-phits", rerank_every = 1, k = 2, corpus = "{texts.all}" },
    ]

    [texts.all]
    """
    text = BENCHMARK.replace('strategies = ["breadth-first", "dom"]', learning)
    path = web(tmp_path, text)
    for out in ("one", "two"):
        texts(path, tmp_path / out)
    written = [
        file.relative_to(tmp_path / "one")
        for kind in ("tables/*", "texts/*", "crawls/clocks/*/crawl.jsonl", "curves.json")
        for file in (tmp_path / "one").glob(kind)
        if file.stem != "cost"
    ]
    assert len(written) == 9 + 1 + 6 + 1
    for name in written:
        one, two = ((tmp_path / out / name).read_bytes() for out in ("one", "two"))
        assert one == two, name


def test_where_nothing_is_left_to_learn_from(tmp_path: Path) -> None:
    evaluation = Evaluation(load_benchmark(write(tmp_path, LEARNING)), Options(out=tmp_path / "o"))
    with pytest.raises(BenchmarkError, match="crawl clocks: no page of the corpus is left"):
        evaluation.run(lambda name, problem: None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{texts.all}", "{texts.al}", r"'al' is not a known texts \(did you mean 'all'"),
        ("[texts.all]", "[texts.all]\nalow = []", "texts.all.alow: not a key"),
        ("[texts.all]", "[texts.all]\nallow = ['a/b']", "texts.all: .*a/b"),
        ("[texts.all]", "[texts.all]\n[testbed]\nseeds = 1", "texts: a test bed draws"),
    ],
)
def test_what_is_wrong_with_them(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = write(tmp_path, LEARNING.replace(old, new))
    with pytest.raises(FocusError, match=message):
        load_benchmark(path)
