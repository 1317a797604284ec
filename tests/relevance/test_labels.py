"""The labels judge: which URLs are one, which labels count, and what a bad table prints."""

from __future__ import annotations

import csv
import logging
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import TopicError
from focusspider.relevance import build_relevance
from focusspider.relevance.base import Judgement
from focusspider.relevance.labels import LabelRelevance, passed_over
from tests.pages import page

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """\
url,label,group
http://a.example/,home,a
http://a.example/robots,Science.Robots,a
http://a.example/robots,Science.Machines,a
http://a.example/tea/index.html,Food.Drinks,a
http://a.example/cake/,Food,a
http://A.example:80/%7eme/My Page.html#top,person,a
http://a.example/list?b=2&a=1,list,a
http://a.example/both,first,a
http://a.example/both/,second,a
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "labels.csv"
    file.write_text(TABLE, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("url", "labels"),
    [
        ("http://a.example/", "home"),
        ("http://a.example/index.html", "home"),
        ("https://a.example/", "home"),
        ("http://a.example/robots", "Science.Robots, Science.Machines"),
        ("http://a.example/robots/", "Science.Robots, Science.Machines"),
        ("http://a.example/robots/default.htm", "Science.Robots, Science.Machines"),
        ("http://a.example/tea", "Food.Drinks"),
        ("http://a.example/tea/", "Food.Drinks"),
        ("http://a.example/cake/index.htm", "Food"),
        ("http://a.example/~me/My%20Page.html", "person"),
        ("http://a.example/%7Eme/My%20Page.html", "person"),
        ("http://a.example/list?a=1&b=2", "list"),
        ("http://a.example/list", None),
        ("http://a.example/list/?a=1&b=2", "list"),
        ("http://a.example/robots.html", None),
        ("http://a.example/Robots", None),
        ("http://b.example/robots", None),
        ("file:///robots", None),
        # Where the table tells spellings apart, so does the judge.
        ("http://a.example/both", "first"),
        ("http://a.example/both/", "second"),
        ("http://a.example/both/index.html", "first, second"),
    ],
)
def test_spellings_of_one_address(table: Path, url: str, labels: str | None) -> None:
    judge = LabelRelevance(file=table, label="Food")
    judgement = judge.judge(page("<p>x</p>", url))
    if labels == "Food":
        assert judgement == Judgement(1.0, True, "label Food")
    elif labels is None:
        assert judgement == Judgement(0.0, False, "not in the table of labels")
    else:
        assert judgement == Judgement(0.0, False, f"label {labels}")


@pytest.mark.parametrize(
    ("label", "match", "relevant"),
    [
        ("Science.Robots", "exact", {"robots"}),
        ("Science", "prefix", {"robots"}),
        ("Food", "exact", {"cake/"}),
        ("Food", "prefix", {"cake/", "tea/"}),
        (["Food", "Science.Machines"], "exact", {"cake/", "robots"}),
        (("Food", "Science"), "prefix", {"cake/", "robots", "tea/"}),
    ],
)
def test_labels_that_are_wanted(table: Path, label: Any, match: str, relevant: set[str]) -> None:
    judge = build_relevance(
        "labels",
        None,
        {"file": "labels.csv", "label": label, "match": match},
        base_dir=table.parent,
    )
    found = {
        path
        for path in ("", "robots", "tea/", "cake/", "list")
        if judge.judge(page("<p>x</p>", f"http://a.example/{path}")).relevant
    }
    assert found == relevant


def test_the_why_names_the_labels_that_decided(table: Path) -> None:
    judge = LabelRelevance(file=table, label="Science", match="prefix")
    why = judge.judge(page("<p>x</p>", "http://a.example/robots")).why
    assert why == "label Science.Robots, Science.Machines"


def test_rows_that_no_crawl_can_fetch_are_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("label,url\nx,ftp://a.example/\nx,nonsense\ny,http://a.example/\n")
    with caplog.at_level(logging.WARNING):
        judge = LabelRelevance(file=file, label="y")
    assert judge.judge(page("<p>x</p>", "http://a.example/")).relevant
    assert "2 rows" in caplog.text
    assert "line 2, 'ftp://a.example/': scheme" in caplog.text
    assert passed_over(file) in caplog.messages
    file.write_text("label,url\ny,http://a.example/\n")
    assert passed_over(file) is None


def test_a_table_with_a_byte_order_mark_and_quotes(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_bytes('\ufeffurl,label\r\n"http://a.example/?a,b","x, y"\r\n\r\n'.encode())
    judge = LabelRelevance(file=file, label="x, y")
    assert judge.judge(page("<p>x</p>", "http://a.example/?a,b")).relevant


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the header is ''; its first line must name the columns url and label"),
        (b"http://a.example/,x\n", "the header is 'http://a.example/,x'; its first line must"),
        (b"url,label\n", "there are no labels in it; give rows of url,label"),
        (b"url,label\nftp://a.example/,x\n", "there are no labels in it; give rows of url,label"),
        (b"url,label\nhttp://a.example/,x\nhttp://a.example/\n", ", line 3: 'http://a.example/' "),
        (b"url,label\nhttp://a.example/,\n", ", line 2: the label is empty; give one, or take"),
        (b"url,label\n ,x\n", ", line 2: the url is empty; give one, or take the line out"),
        (b'url,label\nhttp://a.example/,"x\n', ", line 2: is not CSV: unexpected end of data"),
        (b'url,label\n\nhttp://a.example/,"x"y\n', ", line 3: is not CSV: "),
        (b"url,label\nhttp://a.example/,caf\xe9\n", "is not UTF-8 (invalid continuation byte)"),
        (b"url,label\nhttp://a.example/,y\n", "label 'x' is not in "),
        (None, "there is no such file; mend file = ..."),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "labels.csv"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(TopicError) as caught:
        build_relevance(
            "labels",
            None,
            {"file": "labels.csv", "label": "x"},
            base_dir=tmp_path,
            where="test.toml: [relevance]",
        )
    message = str(caught.value)
    assert message.startswith("test.toml: [relevance]: ")
    assert str(file) in message
    assert says in message


def test_a_folder_for_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="cannot be read: Is a directory"):
        LabelRelevance(file=tmp_path, label="x")


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"label": "x"}, "needs the parameter 'file'; its parameters: file, label, match"),
        ({"file": "labels.csv"}, "needs the parameter 'label'; its parameters: file, label, match"),
        ({"file": 3, "label": "x"}, "file must be a path, got 3"),
        ({"file": "labels.csv", "label": []}, "label must name at least one label, got []"),
        ({"file": "labels.csv", "label": [1]}, "label must be a list of texts, got [1]"),
        ({"file": "labels.csv", "label": 1}, "label must be a list of texts, got 1"),
        ({"file": "", "label": "x"}, "file must be a path, got ''"),
        ({"file": "labels.csv", "label": ""}, "label must be a list of texts, got ''"),
        ({"file": "labels.csv", "label": "x", "match": "begin"}, "match must be one of exact, pre"),
        ({"file": "labels.csv", "label": ["Food", "Foot"]}, "label 'Foot' is not in "),
        ({"file": "labels.csv", "label": "Foot"}, "(did you mean 'Food'?); labels there: Food, "),
    ],
)
def test_wrong_values_are_refused(table: Path, params: dict[str, Any], says: str) -> None:
    with pytest.raises(TopicError) as caught:
        build_relevance("labels", None, params, base_dir=table.parent)
    assert says in str(caught.value)


def test_every_page_of_a_corpus_has_the_labels_of_its_rows(corpora: Path) -> None:
    rows: dict[str, set[str]] = {}
    with (corpora / "webkb" / "labels.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["url"], set()).add(row["label"])
    judge = LabelRelevance(file=corpora / "webkb" / "labels.csv", label="course")
    web = {url: labels for url, labels in rows.items() if url.startswith("http")}
    found = {url for url in web if judge.judge(page("<p>x</p>", url.replace(" ", "%20"))).relevant}
    assert found >= {url for url, labels in web.items() if "course" in labels}
    # Two rows can be one page: http://a/x and http://a/x/ with labels of their own.
    assert len(found) <= 1.01 * sum("course" in labels for labels in web.values())
