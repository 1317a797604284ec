"""A project that has never heard of focusspider, with one line more: what changes, and what not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from focusspider import stats
from tests.fleet import CLOCKS, SOAPS, Shop, jsonl, make_project, python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ADDON = 'ADDONS = {"focusspider.FocusAddon": 500}\n'
TOPIC = ADDON + 'FOCUS_TOPIC = "clocks"\n'
SCRAPYS = 'SCHEDULER = "scrapy.core.scheduler.Scheduler"\n'
#: How a project may use focusspider, in settings.
MODES = {
    "plain": "",
    "topic": TOPIC,
    "frontier": ADDON,
    "alone": 'SCHEDULER = "focusspider.FocusScheduler"\n',
    "scrapys": TOPIC + SCRAPYS,
}
SPIDERS = ("follow", "map", "everything")


@dataclass
class Run:
    """What a process of one or several crawls printed and wrote."""

    folder: Path
    code: int
    log: str
    asked: list[tuple[str, str]]

    def feed(self, spider: str) -> list[dict[str, Any]]:
        return jsonl(self.folder / f"feeds/{spider}.jsonl")

    def runs(self) -> list[Path]:
        return sorted(path.parent for path in self.folder.glob("exports/*/*/run.json"))

    def pages(self) -> list[dict[str, Any]]:
        return jsonl(self.runs()[-1] / "crawl.jsonl")

    def record(self) -> dict[str, Any]:
        return json.loads((self.runs()[-1] / "run.json").read_text())


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with Shop() as site:
        yield site


def start(folder: Path, shop: Shop, settings: str, *arguments: str, **environment: str) -> Run:
    """Run Python in a project with these settings."""
    make_project(folder, shop.url, settings)
    before = len(shop.asked)
    done = python(folder, *arguments, **environment)
    asked = [hit for hit in shop.asked[before:] if hit[1] != "/robots.txt"]
    return Run(folder, done.returncode, done.stdout, asked)


def crawl(folder: Path, shop: Shop, settings: str, spider: str, *arguments: str) -> Run:
    return start(folder, shop, settings, "-m", "scrapy", "crawl", spider, *arguments)


@pytest.fixture(scope="module")
def modes(tmp_path_factory: pytest.TempPathFactory, shop: Shop) -> dict[str, Run]:
    """Three spiders in one process, in each mode."""
    base = tmp_path_factory.mktemp("modes")
    return {
        mode: start(base / mode, shop, settings, "run.py", *SPIDERS)
        for mode, settings in MODES.items()
    }


def as_set(items: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


class TestSameItems:
    @pytest.mark.parametrize("spider", SPIDERS)
    @pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "plain"])
    def test_a_spider_brings_what_it_brought(
        self, modes: dict[str, Run], mode: str, spider: str
    ) -> None:
        assert modes[mode].code == 0, modes[mode].log
        assert as_set(modes[mode].feed(spider)) == as_set(modes["plain"].feed(spider))

    def test_it_brought_something_of_each_kind(self, modes: dict[str, Run]) -> None:
        plain = modes["plain"]
        assert len(plain.feed("follow")) == 18
        assert len(plain.feed("map")) == 12
        seen = {item.get("seen") for item in plain.feed("everything")}
        assert seen == {
            "start", "home", "listing", "form", "api", "again", "lambda", "cookies", "moved",
            "errback", None,
        }  # fmt: skip

    def test_a_job_directory_keeps_what_it_can(
        self, modes: dict[str, Run], tmp_path: Path, shop: Shop
    ) -> None:
        run = crawl(tmp_path, shop, TOPIC + 'JOBDIR = "job"\n', "everything")
        assert as_set(run.feed("everything")) == as_set(modes["plain"].feed("everything"))
        assert run.record()["stats"]["focus/frontier/unserializable"] == 1
        assert run.log.count("A request waits in memory only") == 1
        assert "<lambda>" in run.log

    def test_a_job_directory_is_of_one_spider_with_one_topic(
        self, tmp_path: Path, shop: Shop
    ) -> None:
        job = f'JOBDIR = "{tmp_path / "job"}"\n'
        few = ("-s", "CLOSESPIDER_PAGECOUNT=3")
        begun = crawl(tmp_path / "begun", shop, TOPIC + job, "follow", *few)
        assert begun.code == 0, begun.log
        wrong = {
            (TOPIC, "map"): "holds a crawl of the spider 'follow', and this one is of 'map'",
            (ADDON, "map"): "holds a crawl of the spider 'follow', and this one is of 'map'",
            (ADDON, "follow"): "holds a crawl with the topic 'clocks', and this one has none",
            (MODES["alone"], "follow"): "holds a crawl with the topic 'clocks'",
            (MODES["alone"] + "FOCUS_SEDE = 1\n", "follow"): "FOCUS_SEDE is not a setting",
        }
        for n, ((settings, spider), message) in enumerate(wrong.items()):
            run = crawl(tmp_path / f"wrong{n}", shop, settings + job, spider)
            assert run.code == 1
            assert run.log.count(message) == 1, run.log
            assert "Traceback" not in run.log
            assert run.asked == []
        crawl(tmp_path / "rest", shop, TOPIC + job, "follow")
        assert begun.record()["stop_reason"] == "finished"
        assert begun.record()["stats"].get("focus/frontier/unserializable", 0) == 0
        assert len({page["url"] for page in begun.pages()}) == 18

    def test_in_scrapys_job_directory_no_page_has_a_parent_of_another_run(
        self, tmp_path: Path, shop: Shop
    ) -> None:
        settings = f'{ADDON}{SCRAPYS}JOBDIR = "{tmp_path / "job"}"\n'
        topic = tmp_path / "clocks.toml"  # what waits in the job directory waits for its target
        topic.write_text(f'targets = ["{shop.url}/late"]\n')
        settings += f'FOCUS_TOPIC = "{topic}"\n'
        few = ("-s", "CLOSESPIDER_PAGECOUNT=5", "-s", "CONCURRENT_REQUESTS=1")
        begun = crawl(tmp_path / "begun", shop, settings, "follow", *few).pages()
        run = crawl(tmp_path / "rest", shop, settings, "follow")
        rest, log = run.pages(), run.log
        assert len({page["url"] for page in begun + rest}) == 18
        assert "Traceback" not in log
        for pages in (begun, rest):
            for n, page in enumerate(pages):
                if page["parent"] is not None:
                    assert page["parent"] in {other["url"] for other in pages[:n]}
                    source = shop.pages[page["parent"].removeprefix(shop.url)]
                    assert f"href='{page['url'].removeprefix(shop.url)}" in source

    @pytest.mark.parametrize("mode", MODES)
    def test_the_site_is_asked_for_the_same(self, modes: dict[str, Run], mode: str) -> None:
        assert sorted(modes[mode].asked) == sorted(modes["plain"].asked)

    @pytest.mark.parametrize("mode", MODES)
    def test_nothing_is_complained_about_that_was_not_before(
        self, modes: dict[str, Run], mode: str
    ) -> None:
        def complaints(run: Run) -> set[str]:
            lines = run.log.splitlines()
            kinds = {line.split("] ", 1)[1][:40] for line in lines if " ERROR: " in line}
            return kinds | {line for line in lines if "focusspider" in line and "WARNING" in line}

        assert complaints(modes[mode]) <= complaints(modes["plain"])


class TestOneProcess:
    def test_each_crawl_has_its_own_folder(self, modes: dict[str, Run]) -> None:
        runs = modes["topic"].runs()
        assert len(runs) == 3
        assert {run.parent.name for run in runs} == {"clocks"}
        items = {len(jsonl(run / "items.jsonl")): run for run in runs}
        assert set(items) == {len(modes["topic"].feed(spider)) for spider in SPIDERS}

    def test_each_counts_for_itself(self, modes: dict[str, Run]) -> None:
        for mode in ("topic", "scrapys"):
            for run in modes[mode].runs():
                record = json.loads((run / "run.json").read_text())
                pages = jsonl(run / "crawl.jsonl")
                assert record["fetched"] == len(pages)
                assert [page["n"] for page in pages] == list(range(1, len(pages) + 1))
                assert stats.unequal_sums(record["stats"]) == []
                assert record["stop_reason"] == "finished"
                known = {page["url"] for page in pages} | {None}
                assert {page["parent"] for page in pages} <= known

    def test_nothing_is_written_without_a_topic(self, modes: dict[str, Run]) -> None:
        for mode in ("plain", "frontier", "alone"):
            assert not (modes[mode].folder / "exports").exists()


class TestTheFrontierAlone:
    def test_its_stats_are_in_the_log(self, modes: dict[str, Run]) -> None:
        for mode in ("frontier", "alone"):
            assert modes[mode].log.count("'focus/frontier/done'") == 3
            assert "focus/page/" not in modes[mode].log
        assert "focus/" not in modes["plain"].log

    def test_the_spiders_own_priorities_order_it(self, tmp_path: Path, shop: Shop) -> None:
        run = crawl(tmp_path, shop, MODES["alone"], "orders", "-s", "CONCURRENT_REQUESTS=1")
        # every start request is there before the first is answered, but for the first
        first, *rest = (int(path.removeprefix("/api/")) for _, path in run.asked)
        expected = sorted(range(12), key=lambda n: -(n * 7 % 12))
        assert [n for n in [first, *rest] if n in expected] == [
            first,
            *[n for n in expected if n != first],
        ]
        assert "'focus/request/known': 12" in run.log
        assert "'focus/frontier/done': 12" in run.log

    def test_a_delay_is_kept_and_scrapys_settings_without_effect_are_named(
        self, tmp_path: Path, shop: Shop
    ) -> None:
        settings = MODES["alone"] + "DOWNLOAD_DELAY = 0.1\nDOWNLOAD_DELAY_JITTER = 0\n"
        settings += 'DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"\n'
        run = crawl(tmp_path, shop, settings, "orders", "-s", "ROBOTSTXT_OBEY=0")
        assert len(run.asked) == 12
        elapsed = float(run.log.split("'elapsed_time_seconds': ")[1].split(",")[0])
        assert elapsed >= 1.1
        assert run.log.count("DUPEFILTER_CLASS has no effect") == 1


class TestScoring:
    def test_what_is_on_topic_comes_first(self, tmp_path: Path, shop: Shop) -> None:
        run = crawl(tmp_path, shop, TOPIC, "follow", "-s", "CONCURRENT_REQUESTS=1")
        paths = [path for _, path in run.asked]
        assert max(map(paths.index, CLOCKS)) < min(map(paths.index, SOAPS))
        plain = crawl(tmp_path / "plain", shop, "", "follow", "-s", "CONCURRENT_REQUESTS=1")
        paths = [path for _, path in plain.asked]
        assert max(map(paths.index, CLOCKS)) > min(map(paths.index, SOAPS))

    @pytest.mark.parametrize("scheduler", ["", SCRAPYS], ids=["ours", "scrapys"])
    @pytest.mark.parametrize("spider", ["follow", "everything"])
    def test_the_budget_of_pages_holds(
        self, tmp_path: Path, shop: Shop, spider: str, scheduler: str
    ) -> None:
        settings = TOPIC.replace("clocks", "few") + scheduler
        make_project(tmp_path, shop.url, settings)
        topic = (tmp_path / "topics/clocks.toml").read_text()
        (tmp_path / "topics/few.toml").write_text(topic + "[limits]\npages = 8\n")
        done = python(tmp_path, "-m", "scrapy", "crawl", spider)
        run = Run(tmp_path, done.returncode, done.stdout, [])
        assert run.record()["fetched"] == len(run.pages()) == 8
        assert run.record()["stop_reason"] == "page_limit"
        # the one of a host that is not there, which the spider asks for on purpose
        assert "limit of pages is reached" not in run.log
        assert "spider_exceptions" not in run.log

    def test_a_callback_can_ask_and_items_are_filled(self, tmp_path: Path, shop: Shop) -> None:
        run = crawl(tmp_path, shop, ADDON, "judge")
        items = run.feed("judge")
        assert {item["url"].removeprefix(shop.url) for item in items} >= set(CLOCKS)
        assert not [item for item in items if "/soaps/" in item["url"]]
        for item, row, plain in zip(items[::3], items[1::3], items[2::3], strict=True):
            # an Item has only its own fields, one that is not filled is left out
            assert item == {"url": item["url"], "relevant": True}
            assert row == {"url": item["url"], "relevant": True}
            assert plain["score"] == "mine", "what the spider has set is the spider's"
            assert plain["relevant"] is True
            assert plain["path"][0] == f"{shop.url}/clocks/"
            assert "keywords" in plain["why"]

    def test_a_spider_may_have_its_topic_with_it(self, tmp_path: Path, shop: Shop) -> None:
        run = crawl(tmp_path, shop, ADDON, "told")
        assert run.asked[:2].count(("GET", "/clocks/7")) == 1, "the targets are fetched first"
        record = run.record()
        assert record["topic"]["name"] == "told"
        assert (record["fetched"], record["stop_reason"]) == (9, "page_limit")
        assert record["stats"]["focus/target/fetched"] == 1
        assert record["stats"]["focus/target/failed"] == 1
        relevant = {page["url"] for page in run.pages() if page["relevant"]}
        assert relevant
        assert all("/clocks/" in url for url in relevant)

    def test_a_copied_meta_does_not_mislead(self, modes: dict[str, Run], shop: Shop) -> None:
        """The spider hands ``response.meta`` on, with what the page itself was fetched with."""
        (run,) = (
            run
            for run in modes["topic"].runs()
            if any("seen" in i for i in jsonl(run / "items.jsonl"))
        )
        pages = {page["url"]: page for page in jsonl(run / "crawl.jsonl")}
        clocks = pages[f"{shop.url}/clocks/"]
        assert clocks["parent"] == f"{shop.url}/"
        assert clocks["anchor"] == "Shop /clocks/"
        assert clocks["priority"] is not None
        detail = pages[f"{shop.url}/api/clocks/1"]
        assert detail["parent"] == f"{shop.url}/clocks/1"
        assert detail["anchor"] is None, "no link led here"
        assert detail["priority"] is None

    def test_the_argument_goes_before_the_setting(self, tmp_path: Path, shop: Shop) -> None:
        run = crawl(tmp_path, shop, TOPIC, "map", "-a", "topic=soaps")
        assert "topic 'soaps': there is no topics/soaps.toml" in run.log
        assert "Traceback" not in run.log
        assert run.code == 1

    def test_no_page_is_an_error_with_scrapys_causes(self, tmp_path: Path, shop: Shop) -> None:
        shop.pages.pop("/robots.txt")
        shop.pages["/robots.txt"] = "User-agent: *\nDisallow: /\n"
        try:
            run = crawl(tmp_path, shop, TOPIC, "follow")
        finally:
            shop.pages["/robots.txt"] = "User-agent: *\nAllow: /\n"
        assert run.record()["stop_reason"] == "no_page"
        assert "No page could be fetched: 1 × forbidden by robots.txt" in run.log


COMMANDS = [
    (["list"], "everything\nfollow\njudge\nmap\norders\ntold\n"),
    (["fetch", "--nolog", "{site}/clocks/7"], "<title>Clock 7</title>"),
    (["parse", "--spider", "map", "--nolog", "{site}/clocks/7"], "Clock 7"),
    (["shell", "{site}/clocks/7", "-c", "response.css('title').get()"], "<title>Clock 7</title>"),
    (["check", "told"], "OK"),
    (["settings", "--get", "BOT_NAME"], "scrapybot"),
]


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=lambda case: case[0])
def test_scrapys_commands_work_and_leave_nothing(
    tmp_path: Path, shop: Shop, command: list[str], output: str
) -> None:
    run = start(
        tmp_path, shop, TOPIC, "-m", "scrapy", *(word.format(site=shop.url) for word in command)
    )
    assert run.code == 0, run.log
    assert output in run.log
    assert "Traceback" not in run.log
    assert not (tmp_path / "exports").exists()


def test_a_spider_in_a_file_of_its_own_under_another_reactor(tmp_path: Path, shop: Shop) -> None:
    reactor = 'TWISTED_REACTOR = "twisted.internet.selectreactor.SelectReactor"\n'
    make_project(tmp_path, shop.url, TOPIC + reactor)
    (tmp_path / "one.py").write_text(
        "import scrapy\n"
        "class One(scrapy.Spider):\n"
        "    name = 'one'\n"
        f"    start_urls = ['{shop.url}/clocks/']\n"
        "    def parse(self, response):\n"
        "        yield {'url': response.url}\n"
        "        yield from response.follow_all(css='a')\n"
    )
    done = python(tmp_path, "-m", "scrapy", "runspider", "one.py", "-a", "topic=clocks")
    run = Run(tmp_path, done.returncode, done.stdout, [])
    assert run.code == 0, run.log
    assert "selectreactor" in run.log
    urls = [item["url"] for item in run.feed("one")]
    assert run.record()["fetched"] == len(urls)
    assert len(set(urls)) == 18
