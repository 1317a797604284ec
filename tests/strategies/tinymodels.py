"""Small models whose numbers are written down here, for strategies that learnt before."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from focusspider.models.context_graph import ContextGraph
from focusspider.models.modelfile import ModelFile, pack_texts, write_model
from focusspider.models.user_model import UserModel

if TYPE_CHECKING:
    from typing import Any

__all__ = ["EMISSIONS", "FOLDER", "TRANSITIONS", "context_graph_file", "hmm_file", "models"]

TERMS = ("robot", "arm", "tea", "cake")
TRANSITIONS = np.array([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
#: Of the clusters 0, about robots and arms, and 1, about tea and cake.
EMISSIONS = np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]])
#: n(w, layer) of the layers 0 and 1.
LAYER_COUNTS = np.array([[8, 4, 0, 0], [1, 1, 6, 2]])


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


def models() -> Path:
    """Write the models into a folder that is gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="focusspider-tiny-models-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for made in (hmm_file(), context_graph_file()):
        write_model(folder / f"{made.kind}.npz", made)
    return folder


#: Of these models, by the names of their strategies.
FOLDER = models()
