"""Arrays of plain numbers as the bytes of an ``.npz`` archive, and back.

What ``numpy.load`` reads, but the reader here takes only what the writer writes: stored as it
is, without pickle, without evaluating anything, and never more memory than a bound. The same
arrays give the same bytes, on each machine.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "DTYPES",
    "MAX_ARRAYS",
    "MAX_SIZE",
    "Shapes",
    "check_shapes",
    "pack_arrays",
    "unpack_arrays",
]

#: What arrays are expected: for each name its type and its shape, see :func:`check_shapes`.
Shapes = Mapping[str, tuple[str, tuple[int | str, ...]]]

#: Bytes of an archive, packed and unpacked.
MAX_SIZE = 500_000_000
#: Arrays of an archive.
MAX_ARRAYS = 100
#: The types that arrays have, all little-endian.
DTYPES = ("|u1", "|b1", "<i4", "<i8", "<f4", "<f8")

_MAX_DIMENSIONS = 4
_NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<|][a-z][0-9])', 'fortran_order': False, "
    rb"'shape': \(((?:[0-9]{1,12}, ?)*(?:[0-9]{1,12})?)\), \} *\n"
)


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return arrays as the bytes of an archive, in the order of their names.

    Raises ``ValueError`` where a name, a type or the size is not one that is read back.
    """
    plain = {name: _plain(name, arrays[name]) for name in sorted(arrays)}
    size = sum(array.nbytes for array in plain.values())
    if size > MAX_SIZE * 0.99 or len(plain) > MAX_ARRAYS:
        raise ValueError(
            f"{size} bytes in {len(plain)} arrays, and {MAX_SIZE} in {MAX_ARRAYS} are the most"
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, array in plain.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, as the format begins
            entry.create_system, entry.external_attr = 3, 0o600 << 16
            with archive.open(entry, "w") as file:
                np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
    return packed.getvalue()


def _plain(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if not _NAME.fullmatch(name):
        raise ValueError(f"an array cannot be named {name!r}")
    array = np.asarray(array)
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
    if plain.dtype.str not in DTYPES or plain.ndim > _MAX_DIMENSIONS:
        raise ValueError(
            f"{name}: an array has up to {_MAX_DIMENSIONS} dimensions and a type of "
            f"{', '.join(DTYPES)}, got {array.ndim} and {array.dtype}"
        )
    return plain


def unpack_arrays(data: bytes, *, max_size: int | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive; they cannot be written to.

    ``max_size`` is how many bytes they may have, unpacked; None: :data:`MAX_SIZE`.

    Raises ``ValueError`` for anything but a sound archive that :func:`pack_arrays` wrote, or
    one like it that is deflated.
    """
    arrays: dict[str, NDArray[Any]] = {}
    most = MAX_SIZE if max_size is None else max_size
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            if size > most or len(entries) > MAX_ARRAYS:
                raise ValueError(
                    f"{size} bytes unpacked in {len(entries)} arrays, and {most} in "
                    f"{MAX_ARRAYS} are the most"
                )
            for entry in entries:
                name = entry.filename.removesuffix(".npy")
                if entry.filename != f"{name}.npy" or not _NAME.fullmatch(name) or name in arrays:
                    raise ValueError(f"an array cannot be named {entry.filename!r:.200}")
                if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise ValueError(f"{entry.filename} is compressed in an unknown way")
                arrays[name] = _array(archive.read(entry), entry.filename)
    except (EOFError, OSError, OverflowError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error)) from None
    except RuntimeError as error:  # encrypted, or of a later version of the format
        raise ValueError(str(error)) from None
    return arrays


def _array(data: bytes, name: str) -> NDArray[Any]:
    """Return an array of the format NPY 1.0, as ``numpy.lib.format`` writes it.

    Its own reader is for all that Python can write: it evaluates the header, and takes the
    memory that the header asks for.
    """
    start = 10 + int.from_bytes(data[8:10], "little")
    header = _HEADER.fullmatch(data[10:start])
    if data[:8] != _MAGIC or header is None or header[1].decode() not in DTYPES:
        raise ValueError(f"{name} is not an array of plain numbers")
    dtype = np.dtype(header[1].decode())
    shape = [int(length) for length in header[2].replace(b",", b" ").split()]
    if math.prod(shape) * dtype.itemsize != len(data) - start or len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"{name} has {len(data) - start} bytes, and its shape is {shape}")
    array = np.frombuffer(data, np.uint8)[start:].view(dtype).reshape(shape)
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ValueError(f"{name} has what is neither true nor false")
    return array


def check_shapes(arrays: Mapping[str, NDArray[Any]], shapes: Shapes) -> None:
    """Raise ``ValueError`` unless arrays are just those that are expected.

    A length is a number, or a word that stands for the same length wherever it is used:
    ``{"emissions": ("<f8", ("n_states", "n_clusters"))}``. The message says which array is
    missing, unknown, of another type or shape, or has numbers that are not finite.
    """
    if missing := sorted(shapes.keys() - arrays.keys()):
        raise ValueError(f"it lacks {', '.join(missing)}")
    if unknown := sorted(arrays.keys() - shapes.keys()):
        raise ValueError(f"it has {', '.join(unknown)}, which no such model has")
    lengths: dict[str, int] = {}
    for name, (dtype, shape) in shapes.items():
        array = arrays[name]
        if array.dtype != np.dtype(dtype) or array.ndim != len(shape):
            raise ValueError(
                f"{name} is {array.dtype.str} of {array.ndim} dimensions, "
                f"and must be {dtype} of {len(shape)}"
            )
        for word, length in zip(shape, array.shape, strict=True):
            known = word if isinstance(word, int) else lengths.setdefault(word, length)
            if length != known:
                raise ValueError(f"{name} has the shape {array.shape}, where {word} is {known}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"{name} has numbers that are not finite")
