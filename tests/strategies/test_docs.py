"""What the pages on strategies and relevance say is so."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focusspider.corpus import Corpus
from focusspider.errors import SettingError
from focusspider.priority import to_score
from focusspider.registry import parameters
from focusspider.relevance import RELEVANCES, build_relevance
from focusspider.relevance.base import Judgement
from focusspider.strategies import STRATEGIES, build_strategy
from tests.pages import page, profile

DOCS = Path(__file__).resolve().parents[2] / "docs"


def cells(name: str) -> list[list[str]]:
    """Return the rows of a page's tables that begin with a name."""
    text = (DOCS / name).read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*) \|$", text, re.MULTILINE)
    return [[cell.strip().strip("`") for cell in row.split(" |")] for row in rows]


def block(name: str, language: str, n: int) -> str:
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[n]


def shown(part: type) -> list[tuple[str, str]]:
    return [
        (name, "needed" if p.default is p.empty else repr(p.default).replace("'", '"'))
        for name, p in parameters(part).items()
        if name not in {"base_dir", "models_dir", "budget"}
    ]


@pytest.mark.parametrize("name", STRATEGIES)
def test_each_strategy_is_documented_with_its_parameters(name: str) -> None:
    rows = [row for row in cells("strategies.md") if row[0] == name]
    described = [row for row in rows if row[1].strip("`") not in parameters(STRATEGIES[name])]
    # In the table of strategies, and in that of the measurements.
    assert len(described) == 2
    found = [(row[1].lstrip(" `"), row[2].lstrip(" `")) for row in rows if row not in described]
    assert found == shown(STRATEGIES[name])


@pytest.mark.parametrize("kind", RELEVANCES)
def test_each_judge_is_documented_with_its_parameters(kind: str) -> None:
    rows = [row for row in cells("relevance.md") if row[0] == kind]
    assert [(row[2].lstrip(" `"), row[3].lstrip(" `")) for row in rows] == shown(RELEVANCES[kind])


def write_module(folder: Path, name: str, source: str) -> None:
    package = folder / "myproject"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / f"{name}.py").write_text(source, encoding="utf-8")
    importlib.invalidate_caches()


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "myproject"]:
        del sys.modules[name]


def test_the_strategy_of_ones_own_works(importable: Path) -> None:
    write_module(importable, "strategies", block("strategies.md", "python", 1))
    spec = tomllib.loads(block("strategies.md", "toml", 1))["strategy"]
    path = spec.pop("name")
    strategy = build_strategy(path, spec)
    strategy.start(profile("robot"), np.random.default_rng(0))
    at = page("<a href='/x'>x</a> <a href='/a/b/c'>c</a>")
    found = strategy.score(at, None)
    # 0.8 to the power of 0 and of 2; a score of 1 is the highest priority, 2^-50 below 1.
    assert [to_score(int(p)) for p in found.priorities] == pytest.approx([1, 0.64], abs=1e-14)
    assert found.parts["folders"].tolist() == [0, 2]
    strategy.observe(at, Judgement(1.0, True, "test"))
    with pytest.raises(SettingError, match="keep must be above 0 and at most 1, got 2"):
        build_strategy(path, {"keep": 2})
    with pytest.raises(SettingError, match="has no parameter 'kep'"):
        build_strategy(path, {"kep": 1})


def test_the_corpus_of_the_example_can_be_learnt_from(tmp_path: Path) -> None:
    script = tmp_path / "texts.py"
    script.write_text(block("strategies.md", "python", 0), encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-W", "error", script.name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(DOCS.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
    corpus = Corpus.load(tmp_path / "texts.npz")
    assert corpus.language == "english"
    counts = corpus.counts()
    documents = [
        {counts.terms[at]: int(n) for at, n in zip(row.indices, row.data, strict=True)}
        for row in counts.matrix
    ]
    # "Robots grip and lift." and "Tea is brewed in a pot.", stemmed and without stop words.
    assert documents == [{"robot": 1, "grip": 1, "lift": 1}, {"tea": 1, "brew": 1, "pot": 1}]
    for name in ("shark-search-okapi", "hcla", "plsi-phits"):
        strategy = build_strategy(name, {"corpus": "texts.npz"}, base_dir=tmp_path)
        strategy.start(profile("robot"), np.random.default_rng(0))


def test_the_function_of_ones_own_works(importable: Path) -> None:
    write_module(importable, "judges", block("relevance.md", "python", 0))
    spec = tomllib.loads(block("relevance.md", "toml", -1))["relevance"]
    judge = build_relevance(spec.pop("kind"), spec.pop("threshold"), spec)
    assert judge.judge(page("<p>3 € or 4 €</p>")) == Judgement(0.2, True, "2 prices")
    assert judge.judge(page("<p>3 €</p>")) == Judgement(0.1, False, "1 prices")


def test_the_first_examples_can_be_built() -> None:
    spec = tomllib.loads(block("strategies.md", "toml", 0))["strategy"]
    assert build_strategy(spec.pop("name"), spec).alpha == 0.5
    spec = tomllib.loads(block("relevance.md", "toml", 0))["relevance"]
    assert build_relevance(spec.pop("kind"), spec.pop("threshold"), spec).threshold == 0.3
