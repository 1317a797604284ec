"""What a crawl has learnt of links, put together for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.models.lessons import Lessons, Record, Weights
from focusspider.models.success_table import SuccessTable
from focusspider.strategies.linkcandidates import candidates, distinct
from focusspider.strategies.linkfeatures import features
from focusspider.strategies.linksuccesses import fetched_nodes, word_trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focusspider.strategies.linklearning import Learnt
    from focusspider.strategies.linknames import LinkNames
    from focusspider.strategies.linktables import Snapshot
    from focusspider.strategies.trained import TrainedModels

__all__ = ["lessons_of"]

#: Groups of a kind that are told: those for which, and against which, most speaks.
_MOST = 200


def lessons_of(
    seen: Snapshot,
    learnt: Learnt,
    coefficients: NDArray[np.float64],
    *,
    names: LinkNames,
    course: NDArray[np.float64],
    without: Sequence[str],
    models: TrainedModels,
) -> Lessons:
    """Return what weighs how much, and which groups paid.

    ``coefficients`` are those of the regression, (n_features,).

    ``course`` is as :class:`~focusspider.models.lessons.Lessons` has it.
    """
    seen = seen.until(len(learnt.successes.values.found))
    outcomes = learnt.successes.values.outcomes
    fetched = np.flatnonzero(seen.node_row[seen.link_node] >= 0)
    pairs = distinct(
        seen.link_node[fetched].astype(np.int64) << 32 | seen.link_path[fetched].astype(np.int64)
    )
    of = fetched_nodes(seen)
    trials: dict[str, Any] = {
        "anchor_words": ("word", *word_trials(seen, of, outcomes, "anchor words")[:2]),
        "context_words": ("word", *word_trials(seen, of, outcomes, "context words")[:2]),
        "hosts": ("host", seen.row_host, outcomes),
        "directories": ("directory", seen.row_directory, outcomes),
        "paths": (
            "path",
            pairs & 0xFFFFFFFF,
            outcomes[seen.node_row[pairs >> 32]],
        ),
    }
    records = {
        group: _record(*names.of(kind), SuccessTable(*of_kind, mean=learnt.successes.mean))
        for group, (kind, *of_kind) in trials.items()
    }
    nodes = distinct(seen.link_node[:1])
    any_one = features(
        seen, candidates(seen, nodes, np.arange(1)), learnt.successes, without=without
    )
    named = {f"model figure {i}": column for i, column in enumerate(models.columns)}
    named |= {f"best {old}": f"best {new}" for old, new in named.items()}
    weights = Weights(
        [named.get(name, name) for name in any_one.names],
        any_one.families,
        coefficients,
    )
    return Lessons(weights=weights, records=records, course=course, models=models.names)


def _record(
    keys: NDArray[np.uint32],
    names: Sequence[str],
    table: SuccessTable,
) -> Record:
    """Return the counts of the named groups for and against which most speaks."""
    trials, successes = table.counts(keys)
    evidence = table.log_odds(trials, successes)
    known = np.flatnonzero(trials > 0)
    chosen = known[np.argsort(-np.abs(evidence[known]), kind="stable")][:_MOST]
    counts = np.stack([trials[chosen], successes[chosen]], axis=1)
    return Record([names[i] for i in chosen.tolist()], counts, evidence[chosen])
