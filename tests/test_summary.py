"""``scrapy focus-summary``, in any folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.commands.summary import RunFolderError, summary

if TYPE_CHECKING:
    from pathlib import Path

RUN = {
    "topic": {"name": "clocks"},
    "strategy": "dom",
    "fetched": 40,
    "relevant": 10,
    "harvest_rate": 0.25,
    "stop_reason": "page_limit",
}


def folder(path: Path, pages: int = 3, items: str = "", **run: Any) -> Path:
    path.mkdir()
    (path / "run.json").write_text(json.dumps({**RUN, **run}))
    lines = [{"url": f"http://a.example/{n}", "relevant": n % 2 == 1} for n in range(pages)]
    (path / "crawl.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (path / "items.jsonl").write_text(items)
    return path


def test_runs_side_by_side(tmp_path: Path) -> None:
    titled = json.dumps({"url": "http://a.example/1", "title": "Clock one"}) + "\n"
    first = folder(tmp_path / "first", items=titled)
    second = folder(tmp_path / "second", strategy="best-first", relevant=0, harvest_rate=None,
                    fetched=0, stop_reason=None)  # fmt: skip
    assert summary([first, second]).splitlines() == [
        "Topic: clocks",
        "",
        "strategy    pages fetched  relevant  harvest rate  stopped by",
        "dom         40             10        0.250         page_limit",
        "best-first  0              0         -             still running, or killed",
        "",
        "Files:",
        f"  {first}/crawl.jsonl",
        f"  {first}/items.jsonl",
        f"  {first}/run.json",
        "",
        "First finds:",
        "  Clock one  http://a.example/1",
    ]


@pytest.mark.parametrize(
    "items", ["", '{"price": 5}\n', '["list"]\n{"url": 5, "title": null}\n{"url": "half', "\xff\n"]
)
def test_items_of_any_form_and_half_a_line(tmp_path: Path, items: str) -> None:
    text = summary([folder(tmp_path / "run", pages=12, items=items)])
    finds = text.split("First finds:\n")[1].splitlines()
    assert finds == [f"  (no title)  http://a.example/{n}" for n in (1, 3, 5, 7, 9)]


def test_nothing_found_is_no_heading(tmp_path: Path) -> None:
    assert "First finds" not in summary([folder(tmp_path / "run", pages=1)])


@pytest.mark.parametrize("text", ["", "[]", "{}", "5", '{"topic": "x"}', "[", '{"topic": {}}'])
def test_what_no_run_leaves(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunFolderError, match=r"run\.json: not what a run leaves"):
        summary([tmp_path])


def command(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "scrapy", "focus-summary", *arguments],
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
    assert "scrapy focus-summary RUN [RUN ...]" in done.stdout
    assert "harvest rate (relevant pages by pages fetched)" in " ".join(done.stdout.split())


def test_it_works_outside_a_project(tmp_path: Path) -> None:
    folder(tmp_path / "run")
    done = command(tmp_path, "run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Topic: clocks\n")
    assert done.stderr == ""


def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    done = command(tmp_path, "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "nowhere/run.json: No such file or directory; name the folder of a run" in line


def test_it_needs_a_run(tmp_path: Path) -> None:
    done = command(tmp_path)
    assert done.returncode == 2
    assert "name at least one run folder, such as exports/sample/RUN" in done.stdout + done.stderr
