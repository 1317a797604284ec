"""What a link is thought to be worth before anything is learnt: text, hubs, trained models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.models.link_value import logit
from focusspider.strategies.linkcandidates import largest_of
from focusspider.strategies.linkfeatures import prior_scores
from focusspider.strategies.linktables import TRAINED, USUAL
from focusspider.strategies.pairfilter import mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.strategies.linkcandidates import Candidates
    from focusspider.strategies.linkfeatures import Features
    from focusspider.strategies.linktables import Snapshot

__all__ = ["drawn", "of_models", "of_prior", "of_record", "prior_log_odds"]

#: A prior of p is as good as log odds of p times this, above those of the mean.
_PRIOR_SCALE, _PRIOR_MEAN = 12.0, 0.1
#: What the figures of a link add to its prior. The first hundred pages may lead nowhere, and
#: all that they tell is where not to look any longer. Found on the first 200 pages of the crawls
#: of three webs, with chance added to the prior: larger ones leave good directories too soon.
_PRIOR_WEIGHTS = {"page": 0.1, "host path": 0.1, "directory": 0.1, "host": 0.1, "depth": -0.1}
#: What the mean log odds of trained models add to those of the prior, times this, where they are
#: above those of a value that is nothing much.
_MODELS_WEIGHT = 0.3


def prior_log_odds(
    seen: Snapshot, of: Candidates, found: Features, *, mean: float, alpha: float
) -> NDArray[np.float64]:
    """Return the log odds of candidates by the prior, (n,).

    Parameters
    ----------
    found
        Their features.
    mean
        What a page brings in the mean.
    alpha
        Parameter of ``hub-seeking``.
    """
    log_odds = of_prior(mean, prior_scores(seen, of, alpha=alpha))
    log_odds += of_record(found)
    if seen.link_trained.shape[1]:
        log_odds += of_models(seen.link_trained[of.links], of)
    return log_odds


def of_prior(mean: float, prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of a prior in [0, 1], where a page brings so much in the mean, (n,)."""
    return logit(min(mean, 0.5)) + _PRIOR_SCALE * (prior - _PRIOR_MEAN)


def of_record(found: Features) -> NDArray[np.float64]:
    """Return what the record of links like these, and their depth, add to their prior, (n,)."""
    added = np.zeros(len(found.values))
    for name, weight in _PRIOR_WEIGHTS.items():
        if name in found.names:
            added += weight * found.values[:, found.names.index(name)]
    return added


def of_models(figures: NDArray[np.floating], of: Candidates | None = None) -> NDArray[np.float64]:
    """Return what trained models add to the log odds of a prior, (n,).

    ``figures`` are those of links, (n_links, n_columns), and n the links, or candidates, of
    which the best link counts.
    """
    values = np.clip(figures[:, :: len(TRAINED)].astype(np.float64), 1e-3, 1 - 1e-3)
    odds = np.log(values / (1 - values)).mean(axis=1) - logit(USUAL[TRAINED.index("value")])
    if of is not None:
        odds = largest_of(of.owners, odds, len(of.nodes))
    added: NDArray[np.float64] = _MODELS_WEIGHT * odds
    return added


def drawn(keys: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """Return a number in [-1, 1) for each key, evenly distributed and always the same, (n,)."""
    return mixed(keys, keys >> np.uint64(32), seed) / 2.0**31 - 1
