"""Run folders of every state, read back."""

from __future__ import annotations

import json

import pytest

from focusspider.errors import RunFolderError
from focusspider.report.runlog import read_run, read_titles
from tests.report.hostile import page, run_folder


def lines():
    return [
        page(1, parent=None),
        page(2, parent="http://h1.example/1", relevant=True, anchor="two"),
        page(3, parent="http://h2.example/2"),
    ]


def test_a_whole_run(tmp_path):
    log = read_run(run_folder(tmp_path / "r", lines()))
    assert log.problems == []
    assert log.parents == [-1, 0, 1]
    assert log.relevant == [False, True, False]
    two = log.pages[1]
    assert (two.host, two.anchor, two.depth, two.relevance) == ("h2.example", "two", 0, 0.25)
    assert two.time - log.pages[0].time == 1.0
    assert log.count("focus/link/refused") == 12
    assert log.count("focus/nothing") == 0


@pytest.mark.parametrize(
    ("tail", "problem"),
    [
        ('{"n": 4, "url": "http://a.ex', "The last line of crawl.jsonl is cut"),
        ("\n\x00\x00\x00", "The last line of crawl.jsonl is cut"),
        ("rubbish\n[]\n5\n", "Damaged lines of crawl.jsonl, left out: 3."),
        ("[" * 100_000 + "\n", "Damaged lines of crawl.jsonl, left out: 1."),
        (
            '{"url": 5}\n{"n": 1}\n{"url": ""}\n',
            "Lines of crawl.jsonl that name no URL",
        ),
    ],
)
def test_damage_is_counted_and_passed_over(tmp_path, tail, problem):
    folder = run_folder(tmp_path / "r", lines())
    with (folder / "crawl.jsonl").open("a") as file:
        file.write(tail)
    log = read_run(folder)
    assert len(log.pages) == 3
    assert any(one.startswith(problem) for one in log.problems), log.problems


def test_bytes_that_are_no_text(tmp_path):
    folder = run_folder(tmp_path / "r", lines())
    with (folder / "crawl.jsonl").open("ab") as file:
        file.write(b'{"url": "http://a.example/\xff\xfe"}\n')
    assert read_run(folder).problems == ["Damaged lines of crawl.jsonl, left out: 1."]


def test_fields_of_other_types_are_none(tmp_path):
    folder = tmp_path / "r"
    wrong = {"anchor": 5, "depth": True, "relevance": "much", "relevant": "yes", "status": [],
             "time": "yesterday", "parent": {}}  # fmt: skip
    run_folder(folder, [page(1)], stats=[], topic=5)
    wild = [{**wrong, "relevance": 10**400}, {"time": "0001-01-01T00:00:00"}, {"relevance": -1}]
    text = "".join(json.dumps(page(n, **one)) + "\n" for n, one in enumerate([wrong, *wild]))
    (folder / "crawl.jsonl").write_text(text)
    log = read_run(folder)
    assert log.pages[0][2:] == (-1, None, None, None, False, None, None)
    assert [one.relevance for one in log.pages] == [None, None, 0.25, None]
    assert log.stats() == {}
    assert log.table("topic", "relevance") == {}


def test_a_parent_that_comes_later_or_never_is_no_parent(tmp_path):
    parents = ("h2.example/2", "h1.example/1", "nowhere.example/", "h1.example/4")
    stray = [page(n, parent=f"http://{parent}") for n, parent in enumerate(parents, 1)]
    log = read_run(run_folder(tmp_path / "r", stray))
    assert log.parents == [-1, 0, -1, -1]
    (problem,) = log.problems
    assert problem.startswith("Pages whose parent crawl.jsonl does not have before them: 3;")


def test_a_crawl_that_is_going_on(tmp_path):
    log = read_run(run_folder(tmp_path / "r", lines(), fetched=0, relevant=0, stop_reason=None,
                              ended=None, stats={}))  # fmt: skip
    assert len(log.pages) == 3
    (problem,) = log.problems
    assert problem.startswith("The crawl has not closed: it is going on, or was killed.")


def test_counts_that_differ_are_told(tmp_path):
    log = read_run(run_folder(tmp_path / "r", lines(), fetched=7))
    (problem,) = log.problems
    assert problem.startswith("run.json says 7 pages fetched, crawl.jsonl has 3; the figures")


@pytest.mark.parametrize("text", [None, "", "[", "5", "[" * 100_000, "\x00"])
def test_without_a_good_run_json_the_pages_are_there(tmp_path, text):
    folder = run_folder(tmp_path / "r", lines())
    (folder / "run.json").unlink()
    if text is not None:
        (folder / "run.json").write_text(text)
    log = read_run(folder)
    assert (log.run, len(log.pages), len(log.problems)) == ({}, 3, 1)
    assert log.problems[0].startswith("run.json ")


def test_without_a_log_the_counts_are_there(tmp_path):
    folder = run_folder(tmp_path / "r", lines())
    (folder / "crawl.jsonl").unlink()
    log = read_run(folder)
    assert log.problems == [
        "crawl.jsonl can't be read (No such file or directory): no page is known."
    ]
    assert log.count("focus/link/found") == 30


def test_what_is_no_run_folder(tmp_path):
    with pytest.raises(RunFolderError, match=r"there is no run here .* exports/TOPIC/RUN$"):
        read_run(tmp_path)
    with pytest.raises(RunFolderError, match="No such file"):
        read_run(tmp_path / "nowhere")


def test_titles_of_items_of_any_form(tmp_path):
    folder = run_folder(tmp_path / "r", lines())
    items = [{"url": "u", "title": "one"}, {"url": "u", "title": "two"}, {"url": 5}, [],
             {"url": "v", "title": None}, {"price": 5}, {"url": "w", "title": "no"}]  # fmt: skip
    text = "".join(json.dumps(item) + "\n" for item in items)
    (folder / "items.jsonl").write_text(text + '{"url": "v", "ti')
    log = read_run(folder)
    assert read_titles(log, {"u", "v"}) == {"u": "one"}
    assert len(log.problems) == 2
    (folder / "items.jsonl").unlink()
    assert read_titles(log, {"u"}) == {}
    assert log.problems[-1].startswith("items.jsonl can't be read")
