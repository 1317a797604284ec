"""MEMM and CRF as model files: weights, names of features, and what each has besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from focusspider.models.modelfile import ModelFile, pack_texts
from focusspider.registry import parameters as parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focusspider.models.chain import ChainModel

__all__ = ["chain_file", "chain_parts"]

_Chain = TypeVar("_Chain", bound="ChainModel")
#: Of a weight, whichever sign: sums of more would not be numbers.
_LARGEST = 1e9


def chain_file(
    model: ChainModel,
    arrays: Mapping[str, NDArray[Any]],
    about: Mapping[str, Any],
) -> ModelFile:
    """Return a fitted model as a file. Parameters in ``about`` are added to its own.

    Those are for whoever makes the features, such as which families; under other names.
    """
    more = dict(about)
    parameters = {name: getattr(model, name) for name in parameters_of(type(model))}
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
    kind: type[_Chain],
    shapes: Mapping[str, tuple[str, tuple[int | str, ...]]],
) -> tuple[_Chain, dict[str, NDArray[Any]]]:
    """Return the model of a file but for what only its kind has, and all arrays.

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
    for name, array in arrays.items():
        if array.dtype.kind == "f" and np.abs(array).max(initial=0) > _LARGEST:
            raise file.damaged(f"{name} has numbers beyond ±{_LARGEST:g}")
    made = file.made(kind, *parameters_of(kind))
    made.weights_, made.names_ = arrays["weights"], names
    return made, arrays
