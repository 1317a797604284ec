"""What a context graph has learnt: the words of each layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.inspection.sections import MOST, Lists, Section, Table
from focusspider.inspection.words import word_sections
from focusspider.models.context_graph import ContextGraph
from focusspider.models.wordweights import top_words

if TYPE_CHECKING:
    from focusspider.models.modelfile import ModelFile

__all__ = ["context_graph_sections"]


def context_graph_sections(file: ModelFile, n: int) -> list[Section]:
    """Return the layers, and n words of each."""
    model = ContextGraph.from_file(file)
    layers = [f"Layer {layer}" for layer in range(model.n_layers + 1)]
    layers[0] += ", targets"
    words = model.layer_counts_.sum(axis=1)
    rows = list(zip(layers, model.layer_pages_.tolist(), model.prior_.tolist(), words.tolist(),
                    strict=True))  # fmt: skip
    likely = top_words(np.exp(model.log_likelihood_[:MOST]), model.terms_, n)
    return [
        Section(
            "Layers",
            "Layer i are pages from which a target is i links away. A page whose most likely "
            f"layer is less likely than {model.threshold:g} is like none, and comes last. Words "
            f"are the {model.n_features:,} of each page that tell most of it.",
            Table(("layer", "pages", "prior", "words"), rows[:MOST]),
        ),
        *word_sections(file, model.layer_counts_, layers, model.terms_, n, what="layer"),
        Section(
            "Most likely words of each layer",
            "P(word | layer), by which a page is taken for one of the layers.",
            Lists(list(zip(layers[:MOST], likely, strict=True))),
        ),
    ]
