"""What a model has learnt, for people: as text for a terminal, and as a page.

sections
    what is shown, whatever it is shown on
about
    of which model it is
words
    the words of groups of pages
hmm, context_graph, chain, relevance, auto
    what a model of each kind has learnt
text, page
    the two ways to show it

A model file is hostile: what it holds is bounded, escaped, and never run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.errors import ModelFileError
from focusspider.inspection.about import about
from focusspider.inspection.auto import auto_sections
from focusspider.inspection.chain import crf_sections, memm_sections
from focusspider.inspection.context_graph import context_graph_sections
from focusspider.inspection.hmm import hmm_sections
from focusspider.inspection.relevance import relevance_sections
from focusspider.inspection.sections import Inspection
from focusspider.models.modelfile import read_model
from focusspider.report.document import cut

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from focusspider.inspection.sections import Section
    from focusspider.models.modelfile import ModelFile

__all__ = ["KINDS", "inspect_model"]

#: What shows a model, by its kind, given its file and how many words or features to list.
KINDS: dict[str, Callable[[ModelFile, int], list[Section]]] = {
    "hmm": hmm_sections,
    "memm": memm_sections,
    "crf": crf_sections,
    "context-graph": context_graph_sections,
    "relevance": relevance_sections,
    "auto": auto_sections,
}


def inspect_model(path: Path, n: int = 30) -> Inspection:
    """Return what a model file holds, with the n strongest words or features of each list.

    Raises ModelFileError for anything but a sound file of one of :data:`KINDS`.
    """
    file = read_model(path)
    show = KINDS.get(file.kind)
    if show is None:
        raise ModelFileError(
            f"{path}: a model of the kind {file.kind!r:.60}, which cannot be shown; "
            f"those that can: {', '.join(KINDS)}"
        )
    title = cut(f"{file.kind}: {file.topic or path.stem}", 100)
    return Inspection(title, about(file), show(file, n))
