"""``scrapy focus-report``, in any folder."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawls import crawl
from tests.report.hostile import page, run_folder
from tests.report.htmlcheck import parse_file

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_PLOTLY = (
    "import sys; sys.modules['plotly'] = sys.modules['plotly.offline'] = None; "
    "sys.argv[0] = 'scrapy'; from scrapy.cmdline import execute; execute()"
)


def command(
    cwd: Path, *arguments: str, start: tuple[str, ...] = ("-m", "scrapy")
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", *start, "focus-report", *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_says_what_it_does(tmp_path: Path) -> None:
    done = command(tmp_path, "--help")
    assert done.returncode == 0
    assert "scrapy focus-report [options] RUN" in done.stdout
    assert "pip install 'focusspider[report]'" in " ".join(done.stdout.split())


def test_the_page_of_a_real_crawl(tmp_path: Path) -> None:
    done = crawl(tmp_path, "topic=topics/sample.toml", FOCUS_REPLAY="sample", FOCUS_RUN="one")
    assert done.folder is not None
    told = command(tmp_path, "sample/one")
    assert (told.returncode, told.stdout, told.stderr) == (0, "sample/one/report.html\n", "")
    parsed = parse_file(done.folder / "report.html")
    parsed.check()
    assert f"{len(done.pages)}pages fetched" in parsed.text
    assert f"{done.run['relevant']}of them relevant" in parsed.text
    found = {line["url"] for line in done.pages if line["relevant"]}
    assert found <= set(parsed.hrefs)
    for title in ("How the trust grew", "Features that weigh most", "Tag paths"):
        assert title in parsed.text
    assert len(parsed.scripts) == 3  # data, plotly, the page's own
    assert (done.folder / "report.html").stat().st_size < 6_000_000


def test_out_and_what_was_wrong_with_the_folder(tmp_path: Path) -> None:
    run_folder(tmp_path / "r", [page(1)], stop_reason=None)
    done = command(tmp_path, "r", "--out", "new/page.html")
    assert (done.returncode, done.stdout) == (0, "new/page.html\n")
    assert done.stderr.startswith("The crawl has not closed")
    assert not (tmp_path / "r" / "report.html").exists()
    parse_file(tmp_path / "new" / "page.html").check()


def test_without_plotly_all_but_the_curves_is_written(tmp_path: Path) -> None:
    run_folder(tmp_path / "r", [page(1, relevant=True)])
    done = command(tmp_path, "r", start=("-c", WITHOUT_PLOTLY))
    assert (done.returncode, done.stdout) == (0, "r/report.html\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("There are no curves: drawing curves in a page needs a library")
    assert line.endswith("run: pip install 'focusspider[report]'")
    assert "1of them relevant" in parse_file(tmp_path / "r" / "report.html").text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "nowhere: there is no run here (crawl.jsonl: No such file or directory"),
        (("r", "--out", "r"), "r can't be written: Is a directory; give another file"),
        (("r", "--out", "r/run.json/x"), "x can't be written: File exists; give another file"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    run_folder(tmp_path / "r", [page(1)])
    done = command(tmp_path, *arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert words in line


@pytest.mark.parametrize("arguments", [(), ("r", "s")])
def test_it_is_of_one_run(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = command(tmp_path, *arguments)
    assert done.returncode == 2
    assert "name one run folder, such as exports/sample/RUN" in done.stdout + done.stderr


def test_what_was_learnt_and_cannot_be_read_is_told(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "r", [page(1, relevant=True)])
    (folder / "learnt.npz").write_bytes(b"no model")
    told = command(tmp_path, "r")
    assert told.returncode == 0
    assert "learnt.npz: not a model file, or damaged" in told.stderr


def test_workers_have_each_learnt_on_their_own(tmp_path: Path) -> None:
    for name in ("worker-1", "worker-2"):
        folder = run_folder(tmp_path / "r" / name, [page(1, relevant=True)])
        (folder / "learnt.npz").write_bytes(b"no model")
    assert command(tmp_path, "r").returncode == 0
    text = parse_file(tmp_path / "r" / "report.html").text
    assert (
        "Each worker has learnt on its own: see scrapy focus-inspect with worker-1, worker-2."
        in text
    )
    line = [sys.executable, "-W", "error", "-m", "scrapy", "focus-inspect", "r"]
    done = subprocess.run(
        line, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "is of several workers, and each has learnt on its own; name one of" in done.stderr
