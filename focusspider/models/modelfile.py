"""Learnt models on disk: one ``.npz`` file of plain arrays with a header of JSON.

The file holds numbers and texts, never code. The header is the array ``header``, the bytes of a
JSON object in UTF-8.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from focusspider.errors import ModelFileError
from focusspider.models.archive import MAX_SIZE, Shapes, check_shapes, pack_arrays, unpack_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

    from numpy.typing import NDArray

__all__ = [
    "VERSION",
    "ModelFile",
    "Shapes",
    "pack_texts",
    "read_model",
    "text_shapes",
    "write_model",
]

_Model = TypeVar("_Model")

#: Version of the format. One that reads otherwise has another number.
VERSION = 1
#: Bytes of the header.
MAX_HEADER = 1_000_000

_FORMAT = "focusspider model"
_AGAIN = "train it again with 'scrapy focus-train'"
_CRAWL_AGAIN = "it may be of another version of focusspider: 'auto' writes one when a crawl ends"
_KEYS = {
    "kind": str,
    "parameters": dict,
    "topic": str,
    "training_data": str,
    "date": str,
    "metrics": dict,
}


class Readable(Protocol):
    """What is opened like a path: one, or what ``importlib.resources.files`` gives."""

    def open(self, mode: Any = "rb") -> Any:
        """Open it."""
        ...


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """What a model file holds.

    Parameters
    ----------
    kind : str
        Which model it is, such as ``"hmm"``.
    arrays : mapping of str to ndarray
        What was learnt. A name is of small letters, digits and ``_``; a type one of
        ``archive.DTYPES``, in either byte order.
    parameters : mapping
        What the model was made with; it must be fit for JSON.
    topic : str
        Name of the topic that it was trained for.
    training_data : str
        Fingerprint of what it was trained on.
    date : str
        When, in ISO 8601; given by the caller, so that a model does not depend on the clock.
    metrics : mapping
        How good it was held to be, such as its accuracy; fit for JSON.
    source : str
        Where it was read from, for messages; not written.
    """

    kind: str
    arrays: Mapping[str, NDArray[Any]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    topic: str = ""
    training_data: str = ""
    date: str = ""
    metrics: Mapping[str, Any] = field(default_factory=dict)
    source: str = "model"

    def damaged(self, reason: str) -> ModelFileError:
        """Return the error to raise where what it holds cannot be a model of its kind."""
        again = _CRAWL_AGAIN if self.kind == "auto" else _AGAIN
        return ModelFileError(f"{self.source}: not a sound {self.kind!r} model: {reason}; {again}")

    def take(self, shapes: Shapes) -> dict[str, NDArray[Any]]:
        """Return its arrays, if they are just those that a model expects.

        Parameters
        ----------
        shapes
            For each name the type and the shape; see
            :func:`~focusspider.models.archive.check_shapes`.

        Raises
        ------
        ModelFileError
            Where an array is missing, unknown, of another type or shape, or has numbers
            that are not finite.
        """
        try:
            check_shapes(self.arrays, shapes)
        except ValueError as error:
            raise self.damaged(str(error)) from None
        return dict(self.arrays)

    def check_language(self, language: str | None) -> None:
        """Raise ``ModelFileError`` where its words are stems of another language than these."""
        learnt = self.parameters.get("language", language)
        if learnt != language:
            raise ModelFileError(
                f"{self.source}: its words are stems of {learnt or 'no language'}, and the topic's "
                f"language is {language or 'none'}; {_AGAIN}"
            )

    def parameter(self, name: str, kind: type | tuple[type, ...]) -> Any:
        """Return a parameter of a certain type; ``ModelFileError`` where it has none such."""
        value = self.parameters.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.damaged(f"its parameter {name} is {value!r}")
        return value

    def made(self, factory: Callable[..., _Model], *names: str) -> _Model:
        """Return what a class makes of parameters of the file, by their names.

        Raises ``ModelFileError`` where the file lacks one, or the class refuses them.
        """
        if missing := [name for name in names if name not in self.parameters]:
            raise self.damaged(f"it lacks the parameters {', '.join(missing)}")
        try:
            return factory(**{name: self.parameters[name] for name in names})
        except (TypeError, ValueError) as error:
            raise self.damaged(str(error)) from None

    def texts(self, name: str) -> list[str]:
        """Return the texts of which :func:`pack_texts` made two arrays."""
        packed, ends = self.arrays.get(f"{name}_utf8"), self.arrays.get(f"{name}_ends")
        if (
            packed is None
            or ends is None
            or [packed.dtype.str, ends.dtype.str] != ["|u1", "<i8"]
            or not packed.ndim == ends.ndim == 1
            or (np.diff(ends, prepend=0) < 0).any()
            or (ends[-1] if len(ends) else 0) != len(packed)
        ):
            raise self.damaged(f"{name}_utf8 and {name}_ends are not texts and where they end")
        data, start, texts = packed.tobytes(), 0, []
        try:
            for end in ends.tolist():
                texts.append(data[start:end].decode())
                start = end
        except UnicodeDecodeError as error:
            raise self.damaged(f"{name}_utf8: {error}") from None
        return texts


def pack_texts(name: str, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return texts as two arrays: their bytes in UTF-8, and where each ends.

    >>> {name: array.tolist() for name, array in pack_texts("terms", ["é", "", "a"]).items()}
    {'terms_utf8': [195, 169, 97], 'terms_ends': [2, 2, 3]}
    """
    encoded = [text.encode() for text in texts]
    return {
        f"{name}_utf8": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        f"{name}_ends": np.cumsum([len(data) for data in encoded], dtype=np.int64),
    }


def text_shapes(name: str, n_texts: int | str) -> Shapes:
    """Return the shapes of the arrays that :func:`pack_texts` makes of so many texts."""
    return {f"{name}_utf8": ("|u1", (f"bytes of {name}",)), f"{name}_ends": ("<i8", (n_texts,))}


def write_model(path: str | os.PathLike[str], model: ModelFile) -> None:
    """Write a model under this very name, whole or not at all; folders are made.

    Raises ``ValueError`` where it holds what a model file cannot.
    """
    data = _packed(model)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(0o644)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _packed(model: ModelFile) -> bytes:
    header: dict[str, Any] = {"format": _FORMAT, "version": VERSION}
    for key, kind in _KEYS.items():
        value = getattr(model, key)
        header[key] = dict(value) if isinstance(value, Mapping) else value
        if not isinstance(header[key], kind):
            raise ValueError(f"{key} of a model must be {kind.__name__}, got {value!r}")
    text = json.dumps(header, sort_keys=True, allow_nan=False, default=_as_json).encode()
    if len(text) > MAX_HEADER or "header" in model.arrays:
        raise ValueError(f"a model has one header, of at most {MAX_HEADER} bytes, got {len(text)}")
    return pack_arrays({"header": np.frombuffer(text, dtype=np.uint8), **model.arrays})


def read_model(
    source: str | os.PathLike[str] | bytes | Readable, *, kind: str | None = None, name: str = ""
) -> ModelFile:
    """Read a model; its arrays cannot be written to.

    Parameters
    ----------
    source
        A path, something that opens like one (``importlib.resources.files(...) / name``), or
        the bytes of a file.
    kind
        Which model it must be; None: any.
    name
        What messages call it; the path if not given.

    Raises
    ------
    ModelFileError
        For anything but a sound file that :func:`write_model` wrote, of this kind.
    """
    name = name or ("model" if isinstance(source, bytes) else str(source))
    try:
        model = _unpacked(_data(source, name), name)
    except ModelFileError:
        raise
    except OSError as error:
        raise ModelFileError(f"{name}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ModelFileError(f"{name}: not a model file, or damaged: {error}; {_AGAIN}") from None
    if kind is not None and model.kind != kind:
        raise ModelFileError(
            f"{name}: a model of the kind {model.kind!r}, and {kind!r} is asked for; "
            f"give the file that 'scrapy focus-train --strategy {kind}' wrote"
        )
    return model


def _data(source: str | os.PathLike[str] | bytes | Readable, name: str) -> bytes:
    if isinstance(source, bytes):
        data = source
    else:
        opened: BinaryIO
        path = Path(source) if isinstance(source, str | os.PathLike) else source
        with path.open("rb") as opened:
            data = opened.read(MAX_SIZE + 1)
    if len(data) > MAX_SIZE:
        raise ModelFileError(f"{name}: a model file has at most {MAX_SIZE} bytes; {_AGAIN}")
    return data


def _unpacked(data: bytes, name: str) -> ModelFile:
    arrays = unpack_arrays(data)
    if "header" not in arrays:
        raise ValueError("it has no header")
    header = _header(arrays.pop("header"), name)
    return replace(header, arrays=arrays)


def _header(packed: NDArray[Any], name: str) -> ModelFile:
    if packed.dtype != np.uint8 or packed.ndim != 1 or len(packed) > MAX_HEADER:
        raise ValueError("its header is not text")
    try:
        header = json.loads(packed.tobytes().decode(), parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    if not isinstance(header, dict) or header.pop("format", None) != _FORMAT:
        raise ValueError("its header is not that of a model")
    version = header.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        newer = isinstance(version, int) and version > VERSION
        remedy = f"upgrade focusspider, or {_AGAIN}" if newer else _AGAIN
        raise ModelFileError(
            f"{name}: its format is version {version!r}, and this focusspider reads {VERSION}; "
            f"{remedy}"
        )
    if header.keys() != _KEYS.keys():
        raise ValueError(f"its header has {sorted(header)}, and must have {sorted(_KEYS)}")
    for key, kind in _KEYS.items():
        if not isinstance(header[key], kind):
            raise ValueError(f"{key} in its header is {header[key]!r:.100}")
    return ModelFile(arrays={}, source=name, **header)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _as_json(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError(f"a model's header holds what JSON can, got {value!r}")
