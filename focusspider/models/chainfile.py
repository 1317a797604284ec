"""MEMM and CRF as model files: weights, names of features, and what each has besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.models.modelfile import ModelFile, pack_texts
from focusspider.registry import parameters as parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.models.chain import ChainModel

__all__ = ["chain_file", "chain_parts"]


def chain_file(
    model: ChainModel,
    parameters: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    about: Mapping[str, Any],
) -> ModelFile:
    """Return a fitted model as a file. Parameters in ``about`` are added to its own.

    Those are for whoever makes the features, such as which families; under other names.
    """
    more = dict(about)
    return ModelFile(
        kind=model.kind,
        arrays={
            "weights": model.weights_,
            **{
                name: array.astype(np.int64) if array.dtype.kind == "i" else array
                for name, array in arrays.items()
            },
            **pack_texts("names", model.names_),
        },
        parameters={**more.pop("parameters", {}), **parameters},
        **more,
    )


def chain_parts(
    file: ModelFile,
    kind: type[ChainModel],
    shapes: Mapping[str, tuple[str, tuple[int | str, ...]]],
) -> tuple[dict[str, NDArray[Any]], dict[str, Any], tuple[str, ...]]:
    """Return the arrays of a file, the parameters of its class, and the names of features.

    Raises ModelFileError where they are not those of a model of this kind.
    """
    if file.kind != kind.kind:
        raise file.damaged(f"its kind is {file.kind!r}, not {kind.kind!r}")
    arrays = file.take(
        {
            "weights": ("<f8", ("n_weights", "r")),
            "names_utf8": ("|u1", ("n_bytes",)),
            "names_ends": ("<i8", ("n_names",)),
            **shapes,
        }
    )
    names = tuple(file.texts("names"))
    if names and len(names) + 1 != len(arrays["weights"]):
        raise file.damaged(f"{len(names)} names for {len(arrays['weights']) - 1} features")
    if not len(arrays["weights"]):
        raise file.damaged("it has no weights")
    parameters = {
        name: file.parameters[name] for name in parameters_of(kind) if name in file.parameters
    }
    try:
        kind(**parameters)
    except (TypeError, ValueError) as error:
        raise file.damaged(str(error)) from None
    return arrays, parameters, names
