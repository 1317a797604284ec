"""What a classifier of relevance has learnt: the words for and against a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.inspection.sections import Lists, Section, Table
from focusspider.models.page_classifier import PageClassifier
from focusspider.models.wordweights import strongest

if TYPE_CHECKING:
    from focusspider.models.modelfile import ModelFile

__all__ = ["relevance_sections"]

_KINDS = (("text:", "text"), ("heading:", "headings"))


def relevance_sections(file: ModelFile, n: int) -> list[Section]:
    """Return what it has learnt from, and the n strongest words of text and of headings."""
    model = PageClassifier.from_file(file)
    wanted, others = model.n_pages_
    groups = []
    for sign, direction in ((1, "For"), (-1, "Against")):
        for prefix, kind in _KINDS:
            of_kind = [name.startswith(prefix) for name in model.names_]
            weights = np.where(of_kind, sign * model.weights_, 0.0)
            found = strongest(weights, model.names_, n)
            words = [(name.removeprefix(prefix), weight) for name, weight in found]
            groups.append((f"{direction}, in {kind}", words))
    return [
        Section(
            "Pages",
            "What it has learnt from. Without other pages it tells what is unlike the wanted ones, "
            "and no word speaks against a page.",
            Table(("pages", "number"), [("wanted", wanted), ("other", others)]),
        ),
        Section(
            "Strongest words",
            "The weight of each word; a page has it divided by the square root of how many words "
            "its text, or its headings, have. Words are stems.",
            Lists(groups),
        ),
    ]
