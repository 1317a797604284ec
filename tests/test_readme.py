"""The README's commands are the ones that work, and its output is what they print."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawls import ROOT

if TYPE_CHECKING:
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "first-crawl.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def console(text: str) -> list[str]:
    """Return the commands of the ``console`` blocks, with continued lines joined."""
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    joined = "\n".join(blocks).replace("\\\n", " ")
    return [line[2:].strip() for line in joined.splitlines() if line.startswith("$ ")]


COMMANDS = console(README) + console(GUIDE)


@pytest.mark.parametrize("command", sorted({c for c in COMMANDS if c.startswith("make ")}))
def test_what_is_made_can_be_made(command: str) -> None:
    target = command.split()[1]
    assert re.search(rf"^{re.escape(target)}:", MAKEFILE, flags=re.MULTILINE), command


def test_ci_runs_the_two_commands() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "make test" in ci
    assert "make crawl" in ci
    assert {"make crawl", "make test"} <= set(console(README))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of topics and models: one command uses what another has made."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "tides.toml").write_text(
        'keywords = ["clock", "pendulum"]\nseeds = ["http://www.thornby.example/"]\n'
        "[limits]\npages = 15\n"
    )
    shutil.copy(ROOT / "topics" / "sample.toml", folder)
    return folder


@pytest.mark.parametrize("command", dict.fromkeys(c for c in COMMANDS if "scrapy " in c))
def test_a_scrapy_command_is_understood(command: str, kept: Path, tmp_path: Path) -> None:
    """Run it over the sample web with a topic of the name that the text uses."""
    words = shlex.split(command.split(" #")[0])
    words[words.index(next(w for w in words if w.endswith("scrapy")))] = f"{sys.executable}§scrapy"
    argv = [
        part
        for word in words
        for part in ([sys.executable, "-m", "scrapy"] if "§" in word else [word])
    ]
    replaced = {"FOCUS_REPLAY=crawl.warc.gz": "FOCUS_REPLAY=sample"}
    argv = [replaced.get(word, word) for word in argv]
    argv = [str(kept / word) if word.startswith("models/") else word for word in argv]
    argv += ["-s", f"FOCUS_TOPICS_DIR={kept}", "-s", f"FOCUS_MODELS_DIR={kept / 'models'}"]
    if "crawl" in argv:
        argv += ["-s", f"FOCUS_EXPORTS_DIR={tmp_path}"]
        if not any("FOCUS_REPLAY" in word for word in argv):
            argv += ["-s", "FOCUS_REPLAY=sample"]
        argv += ["-s", "CLOSESPIDER_PAGECOUNT=20"]
    done = subprocess.run(
        argv, cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ERROR" not in done.stderr


def test_the_first_screen() -> None:
    """One sentence, the two commands with their output, and a topic of one's own."""
    screen = "\n".join(README.splitlines()[:60])
    assert "make crawl" in screen
    assert "make test" in screen
    assert "topic=" in screen


def test_the_output_of_make_crawl_is_what_a_crawl_finds(tmp_path: Path) -> None:
    """The figures in the README are those of the sample web as it is."""
    from tests.crawls import crawl

    for strategy in ("auto", "breadth-first"):
        done = crawl(
            tmp_path / strategy,
            "topic=topics/sample.toml",
            f"strategy={strategy}",
            FOCUS_REPLAY="sample",
        )
        row = rf"^{strategy}\s+{done.run['fetched']}\s+{done.run['relevant']}\s"
        assert re.search(row, README, flags=re.MULTILINE), (row, done.run["relevant"])


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"
