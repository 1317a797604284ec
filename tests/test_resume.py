"""A crawl that is stopped in any way goes on where it was."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import signal
import subprocess
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scrapy.settings import Settings

from benchmarks.crash import Outcome, command, crash, outcome
from focusspider.checkpoint import Checkpoints, Saved, pack_memory, unpack_memory
from focusspider.config import FocusConfig
from focusspider.errors import FrontierError
from focusspider.frontier.opening import open_job
from focusspider.topic import Topic
from tests.crawls import ROOT, crawl

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("left-alone")
    subprocess.run(command(folder, "it"), cwd=ROOT, env=ENVIRONMENT, check=True, timeout=120)
    return outcome(folder, "it")


def test_ten_kills(tmp_path: Path) -> None:
    report = crash(10, seed=7, folder=tmp_path)
    assert report.kills == 10
    assert report.faults == []


@pytest.mark.parametrize(
    "signals", [(signal.SIGINT,), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)]
)
def test_a_stop_by_signal_is_gone_on_with(
    tmp_path: Path, signals: tuple[signal.Signals, ...], expected: Outcome
) -> None:
    process = subprocess.Popen(command(tmp_path, "it"), cwd=ROOT, env=ENVIRONMENT)
    try:
        for _ in range(600):
            time.sleep(0.05)
            logs = list(tmp_path.glob("it/*/*/crawl.jsonl"))
            if logs and logs[0].stat().st_size:
                break
        for number in signals:
            process.send_signal(number)
            time.sleep(0.2)
        process.wait(60)
    finally:
        process.kill()
        process.wait()
    if len(signals) == 1:
        (run,) = tmp_path.glob("it/*/*/run.json")
        assert json.loads(run.read_text())["stop_reason"] == "shutdown"
    partial = outcome(tmp_path, "it")
    assert 0 < len(partial.pages) < len(expected.pages)
    subprocess.run(command(tmp_path, "it"), cwd=ROOT, env=ENVIRONMENT, check=True, timeout=120)
    assert outcome(tmp_path, "it") == expected


def test_a_full_disk_ends_the_crawl_once_and_loses_nothing(
    tmp_path: Path, expected: Outcome
) -> None:
    """No file may grow beyond a size: what a full disk looks like from inside."""

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        command(tmp_path, "it"), cwd=ROOT, env=ENVIRONMENT, check=False, timeout=120,
        capture_output=True, text=True, preexec_fn=small,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.stderr.count("The crawl stops: ") == 1, done.stderr
    subprocess.run(command(tmp_path, "it"), cwd=ROOT, env=ENVIRONMENT, check=True, timeout=120)
    assert outcome(tmp_path, "it") == expected


class TestCounts:
    def test_limits_and_counts_hold_over_a_resume(self, tmp_path: Path) -> None:
        arguments = (
            "topic=topics/sample.toml",
            "pages_per_host=12",
            "hosts=6",
            "deny=re:/calendar/",
        )
        settings = {"FOCUS_REPLAY": "sample", "JOBDIR": tmp_path / "job"}
        half = crawl(tmp_path, *arguments, "pages=40", **settings)
        assert half.run["fetched"] == 40
        whole = crawl(tmp_path, *arguments, "pages=", **settings)
        assert whole.folder == half.folder
        assert whole.run["stop_reason"] == "finished"
        pages = whole.pages
        assert [page["n"] for page in pages] == list(range(1, len(pages) + 1))
        assert whole.run["fetched"] == len(pages) == whole.stats["focus/page/fetched"]
        hosts = [page["url"].split("/")[2] for page in pages]
        assert len(set(hosts)) == 6
        assert max(hosts.count(host) for host in set(hosts)) == 12

    def test_limits_and_sites_that_are_new_hold_for_what_waits(self, tmp_path: Path) -> None:
        settings = {"FOCUS_REPLAY": "sample", "JOBDIR": tmp_path / "job"}
        half = crawl(tmp_path, "topic=topics/sample.toml", "pages=40", **settings)
        hosts = [page["url"].split("/")[2] for page in half.pages]
        denied = min(set(hosts), key=hosts.index)
        had = {host: hosts.count(host) for host in set(hosts)}
        new = ("pages=120", "pages_per_host=9", f"hosts={len(had)}", f"deny={denied}")
        whole = crawl(tmp_path, "topic=topics/sample.toml", *new, **settings)
        after = [page["url"].split("/")[2] for page in whole.pages][40:]
        assert after
        assert denied not in after
        assert set(after) <= set(had)
        assert all(had[host] + after.count(host) <= 9 for host in after)
        assert whole.stats["focus/request/refused/offsite"]
        assert whole.stats["focus/page/fetched"] == len(whole.pages)

    def test_paths_and_duplicates_are_known_after_a_resume(self, tmp_path: Path) -> None:
        settings = {
            "FOCUS_REPLAY": "sample", "FOCUS_EXPORT": "all", "JOBDIR": tmp_path / "job",
            "FOCUS_CRAWL_LOG_TIMES": False,
        }  # fmt: skip
        # auto learns from the order in which pages come in, which differs from crawl to crawl
        arguments = ("topic=topics/sample.toml", "strategy=hub-seeking", "deny=re:/calendar/")
        for pages in ("60", "200", ""):
            done = crawl(tmp_path / "parts", *arguments, f"pages={pages}", **settings)
        once = crawl(
            tmp_path / "once", *arguments, "pages=", **{**settings, "JOBDIR": tmp_path / "other"}
        )
        known = {item["url"]: item for item in once.items}
        for item in done.items:
            same = known[item["url"]]
            for field in ("path", "depth", "score", "n", "duplicate_of"):
                assert item[field] == same[field], (item["url"], field)


class TestRefusals:
    def test_another_topic_or_strategy(self, tmp_path: Path) -> None:
        settings = {"FOCUS_REPLAY": "sample", "JOBDIR": tmp_path / "job"}
        crawl(tmp_path, "topic=topics/sample.toml", "pages=5", **settings)
        other = crawl(tmp_path, "topic=topics/sample.toml", "strategy=dom", **settings)
        assert other.code == 1
        assert "holds a crawl with the strategy 'auto', and this one has 'dom'" in other.log
        other = crawl(tmp_path, "topic=topics/sample.toml", "keywords=bicycle", **settings)
        assert other.code == 1
        assert re.search(
            r"the topic 'sample \(\w+\)', and this one has 'sample \(\w+\)'", other.log
        )

    def test_a_run_folder_that_is_gone(self, tmp_path: Path) -> None:
        settings = {"FOCUS_REPLAY": "sample", "JOBDIR": tmp_path / "job"}
        done = crawl(tmp_path / "a", "topic=topics/sample.toml", "pages=5", **settings)
        assert done.folder is not None
        done.folder.rename(tmp_path / "moved")
        again = crawl(tmp_path / "b", "topic=topics/sample.toml", **settings)
        assert again.code == 1
        assert "is gone; put it back, or begin anew in another JOBDIR" in again.log
        assert "Traceback" not in again.log

    def test_two_processes(self, tmp_path: Path) -> None:
        process = subprocess.Popen(command(tmp_path, "it"), cwd=ROOT, env=ENVIRONMENT)
        try:
            for _ in range(600):
                time.sleep(0.05)
                if list(tmp_path.glob("it/*/*/crawl.jsonl")):
                    break
            second = subprocess.run(
                command(tmp_path, "it"), cwd=ROOT, env=ENVIRONMENT, check=False, timeout=60,
                capture_output=True, text=True,
            )  # fmt: skip
        finally:
            process.kill()
            process.wait()
        assert second.returncode == 1
        assert "is in use by another process" in second.stderr
        assert "Traceback" not in second.stderr


def test_a_kill_in_the_first_minute_costs_a_learner_few_pages(tmp_path: Path) -> None:
    slow = [*command(tmp_path, "it"), "-s", "DOWNLOAD_DELAY=0.2"]
    process = subprocess.Popen(slow, cwd=ROOT, env=ENVIRONMENT)
    try:
        for _ in range(600):
            time.sleep(0.05)
            logs = tmp_path.glob("it/*/*/crawl.jsonl")
            if sum(log.read_bytes().count(b"\n") for log in logs) > 30:
                break
        time.sleep(3)  # there is a checkpoint each second
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    job = open_job(str(tmp_path / "it.job"), FocusConfig.from_settings(Settings()), spider="focus")
    try:
        saved = Saved.of(job, Topic.from_toml(ROOT / "topics" / "sample.toml"))
    finally:
        job.close("finished")
    assert saved is not None
    assert saved.memory is not None
    known, fetched = saved.session["remembered"], saved.session["record"]["fetched"]
    assert 0 < known <= fetched
    assert len(saved.memory["seen/row_node"]) == known


def test_nothing_is_said_of_a_memory_that_is_not_written() -> None:
    """A crawl that goes on may be killed again before its strategy has its memory back."""
    kept: dict[str, bytes] = {}
    session = SimpleNamespace(state=dict, folder=None, fetched=7, memory=lambda: None)

    async def checkpoint() -> dict[str, Any]:
        checkpoints = Checkpoints(
            SimpleNamespace(commit=kept.update),  # type: ignore[arg-type]
            session=session,  # type: ignore[arg-type]
            scope=SimpleNamespace(state=dict),  # type: ignore[arg-type]
            settle=lambda: None,
        )
        checkpoints.make()
        note: dict[str, Any] = json.loads(kept["session"])
        return note

    assert "remembered" not in asyncio.run(checkpoint())
    session.memory = lambda: {"seen": np.zeros(1)}
    assert asyncio.run(checkpoint())["remembered"] == 7


def test_memory_comes_back_as_it_was_and_never_runs_code() -> None:
    memory = {"weights": np.linspace(0, 1, 7), "seen": np.array([3], dtype=np.int64)}
    back = unpack_memory(pack_memory(memory))
    assert back is not None
    assert sorted(back) == ["seen", "weights"]
    np.testing.assert_array_equal(back["weights"], memory["weights"])
    with pytest.raises(ValueError, match="memory 'wrong' holds Python objects"):
        pack_memory({"wrong": np.array([{}], dtype=object)})
    with pytest.raises(FrontierError, match="memory of its strategy is damaged"):
        unpack_memory(b"PK\x03\x04")


@pytest.mark.parametrize("note", [b"", b"\xff", b"{", b"[]", b"3", b"{}"])
def test_a_damaged_note_of_the_crawl_is_an_error_in_one_line(note: bytes) -> None:
    class Job:
        def recall(self, name: str) -> bytes:
            assert name == "session"
            return note

    with pytest.raises(FrontierError, match=r"note of its crawl is damaged: .*; take"):
        Saved.of(Job(), None)  # type: ignore[arg-type]


def test_a_damaged_name_of_the_spider_is_an_error(tmp_path: Path) -> None:
    config = FocusConfig.from_settings(Settings())
    job = open_job(str(tmp_path), config, spider="one")
    job.remember("spider", b"\xff")
    job.flush()
    job.close("finished")
    with pytest.raises(FrontierError, match=r"holds a crawl of the spider '�', and this one is of"):
        open_job(str(tmp_path), config, spider="one")
