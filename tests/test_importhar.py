"""``scrapy focus-import``, as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from focusspider.webgraph import GraphEdge, WebGraph

if TYPE_CHECKING:
    from pathlib import Path

A, B, C = (f"http://web.example/{name}" for name in "abc")
TOPIC = 'name = "mills"\nkeywords = ["mill"]\nseeds = ["http://web.example/a"]\n'


def har(path: Path, **pages: str | None) -> Path:
    """Write a session that visits pages by their names."""
    entries = [
        {
            "request": {"method": "GET", "url": f"http://web.example/{name}", "headers": []},
            "response": {"status": 200, "headers": [],
                         "content": {"mimeType": "text/html", **({"text": html} if html else {})}},
        }
        for name, html in pages.items()
    ]  # fmt: skip
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    har(tmp_path / "s.har", a='<a href="b">wheel', b='<a href="c">race', c=None)
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "mills.toml").write_text(TOPIC, encoding="utf-8")
    (tmp_path / "urls.txt").write_text(f"# liked\n{B}\n{C}\n", encoding="utf-8")
    return tmp_path


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "scrapy", "focus-import", *arguments],
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip


def test_a_session_becomes_the_graph_of_a_topic(folder: Path) -> None:
    done = call(folder, "s.har", "--useful", "urls.txt", "--topic", "mills")
    assert done.stdout.splitlines() == [
        "3 entries, 3 of them documents",
        "2 pages, 1 links among them, 1 useful",
        "Passed over, what the browser loaded is not known: 1",
        "",
        "Graph: models/mills/graph.sqlite",
        "Next:  scrapy focus-train mills",
    ]
    assert done.stderr == f"Not marked as useful, what the browser loaded is not known: {C}\n"
    assert done.returncode == 0
    with WebGraph.open(folder / "models/mills/graph.sqlite") as graph:
        assert (graph.topic, graph.source, graph.date[-1]) == ("mills", "har", "Z")
        assert list(graph.edges()) == [GraphEdge(A, B, "wheel")]
        assert graph.targets() == (B,)

    again = call(folder, "s.har", "--topic", "mills")
    assert again.returncode == 1
    assert again.stderr == (
        "models/mills/graph.sqlite is there already: call with --append to add to it, or with "
        "--out to keep it\n"
    )
    har(folder / "t.har", c="<a href=a>mill")
    added = call(folder, "t.har", "--topic", "mills", "--append")
    assert "3 pages (1 of them new), 3 links among them, 1 useful" in added.stdout
    with WebGraph.open(folder / "models/mills/graph.sqlite") as graph:
        assert [(edge.source, edge.destination) for edge in graph.edges()] == [
            (A, B), (C, A), (B, C)
        ]  # fmt: skip


def test_the_folder_of_models_is_what_the_setting_says(folder: Path) -> None:
    done = call(folder, "s.har", "--topic", "mills", "-s", "FOCUS_MODELS_DIR=learnt")
    assert "Graph: learnt/mills/graph.sqlite" in done.stdout
    with WebGraph.open(folder / "learnt/mills/graph.sqlite") as graph:
        assert len(graph) == 2
    assert not (folder / "models").exists()


def test_without_a_topic_it_is_beside_the_file(folder: Path) -> None:
    done = call(folder, "s.har")
    assert "No page is useful yet, and without one there is nothing to learn." in done.stdout
    with WebGraph.open(folder / "s.sqlite") as graph:
        assert (graph.topic, len(graph)) == ("s", 2)


def test_what_is_wrong_changes_nothing(folder: Path) -> None:
    before = (folder / "s.har").read_text(encoding="utf-8")
    (folder / "cut.har").write_text(before[:-10], encoding="utf-8")
    assert call(folder, "s.har", "--out", "g.sqlite").returncode == 0
    graph = (folder / "g.sqlite").read_bytes()
    for arguments, message in [
        (["cut.har", "--out", "g.sqlite", "--append"], "cut.har is cut short after 2 entries"),
        (["cut.har", "--out", "new.sqlite"], "cut.har is cut short after 2 entries"),
        (["none.har"], "none.har cannot be read: No such file or directory"),
        (["s.har", "--useful", "none.txt"], "none.txt cannot be read: No such file"),
        (["s.har", "--topic", "mill"], "did you mean 'mills'?"),
        (["s.har", "--out", "s.har", "--append"], "web graph s.har is no web graph"),
        (["s.har", "--out", "s.har/x"], "its folder cannot be made"),
    ]:
        done = call(folder, *arguments)
        assert (done.returncode, done.stdout) == (1, ""), arguments
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    assert (folder / "g.sqlite").read_bytes() == graph
    assert (folder / "s.har").read_text(encoding="utf-8") == before
    assert not list(folder.glob("*.part"))
    assert not (folder / "new.sqlite").exists()


def test_a_session_without_a_page_leaves_no_graph(folder: Path) -> None:
    har(folder / "none.har", c=None)
    done = call(folder, "none.har", "--topic", "mills", "--out", "g.sqlite")
    assert done.returncode == 1
    assert "none.har has no page that can be learnt from: 1 entries, 1 of them" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.glob("g.sqlite*"))
    done = call(folder, "s.har", "--useful", "urls.txt", "--topic", "mills", "--out", "g.sqlite")
    assert done.stdout.splitlines()[-1] == "Next:  scrapy focus-train mills --graph g.sqlite"


def test_it_says_how_it_is_called(folder: Path) -> None:
    done = call(folder, "--help")
    assert "scrapy focus-import [options] SESSION.har" in done.stdout
    assert call(folder).returncode == 2
