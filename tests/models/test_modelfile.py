"""Model files: what is written is read, and nothing else is."""

from __future__ import annotations

import io
import json
import math
import pickle
import zipfile
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from focusspider.errors import ModelFileError
from focusspider.models import archive
from focusspider.models.modelfile import (
    ModelFile,
    pack_texts,
    read_model,
    text_shapes,
    write_model,
)

if TYPE_CHECKING:
    from pathlib import Path

ARRAYS = {
    "weights": np.arange(6, dtype=np.float64).reshape(2, 3) / 7,
    "coarse": np.array([0.5, -0.0], dtype=np.float32),
    "counts": np.array([], dtype=np.int64),
    "small": np.array([[-1], [2]], dtype=np.int32),
    "flags": np.array([True, False]),
    "alone": np.array(3.5),
    **pack_texts("terms", ["robot", "", "zürich", "日本"]),
}
MODEL = ModelFile(
    kind="hmm",
    arrays=ARRAYS,
    parameters={"n_states": 5, "smoothing": 1.0, "names": ["T0"]},
    topic="robots",
    training_data="0123abcd",
    date="2026-11-28T04:00:00Z",
    metrics={"accuracy": 0.75},
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_model(tmp_path / "robots" / "hmm.npz", MODEL)
    return tmp_path / "robots" / "hmm.npz"


def npy(array: Any, *, pickled: bool = False) -> bytes:
    packed = io.BytesIO()
    np.lib.format.write_array(packed, np.asanyarray(array), allow_pickle=pickled)
    return packed.getvalue()


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return packed.getvalue()


def header(**changes: Any) -> bytes:
    values = {
        "format": "focusspider model",
        "version": 1,
        "kind": "hmm",
        "parameters": {},
        "topic": "",
        "training_data": "",
        "date": "",
        "metrics": {},
    }
    return as_header(json.dumps(values | changes).encode())


def as_header(data: bytes) -> bytes:
    return npy(np.frombuffer(data, dtype=np.uint8))


def test_what_is_written_is_read(path: Path) -> None:
    model = read_model(path, kind="hmm")
    assert (model.kind, model.topic, model.training_data) == ("hmm", "robots", "0123abcd")
    assert (model.date, model.metrics) == ("2026-11-28T04:00:00Z", {"accuracy": 0.75})
    assert model.parameters == {"n_states": 5, "smoothing": 1.0, "names": ["T0"]}
    assert model.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert model.arrays[name].dtype == array.dtype
        assert_array_equal(model.arrays[name], array, strict=True)
        assert not model.arrays[name].flags.writeable
    assert model.texts("terms") == ["robot", "", "zürich", "日本"]
    assert model.source == str(path)


def test_numpy_reads_it_too(path: Path) -> None:
    with np.load(path, allow_pickle=False) as file:
        assert_array_equal(file["weights"], ARRAYS["weights"])
        assert json.loads(file["header"].tobytes())["kind"] == "hmm"


def test_the_same_model_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    write_model(other, ModelFile(**{**vars(MODEL), "arrays": dict(reversed(ARRAYS.items()))}))
    assert other.read_bytes() == path.read_bytes()
    turned = {name: a.astype(a.dtype.newbyteorder(">"), order="F") for name, a in ARRAYS.items()}
    write_model(other, ModelFile(**{**vars(MODEL), "arrays": turned}))
    assert other.read_bytes() == path.read_bytes()
    write_model(other, read_model(path))
    assert other.read_bytes() == path.read_bytes()


def test_a_model_is_read_from_bytes_and_from_resources(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_model(path.read_bytes(), name="mine").source == "mine"
    egg = tmp_path / "spiders.egg"
    with zipfile.ZipFile(egg, "w") as file:
        file.writestr("eggmodels/__init__.py", "")
        file.write(path, "eggmodels/hmm.npz")
    monkeypatch.syspath_prepend(str(egg))
    model = read_model(resources.files("eggmodels") / "hmm.npz", kind="hmm")
    assert_array_equal(model.arrays["weights"], ARRAYS["weights"])


def test_a_deflated_file_is_read(path: Path) -> None:
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    model = read_model(zipped(members, zipfile.ZIP_DEFLATED))
    assert_array_equal(model.arrays["weights"], ARRAYS["weights"])


def test_a_write_that_fails_leaves_what_was_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match="an array has up to 4 dimensions and a type of"):
        write_model(path, ModelFile(kind="hmm", arrays={"a": np.array([None])}))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_model(path, MODEL)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arrays": {"A b": np.zeros(1)}}, "an array cannot be named 'A b'"),
        ({"arrays": {"header": np.zeros(1)}}, "a model has one header"),
        ({"arrays": {"a": np.zeros(1, dtype=complex)}}, "complex128"),
        ({"arrays": {"a": np.zeros((1, 1, 1, 1, 1))}}, "got 5 and float64"),
        ({"arrays": {f"a{n}": np.zeros(1) for n in range(100)}}, "101 arrays, and .* in 100 are"),
        ({"kind": 3}, "kind of a model must be str, got 3"),
        ({"metrics": {"loss": math.inf}}, "not JSON compliant"),
        ({"metrics": {"when": {1, 2}}}, r"holds what JSON can, got \{1, 2\}"),
    ],
)
def test_what_cannot_be_written(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        write_model(tmp_path / "m.npz", ModelFile(**{**vars(MODEL), **changes}))
    assert not list(tmp_path.iterdir())


BOMB = (
    b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|u1', 'fortran_order': False, 'shape': (600000000,), }"
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a model file, or damaged: File is not a zip file; train it again with 'scrapy"),
        (b"PK\x03\x04 and no more", "not a zip file"),
        (b"<html>404</html>", "not a zip file"),
        (zipped({}), "it has no header"),
        (zipped({"a.npy": npy([1.0])}), "it has no header"),
        (zipped({"header.npy": npy(["text"])}), "header.npy is not an array of plain numbers"),
        (zipped({"header.npy": npy([1.0])}), "its header is not text"),
        (zipped({"header.npy": as_header(b"{")}), "Expecting property name"),
        (zipped({"header.npy": as_header(b"\xff")}), "can't decode byte 0xff"),
        (zipped({"header.npy": as_header(b"[" * 100_000)}), "is nested too deeply"),
        (zipped({"header.npy": as_header(b" " * 1_000_001)}), "its header is not text"),
        (zipped({"header.npy": as_header(b"[]")}), "its header is not that of a model"),
        (zipped({"header.npy": as_header(b'{"format": "other"}')}), "is not that of a model"),
        (zipped({"header.npy": header(metrics=math.nan)}), "NaN is no number of JSON"),
        (zipped({"header.npy": header(extra=1)}), r"its header has \['date', 'extra'"),
        (zipped({"header.npy": header(kind=None)}), "kind in its header is None"),
        (zipped({"header.npy": header(parameters=[])}), r"parameters in its header is \[\]"),
        (
            zipped({"header.npy": header(version=0)}),
            "version 0, and this focusspider reads 1; train",
        ),
        (zipped({"header.npy": header(version=2)}), "reads 1; upgrade focusspider, or train it"),
        (zipped({"header.npy": header(version="1")}), "version '1', and this focusspider reads 1"),
        (zipped({"header.npy": header(version=True)}), "version True, and this focusspider"),
        (zipped({"header.npy": header(), "../a.npy": npy([1.0])}), "cannot be named '../a.npy'"),
        (zipped({"header.npy": header(), "a": npy([1.0])}), "cannot be named 'a'"),
        (zipped({"header.npy": header(), "a.npy": npy([None], pickled=True)}), "of plain numbers"),
        (zipped({"header.npy": header(), "a.npy": npy([1j])}), "of plain numbers"),
        (
            zipped({"header.npy": header(), "a.npy": npy(np.ones((2, 2), order="F"))}),
            "of plain num",
        ),
        (zipped({"header.npy": header(), "a.npy": pickle.dumps([1])}), "of plain numbers"),
        (zipped({"header.npy": header(), "a.npy": b""}), "of plain numbers"),
        (zipped({"header.npy": header(), "a.npy": npy([1.0])[:-1]}), "has 7 bytes, and its shape"),
        (zipped({"header.npy": header(), "a.npy": npy([1.0]) + b"."}), "has 9 bytes"),
        (
            zipped({"header.npy": header(), "a.npy": BOMB.ljust(127) + b"\n"}),
            "has 0 bytes, and its",
        ),
        (
            zipped({"header.npy": header(), "a.npy": npy([True]).replace(b"\n\x01", b"\n\x02")}),
            "has what is neither true nor false",
        ),
        (zipped({"header.npy": header()}, zipfile.ZIP_BZIP2), "compressed in an unknown way"),
        (zipped({f"a{n}.npy": b"" for n in range(101)}), "unpacked in 101 arrays"),
    ],
)
def test_what_is_no_model(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=message) as caught:
        read_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "train it again" in str(caught.value)
    with pytest.raises(ModelFileError, match=message):
        read_model(data, name="mine")


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped({"header.npy": header(), "a.npy": bytes(5_000_000)}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 10_000
    monkeypatch.setattr(archive, "MAX_SIZE", 1_000_000)
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    with pytest.raises(ModelFileError, match=r"500\d\d\d\d bytes unpacked in 2 arrays"):
        read_model(bomb)


def test_a_file_that_is_too_large(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusspider.models.modelfile.MAX_SIZE", 100)
    with pytest.raises(ModelFileError, match="a model file has at most 100 bytes"):
        read_model(path)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"none.npz: cannot be read: No such file"):
        read_model(tmp_path / "none.npz")
    with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
        read_model(tmp_path)


def test_another_kind_is_refused(path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"of the kind 'hmm', and 'crf' is asked for; give"):
        read_model(path, kind="crf")


def test_damage_of_any_byte_is_an_error_or_without_effect(path: Path) -> None:
    data = path.read_bytes()
    places = np.random.default_rng(0).integers(len(data), size=300)
    for place in places.tolist():
        for damaged in (
            data[:place],
            data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :],
        ):
            try:
                model = read_model(damaged)
            except ModelFileError:
                continue
            assert model.parameters == MODEL.parameters
            for name, array in model.arrays.items():
                assert_array_equal(array, ARRAYS[name], strict=True)


SHAPES: dict[str, tuple[str, tuple[int | str, ...]]] = {
    "a": ("<f8", ("n", 2)),
    "b": ("<i8", ("n",)),
}
SOUND = {"a": np.zeros((3, 2)), "b": np.zeros(3, dtype=np.int64)}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": SOUND["a"]}, "it lacks b"),
        ({**SOUND, "c": SOUND["b"]}, "it has c, which no such model has"),
        ({**SOUND, "b": np.zeros(3)}, "b is <f8 of 1 dimensions, and must be <i8 of 1"),
        ({**SOUND, "b": SOUND["b"][None]}, "b is <i8 of 2 dimensions"),
        ({**SOUND, "a": np.zeros((3, 3))}, r"a has the shape \(3, 3\), where 2 is 2"),
        ({**SOUND, "a": np.zeros((4, 2))}, r"b has the shape \(3,\), where n is 4"),
        ({**SOUND, "a": np.full((3, 2), np.nan)}, "a has numbers that are not finite"),
    ],
)
def test_arrays_that_do_not_fit_a_model(arrays: dict[str, Any], message: str) -> None:
    model = ModelFile(kind="crf", arrays=arrays, source="x.npz")
    with pytest.raises(ModelFileError, match=f"x.npz: not a sound 'crf' model: {message}"):
        model.take(SHAPES)


def test_arrays_that_fit_a_model() -> None:
    assert ModelFile(kind="crf", arrays=SOUND).take(SHAPES) == SOUND


@pytest.mark.parametrize(
    ("packed", "ends"),
    [
        ([97, 98], [1]),
        ([97, 98], [2, 1]),
        ([97, 98], [-1, 2]),
        ([97, 98], []),
        ([97, 98], [3]),
        ([255], [1]),
        ([195, 169], [1, 2]),
    ],
)
def test_arrays_that_are_no_texts(packed: list[int], ends: list[int]) -> None:
    arrays = {"t_utf8": np.array(packed, dtype=np.uint8), "t_ends": np.array(ends, dtype=np.int64)}
    with pytest.raises(ModelFileError, match="t_utf8"):
        ModelFile(kind="crf", arrays=arrays).texts("t")


def test_no_texts() -> None:
    assert ModelFile(kind="crf", arrays=pack_texts("t", [])).texts("t") == []
    with pytest.raises(ModelFileError, match="t_utf8 and t_ends are not texts"):
        ModelFile(kind="crf", arrays={}).texts("t")


def test_a_parameter_of_another_type_is_an_error() -> None:
    model = ModelFile(kind="crf", arrays={}, parameters={"n": 3, "flag": True})
    assert model.parameter("n", int) == 3
    assert model.parameter("flag", bool) is True
    for name, kind in [("n", str), ("flag", int), ("none", int)]:
        with pytest.raises(ModelFileError, match=f"its parameter {name} is"):
            model.parameter(name, kind)


def test_a_model_is_made_of_its_parameters() -> None:
    model = ModelFile(kind="crf", arrays={}, parameters={"real": 1, "imag": "x", "n": 2})
    assert model.made(complex, "real") == 1
    with pytest.raises(ModelFileError, match="it lacks the parameters base, none"):
        model.made(int, "base", "none", "n")
    with pytest.raises(ModelFileError, match=r"not a sound 'crf' model: .*complex"):
        model.made(complex, "real", "imag")
    with pytest.raises(ModelFileError, match=r"not a sound 'crf' model: .*argument"):
        model.made(complex, "n")


def test_the_shapes_of_texts() -> None:
    model = ModelFile(kind="crf", arrays=pack_texts("t", ["a", "bc"]))
    assert model.take(text_shapes("t", 2)).keys() == {"t_utf8", "t_ends"}
    with pytest.raises(ModelFileError, match="t_ends has the shape"):
        model.take(text_shapes("t", 3))


def test_numbers_of_numpy_are_written(tmp_path: Path) -> None:
    metrics = {"loss": np.float32(0.5), "n": np.int64(3), "good": np.bool_(True)}
    write_model(tmp_path / "m.npz", ModelFile(kind="crf", arrays={}, metrics=metrics))
    assert read_model(tmp_path / "m.npz").metrics == {"loss": 0.5, "n": 3, "good": True}
