"""What MEMM and CRF have learnt: the strongest features of states and of transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.inspection.hmm import distance, state_names
from focusspider.inspection.sections import MOST, Lists, Section, Table, matrix
from focusspider.models.crf import CRF
from focusspider.models.memm import MEMM
from focusspider.models.wordweights import strongest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focusspider.models.chain import ChainModel
    from focusspider.models.modelfile import ModelFile

__all__ = ["crf_sections", "memm_sections"]

_STATES = (
    "A state is how many links a page is away from a target. The weight is that of a page "
    "which shows no feature."
)


def memm_sections(file: ModelFile, n: int) -> list[Section]:
    """Return the transitions, and the n strongest features of each state and transition."""
    model = MEMM.from_file(file)
    k = model.k
    states, before = state_names(k), [*state_names(k), "start"]
    bare = model.log_potentials(np.zeros((1, (k + 1) * k)))[0]  # (k + 1, k)
    weights = model.weights_[:-1].reshape(-1, k + 1, k)
    often = model.counts_.sum(axis=1)
    share = often / max(int(often.sum()), 1)
    of_state = np.einsum("fij,i->fj", weights, share)  # (n_features, k)
    names = _names(model)
    pairs = [
        (f"{before[i]} → {states[j]}", strongest(weights[:, i, j], names, n))
        for i in range(min(k + 1, MOST))
        for j in range(min(k, MOST))
        if model.counts_[i, j]
    ]
    return [
        Section(
            "Transitions in the training data",
            "How often each state came after each, and at the start of a sequence.",
            matrix("from \\ to", before, states, model.counts_),
        ),
        Section(
            "Transitions without features",
            "P(state | state before) of a page which shows no feature; rows sum to 1.",
            matrix("from \\ to", before, states, np.exp(bare)),
        ),
        *_state_lists(of_state, names, n, "Mean over the states before, by how often they are."),
        Section(
            "Features of each transition",
            "Weights, natural logarithms; transitions that the training data do not have are "
            "left out.",
            Lists(pairs),
        ),
    ]


def crf_sections(file: ModelFile, n: int) -> list[Section]:
    """Return the transitions, and the n strongest features of each state."""
    model = CRF.from_file(file)
    states = state_names(model.k)
    rows = [
        (states[state], distance(state, model.k), "yes" if seen else "no", bias)
        for state, (seen, bias) in enumerate(
            zip(model.seen_.tolist(), model.weights_[-1].tolist(), strict=True)
        )
    ]
    return [
        Section(
            "States",
            f"{_STATES} A state that the training data do not have is never believed.",
            Table(("state", "links to a target", "in the data", "weight"), rows[:MOST]),
        ),
        Section(
            "Transitions",
            "Weights, natural logarithms, of a state after a state. There is none for the start.",
            matrix("from \\ to", states, states, model.transitions_),
        ),
        *_state_lists(model.weights_[:-1], _names(model), n, "Weights, natural logarithms."),
    ]


def _state_lists(
    weights: NDArray[np.float64], names: Sequence[str], n: int, note: str
) -> list[Section]:
    """Return what speaks for each state and against it; weights are (n_features, k)."""
    states = state_names(weights.shape[1])[:MOST]
    return [
        Section(
            f"Features that speak {word} each state",
            note,
            Lists(
                [
                    (name, strongest(sign * weights[:, state], names, n))
                    for state, name in enumerate(states)
                ]
            ),
        )
        for word, sign in (("for", 1), ("against", -1))
    ]


def _names(model: ChainModel) -> Sequence[str]:
    """Return the names of features; numbers where the file has none."""
    return model.names_ or [f"feature {column}" for column in range(len(model.weights_) - 1)]
