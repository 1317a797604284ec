"""What the page on training says of the trainers is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from focusspider.registry import parameters
from focusspider.training import TRAINERS
from focusspider.training.relevance import RelevanceTrainer

TRAINING = Path(__file__).resolve().parents[2] / "docs" / "training.md"
HEADINGS = {
    "hmm": "HMM",
    "context-graph": "Context graph",
    "memm": "MEMM and CRF",
    "crf": "MEMM and CRF",
    "relevance": "Relevance",
}


def shown(default: Any) -> str:
    value = list(default) if isinstance(default, tuple) else default
    return repr(value).replace("'", '"')


@pytest.mark.parametrize("name", HEADINGS)
def test_each_parameter_is_documented_with_its_default(name: str) -> None:
    trainers = {**TRAINERS, RelevanceTrainer.kind: RelevanceTrainer}
    text = TRAINING.read_text(encoding="utf-8")
    section = text.split(f"\n## {HEADINGS[name]}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", section, re.MULTILINE)
    expected = [
        (parameter.name, shown(parameter.default))
        for parameter in parameters(trainers[name]).values()
    ]
    assert found == expected
