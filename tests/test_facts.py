"""``facts.jsonl``: what relevant pages say, once for each page, whatever happens to the crawl."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from focusspider.errors import RunFolderError
from focusspider.facts import FACTS, facts_of, read_lines
from focusspider.relevance.base import Judgement
from focusspider.relevance.table import TableRelevance
from focusspider.runfolder import RunFolder
from focusspider.visits import Visit
from tests.crawls import crawl
from tests.pages import page, profile
from tests.site import Site

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.page import Page

CAMERAS = {"a1": ("12 MP", "300 g"), "b2": ("20 MP", "450 g"), "c3": ("24 MP", "510 g")}


def sheet(name: str) -> str:
    resolution, weight = CAMERAS[name]
    return (
        f"<title>{name}</title><h1>Camera {name}</h1><table><tr><th>Resolution:<td>{resolution}"
        f"<tr><th>Weight<td>{weight}</table>"
        "<table><tr><td><a href=/>Home</a><td><a href=/n>News</a><tr><td><a href=/m>Map</a></table>"
    )


def visit(of: Page, *, relevant: bool = True) -> Visit:
    return Visit(1, of.url, of, Judgement(1.0, relevant, "test"), 0, 0, {}, None, None)


def test_a_fact_is_a_pair_of_a_wanted_table() -> None:
    pages = [page(sheet(name), f"http://a.example/{name}") for name in CAMERAS]
    judge = TableRelevance()
    judge.start(profile("camera", targets=pages[:2]))
    assert list(facts_of(judge, visit(pages[2]))) == [
        {
            "url": "http://a.example/c3",
            "table": 0,
            "heading": "Camera c3",
            "attribute": attribute,
            "value": value,
        }
        for attribute, value in (("Resolution:", "24 MP"), ("Weight", "510 g"))
    ]
    assert list(facts_of(judge, visit(pages[2], relevant=False))) == []
    assert list(facts_of(judge, visit(page("<p>no table"), relevant=True))) == []


def test_judges_without_tables_have_no_facts_and_no_file(tmp_path: Path) -> None:
    class Own:
        def start(self, profile: object) -> None: ...

        def judge(self, page: Page) -> Judgement:
            return Judgement(1.0, True, "own")

    folder = RunFolder(tmp_path)
    folder.add_facts(facts_of(Own(), visit(page(sheet("a1")))), "owner")
    folder.close()
    assert not (tmp_path / FACTS).exists()


def test_a_resumed_crawl_cuts_the_facts_of_pages_that_were_not_settled(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.add_facts([{"n": 1}, {"n": 2}], "settled")
    folder.settled("settled")
    folder.add_facts([{"n": 3}], "not settled")
    marks = json.loads(json.dumps(folder.marks()))
    folder.add_facts([{"n": 4}], "after the mark")
    folder.close()
    resumed = RunFolder(tmp_path, marks)
    resumed.add_facts([{"n": 3}], "again")
    resumed.close()
    assert list(read_lines(tmp_path / FACTS)) == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_facts_that_no_mark_knows_of_are_cut_altogether(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    marks = json.loads(json.dumps(folder.marks()))
    folder.add_facts([{"n": 1}], "after the mark")
    folder.close()
    RunFolder(tmp_path, marks).close()
    assert list(read_lines(tmp_path / FACTS)) == []


def test_a_crawl_writes_them_for_each_page_once(tmp_path: Path) -> None:
    menu = "".join(f"<p><a href=/{name}>{name}</a>" for name in CAMERAS)
    pages = {f"/{name}": sheet(name) + menu for name in CAMERAS}
    with Site({"/": f"<title>Cameras</title>{menu}", **pages}, hosts=("127.0.0.1",)) as site:
        done = crawl(
            tmp_path,
            "keywords=camera",
            f"seeds={site.url('/')}",
            f"targets={site.url('/a1')},{site.url('/b2')}",
            "relevance=table",
        )
    assert done.code == 0, done.log
    assert {item["title"] for item in done.items} == CAMERAS.keys()
    found = [(line["url"].rpartition("/")[2], line["value"]) for line in done.lines(FACTS)]
    assert sorted(found) == sorted((name, value) for name in CAMERAS for value in CAMERAS[name])


def test_targets_that_nothing_can_be_learnt_from_end_the_crawl_with_one_line(
    tmp_path: Path,
) -> None:
    with Site({"/": "<p>tea", "/a1": sheet("a1")}, hosts=("127.0.0.1",)) as site:
        done = crawl(
            tmp_path,
            "keywords=camera",
            f"seeds={site.url('/')}",
            f"targets={site.url('/a1')}",
            "relevance=table",
        )
        assert "/" not in [hit.path for hit in site.hits]
    assert done.run["stop_reason"] == "no_target"
    assert "1 of 1 have one; give 2 targets or more" in done.log
    assert "Traceback" not in done.log


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"url": 1}\n{"a"\n', "line 2: not JSON"),
        ("[1]\n", "line 1: not an object of JSON"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / FACTS).write_text(text, encoding="utf-8")
    with pytest.raises(RunFolderError, match=says):
        list(read_lines(tmp_path / FACTS))


def test_a_last_line_that_is_half_written_is_left_out(tmp_path: Path) -> None:
    (tmp_path / FACTS).write_text('{"n": 1}\n{"n": ', encoding="utf-8")
    assert list(read_lines(tmp_path / FACTS)) == [{"n": 1}]
