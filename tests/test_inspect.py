"""``scrapy focus-inspect``, in any folder."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from focusspider.models.modelfile import write_model
from tests.report.htmlcheck import parse_file
from tests.strategies.tinymodels import context_graph_file, hmm_file

if TYPE_CHECKING:
    from pathlib import Path


def command(cwd: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "scrapy", "focus-inspect", *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in (hmm_file(topic="robots"), context_graph_file()):
        write_model(tmp_path / f"{file.kind}.npz", file)
    return tmp_path


def test_help_says_what_it_does(tmp_path: Path) -> None:
    done = command(tmp_path, "--help")
    assert done.returncode == 0
    assert "scrapy focus-inspect [options] MODEL" in done.stdout
    assert "--html FILE" in done.stdout


def test_a_model_as_text(folder: Path) -> None:
    done = command(folder, "hmm.npz")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "hmm: robots"
    assert "T1         0.600  0.300  0.100" in lines
    assert "  0.89344 robot  0.39288 arm" in lines


def test_a_terminal_without_unicode(folder: Path) -> None:
    done = command(folder, "hmm.npz", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "p ? log(p (1 ? q) / (q (1 ? p)))" in done.stdout


def test_a_model_as_a_page(folder: Path) -> None:
    done = command(folder, "context-graph.npz", "--html", "new/page.html", "--words", "1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "new/page.html\n", "")
    parsed = parse_file(folder / "new/page.html")
    parsed.check()
    assert "Words of each layer, by log odds ratio" in parsed.text
    assert "cake" not in parsed.text


def test_a_reader_that_has_seen_enough(folder: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m scrapy focus-inspect hmm.npz --words 1000 | head -1",
        shell=True, cwd=folder, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("hmm: robots\n", "")


def damaged(folder: Path, how: str) -> str:
    path = folder / "hmm.npz"
    whole = path.read_bytes()
    if how == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_bytes(b"<html>")
    elif how == "bits":
        path.write_bytes(whole.replace(b"<f8", b"|O8"))
    elif how == "rows":
        write_model(path, hmm_file(arrays={"hmm_transitions": hmm_file().arrays["hmm_emissions"]}))
    return "hmm.npz"


@pytest.mark.parametrize("how", ["cut", "empty", "text", "bits", "rows"])
def test_a_file_that_is_no_model_is_one_message(folder: Path, how: str) -> None:
    done = command(folder, damaged(folder, how))
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("hmm.npz: not a")
    assert "scrapy focus-train" in line


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = command(tmp_path, "gone.npz")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("gone.npz: cannot be read: No such file or directory\n")


def test_a_folder_names_the_models_in_it(folder: Path) -> None:
    done = command(folder.parent, folder.name)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"it holds {folder.name}/context-graph.npz, {folder.name}/hmm.npz; name one" in line


def test_a_page_that_cannot_be_written(folder: Path) -> None:
    done = command(folder, "hmm.npz", "--html", "hmm.npz/page.html")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "hmm.npz/page.html can't be written" in line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "name one model file, such as models/TOPIC/hmm.npz"),
        (("a", "b"), "name one model file"),
        (("hmm.npz", "--words", "0"), "--words is a number from 1 to 1000, got 0"),
    ],
)
def test_a_wrong_call(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    done = command(folder, *arguments)
    assert done.returncode == 2
    assert says in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
