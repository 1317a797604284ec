"""The metrics of real crawls, asked for as Prometheus asks, and read by the rules of its format."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from focusspider import stats
from focusspider.prometheus import Family, families, render
from focusspider.stats import STATS
from tests.crawls import ROOT, crawl
from tests.node import free_port

if TYPE_CHECKING:
    from pathlib import Path

#: What is set by the code is no counter; nor is what the frontier has now.
SET = re.compile(r"\.(?:set|max|min)_value\(\s*stats\.([A-Z_]+)")
GAUGES = {stats.FRONTIER_WAITING, stats.FRONTIER_LEASED} | {
    getattr(stats, name)
    for path in (ROOT / "focusspider").rglob("*.py")
    for name in SET.findall(path.read_text(encoding="utf-8"))
}
DOCS = ROOT / "docs/reference/metrics.md"
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? ([-+.e0-9]+|NaN|[+-]Inf)")


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


def parsed(text: str) -> dict[str, dict[str, Any]]:
    """Read the text format strictly: a family's HELP, its TYPE, then its samples, each once."""
    assert text.endswith("\n")
    found: dict[str, dict[str, Any]] = {}
    lines = iter(text.split("\n")[:-1])
    current: dict[str, Any] = {}
    for line in lines:
        if line.startswith("# HELP "):
            _, _, name, meaning = line.split(" ", 3)
            assert name not in found
            assert re.fullmatch(NAME, name)
            _, _, same, kind = next(lines).split(" ")
            assert same == name
            assert kind in {"counter", "gauge"}
            found[name] = current = {"help": unescaped(meaning), "kind": kind, "samples": {}}
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        assert match[1] == name
        labels = LABEL.findall(match[2] or "")
        assert "".join(f'{key}="{value}",' for key, value in labels)[:-1] == (match[2] or "")
        key = frozenset((key, unescaped(value)) for key, value in labels)
        assert key not in current["samples"]
        current["samples"][key] = float(match[3])
    return found


def ask(port: int, path: str = "/metrics") -> tuple[str, str]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


class TestText:
    def test_each_statistic_of_a_crawl_is_a_family_and_reasons_sum_to_the_whole(self) -> None:
        counts: dict[str, int] = {}
        for n, stat in enumerate(STATS, 1):
            for m, reason in enumerate(stat.reasons, 1):
                counts[f"{stat.key}/{reason}"] = n * m
            counts[stat.key] = sum(n * m for m in range(1, len(stat.reasons) + 1)) or n
        found = parsed(render(families(counts), {}))
        for stat in STATS:
            if stat.key.startswith("focus/collect/") or stat.key == stats.RENDER_OPEN:
                continue
            name = stat.key.replace("/", "_")
            gauge = stat.key in GAUGES
            family = found.pop(name if gauge else f"{name}_total")
            assert family["kind"] == ("gauge" if gauge else "counter")
            assert family["help"]
            assert sum(family["samples"].values()) == counts[stat.key]
            reasons = {dict(labels).get("reason") for labels in family["samples"]}
            assert reasons == ({*stat.reasons} or {None})
        assert found == {}

    def test_nothing_has_happened_yet_and_odd_values(self) -> None:
        found = parsed(render(families({stats.PAGE_FETCHED: None}), {"topic": "x"}))
        assert {value for family in found.values() for value in family["samples"].values()} == {0}

    def test_large_counts_are_exact(self) -> None:
        text = render([Family("n_total", "counter", "N.", (({}, 123_456_789_012_345),))], {})
        assert text.splitlines()[-1] == "n_total{} 123456789012345"

    def test_labels_and_help_are_escaped(self) -> None:
        wicked = 'a"b\\c\nd{e="f",} 9\n# TYPE'
        family = Family("n_total", "counter", wicked, (({"reason": wicked}, 1),))
        found = parsed(render([family], {"topic": wicked}))
        assert found["n_total"]["help"] == wicked
        assert found["n_total"]["samples"] == {
            frozenset({("topic", wicked), ("reason", wicked)}): 1,
        }


def started(exports: Path, *settings: str) -> subprocess.Popen[str]:
    arguments = ["crawl", "focus", "-a", "topic=sample", "-s", "FOCUS_REPLAY=sample"]
    for setting in (f"FOCUS_EXPORTS_DIR={exports}", "DOWNLOAD_DELAY=0.05", *settings):
        arguments += ["-s", setting]
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "scrapy", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )


def value(found: dict[str, dict[str, Any]], name: str) -> float:
    return sum(found[name]["samples"].values())


def test_a_crawl_is_watched_until_it_ends(tmp_path: Path) -> None:
    taken = socket.create_server(("127.0.0.1", 0))
    first = taken.getsockname()[1]
    process = started(tmp_path, f"FOCUS_METRICS_PORT={first}-{first + 5}")
    assert process.stderr is not None
    port = next(
        int(line.rpartition(":")[2].partition("/")[0])
        for line in process.stderr
        if "Metrics: http://127.0.0.1:" in line
    )
    assert first < port <= first + 5
    deadline = time.monotonic() + 60
    fetched = 0.0
    while fetched < 3 and time.monotonic() < deadline:
        kind, text = ask(port)
        found = parsed(text)
        assert value(found, "focus_page_fetched_total") >= fetched, "it never falls"
        fetched = value(found, "focus_page_fetched_total")
        time.sleep(0.05)
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    assert value(found, "focus_frontier_waiting") > 0, "as it is now, not as it will be"
    assert value(found, "focus_frontier_done_total") > 0
    links = [value(found, f"focus_link_{name}_total") for name in ("pushed", "known", "refused")]
    assert sum(links) == value(found, "focus_link_found_total") > 0
    assert value(found, "focus_crawl_limit_pages") == 150
    assert 0 < time.time() - value(found, "focus_crawl_start_time_seconds") < 120
    (run,) = (tmp_path / "sample").iterdir()
    (about,) = found["focus_crawl_info"]["samples"]
    assert dict(about).items() >= {
        ("spider", "focus"), ("topic", "sample"), ("strategy", "auto"), ("run", run.name),
    }  # fmt: skip
    with pytest.raises(urllib.error.HTTPError, match="404"):
        ask(port, "/")
    # what is no counter of a statistic is in the documentation, and nothing else
    counters = {stat.key.replace("/", "_") + "_total" for stat in STATS}
    others = {
        (name, family["kind"], family["help"])
        for name, family in found.items()
        if name not in counters
    }
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", DOCS.read_text(), re.MULTILINE)
    assert others == {*rows}
    process.send_signal(signal.SIGTERM)
    _, rest = process.communicate(timeout=60)
    taken.close()
    assert "Traceback" not in rest
    assert "GET /metrics" not in rest, "the log is the crawl's"
    with pytest.raises(OSError, match="refused"):
        ask(port)


def test_without_a_free_port_the_crawl_goes_on(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        run = crawl(tmp_path, "topic=sample", "pages=3", FOCUS_REPLAY="sample",
                    FOCUS_METRICS_PORT=port)  # fmt: skip
    assert run.code == 0
    assert run.run["fetched"] == 3
    assert run.log.count(f"FOCUS_METRICS_PORT = {port}: the crawl goes on unwatched") == 1
    assert "Address already in use" in run.log
    assert "Traceback" not in run.log


def test_a_host_that_is_not_ours_is_said_too(tmp_path: Path) -> None:
    run = crawl(tmp_path, "topic=sample", "pages=3", FOCUS_REPLAY="sample",
                FOCUS_METRICS_PORT=free_port(), FOCUS_METRICS_HOST="192.0.2.1")  # fmt: skip
    assert run.code == 0
    assert "cannot listen on 192.0.2.1 (" in run.log
    assert "Traceback" not in run.log


def test_without_twisteds_reactor_nothing_can_be_asked(tmp_path: Path) -> None:
    run = crawl(tmp_path, "topic=sample", "pages=3", FOCUS_REPLAY="sample",
                FOCUS_METRICS_PORT=0, TWISTED_REACTOR_ENABLED=False)  # fmt: skip
    assert run.code != 0
    assert "FOCUS_METRICS_PORT needs Twisted's reactor" in run.log
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("port", ["http", "70000", "0-5", "9420-9410", "-1", "1-2-3", ""])
def test_a_wrong_port_is_an_error_before_the_crawl(port: str, tmp_path: Path) -> None:
    from scrapy.settings import Settings

    from focusspider.config import FocusConfig
    from focusspider.errors import SettingError

    settings = Settings({"FOCUS_METRICS_PORT": port})
    if port == "":
        assert FocusConfig.from_settings(settings).metrics_port is None
        return
    with pytest.raises(SettingError, match="give a port, or a range such as 9410-9419"):
        FocusConfig.from_settings(settings)
