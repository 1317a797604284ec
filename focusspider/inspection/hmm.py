"""What a hidden Markov model has learnt: the appendix of Liu, Janssen and Milios (2005)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.inspection.sections import MOST, Section, Table, matrix
from focusspider.inspection.words import word_sections
from focusspider.models.user_model import UserModel

if TYPE_CHECKING:
    from focusspider.models.modelfile import ModelFile

__all__ = ["distance", "hmm_sections", "state_names"]

_OBSERVED = {
    "clusters": "Counted from the clusters of the training pages, as in the paper.",
    "neighbours": "Counted from what the nearest neighbours of each training page say of it.",
    "shares": "Counted from the shares of the clusters among the neighbours of each page.",
}


def state_names(n: int) -> list[str]:
    """Return what states are called: T0, T1 and so on."""
    return [f"T{state}" for state in range(n)]


def distance(state: int, n_states: int) -> str:
    """Return how many links a page in a state is away from a target.

    >>> [distance(state, 3) for state in range(3)]
    ['0', '1', '2 or more']
    """
    return str(state) if state < n_states - 1 else f"{state} or more"


def hmm_sections(file: ModelFile, n: int) -> list[Section]:
    """Return states, transitions, emissions, clusters, and n words of each cluster."""
    model = UserModel.from_file(file)
    hmm = model.hmm_
    states = state_names(hmm.n_states)
    n_clusters = len(model.cluster_counts_)
    clusters = [str(number) for number in range(n_clusters)]
    pages = np.bincount(model.nearest_.clusters_, minlength=n_clusters)
    words = model.cluster_counts_.sum(axis=1)
    called = ["0, targets", *clusters[1:]]
    state_rows = [
        (name, distance(state, hmm.n_states), n_pages, prior)
        for state, (name, n_pages, prior) in enumerate(
            zip(states, hmm.state_counts_.tolist(), hmm.start_.tolist(), strict=True)
        )
    ]
    cluster_rows = list(zip(called, pages.tolist(), words.tolist(), strict=True))
    return [
        Section(
            "States",
            "A state is how many links a page is away from a target. Pages are those of the "
            "training data; the prior is what is believed of a seed before it is read. Of a state "
            "without pages nothing was learnt: its rows below are all the same.",
            Table(("state", "links to a target", "pages", "prior"), state_rows[:MOST]),
        ),
        Section(
            "Transitions",
            "P(state of the page that a link leads to | state of the page that has it); "
            "rows sum to 1.",
            matrix("from \\ to", states, states, hmm.transitions_),
        ),
        Section(
            "Emissions",
            "P(cluster | state); rows sum to 1. Cluster 0 are the targets. "
            f"{_OBSERVED[model.observed]}",
            matrix("state \\ cluster", states, clusters, hmm.emissions_),
        ),
        Section(
            "Clusters",
            "Training pages, and how many words they have together.",
            Table(("cluster", "pages", "words"), cluster_rows[:MOST]),
        ),
        *word_sections(
            file,
            model.cluster_counts_,
            [f"Cluster {name}" for name in called],
            model.lsi_.terms_,
            n,
            what="cluster",
        ),
    ]
