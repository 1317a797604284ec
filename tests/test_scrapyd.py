"""Projects sent to a real Scrapyd with scrapyd-deploy, and jobs on it."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.models.modelfile import write_model
from focusspider.wholerun import read_items, read_pages, read_report
from tests.crawls import ROOT
from tests.fleet import Shop, jsonl, make_project
from tests.node import MISSING, Node, find_scrapyd
from tests.strategies.tinymodels import crf_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.redisserver import RedisServer

DOCS = (ROOT / "docs/scrapyd.md").read_text()
SETUP, SETTINGS = re.findall(r"^```python\n# [a-z/.]+\n(.*?)^```$", DOCS, re.MULTILINE | re.DOTALL)
SETTINGS += 'FEEDS = {"feeds/%(name)s-%(_job)s.jsonl": {"format": "jsonlines"}}\n'
TOPIC = """
targets = ["pages/clock.html"]
[relevance]
kind = "labels"
file = "labels.csv"
label = "clock"
"""


@pytest.fixture(scope="module")
def programs() -> Path:
    found = find_scrapyd()
    if found is None:
        pytest.skip(MISSING)
    return found


@pytest.fixture(scope="module")
def bare(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node with the libraries alone, and this project, whose egg brings the code."""
    folder = tmp_path_factory.mktemp("bare")
    project = folder / "clone"
    for name in ("focusspider", "topics", "models"):
        keep = shutil.ignore_patterns("__pycache__", "*.npz", "*.sqlite")
        shutil.copytree(ROOT / name, project / name, ignore=keep)
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copy(ROOT / name, project)
    write_model(project / "models/sample/crf.npz", crf_file())
    (project / "models/sample/graph.sqlite").touch()
    with Node(folder / "node", programs, installed=False) as node:
        own = (ROOT / "scrapy.cfg").read_text()
        assert "url = http://127.0.0.1:6800/\n" in own
        (project / "scrapy.cfg").write_text(own.replace("http://127.0.0.1:6800", node.url))
        assert node.deploy(project)["spiders"] == 2
        yield node


@pytest.fixture(scope="module")
def fleet(programs: Path, tmp_path_factory: pytest.TempPathFactory, shop: Shop) -> Iterator[Node]:
    """A node on which focusspider is installed, with a project that uses the add-on."""
    folder = tmp_path_factory.mktemp("fleet")
    project = make_project(folder / "project", shop.url, SETTINGS)
    shutil.rmtree(project / "topics")
    topics = project / "shop/topics"
    (topics / "pages").mkdir(parents=True)
    (topics / "clocks.toml").write_text(TOPIC)
    (topics / "pages/clock.html").write_text("<title>Clock</title><p>a pendulum clock")
    (topics / "labels.csv").write_text(
        "url,label\n"
        + "".join(f"{shop.url}{path},clock\n" for path in shop.pages if path.startswith("/clocks"))
    )
    write_model(project / "shop/models/clocks/crf.npz", crf_file())
    (project / "setup.py").write_text(SETUP)
    with Node(folder / "node", programs, installed=True) as node:
        with (project / "scrapy.cfg").open("a") as config:
            config.write(f"[deploy]\nurl = {node.url}/\nproject = shop\n")
        assert node.deploy(project)["spiders"] == 6
        yield node


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with Shop() as running:
        yield running


def read(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    run = json.loads((folder / "run.json").read_text())
    return run, jsonl(folder / "crawl.jsonl"), jsonl(folder / "items.jsonl")


def assert_clean(log: str) -> None:
    """Nothing of ours warns, and nothing warns of us."""
    loud = [line for line in log.splitlines() if re.search(r"\b(WARNING|ERROR|CRITICAL)\b", line)]
    assert loud == []
    assert "Traceback" not in log
    assert "Warning: " not in log


def test_this_project_with_a_packaged_topic_twice_at_once_and_an_inline_one(bare: Node) -> None:
    settings = ["FOCUS_REPLAY=sample", "FOCUS_MODELS_DIR=package:models",
                "FOCUS_CRAWL_LOG_TIMES=False"]  # fmt: skip
    packaged = {"topic": "package:topics/sample.toml", "strategy": "crf", "pages": 40}
    one, two = (
        bare.schedule("focusspider", "focus", setting=settings, **packaged) for _ in range(2)
    )
    inline = bare.schedule(
        "focusspider", "focus", keywords="clock,pendulum", pages=20, setting=settings[0],
        seeds="http://www.dalemuseum.example/,http://www.thornby.example/",
    )  # fmt: skip
    bare.wait(one, two, inline)
    for job in (one, two, inline):
        assert_clean(bare.log("focusspider", "focus", job))
    exports = bare.folder / "exports"  # FOCUS_EXPORTS_DIR is relative, and so is the node's
    first, pages, _ = read(exports / "sample" / one)
    second, *_ = read(exports / "sample" / two)
    assert first["strategy"] == second["strategy"] == "crf"
    assert first["topic"]["source"] == "package:topics/sample.toml"
    # By their processes: of two short crawls one may begin when the other has just ended.
    ran = {job["id"]: job for job in bare.ask("listjobs")["finished"]}
    assert ran[one]["start_time"] < ran[two]["end_time"]
    assert ran[two]["start_time"] < ran[one]["end_time"]
    for name in ("crawl.jsonl", "items.jsonl"):
        same = [
            [{k: v for k, v in line.items() if k != "time"} for line in jsonl(path / name)]
            for path in (exports / "sample" / one, exports / "sample" / two)
        ]
        assert same[0] == same[1], "each as if it were alone"
    assert len(pages) == first["fetched"] == 40
    run, *_ = read(exports / "clock" / inline)
    assert (run["fetched"], run["topic"]["source"]) == (20, "arguments")
    assert {path.name for path in (exports / "sample").iterdir()} >= {one, two}


def test_a_job_that_was_cancelled_goes_on_under_its_id(bare: Node) -> None:
    setting = ["FOCUS_REPLAY=sample", "DOWNLOAD_DELAY=0.1"]
    job = bare.schedule("focusspider", "focus", topic="package:topics/sample.toml", pages=30,
                        setting=setting)  # fmt: skip
    log = bare.folder / "exports/sample" / job / "crawl.jsonl"
    deadline = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    bare.ask("cancel", project="focusspider", job=job)
    bare.wait(job)
    run, before, _ = read(log.parent)
    assert run["stop_reason"] == "shutdown"
    assert 0 < len(before) < 30
    again = bare.schedule("focusspider", "focus", topic="package:topics/sample.toml", pages=30,
                          jobid=job, setting=setting[0])  # fmt: skip
    assert again == job
    deadline = time.monotonic() + 60
    while read(log.parent)[0]["stop_reason"] != "page_limit" and time.monotonic() < deadline:
        time.sleep(0.1)
    run, pages, items = read(log.parent)
    assert pages[: len(before)] == before
    assert len({page["url"] for page in pages}) == len(pages) == run["fetched"] == 30
    assert len({item["url"] for item in items}) == len(items) == run["relevant"]


LINES = re.findall(r"^\| `([^`]*)` \|", DOCS, re.MULTILINE)


def test_jobs_that_are_workers_of_one_crawl(bare: Node, redis_server: RedisServer) -> None:
    settings = ["FOCUS_REPLAY=sample", f"FOCUS_FRONTIER={redis_server.url}", "FOCUS_RUN=shared",
                "FOCUS_CRAWL=scrapyd"]  # fmt: skip
    jobs = [
        bare.schedule("focusspider", "focus", topic="package:topics/sample.toml", pages=60,
                      setting=settings)
        for _ in range(2)
    ]  # fmt: skip
    bare.wait(*jobs)
    for job in jobs:
        assert_clean(bare.log("focusspider", "focus", job))
    run = bare.folder / "exports/sample/shared"
    urls = [page["url"] for page in read_pages(run)]
    assert len(urls) == len(set(urls)) == 60
    written = [jsonl(path) for path in run.glob("worker-*/crawl.jsonl")]
    assert sum(map(len, written)) == 60, "none was fetched twice"
    report = read_report(run)
    assert (report["fetched"], report["stop_reason"]) == (60, "page_limit")
    assert report["relevant"] == len({item["url"] for item in read_items(run)})


#: Arguments of a job, and what its log says.
WRONG = [
    (
        {"topic": "package:nowhere/sample.toml"},
        "package:nowhere: there is no package 'nowhere'; mend the name",
    ),
    (
        {"topic": "package:topics/simple.toml"},
        "package:topics/simple.toml: there is no such file; mend the path",
    ),
    (
        {"topic": "package:topics/sample.toml", "targets": "pages/none.html"},
        'argument targets: "pages/none.html" is no file (package:topics/pages/none.html does',
    ),
    (
        {
            "topic": "package:topics/sample.toml",
            "strategy": "hmm",
            "setting": "FOCUS_MODELS_DIR=package:models",
        },
        "there is no package:models/sample/hmm.npz; train it",
    ),
]


def test_what_is_not_in_the_egg_is_one_line(bare: Node) -> None:
    jobs = [bare.schedule("focusspider", "focus", **arguments) for arguments, _ in WRONG]
    bare.wait(*jobs)
    for job, (_, message) in zip(jobs, WRONG, strict=True):
        log = bare.log("focusspider", "focus", job)
        assert message in log
        assert any(line in log for line in LINES), "each is in the documentation"
        assert "Traceback" not in log
        assert not list((bare.folder / "exports").glob(f"*/{job}"))


def test_a_project_that_uses_the_add_on(fleet: Node, shop: Shop) -> None:
    one, two, told = (
        fleet.schedule("shop", "follow", topic="clocks", setting="FOCUS_STRATEGY=crf"),
        fleet.schedule("shop", "follow", topic="package:shop/topics/clocks.toml"),
        fleet.schedule("shop", "told"),
    )
    fleet.wait(one, two, told)
    for job in (one, two):
        assert_clean(fleet.log("shop", "follow", job))
        run, pages, items = read(fleet.folder / "exports/clocks" / job)
        assert run["topic"]["targets"] == ["package:shop/topics/pages/clock.html"]
        clocks = {f"{shop.url}{path}" for path in shop.pages if path.startswith("/clocks")}
        assert {page["url"] for page in pages if page["relevant"]} == clocks
        assert {item["url"] for item in items} == {page["url"] for page in pages}
        assert jsonl(fleet.folder / f"feeds/follow-{job}.jsonl") == items
    assert read(fleet.folder / "exports/clocks" / one)[0]["strategy"] == "crf"
    assert read(fleet.folder / "exports/told" / told)[0]["stop_reason"] == "page_limit"
