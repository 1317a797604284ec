"""The page on model files names the arrays that there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.sparse import csr_array

from focusspider.models import archive, modelfile
from focusspider.models.context_graph import ContextGraph
from focusspider.models.crf import CRF
from focusspider.models.memm import MEMM
from focusspider.models.page_classifier import PageClassifier
from focusspider.models.user_model import UserModel

if TYPE_CHECKING:
    from focusspider.models.modelfile import Shapes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "model-files.md"


def documented(kind: str) -> dict[str, str]:
    """Return the arrays of a kind, and the shape of each in words."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"## Arrays of `{kind}`\n")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}


@pytest.mark.parametrize("model", [MEMM, CRF])
def test_the_arrays_of_a_chain(model: type[MEMM | CRF]) -> None:
    features = csr_array(np.array([[1.0, 0.0], [0.0, 1.0]] * 4))
    fitted = model(2).fit(features, [2] * 4, [1, 0] * 4, names=["words:a", "words:b"])
    arrays = fitted.to_file().arrays
    named = documented(model.kind)
    assert named.keys() == arrays.keys()
    for name, shape in named.items():
        assert len(shape.split(" × ")) == arrays[name].ndim


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [
        ("hmm", UserModel.SHAPES),
        ("context-graph", ContextGraph.SHAPES),
        ("relevance", PageClassifier.SHAPES),
    ],
)
def test_the_arrays_of_a_kind(kind: str, shapes: Shapes) -> None:
    named = documented(kind)
    assert named.keys() == shapes.keys()
    for name, shape in named.items():
        assert len(shape.split(" × ")) == len(shapes[name][1])


def test_its_limits() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    size, header = archive.MAX_SIZE // 10**6, modelfile.MAX_HEADER // 10**6
    assert f"at most {size} MB, packed and unpacked, in at most {archive.MAX_ARRAYS}" in text
    assert f"and {header} MB of header" in text
