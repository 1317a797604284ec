"""Crawls of the sample web, by ``scrapy crawl`` in a process of its own."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from focusspider import stats
from focusspider.replay import open_archive
from focusspider.replay.sample import relevant_urls
from tests.crawls import ROOT, Crawl, crawl

if TYPE_CHECKING:
    from pathlib import Path

STRATEGIES = ("breadth-first", "best-first", "dom", "hub-seeking", "shark-search")
TOPIC = "topic=topics/sample.toml"


def sample(tmp_path: Path, *arguments: str, **settings: Any) -> Crawl:
    return crawl(tmp_path, TOPIC, *arguments, FOCUS_REPLAY="sample", **settings)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl with all that can be asked for, and no times in its log."""
    return sample(
        tmp_path_factory.mktemp("everything"),
        FOCUS_EXPORT="all",
        FOCUS_EXPORT_BODY=True,
        FOCUS_EXPORT_PARQUET=True,
        FOCUS_EXPORT_WARC=True,
        FOCUS_EXPLAIN=True,
        FOCUS_CRAWL_LOG_TIMES=False,
        LOG_LEVEL="INFO",
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return sample(tmp_path_factory.mktemp("plain"), LOG_LEVEL="INFO")


class TestSampleCrawl:
    def test_it_spends_the_budget_and_says_why_it_stopped(self, plain: Crawl) -> None:
        assert plain.code == 0, plain.log
        assert plain.run["fetched"] == len(plain.pages) == 150
        assert plain.run["stop_reason"] == "page_limit"
        assert plain.run["relevant"] == len(plain.items) == sum(p["relevant"] for p in plain.pages)
        assert "ERROR" not in plain.log
        assert "Traceback" not in plain.log

    def test_what_it_finds_is_on_topic(self, plain: Crawl) -> None:
        truth = relevant_urls()
        found = {item["url"] for item in plain.items}
        assert len(found & truth) / len(found) > 0.9
        assert len(found & truth) / len(truth) > 0.5

    def test_breadth_first_finds_less_in_the_same_budget(
        self, plain: Crawl, tmp_path: Path
    ) -> None:
        baseline = sample(tmp_path, "strategy=breadth-first")
        assert baseline.run["fetched"] == plain.run["fetched"]
        assert baseline.run["relevant"] < plain.run["relevant"] / 2

    def test_parts_sum_to_the_whole(self, plain: Crawl) -> None:
        assert stats.unequal_sums(plain.stats) == []
        counts = plain.stats
        assert counts["focus/frontier/leased"] == 0
        pushed = counts["focus/link/pushed"] + counts["focus/request/scheduled"]
        settled = sum(
            counts[f"focus/frontier/{state}"] for state in ("waiting", "done", "dropped", "evicted")
        )
        assert pushed == settled

    def test_the_log_can_be_followed_from_page_to_page(self, plain: Crawl) -> None:
        pages = plain.pages
        assert [page["n"] for page in pages] == list(range(1, 151))
        urls = [page["url"] for page in pages]
        assert len(set(urls)) == len(urls)
        depth = {page["url"]: page["depth"] for page in pages}
        for n, page in enumerate(pages):
            if page["parent"] is None:
                assert page["depth"] == 0
                assert page["priority"] is None
            else:
                assert page["parent"] in urls[:n]
                assert page["depth"] == depth[page["parent"]] + 1
                assert 0 <= page["priority"] < 2**50

    def test_an_item_says_where_it_came_from(self, plain: Crawl) -> None:
        parents = {page["url"]: page["parent"] for page in plain.pages}
        for item in plain.items:
            assert len(item["path"]) == item["depth"]
            chain = [item["url"]]
            while parents[chain[-1]]:
                chain.append(parents[chain[-1]])
            assert item["path"] == chain[:0:-1]
            assert item["relevance"] >= 0.2
            assert item["relevant"] is True
            assert item["why"]
            assert item["strategy"] == "auto"
            assert "body" not in item
            assert "explain" not in item


class TestReproducible:
    def test_the_same_crawl_is_the_same_to_the_byte(
        self, everything: Crawl, tmp_path: Path
    ) -> None:
        again = sample(
            tmp_path, FOCUS_CRAWL_LOG_TIMES=False, FOCUS_EXPLAIN=True, PYTHONHASHSEED="1"
        )
        assert everything.folder is not None
        assert again.folder is not None
        first = (everything.folder / "crawl.jsonl").read_bytes()
        assert (again.folder / "crawl.jsonl").read_bytes() == first
        assert b'"time"' not in first

    def test_every_strategy_reaches_the_same_pages_in_its_own_order(self, tmp_path: Path) -> None:
        orders = {}
        for strategy in STRATEGIES:
            done = sample(
                tmp_path / strategy, f"strategy={strategy}", "pages=", "deny=re:/calendar/"
            )
            assert done.run["stop_reason"] == "finished"
            assert stats.unequal_sums(done.stats) == []
            orders[strategy] = [page["url"] for page in done.pages]
        reached = set(orders["breadth-first"])
        assert len(reached) > 500
        assert all(set(order) == reached for order in orders.values())
        assert len({tuple(order) for order in orders.values()}) == len(orders)


class TestExports:
    def test_all_pages_with_bodies_and_explanations(self, everything: Crawl) -> None:
        assert everything.code == 0, everything.log
        assert len(everything.items) == 150
        linked = [item for item in everything.items if item["depth"]]
        for item in linked:  # auto begins as hub-seeking
            assert item["explain"].keys() >= {"page", "context"} or (
                item["explain"].keys() >= {"groups", "words", "prior", "trust"}
            )
        web = open_archive("sample")
        for item in everything.items:
            stored = web.get(item["url"])
            assert stored is not None, item["url"]
            # an image that is sent as a page has no text, and its body what can be read of it
            assert item["body"] == stored.body.decode(errors="replace"), item["url"]
        assert any(not item["relevant"] for item in everything.items)

    def test_the_same_text_at_several_urls_is_marked(self, everything: Crawl) -> None:
        marked = [item for item in everything.items if item["duplicate_of"]]
        assert len(marked) == everything.stats.get("focus/page/duplicate_content", 0)
        by_url = {item["url"]: item for item in everything.items}
        for item in marked:
            assert by_url[item["duplicate_of"]]["body"] == item["body"]
            assert by_url[item["duplicate_of"]]["n"] < item["n"]

    def test_parquet_holds_the_items(self, everything: Crawl) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        assert everything.folder is not None
        table = parquet.read_table(everything.folder / "items.parquet").to_pylist()
        assert [row["url"] for row in table] == [item["url"] for item in everything.items]
        assert [row["relevance"] for row in table] == pytest.approx(
            [item["relevance"] for item in everything.items], rel=0, abs=0
        )
        assert json.loads(table[-1]["path"]) == everything.items[-1]["path"]

    def test_the_warc_can_be_crawled_again(self, everything: Crawl, tmp_path: Path) -> None:
        assert everything.folder is not None
        again = crawl(
            tmp_path,
            TOPIC,
            FOCUS_REPLAY=everything.folder / "pages.warc.gz",
            FOCUS_CRAWL_LOG_TIMES=False,
        )
        assert [page["url"] for page in again.pages] == [page["url"] for page in everything.pages]

    def test_the_users_own_feeds_work_beside(self, tmp_path: Path) -> None:
        feed = tmp_path / "found.csv"
        feeds = json.dumps({str(feed): {"format": "csv", "fields": ["url", "relevance"]}})
        done = sample(tmp_path, "pages=20", FEEDS=feeds, FOCUS_EXPORT_PARQUET=True)
        assert done.code == 0, done.log
        rows = feed.read_text().splitlines()
        assert rows[0] == "url,relevance"
        assert len(rows) == len(done.items) + 1
        assert done.folder is not None
        assert (done.folder / "items.parquet").is_file()


class TestTopics:
    def test_inline_arguments_alone(self, tmp_path: Path) -> None:
        done = crawl(
            tmp_path,
            "keywords=clock, pendulum",
            "seeds=http://www.thornby.example/, http://forum.tinkerers.example/",
            "strategy=dom",
            "pages=30",
            "threshold=0.1",
            FOCUS_REPLAY="sample",
        )
        assert done.code == 0, done.log
        assert done.run["fetched"] == 30
        assert done.run["strategy"] == "dom"
        assert done.run["topic"]["source"] == "arguments"

    def test_arguments_come_before_the_topic_and_the_topic_before_settings(
        self, tmp_path: Path
    ) -> None:
        done = sample(tmp_path, "strategy=shark-search", "pages=5", FOCUS_STRATEGY="dom")
        assert (done.run["strategy"], done.run["fetched"]) == ("shark-search", 5)
        done = sample(tmp_path, "pages=5", FOCUS_STRATEGY="dom")
        assert done.run["strategy"] == "dom"

    def test_targets_on_the_web_are_fetched_first(self, tmp_path: Path) -> None:
        target = "http://en.openwiki.example/wiki/Pendulum_clock"
        done = sample(
            tmp_path,
            f"targets={target}",
            'strategy={"name": "best-first", "against": "targets"}',
            "threshold=0.5",
            "pages=60",
        )
        assert done.code == 0, done.log
        assert done.stats["focus/target/fetched"] == 1
        assert done.run["fetched"] == 60
        assert done.items[0]["why"].count(target) == 1
        # an example does not count as found: the crawl has to come to it by a link
        assert done.pages[0]["url"] != target

    def test_targets_that_cannot_be_had_stop_the_crawl_with_the_cause(self, tmp_path: Path) -> None:
        done = sample(tmp_path, "targets=http://en.openwiki.example/wiki/No_such_page")
        assert done.run["stop_reason"] == "no_target"
        assert "None of the 1 targets could be fetched: 1 × http" in done.log
        assert "Traceback" not in done.log

    def test_seeds_that_cannot_be_had_are_an_error_with_the_cause(self, tmp_path: Path) -> None:
        done = sample(
            tmp_path, "seeds=http://gone.example/", FOCUS_REPLAY_MISSING="dns", RETRY_TIMES=0
        )
        assert done.run["stop_reason"] == "no_page"
        assert "No page could be fetched: 1 × dns" in done.log


WRONG = [
    (["topic=topics/nowhere.toml"], {}, "topics/nowhere.toml: there is no such file"),
    (["topic=sampel"], {}, "did you mean 'sample'?"),
    ([], {}, "no topic; give -a topic=FILE"),
    ([TOPIC, "strategy=hub-seek"], {}, "did you mean 'hub-seeking'?"),
    ([TOPIC, 'strategy={"name": "dom", "alfa": 1}'], {}, "alfa"),
    ([TOPIC, 'strategy={"name": "dom", "alpha": 2}'], {}, "alpha"),
    ([TOPIC, "relevance=cosin"], {}, "did you mean 'cosine'?"),
    ([TOPIC, "sedes=http://a.example/"], {}, "sedes"),
    ([TOPIC, "pages=0"], {}, "pages"),
    ([TOPIC], {"FOCUS_REPLAY": "nowhere.warc.gz"}, "nowhere.warc.gz"),
    ([TOPIC], {"FOCUS_REPLAY": "README.md"}, "README.md"),
    ([TOPIC], {"FOCUS_REPLAY_MISSING": "500"}, "FOCUS_REPLAY_MISSING"),
    ([TOPIC], {"FOCUS_FRONTIER_MAX": "many"}, "FOCUS_FRONTIER_MAX"),
    ([TOPIC], {"FOCUS_STRATEGI": "dom"}, "did you mean 'FOCUS_STRATEGY'?"),
    ([TOPIC], {"FOCUS_RUN": "a/b"}, "FOCUS_RUN"),
]


@pytest.mark.parametrize(("arguments", "settings", "message"), WRONG)
def test_wrong_input_is_one_message_before_the_first_request(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], message: str
) -> None:
    done = crawl(tmp_path, *arguments, **{"FOCUS_REPLAY": "sample", **settings})
    assert done.code == 1
    assert message in done.log
    assert "Traceback" not in done.log
    assert done.log.count("ERROR") == 1
    assert "Spider opened" not in done.log
    assert done.folder is None, "nothing was fetched, so nothing is exported"


def test_a_damaged_model_stops_whom_it_would_be_asked_by(tmp_path: Path) -> None:
    (tmp_path / "models/sample").mkdir(parents=True)
    (tmp_path / "models/sample/crf.npz").write_text("no model")
    done = sample(tmp_path, FOCUS_MODELS_DIR=tmp_path / "models")
    assert done.code == 1
    assert "FOCUS_STRATEGY = 'auto', the default: " in done.log
    assert "crf.npz: not a model file" in done.log
    assert "Spider opened" not in done.log


def test_scrapys_own_scheduler_is_given_few_levels(tmp_path: Path) -> None:
    done = sample(
        tmp_path, "pages=80", SCHEDULER="scrapy.core.scheduler.Scheduler", CONCURRENT_REQUESTS=8
    )
    assert done.code == 0, done.log
    assert "Traceback" not in done.log
    assert done.run["fetched"] == len(done.pages) == 80
    assert done.run["stop_reason"] == "page_limit"
    assert done.stats["scheduler/enqueued"] > 80
    baseline = sample(tmp_path, "pages=80", "strategy=breadth-first")
    assert done.run["relevant"] > baseline.run["relevant"]


def test_the_package_does_not_need_its_project(tmp_path: Path) -> None:
    """A project elsewhere takes the spider and the add-on from the installed package."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = elsewhere\n")
    (tmp_path / "elsewhere.py").write_text(
        'SPIDER_MODULES = ["focusspider.spiders"]\nADDONS = {"focusspider.FocusAddon": 500}\n'
    )
    done = crawl(
        tmp_path / "exports",
        f"topic={os.fspath(ROOT / 'topics/sample.toml')}",
        "pages=10",
        cwd=tmp_path,
        FOCUS_REPLAY="sample",
    )
    assert done.code == 0, done.log
    assert done.run["fetched"] == 10


def test_what_a_function_fails_at_is_counted(tmp_path: Path) -> None:
    judge = json.dumps({"kind": "callable", "function": "operator:neg"})  # a page has no negative
    done = sample(tmp_path, "pages=5", f"relevance={judge}")
    assert done.run["stop_reason"] == "page_limit"
    assert done.stats["focus/page/judge_failed"] == done.stats["focus/page/irrelevant"] == 5
    assert done.log.count("Traceback") == 1


def test_the_same_page_with_other_links_is_marked_also_after_a_resume(tmp_path: Path) -> None:
    folder = tmp_path / "web/a.example"
    folder.mkdir(parents=True)
    text = "Tide tables for each harbour of the coast, with high and low water. " * 4
    for name, links in (("index", "bcd"), ("b", "x"), ("c", "y"), ("d", "z")):
        anchors = "".join(f"<a href='{link}.html#{name}'></a>" for link in links)
        (folder / f"{name}.html").write_text(
            f"<title>Tides</title><p>{text}{name if name == 'd' else ''}</p>{anchors}"
        )
    for pages in ("2", "4"):
        done = crawl(
            tmp_path / "exports",
            "seeds=http://a.example/",
            "keywords=tide table",
            f"pages={pages}",
            FOCUS_REPLAY=tmp_path / "web",
            FOCUS_EXPORT="all",
            JOBDIR=tmp_path / "job",
        )
    marks = {item["url"]: item["duplicate_of"] for item in done.items}
    first = "http://a.example/"
    assert marks == {
        first: None,
        f"{first}b.html": first,
        f"{first}c.html": first,
        f"{first}d.html": None,
    }
    assert done.stats["focus/page/duplicate_content"] == 2


def test_a_redirect_takes_no_page_out_of_its_turn(tmp_path):
    # breadth-first: what dir redirects to comes where dir stood, before last.html
    folder = tmp_path / "web/a.example"
    (folder / "dir").mkdir(parents=True)
    links = "".join(f'<a href="{url}">x</a>' for url in ("first.html", "dir", "last.html"))
    (folder / "index.html").write_text(f"<html><body>{links}</body></html>")
    for name in ("first.html", "dir/index.html", "last.html"):
        (folder / name).write_text("<html><body>tides</body></html>")
    done = crawl(
        tmp_path / "exports",
        "seeds=http://a.example/",
        "keywords=tides",
        "strategy=breadth-first",
        FOCUS_REPLAY=tmp_path / "web",
    )
    assert done.stats["downloader/response_status_count/301"] == 1
    pages = [page["url"].removeprefix("http://a.example/") for page in done.pages]
    assert pages == ["", "first.html", "dir/", "last.html"]
