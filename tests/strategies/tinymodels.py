"""Small models whose numbers are written down here, for strategies that learnt before."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from focusspider.models.context_graph import ContextGraph
from focusspider.models.crf import CRF
from focusspider.models.memm import MEMM
from focusspider.models.modelfile import ModelFile, pack_texts, write_model
from focusspider.models.user_model import UserModel

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "CHAIN_NAMES",
    "CHAIN_WEIGHTS",
    "EMISSIONS",
    "FOLDER",
    "PAIRS",
    "TRANSITIONS",
    "context_graph_file",
    "crf_file",
    "hmm_file",
    "memm_file",
    "models",
]

TERMS = ("robot", "arm", "tea", "cake")
TRANSITIONS = np.array([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
#: Of the clusters 0, about robots and arms, and 1, about tea and cake.
EMISSIONS = np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]])
#: n(w, layer) of the layers 0 and 1.
LAYER_COUNTS = np.array([[8, 4, 0, 0], [1, 1, 6, 2]])

#: Features of MEMM and CRF, and the factor by which each, and the bias, raises a state.
CHAIN_NAMES = ("child:tea", "pointing:arm", "words:robot")
CHAIN_WEIGHTS = np.log([[1, 3], [2, 1], [4, 1], [1, 2]])
#: Factors of state j after i; the third row is where a path starts.
PAIRS = np.array([[3, 1], [1, 2], [1, 1]])


def hmm_file(**changed: Any) -> ModelFile:
    """Return a model of two clusters in a space of two dimensions, that of arms and of tea."""
    parameters = {name: getattr(UserModel(n_states=3), name) for name in UserModel.PARAMETERS}
    arrays = {
        **pack_texts("lsi_terms", TERMS),
        "lsi_idf": np.ones(4),
        "lsi_components": np.array([[0.8, 0], [0.6, 0], [0, 0.8], [0, 0.6]]),
        "lsi_singular_values": np.array([2.0, 1.0]),
        "nearest_points": np.array([[1.0, 0], [0, 1.0]]),
        "nearest_clusters": np.array([0, 1]),
        "hmm_transitions": TRANSITIONS,
        "hmm_emissions": EMISSIONS,
        "hmm_start": np.full(3, 1 / 3),
        "hmm_state_counts": np.array([1, 1, 1]),
        "cluster_counts": np.array([[5, 4, 1, 0], [0, 1, 6, 3]]),
    }
    return ModelFile(
        kind="hmm",
        arrays=arrays | changed.pop("arrays", {}),
        parameters=parameters | {"language": "english"} | changed.pop("parameters", {}),
        **changed,
    )


def context_graph_file(**changed: Any) -> ModelFile:
    """Return a model of two layers, the second about tea."""
    made = ContextGraph(n_layers=1)
    parameters = {name: getattr(made, name) for name in ContextGraph.PARAMETERS}
    return ModelFile(
        kind="context-graph",
        arrays={
            **pack_texts("terms", TERMS),
            "idf": np.ones(4),
            "layer_counts": LAYER_COUNTS,
            "layer_pages": np.array([3, 3]),
            **changed.pop("arrays", {}),
        },
        parameters=parameters | {"language": "english"} | changed.pop("parameters", {}),
        **changed,
    )


def crf_file(**changed: Any) -> ModelFile:
    """Return a CRF of two states; ``changed`` takes the place of what features are made of."""
    made = CRF(2)
    made.weights_, made.names_ = CHAIN_WEIGHTS, CHAIN_NAMES
    made.transitions_, made.seen_ = np.log(PAIRS[:2]), np.ones(2, dtype=bool)
    return made.to_file(parameters=_features(changed))


def memm_file(**changed: Any) -> ModelFile:
    """Return the MEMM of the same factors, which normalises after each state."""
    made = MEMM(2)
    weights = np.repeat(CHAIN_WEIGHTS[:, None, :], 3, axis=1)  # (n_features + 1, k + 1, k)
    weights[-1] += np.log(PAIRS)
    made.weights_, made.names_ = weights.reshape(4, 6), CHAIN_NAMES
    made.counts_ = np.ones((3, 2), dtype=np.int64)
    made.n_iter_, made.converged_ = 1, True
    return made.to_file(parameters=_features(changed))


def _features(changed: dict[str, Any]) -> dict[str, Any]:
    families = ["words", "pointing", "child"]
    made = {"families": families, "lookahead": True, "important": [], "language": "english"}
    return made | changed


def models() -> Path:
    """Write the models into a folder that is gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="focusspider-tiny-models-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for made in (hmm_file(), context_graph_file(), memm_file(), crf_file()):
        write_model(folder / f"{made.kind}.npz", made)
    return folder


#: Of these models, by the names of their strategies.
FOLDER = models()
