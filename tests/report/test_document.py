from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from focusspider.report.charts import Chart, Line, chart_data, places, styled
from focusspider.report.document import PageFileError, document, element, link, write_page
from focusspider.report.table import table
from tests.report.hostile import NO_LINKS, TEXTS
from tests.report.htmlcheck import Parsed


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_hostile_text_stays_text(text):
    page = document(
        text,
        [
            element("p", text, title=text),
            table([{text: text, "n": 1}], meanings={text: text}, series={text}),
            link(text, text),
        ],
        data={text: [text]},
    )
    page.encode("utf-8")
    parsed = Parsed(page)
    parsed.check()
    names = {tag for tag, _ in parsed.elements}
    assert names <= {"html", "head", "meta", "title", "style", "body", "h1", "p", "div", "table",
                     "thead", "tbody", "tr", "th", "td", "button", "bdi", "script"}  # fmt: skip
    assert json.loads(parsed.scripts[0]) == {text: [text]}
    assert len(parsed.scripts) == 2
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", page)


@pytest.mark.parametrize("url", NO_LINKS)
def test_what_is_no_address_of_the_web_is_no_link(url):
    assert Parsed(link(url)).hrefs == []
    assert Parsed(link(url, "a title")).hrefs == []


@pytest.mark.parametrize(
    "url", ["http://a.example/", "HTTPS://b.example:8443/ä?x=1&y='2'#z", "http://[::1]/%00"]
)
def test_an_address_of_the_web_is_a_link_that_tells_nobody(url):
    ((_, attrs), _) = Parsed(link(url)).elements
    assert attrs["href"] == url
    assert attrs["rel"] == "noreferrer noopener nofollow"


def test_the_policy_lets_the_scripts_of_the_page_run_and_no_others():
    page = document("t", [], libraries=["var a = 1;\r\nvar b = 2;\r"])
    parsed = Parsed(page)
    policy = next(attrs["content"] for tag, attrs in parsed.elements
                  if attrs.get("http-equiv") == "Content-Security-Policy")  # fmt: skip
    assert policy.startswith("default-src 'none';")
    allowed = re.search(r"script-src ([^;]+);", policy)[1].split()
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in parsed.scripts[1:]
    ]
    assert allowed == [f"'sha256-{digest}'" for digest in digests]


def test_cells():
    rows = [{"name": "a", "n": 1234, "x": 0.12345, "none": None}, {"name": None, "n": None}]
    parsed = Parsed(table(rows))
    cells = [attrs for tag, attrs in parsed.elements if tag == "td"]
    assert parsed.text == "namenxnonea1,2340.123––––"
    assert [cell.get("data-value") for cell in cells] == [
        None, "1234", "0.12345", None, None, None, None, None,
    ]  # fmt: skip
    assert "None." in table([])


def test_rows_and_columns_of_a_series_can_be_found():
    parsed = Parsed(table([{"strategy": "dom", "dom": 0.5, "else": 1.0}], series={"dom"}))
    marked = [tag for tag, attrs in parsed.elements if attrs.get("data-series") == "dom"]
    assert marked == ["th", "tr", "td"]


def test_a_chart_is_plain_json():
    line = Line([0.123456, 1.0], [float("nan"), 0], [float("inf"), 2])
    chart = Chart("c", "t", "x", "y", [1, 2.5], {"all": {"a": line, "b": Line([3, 4])}})
    data = json.loads(json.dumps(chart_data([chart], styled("ab")), allow_nan=False))
    assert data["charts"][0]["x"] == [1, 2.5]
    assert data["charts"][0]["views"] == {
        "all": {"a": {"y": [0.1235, 1], "low": [None, 0], "high": [None, 2]}, "b": {"y": [3, 4]}}
    }
    assert [one["name"] for one in data["series"]] == ["a", "b"]


def test_every_series_of_thirty_looks_different():
    assert len({(one.color, one.dash) for one in styled(map(str, range(30)))}) == 30


def test_places_keep_both_ends_and_order():
    for length in (1, 2, 999, 1000, 1001, 123456):
        at = places(length, 1000)
        assert at[0] == 0
        assert at[-1] == length - 1
        assert len(at) == min(length, 1000)
        assert at == sorted(set(at))


def test_a_page_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "page.html"
    write_page(path, "one")
    write_page(path, "two")
    assert path.read_text() == "two"
    assert [one.name for one in path.parent.iterdir()] == ["page.html"]
    for wrong in (path / "x", path.parent):
        with pytest.raises(PageFileError, match=r"can't be written: [\w ]+; give another"):
            write_page(wrong, "three")
    assert [one.name for one in tmp_path.rglob("*")] == ["new", "page.html"]
