"""What who looks on is shown: in a real terminal, and in a log."""

from __future__ import annotations

import io
import os
import re
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import scrapy
from scrapy.utils.test import get_crawler

from focusspider.frontier import Entry, Outcome, Watched
from focusspider.frontier.guarded import GuardedFrontier
from focusspider.frontier.memory import MemoryFrontier
from focusspider.frontier.sqlite import SqliteFrontier
from focusspider.liveview import Foot, LiveView
from focusspider.monitor import Monitor
from focusspider.payload import ScoredLink, dump_request, pack, url_of
from focusspider.progress import Progress, duration
from tests.crawls import Crawl, crawl
from tests.terminal import Terminal, in_terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: One host, a delay: a crawl that lasts long enough to be looked at twice.
SLOW = {"FOCUS_REPLAY": "sample", "DOWNLOAD_DELAY": 0.1, "DOWNLOAD_DELAY_JITTER": 0}
TOPIC = ("topic=topics/sample.toml", "allow=forum.tinkerers.example", "pages=25")
SEEDS = "seeds=http://forum.tinkerers.example/"


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (Progress(), ("0 pages, 0.0 a second", "", "")),
        (
            Progress(fetched=12, rate=0.25, waiting=3),
            ("12 pages, 0.2 a second", "", "3 waiting"),
        ),
        (
            Progress(fetched=0, relevant=0, waiting=0, hosts=0),
            ("0 pages, 0.0 a second", "0 relevant", "0 waiting on 0 hosts"),
        ),
        (
            Progress(fetched=1500, relevant=600, recent=0.25, rate=5, budget=3000, left=300),
            (
                "1,500 of 3,000 pages, 5.0 a second, about 5 min left",
                "600 relevant, harvest rate 0.400 (of the last 100 pages 0.25)",
                "",
            ),
        ),
        (
            Progress(fetched=100, relevant=30, recent=0.3),
            ("100 pages, 0.0 a second", "30 relevant, harvest rate 0.300", ""),
        ),
    ],
)
def test_progress_in_words(progress: Progress, words: tuple[str, str, str]) -> None:
    assert progress.in_words() == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (99.4, "99 s"), (100, "2 min"), (5969, "99 min"), (5990, "1 h 40 min")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


class TestFoot:
    @pytest.fixture(autouse=True)
    def _size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.size = os.terminal_size((20, 12))
        monkeypatch.setattr(os, "get_terminal_size", lambda fd: self.size)

    class Stream(io.StringIO):
        def fileno(self) -> int:
            return 2

    def drawn(self, before: int, after: int) -> tuple[Terminal, Foot, Any]:
        stream = self.Stream()
        foot = Foot(stream, 3)
        stream.write("".join(f"old {n}\r\n" for n in range(before)))
        foot.draw(["a", "b", "c"])
        stream.write("".join(f"new {n}\r\n" for n in range(after)))
        foot.draw(["A", "B", "C", "more than there is room for"])
        terminal = Terminal(12, 20)
        terminal.feed(stream.getvalue())
        stream.seek(0)
        stream.truncate()
        return terminal, foot, stream

    @pytest.mark.parametrize("before", [0, 1, 8, 9, 10, 11, 12, 30])
    @pytest.mark.parametrize("after", [0, 1, 5, 40])
    def test_it_stays_while_the_log_scrolls_and_hides_none_of_it(
        self, before: int, after: int
    ) -> None:
        terminal, foot, stream = self.drawn(before, after)
        assert terminal.screen[-3:] == ["A", "B", "C"]
        log = [f"old {n}" for n in range(before)] + [f"new {n}" for n in range(after)]
        above = [*terminal.gone, *terminal.screen[:-3]]
        assert [line for line in above if line] == log
        foot.remove()
        stream.write("the end\r\n")
        terminal.feed(stream.getvalue())
        assert terminal.region == (0, 11)
        assert terminal.text() == [*log, "the end"]

    def test_it_follows_the_size_of_the_terminal(self) -> None:
        _, foot, stream = self.drawn(1, 1)
        self.size = os.terminal_size((20, 10))
        foot.draw(["x", "y", "z"])
        terminal = Terminal(10, 20)
        terminal.feed(stream.getvalue())
        assert terminal.screen[-3:] == ["x", "y", "z"]
        assert terminal.region == (0, 6)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2


class TestLiveView:
    @pytest.fixture(autouse=True)
    def _size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        self.size = os.terminal_size((60, 30))
        monkeypatch.setattr(os, "get_terminal_size", lambda fd: self.size)

    def test_one_crawl_of_a_process_has_it(self) -> None:
        view = LiveView.opened(Tty())
        assert view is not None
        assert LiveView.opened(Tty()) is None
        view.close()
        view.close()
        again = LiveView.opened(Tty())
        assert again is not None
        again.close()

    @pytest.mark.parametrize("case", ["no terminal", "dumb", "small", "no library"])
    def test_where_it_can_not_be(self, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
        stream: io.StringIO = Tty()
        if case == "no terminal":
            stream = io.StringIO()
        elif case == "dumb":
            monkeypatch.setenv("TERM", "dumb")
        elif case == "small":
            self.size = os.terminal_size((60, 10))
        else:
            monkeypatch.setitem(sys.modules, "rich.console", None)
        assert LiveView.opened(stream) is None

    def test_what_it_shows(self) -> None:
        stream = Tty()
        view = LiveView.opened(stream)
        assert view is not None
        best = ((0.75, "http://a.example/" + "x" * 100), (0.5, "http://b.example/\x1b[31m\n"))
        progress = Progress(fetched=5, relevant=2, budget=10, waiting=7, hosts=2, best=best)
        assert view.show("clocks by dom", progress)
        terminal = Terminal(30, 60)
        terminal.feed(stream.getvalue())
        foot = terminal.screen[-9:]
        assert foot[0].startswith("clocks by dom ─")
        assert "5 of 10 pages" in foot[1]
        assert foot[1].count("━") > 10
        assert foot[2] == "2 relevant, harvest rate 0.400"
        assert foot[3] == "7 waiting on 2 hosts"
        assert re.fullmatch(r"  0\.750 http://a\.example/x+…", foot[4])
        assert foot[5] == "  0.500 http://b.example/\ufffd[31m\ufffd", "nothing rings a bell"
        assert foot[6:] == ["", "", ""]
        assert max(len(line) for line in foot) < 60
        view.close()

    def test_no_link_is_shown_as_certain(self) -> None:
        stream = Tty()
        view = LiveView.opened(stream)
        assert view is not None
        assert view.show("clocks by auto", Progress(best=((0.99996, "http://a.example/"),)))
        terminal = Terminal(30, 60)
        terminal.feed(stream.getvalue())
        assert terminal.screen[-5] == "  0.999 http://a.example/"
        view.close()

    def test_a_terminal_that_has_gone_ends_the_view_and_nothing_else(self) -> None:
        class Gone(Tty):
            def write(self, text: str) -> int:
                raise OSError(5, "Input/output error")

        view = LiveView.opened(Gone())
        assert view is not None
        assert view.show("clocks", Progress()) is False
        assert LiveView.opened(Tty()) is not None
        LiveView._open.close()  # type: ignore[union-attr]


class All:
    """Every host may be asked."""

    def ready(self, host: str) -> bool:
        return True

    def woken(self) -> list[str]:
        return []


def test_hosts_are_not_those_from_before_anything_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    frontier = MemoryFrontier(max_size=100)
    scheduler = SimpleNamespace(frontier=frontier)
    monkeypatch.setattr("focusspider.monitor.FocusScheduler.of", lambda crawler: scheduler)
    monitor = Monitor(get_crawler(), live=True, interval=60, clock=lambda: 0.0)

    def shown() -> tuple[int | None, int | None]:
        progress = monitor._with_glance(monitor._progress())
        return progress.waiting, progress.hosts

    assert shown() == (0, 0)
    frontier.push([written(1, 5)])
    assert shown() == (1, 1)  # though the next glance is not due
    frontier.push([written(2, 5)])
    assert shown() == (2, 1)
    for entry in frontier.lease(2, All()):
        frontier.settle(entry.fingerprint, Outcome.DONE)
    assert shown() == (0, 0)


def written(number: int, priority: int) -> Entry:
    request = scrapy.Request(f"http://a.example/{number}")
    payload: Any = pack(ScoredLink(request.url, priority, "anchor"), 1, 1, None)
    if number % 3 == 1:
        payload = dump_request(request, scrapy.Spider("s"))
    elif number % 3 == 2:
        payload = request
    return Entry(bytes([number]) * 20, f"host{number % 4}", priority, payload)


FRONTIERS: dict[str, Callable[[Path], Any]] = {
    "memory": lambda folder: MemoryFrontier(),
    "sqlite": lambda folder: SqliteFrontier(folder / "f"),
    "guarded": lambda folder: GuardedFrontier(SqliteFrontier(folder / "f"), failed=lambda e: None),
}


@pytest.mark.parametrize("kind", FRONTIERS)
def test_a_glance_at_a_frontier(tmp_path: Path, kind: str) -> None:
    frontier = FRONTIERS[kind](tmp_path)
    assert isinstance(frontier, Watched)
    assert frontier.glance(5) == (0, [])
    priorities = [5, 9, 7, 9, 1, 3, 8, 2]
    frontier.push([written(n, priority) for n, priority in enumerate(priorities)])
    (leased,) = frontier.lease(1, All())
    hosts, best = frontier.glance(3)
    assert hosts == 4
    assert [(entry.priority, url_of(entry.payload)) for entry in best] == [
        (9, "http://a.example/3"),
        (8, "http://a.example/6"),
        (7, "http://a.example/2"),
    ]
    frontier.settle(leased.fingerprint, Outcome.DONE)
    assert frontier.counts.waiting == 7, "it only looks"
    assert len(frontier.glance(100).best) == 7
    frontier.close("finished")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    settings = {**SLOW, "FOCUS_EXPORTS_DIR": tmp_path_factory.mktemp("live"), "LOG_LEVEL": "INFO"}
    arguments = ["-m", "scrapy", "crawl", "focus"]
    for argument in (*TOPIC, SEEDS):
        arguments += ["-a", argument]
    for name, value in settings.items():
        arguments += ["-s", f"{name}={value}"]
    return in_terminal(arguments, columns=300)


class TestInATerminal:
    def test_the_foot_shows_the_crawl_and_goes_with_it(self, shown: tuple[int, str]) -> None:
        code, text = shown
        assert code == 0, text
        seen = []
        terminal = Terminal(40, 300)
        for part in text.split("\x1b8"):  # each time that something was drawn
            terminal.feed(part + "\x1b8" * (not text.endswith(part)))
            if terminal.region != (0, 39):
                seen.append(list(terminal.screen[-9:]))
        assert len(seen) >= 3, "one look a second"
        last = seen[-1]
        assert last[0].startswith("sample by auto")
        assert re.search(r"\d+ of 25 pages, \d+\.\d a second, about \d+ s left", last[1])
        assert re.match(r"\d+ relevant, harvest rate 0\.\d{3}", last[2])
        assert re.fullmatch(r"\d+ waiting on 1 host", last[3])
        assert re.fullmatch(r"  0\.\d{3} http://forum\.tinkerers\.example/\S*", last[4])
        scores = [float(line.split()[0]) for line in last[4:] if line]
        assert scores == sorted(scores, reverse=True)
        assert terminal.region == (0, 39), "the terminal is given back"

    def test_the_log_is_whole(self, shown: tuple[int, str]) -> None:
        terminal = Terminal(40, 300)
        terminal.feed(shown[1])
        lines = terminal.text()
        stamped = [line for line in lines if re.match(r"\d{4}-\d\d-\d\d ", line)]
        assert re.search(r"INFO: Scrapy .* started", stamped[0])
        assert stamped[-1].endswith("Spider closed (page_limit)")
        assert sum("Crawl ended (page_limit): 25 pages in" in line for line in stamped) == 1
        assert not [line for line in lines if "━" in line or "─" in line]
        assert not [line for line in stamped if "So far" in line], "that is where there is no foot"

    def test_it_can_be_left_out(self, tmp_path: Path) -> None:
        code, text = in_terminal(
            ["-m", "scrapy", "crawl", "focus", "-a", TOPIC[0], "-a", "pages=5",
             "-s", "FOCUS_REPLAY=sample", "-s", f"FOCUS_EXPORTS_DIR={tmp_path}",
             "-s", "FOCUS_LIVE=False", "-L", "INFO"]
        )  # fmt: skip
        assert code == 0
        assert "Crawl ended (page_limit): 5 pages" in text
        assert "\x1b[" not in text


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return crawl(
        tmp_path_factory.mktemp("log"),
        *TOPIC,
        SEEDS,
        "strategy=hub-seeking",
        LOGSTATS_INTERVAL=1,
        LOG_LEVEL="DEBUG",
        FOCUS_EXPLAIN=True,
        **SLOW,
    )


class TestInALog:
    def test_a_line_every_so_often_and_one_at_the_end(self, logged: Crawl) -> None:
        lines = re.findall(r"\[focusspider\.monitor\] INFO: (.*)", logged.log)
        *regular, end = lines
        assert regular
        for line in regular:
            assert re.fullmatch(
                r"So far: \d+ of 25 pages, [\d.]+ a second(, about \d+ s left)?; "
                r"\d+ relevant, harvest rate [\d.]+; \d+ waiting",
                line,
            )
        assert re.fullmatch(
            r"Crawl ended \(page_limit\): 25 pages in \d+ s; \d+ relevant, harvest rate [\d.]+; "
            rf"\d+ waiting\. Files: {re.escape(str(logged.folder))}",
            end,
        )
        assert "\x1b" not in logged.log

    def test_each_lease_is_explained(self, logged: Crawl) -> None:
        lines = re.findall(r"DEBUG: Leased <GET (\S+)>: score ([\d.]+) \((.*)\)", logged.log)
        assert len(lines) >= 25
        by_url = {url: (float(score), parts) for url, score, parts in lines}
        assert by_url["http://forum.tinkerers.example/"] == (1.0, "no parts")
        for page in logged.pages:
            score, parts = by_url[page["url"]]
            if page["parent"] is None:
                assert page["explain"] is None
                continue
            assert score == pytest.approx(page["priority"] / 2**50, abs=1e-6, rel=0)
            named = {name: float(value) for name, value in map(str.split, parts.split(", "))}
            assert named == pytest.approx(page["explain"], abs=1e-5, rel=0)
            assert set(named) == {"page", "context", "hub"}

    def test_items_say_the_same(self, logged: Crawl) -> None:
        pages = {page["url"]: page for page in logged.pages}
        assert logged.items
        for item in logged.items:
            assert item["explain"] == pages[item["url"]]["explain"]

    def test_nothing_of_it_without_being_asked(self, tmp_path: Path) -> None:
        done = crawl(tmp_path, TOPIC[0], "pages=10", FOCUS_REPLAY="sample", LOGSTATS_INTERVAL=0)
        assert "Leased" not in done.log
        assert "So far" not in done.log
        assert done.log.count("Crawl ended") == 1
        assert "explain" not in done.pages[-1]


def test_a_crawl_without_a_topic_says_less(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "import scrapy\n"
        "class One(scrapy.Spider):\n"
        "    name = 'one'\n"
        "    start_urls = ['http://www.thornby.example/']\n"
        "    custom_settings = {\n"
        "        'ADDONS': {'focusspider.FocusAddon': 1}, 'FOCUS_REPLAY': 'sample'\n"
        "    }\n"
        "    def parse(self, response):\n"
        "        yield {'url': response.url}\n"
    )
    code, text = in_terminal(["-m", "scrapy", "runspider", "one.py", "-L", "INFO"], cwd=tmp_path)
    assert code == 0, text
    end = re.search(r"monitor\] INFO: (.*?)\r\n", text)
    assert end is not None
    assert re.fullmatch(r"Crawl ended \(finished\): 1 page in \d+ s; 0 waiting\.", end[1])
    assert not (tmp_path / "exports").exists()
