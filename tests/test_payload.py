"""Requests and values that are written down come back as they went, or are refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
import scrapy
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.http import FormRequest, HtmlResponse, JsonRequest
from scrapy.linkextractors import LinkExtractor

from focusspider import exactjson, stats
from focusspider.errors import UnserializableError
from focusspider.explaining import in_words
from focusspider.frontier import Entry
from focusspider.payload import (
    RequestWriter,
    ScoredLink,
    dump_request,
    load_request,
    pack,
    read,
    unpack,
)


class Spider(scrapy.Spider):
    name = "s"

    def parse(self, response):
        pass

    def detail(self, response, **kwargs):
        pass

    def failed(self, failure):
        pass


SPIDER = Spider()
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())  # lone surrogates too
    | st.binary()
)
KEYS = st.recursive(
    SCALARS,
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=2),
    max_leaves=3,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.sets(KEYS, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.dictionaries(st.sampled_from("!=ab"), inner)
    ),
    max_leaves=8,
)


def shape(value: Any) -> Any:
    """Return a value with its types, so that 1, 1.0 and True differ, and 0.0 and -0.0."""
    if isinstance(value, dict):
        return (dict, [(shape(key), shape(inner)) for key, inner in value.items()])
    if isinstance(value, (list, tuple)):
        return (type(value), [shape(inner) for inner in value])
    if isinstance(value, (set, frozenset)):
        return (type(value), sorted(repr(shape(inner)) for inner in value))
    return (type(value), repr(value))


@given(VALUES)
def test_values_come_back_as_they_went(value: Any) -> None:
    data = exactjson.dumps(value)
    json.loads(data)  # any JSON reader can look into it
    assert shape(exactjson.loads(data)) == shape(value)


def test_what_a_link_extractor_finds_comes_back_as_text() -> None:
    response = HtmlResponse("http://a.example/", body=b"<a href=b>clock <b>two</b></a>")
    (link,) = LinkExtractor().extract_links(response)
    found = response.xpath("//b/text()").getall()
    back = exactjson.loads(exactjson.dumps({"link_text": link.text, "found": found}))
    assert shape(back) == shape({"link_text": str(link.text), "found": ["two"]})
    (node,) = response.selector.root.xpath("//b/text()")
    assert shape(exactjson.loads(exactjson.dumps({node: node}))) == shape({"two": "two"})


def test_what_is_no_number_comes_back() -> None:
    back = exactjson.loads(exactjson.dumps([math.nan, math.inf, -math.inf]))
    assert math.isnan(back[0])
    assert back[1:] == [math.inf, -math.inf]


class Product(scrapy.Item):
    name = scrapy.Field()
    price = scrapy.Field()


def test_items_come_back_as_items() -> None:
    product = Product(name="clock", price=(1, b"x"))
    back = exactjson.loads(exactjson.dumps({"item": product}))
    assert type(back["item"]) is Product
    assert dict(back["item"]) == {"name": "clock", "price": (1, b"x")}


class Level(IntEnum):
    HIGH = 1


@dataclass
class Point:
    x: int


class Text(str):
    __slots__ = ()


def local_item() -> scrapy.Item:
    class Hidden(scrapy.Item):
        a = scrapy.Field()

    return Hidden(a=1)


def loop() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


REFUSED = [
    (np.float64(0.5), "numpy.float64"),
    (np.int64(5), "numpy.int64"),
    (np.array([1.0]), "numpy.ndarray"),
    (Level.HIGH, r"test_payload\.Level"),
    (Point(1), r"test_payload\.Point"),
    (Text("x"), r"test_payload\.Text"),
    (Decimal("1.5"), "decimal.Decimal"),
    (scrapy.Selector(text="<p>"), "Selector"),
    (lambda: None, "function"),
    (local_item(), "Hidden"),
    (10**5000, "digits"),
    (loop(), "in itself"),
]


@pytest.mark.parametrize(("value", "word"), REFUSED, ids=lambda case: str(type(case).__name__))
def test_what_would_come_back_as_something_else_is_refused(value: Any, word: str) -> None:
    with pytest.raises(UnserializableError, match=word) as caught:
        exactjson.dumps({"deep": [1, (value,)]}, "meta")
    assert str(caught.value).startswith("meta['deep'][1][0]: " if "." in word else "meta")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b'{"!":"pickle","=":"x"}',
        b'{"!":"bytes"}',
        b'{"!":"bytes","=":"\\u0007"}',
        b'{"!":"set","=":[[1]]}',
        b'{"!":"dict","=":[1]}',
        b'{"!":"item","class":"os.system","=":{}}',
        b'{"!":"item","class":"no.such.module","=":{}}',
        b'{"!":"item","class":"tests","=":{}}',
    ],
)
def test_what_was_not_written_here_is_an_error(data: bytes) -> None:
    with pytest.raises(UnserializableError, match="not written by focusspider"):
        exactjson.loads(data)


def state(request: scrapy.Request) -> Any:
    return shape(request.to_dict(spider=SPIDER))


REQUESTS = st.builds(
    scrapy.Request,
    st.sampled_from(["http://a.example/", "https://b.example/x?q=%C3%A9#top", "data:,x"]),
    callback=st.sampled_from([None, SPIDER.parse, SPIDER.detail]),
    errback=st.sampled_from([None, SPIDER.failed]),
    method=st.sampled_from(["GET", "POST", "HEAD"]),
    headers=st.dictionaries(st.sampled_from(["Accept", "X-Id"]), st.lists(st.binary())),
    body=st.binary(),
    cookies=st.dictionaries(st.text(), st.text())
    | st.lists(st.fixed_dictionaries({"name": st.text(), "value": st.text()})),
    meta=st.dictionaries(KEYS, VALUES, max_size=2),
    encoding=st.sampled_from(["utf-8", "latin-1"]),
    priority=st.integers(-10, 10),
    dont_filter=st.booleans(),
    flags=st.lists(st.text()),
    cb_kwargs=st.dictionaries(st.text(), VALUES, max_size=2),
)


@given(REQUESTS)
@settings(deadline=None)
def test_requests_come_back_as_they_went(request: scrapy.Request) -> None:
    back = load_request(dump_request(request, SPIDER), SPIDER)
    assert type(back) is scrapy.Request
    assert state(back) == state(request)
    assert (back.callback, back.errback) == (request.callback, request.errback)


@pytest.mark.parametrize(
    "request_",
    [
        JsonRequest("http://a.example/", data={"q": [1, None]}),
        JsonRequest("http://a.example/", dumps_kwargs={"sort_keys": True}),
        FormRequest("http://a.example/", formdata={"q": "clock"}, callback=SPIDER.detail),
        FormRequest("http://a.example/", formdata={"q": "clock"}, method="GET"),
    ],
)
def test_other_kinds_of_requests_come_back_as_they_went(request_: scrapy.Request) -> None:
    back = load_request(dump_request(request_, SPIDER), SPIDER)
    assert type(back) is type(request_)
    assert state(back) == state(request_)


def test_a_plain_request_is_written_in_few_bytes() -> None:
    request = scrapy.Request("http://a.example/", callback=SPIDER.detail)
    assert dump_request(request, SPIDER) == b'{"url":"http://a.example/","callback":"detail"}'


class Own(scrapy.Request):
    pass


def hidden_request() -> scrapy.Request:
    class Hidden(scrapy.Request):
        pass

    return Hidden("http://a.example/")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (scrapy.Request("http://a.example/", callback=lambda r: None), "is not an instance method"),
        (scrapy.Request("http://a.example/", errback=Spider().failed), None),
        (scrapy.Request("http://a.example/", callback=Own("http://b.example/").copy), "instance"),
        (scrapy.Request("http://a.example/", meta={"p": np.float64(1)}), r"\['meta'\]\['p'\]"),
        (scrapy.Request("http://a.example/", cb_kwargs={"x": Point(1)}), r"\['cb_kwargs'\]\['x'\]"),
        (hidden_request(), "can't be imported"),
        (Own("http://a.example/"), None),
    ],
)
def test_why_a_request_cannot_be_written(request_: scrapy.Request, words: str | None) -> None:
    if words is None:
        dump_request(request_, SPIDER)
        return
    with pytest.raises(UnserializableError, match=words) as caught:
        dump_request(request_, SPIDER)
    assert "<GET http://a.example/>" in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        b'{"url":"http://a.example/","callback":"gone"}',
        b'{"url":"no url"}',
        b'{"callback":"parse"}',
        b"[1]",
        b'{"url":"http://a.example/","_class":"os.system"}',
        b'{"url":"http://a.example/","_class":"scrapy.Spider"}',
    ],
)
def test_a_request_that_the_spider_does_not_understand_is_an_error(data: bytes) -> None:
    with pytest.raises(UnserializableError, match="makes no request"):
        load_request(data, SPIDER)


class Collector:
    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def get_value(self, key: str) -> int | None:
        return self.counts.get(key)

    def inc_value(self, key: str) -> None:
        self.counts[key] = self.counts.get(key, 0) + 1


def test_what_cannot_be_written_waits_in_memory_and_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    collector = Collector()
    writer = RequestWriter(SPIDER, collector)  # type: ignore[arg-type]
    good = scrapy.Request("http://a.example/good")
    odd = [scrapy.Request(f"http://a.example/{n}", callback=lambda r: None) for n in range(3)]
    assert writer.payload(good) == b'{"url":"http://a.example/good"}'
    assert [writer.payload(request) for request in odd] == odd
    assert collector.counts == {stats.FRONTIER_UNSERIALIZABLE: 3}
    assert len(caplog.records) == 1
    assert "http://a.example/0" in caplog.text
    assert "lambda" in caplog.text


def test_what_the_spider_does_not_understand_any_more_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    collector = Collector()
    gone = entry(b'{"url":"http://a.example/","callback":"gone"}')
    assert [read(gone, SPIDER, collector) for _ in range(3)] == [None] * 3  # type: ignore[arg-type]
    assert collector.counts == {stats.FRONTIER_UNREADABLE: 3}
    assert len(caplog.records) == 1
    assert "gone" in caplog.text
    good = read(entry(b'{"url":"http://a.example/"}'), SPIDER, collector)  # type: ignore[arg-type]
    assert good is not None
    assert good.url == "http://a.example/"


def entry(payload: Any, priority: int = 2**49) -> Entry:
    return Entry(b"x" * 20, "a.example", priority, payload)


def test_a_lease_is_a_request_however_it_waited() -> None:
    request = scrapy.Request("http://a.example/", meta={"focus": {"parent": 3}})
    assert unpack(entry(request), SPIDER) is request
    assert state(unpack(entry(dump_request(request, SPIDER)), SPIDER)) == state(request)
    link = ScoredLink("http://a.example/b", 2**49, "b" * 500, {"page": 0.5})
    made = unpack(entry(pack(link, 2, 3, (0.25, 0.75))), SPIDER)
    assert made.url == "http://a.example/b"
    assert made.meta == {
        "depth": 2,
        "focus": {
            "priority": 2**49,
            "parent": 3,
            "anchor": "b" * 200,
            "state": [0.25, 0.75],
            "explain": {"page": 0.5},
        },
    }
    raised = unpack(entry(pack(link, 2, 3, None), priority=2**49 + 1), SPIDER)
    assert "explain" not in raised.meta["focus"]  # those parts are of another score
    assert in_words(entry(None), made) == "score 0.500000 (page 0.5)"
    assert in_words(entry(None), request) == "score 0.500000 (no parts)"
