"""Models by URL, from a server on loopback."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from focusspider import remotemodel
from focusspider.errors import ModelFileError
from focusspider.models.modelfile import write_model
from focusspider.remotemodel import fetched_model, with_fetched_model
from tests.crawls import crawl
from tests.strategies.tinymodels import crf_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODEL = b"a model" * 1000
SHA256 = hashlib.sha256(MODEL).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    asked: list[str]
    model: bytes

    def do_GET(self) -> None:
        self.asked.append(self.path)
        path = self.path.partition("?")[0]
        moves = {"/moved": "/model.npz", "/ftp": "ftp://127.0.0.1/model.npz", "/file": "file:///x"}
        self.send_response(200 if path in {"/model.npz", "/cut"} else 302 if path in moves else 404)
        if path in moves:
            self.send_header("Location", moves[path])
        length = len(self.model) + (path == "/cut")
        self.send_header("Content-Length", str(length if path in {"/model.npz", "/cut"} else 0))
        self.end_headers()
        if path in {"/model.npz", "/cut"}:
            self.wfile.write(self.model)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    _Handler.asked = []
    _Handler.model = MODEL
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_it_is_fetched_once_and_checked_each_time(server: str, tmp_path: Path) -> None:
    url = f"{server}/model.npz#sha256={SHA256}"
    path = fetched_model(url, tmp_path / "cache")
    assert path.read_bytes() == MODEL
    assert fetched_model(url, tmp_path / "cache") == path
    assert fetched_model(f"{server}/moved#sha256={SHA256.upper()}", tmp_path / "cache") == path
    assert _Handler.asked == ["/model.npz"]
    path.write_bytes(MODEL[:-1] + b"!")
    assert fetched_model(url, tmp_path / "cache").read_bytes() == MODEL
    assert _Handler.asked == ["/model.npz"] * 2
    assert [file.name for file in path.parent.iterdir()] == [f"{SHA256}.npz"]


def test_a_redirect_is_followed(server: str, tmp_path: Path) -> None:
    assert fetched_model(f"{server}/moved#sha256={SHA256}", tmp_path).read_bytes() == MODEL


def test_the_users_caches_are_the_default(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = fetched_model(f"{server}/model.npz#sha256={SHA256}")
    assert path == tmp_path / "focusspider/models" / f"{SHA256}.npz"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = fetched_model(f"{server}/model.npz#sha256={SHA256}")
    assert path == tmp_path / "home/.cache/focusspider/models" / f"{SHA256}.npz"


WRONG = [
    ("/model.npz?key=secret", "needs its checksum; write http://HOST/model.npz#sha256=HEX"),
    ("/model.npz?key=secret#sha256=12", "needs its checksum"),
    (f"/model.npz#md5={SHA256}", "needs its checksum"),
    (
        f"/model.npz?key=secret#sha256={'0' * 64}",
        f"http://HOST/model.npz: its sha256 is {SHA256}, and {'0' * 64} is asked for",
    ),
    (f"/none?key=secret#sha256={SHA256}", "http://HOST/none: cannot be fetched: 404 Not Found; "),
    (f"/cut#sha256={SHA256}", "http://HOST/cut: cannot be fetched: IncompleteRead"),
    (f"/ftp#sha256={SHA256}", "http://HOST/ftp: cannot be fetched: "),
    (f"/file#sha256={SHA256}", "http://HOST/file: cannot be fetched: 302 "),
    (f"/a b#sha256={SHA256}", "the address of the model holds white space"),
]


@pytest.mark.parametrize(("path", "message"), WRONG)
def test_wrong_ones(server: str, tmp_path: Path, path: str, message: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        fetched_model(server + path, tmp_path)
    said = str(caught.value).replace(server, "http://HOST")
    assert message in said
    assert "secret" not in said
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (f"http://me:secret@127.0.0.1/a.npz#sha256={SHA256}", "holds credentials"),
        (f"http://#sha256={SHA256}", "has no host"),
        (f"http://127.0.0.1:1/a.npz#sha256={SHA256}", "cannot be fetched: "),
    ],
)
def test_wrong_addresses(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(ModelFileError, match=message) as caught:
        fetched_model(url, tmp_path)
    assert "secret" not in str(caught.value)


def test_it_may_not_be_larger_than_a_model(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remotemodel, "MAX_SIZE", len(MODEL) - 1)
    with pytest.raises(ModelFileError, match="larger than a model may be"):
        fetched_model(f"{server}/model.npz#sha256={SHA256}", tmp_path)
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_cache_that_cannot_be_written(server: str, tmp_path: Path) -> None:
    (tmp_path / "models").touch()
    with pytest.raises(ModelFileError, match=r"cannot be kept in .*set FOCUS_CACHE_DIR"):
        fetched_model(f"{server}/model.npz#sha256={SHA256}", tmp_path)


def test_a_strategys_parameters(server: str, tmp_path: Path) -> None:
    given = {"model": f"{server}/model.npz#sha256={SHA256}", "mode": "viterbi"}
    found = with_fetched_model(given, tmp_path, where="t.toml: strategy")
    assert found == {"model": str(tmp_path / "models" / f"{SHA256}.npz"), "mode": "viterbi"}
    assert with_fetched_model({"model": "a.npz"}, tmp_path, where="") == {"model": "a.npz"}
    assert with_fetched_model({}, tmp_path, where="") == {}
    with pytest.raises(ModelFileError, match=r"^t.toml: strategy: model: http://"):
        with_fetched_model({"model": f"{server}/none"}, tmp_path, where="t.toml: strategy")


def test_a_crawl_by_a_model_that_is_fetched(server: str, tmp_path: Path) -> None:
    write_model(tmp_path / "crf.npz", crf_file())
    _Handler.model = (tmp_path / "crf.npz").read_bytes()
    good = hashlib.sha256(_Handler.model).hexdigest()
    runs = []
    for checksum in (good, SHA256):
        strategy = {"name": "crf", "model": f"{server}/model.npz#sha256={checksum}"}
        runs.append(
            crawl(
                tmp_path / checksum, "topic=sample", "pages=5", f"strategy={json.dumps(strategy)}",
                FOCUS_REPLAY="sample", FOCUS_CACHE_DIR=tmp_path / "cache",
            )
        )  # fmt: skip
    assert runs[0].run["fetched"] == 5
    assert runs[0].run["strategy_params"]["model"] == f"{server}/model.npz#sha256={good}"
    assert [path.stem for path in (tmp_path / "cache/models").iterdir()] == [good]
    assert runs[1].code != 0
    assert runs[1].folder is None
    assert f"argument strategy: model: {server}/model.npz: its sha256 is {good}" in runs[1].log
    assert "Traceback" not in runs[1].log
