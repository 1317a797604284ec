"""``scrapy focus-cluster``: the files it writes, and what is wrong in one line."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.commands.cluster import CLUSTERS, GROUPED, Command
from focusspider.facts import FACTS, read_lines

if TYPE_CHECKING:
    from pathlib import Path

CAMERAS = {"A650": ("12 MP", "300 g"), "D300": ("12.3 MP", "825 g")}
SITES = ("a.example", "b.example")


def lines(path: Path, found: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in found), encoding="utf-8")


def items(*sites: str) -> list[dict[str, Any]]:
    return [
        {"url": f"http://{site}/{name}", "title": f"{name} camera", "relevant": True}
        for site in sites
        for name in CAMERAS
    ]


def facts(*sites: str) -> list[dict[str, Any]]:
    return [
        {
            "url": f"http://{site}/{name}",
            "table": 2,
            "heading": name,
            "attribute": attribute,
            "value": value,
        }
        for site in sites
        for name, values in CAMERAS.items()
        for attribute, value in zip(("Resolution:", "Weight"), values, strict=True)
    ]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    lines(tmp_path / "items.jsonl", items(*SITES))
    lines(tmp_path / FACTS, facts(*SITES))
    return tmp_path


def options(**changed: Any) -> argparse.Namespace:
    given = {"threshold": 0.65, "name_weight": 0.6, "same_site": False, "out": None}
    return argparse.Namespace(**given | changed)


def test_clusters_and_facts_with_their_clusters(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (run / FACTS).read_bytes()
    command = Command()
    command.run([str(run)], options())
    assert command.exitcode == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "pages: 4, sites: 2, clusters: 2, pages in them: 4"
    assert told[-2:] == [str(run / CLUSTERS), str(run / GROUPED)]
    found = list(read_lines(run / CLUSTERS))
    assert [cluster["cluster"] for cluster in found] == [1, 2]
    assert found[0]["pages"] == ["http://a.example/A650", "http://b.example/A650"]
    assert found[0]["facts"] == [
        {"attribute": "Resolution:", "value": "12 MP", "pages": 2, "of": 2},
        {"attribute": "Weight", "value": "300 g", "pages": 2, "of": 2},
    ]
    grouped = list(read_lines(run / GROUPED))
    numbers = {"A650": 1, "D300": 2}
    assert grouped == [fact | {"cluster": numbers[fact["heading"]]} for fact in facts(*SITES)]
    assert (run / FACTS).read_bytes() == before


def test_a_page_in_no_cluster_has_none(run: Path) -> None:
    lines(run / "items.jsonl", [*items(*SITES), {"url": "http://c.example/", "title": "Tea"}])
    lines(run / FACTS, [*facts(*SITES), facts("c.example")[0] | {"url": "http://c.example/"}])
    Command().run([str(run)], options(threshold=0.9, out=str(run / "out")))
    assert list(read_lines(run / "out" / GROUPED))[-1]["cluster"] is None


def test_without_facts_names_decide(run: Path) -> None:
    (run / FACTS).unlink()
    Command().run([str(run)], options())
    assert len(list(read_lines(run / CLUSTERS))) == 2
    assert not (run / GROUPED).exists()


def test_workers_of_one_run_are_read_together(tmp_path: Path) -> None:
    for number, site in enumerate(SITES, 1):
        part = tmp_path / f"worker-{number}"
        part.mkdir()
        lines(part / "items.jsonl", items(site))
        lines(part / FACTS, facts(site))
    lines(tmp_path / "worker-2" / FACTS, [*facts(SITES[1]), *facts(SITES[0])])  # once more
    Command().run([str(tmp_path)], options())
    assert len(list(read_lines(tmp_path / CLUSTERS))) == 2
    assert len(list(read_lines(tmp_path / GROUPED))) == len(facts(*SITES))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"threshold": 2.0}, "focus-cluster: threshold must be a number from 0 to 1, got 2.0"),
        ({"items": None}, "there is no items.jsonl; name the folder of a run"),
        ({"facts": [{"url": "http://a.example/", "table": "x"}]}, "a line is no fact: {'url': "),
        ({"items": ["text"]}, "line 1: not an object of JSON"),
        ({"out": "items.jsonl/below"}, "cannot be written: "),
    ],
)
def test_what_is_wrong_is_one_line(
    run: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, Any], says: str
) -> None:
    if "items" in changed:
        found = changed.pop("items")
        (run / "items.jsonl").unlink()
        if found:
            lines(run / "items.jsonl", found)
    if "facts" in changed:
        lines(run / FACTS, changed.pop("facts"))
    if "out" in changed:
        changed["out"] = str(run / changed["out"])
    command = Command()
    command.run([str(run)], options(**changed))
    told = capsys.readouterr()
    assert (command.exitcode, told.out, told.err.count("\n")) == (1, "", 1)
    assert says in told.err
    assert not (run / CLUSTERS).exists()


def test_as_a_command(run: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "focus-cluster", str(run), "--threshold", "0.7"],
        cwd=run,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pages: 4, sites: 2, clusters: 2")
