"""Parquet as a user writes it with ``FEEDS``, and WARC as others read it."""

from __future__ import annotations

import dataclasses
import datetime
import gzip
import json
from decimal import Decimal
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scrapy
from scrapy.extensions.postprocessing import GzipPlugin, PostProcessingManager

from focusspider import exporters
from focusspider.errors import MissingExtraError
from focusspider.exporters import ParquetItemExporter, WarcWriter
from tests.crawls import ROOT, Crawl, crawl
from tests.site import Reply, Site, links

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

parquet = pytest.importorskip("pyarrow.parquet")


def table(items: Iterable[Any], **options: Any) -> Any:
    """Export items, and read them back."""
    file = BytesIO()
    exporter = ParquetItemExporter(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return parquet.read_table(BytesIO(file.getvalue()))


class Product(scrapy.Item):
    name = scrapy.Field()
    price = scrapy.Field(serializer=lambda value: round(value, 1))
    never = scrapy.Field()


@dataclasses.dataclass
class Row:
    name: str
    price: float | None = None


class TestParquet:
    def test_plain_values_keep_their_types(self) -> None:
        items = [
            {"text": "é", "whole": 2**62, "real": 0.1, "flag": True, "none": None},
            {"text": "", "whole": -1, "real": 2, "flag": None, "none": None},
        ]
        read = table(items)
        assert [str(kind) for kind in read.schema.types] == [
            "string", "int64", "double", "bool", "string",
        ]  # fmt: skip
        assert read.to_pylist() == [items[0], {**items[1], "real": 2.0}]

    @pytest.mark.parametrize(
        ("value", "cell"),
        [
            ([1, "é", None], '[1, "é", null]'),
            ({"a": {"b": [1]}}, '{"a": {"b": [1]}}'),
            ((), "[]"),
            (Product(name="x"), '{"name": "x"}'),
            ([Row("x")], '[{"name": "x", "price": null}]'),
            ({(1, 2): 3}, "{(1, 2): 3}"),
            (object, "<class 'object'>"),
            (b"bytes \xff", r"bytes \xff"),
            (datetime.datetime(2026, 11, 27, tzinfo=datetime.UTC), "2026-11-27T00:00:00+00:00"),
            (datetime.date(2026, 11, 27), "2026-11-27"),
            (Decimal("1.50"), '"1.50"'),
            (np.int64(5), 5),
            (np.float32(0.5), 0.5),
            ("half \ud83d of one", "half ? of one"),
            (2**64, str(2**64)),
            (float("inf"), float("inf")),
        ],
    )  # fmt: skip
    def test_odd_values(self, value: Any, cell: Any) -> None:
        assert table([{"v": value}]).to_pylist() == [{"v": cell}]

    def test_mixed_types_are_texts(self) -> None:
        values = [1, "one", True, None, [1], 2.5]
        cells = [row["v"] for row in table([{"v": value} for value in values]).to_pylist()]
        assert cells == ["1", "one", "true", None, "[1]", "2.5"]

    def test_items_of_every_kind_together(self) -> None:
        read = table([Product(name="a", price=1.26), Row("b", 2.0), {"name": "c", "odd": "x"}])
        assert read.column_names == ["name", "price", "never", "odd"]
        assert read.to_pylist() == [
            {"name": "a", "price": 1.3, "never": None, "odd": None},
            {"name": "b", "price": 2.0, "never": None, "odd": None},
            {"name": "c", "price": None, "never": None, "odd": "x"},
        ]

    @pytest.mark.parametrize(
        ("fields", "columns"),
        [(None, []), (["url", "n"], ["url", "n"]), ({"url": "address"}, ["address"])],
    )
    def test_no_items_are_a_file_all_the_same(self, fields: Any, columns: list[str]) -> None:
        read = table([], fields_to_export=fields)
        assert read.num_rows == 0
        assert read.column_names == columns

    def test_the_fields_of_the_feed(self) -> None:
        items = [{"n": 1, "url": "u", "x": 0}, {"n": 2}]
        assert table(items, fields_to_export=["url", "n"]).to_pylist() == [
            {"url": "u", "n": 1},
            {"url": None, "n": 2},
        ]
        renamed = table(items, fields_to_export={"n": "number"})
        assert renamed.to_pylist() == [{"number": 1}, {"number": 2}]

    def test_what_has_no_place_is_said(self, caplog: pytest.LogCaptureFixture) -> None:
        items: list[dict[str, Any]] = [{"n": n, "flag": True} for n in range(1000)]
        items += [{"n": "text", "flag": 1, "late": 5}, {"n": 5, "late": None}]
        rows = table(items).to_pylist()
        assert len(rows) == 1002
        assert rows[1000] == {"n": None, "flag": None}
        assert rows[1001] == {"n": 5, "flag": None}
        assert len(caplog.records) == 1
        for words in ("n 1 times", "flag 1 times", "late 1 times"):
            assert words in caplog.text

    def test_a_file_that_has_content_is_left_alone(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "items.parquet"
        path.write_bytes(b"content")
        with path.open("ab") as file:
            exporter = ParquetItemExporter(file)
            for _ in range(3):
                exporter.export_item({"a": 1})
            exporter.finish_exporting()
        assert path.read_bytes() == b"content"
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert str(path) in caplog.text
        assert '"overwrite": True' in caplog.text

    def test_what_gzip_begins_with_is_no_content(self, tmp_path: Path) -> None:
        with (tmp_path / "items.parquet.gz").open("wb") as file:
            zipped = PostProcessingManager([GzipPlugin], file, {})
            exporter = ParquetItemExporter(zipped)
            exporter.export_item({"a": 1})
            exporter.finish_exporting()
            zipped.close()
        data = gzip.decompress((tmp_path / "items.parquet.gz").read_bytes())
        assert data[:4] == data[-4:] == b"PAR1"


class TestFeeds:
    def feed(self, tmp_path: Path, path: Path, **options: Any) -> Crawl:
        feeds = {str(path): {"format": "parquet", **options}}
        return crawl(
            tmp_path / "exports",
            "topic=topics/sample.toml",
            "pages=12",
            FOCUS_REPLAY="sample",
            FEEDS=json.dumps(feeds),
        )

    def test_as_a_user_would_and_not_twice(self, tmp_path: Path) -> None:
        path = tmp_path / "found.parquet"
        done = self.feed(tmp_path, path, fields=["url", "relevance"])
        assert done.code == 0, done.log
        rows = parquet.read_table(path).to_pylist()
        assert rows == [{name: item[name] for name in ("url", "relevance")} for item in done.items]
        again = self.feed(tmp_path, path)
        assert again.code == 1
        assert f"FEEDS: {path} is there already" in again.log
        assert "Traceback" not in again.log
        assert "Spider opened" not in again.log
        assert parquet.read_table(path).to_pylist() == rows


HIDDEN = [
    ("pyarrow", {"FOCUS_EXPORT_PARQUET": True}, "focusspider[parquet]"),
    ("pyarrow", {"FEEDS": '{"x.parquet": {"format": "parquet"}}'}, "focusspider[parquet]"),
    ("warcio", {"FOCUS_EXPORT_WARC": True}, "focusspider[warc]"),
]


@pytest.mark.parametrize(("library", "settings", "extra"), HIDDEN)
def test_a_missing_library_is_one_message_before_the_first_request(
    tmp_path: Path, library: str, settings: dict[str, Any], extra: str
) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = elsewhere\n")
    (tmp_path / "elsewhere.py").write_text(
        'SPIDER_MODULES = ["focusspider.spiders"]\nADDONS = {"focusspider.FocusAddon": 500}\n'
    )
    (tmp_path / f"{library}.py").write_text("raise ImportError('hidden')\n")
    done = crawl(
        tmp_path / "exports",
        f"topic={ROOT / 'topics/sample.toml'}",
        cwd=tmp_path,
        FOCUS_REPLAY="sample",
        LOG_LEVEL="INFO",
        **settings,
    )
    assert done.code == 1
    assert f"run: pip install '{extra}'" in done.log
    assert done.log.count("ERROR") == 1
    assert "Traceback" not in done.log
    assert done.folder is None


@pytest.mark.parametrize("load", [exporters.load_arrow, exporters.load_warcio])
def test_a_missing_library_where_it_is_used_directly(
    monkeypatch: pytest.MonkeyPatch, load: Any
) -> None:
    import sys

    name = "pyarrow" if load is exporters.load_arrow else "warcio"
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'focusspider\["):
        load()


TEXT = "A pendulum clock, its escapement and its mainspring. " * 20
PAGES = {
    "/": links("/old", "/zipped", "/gone", "/odd", "/secret", text=TEXT),
    "/robots.txt": Reply("User-agent: *\nDisallow: /secret\n"),
    "/old": Reply("", status=301, headers={"Location": "/new"}),
    "/new": links("/", text=TEXT),
    "/zipped": Reply(
        gzip.compress(links("/", text=TEXT).encode(), mtime=0), headers={"Content-Encoding": "gzip"}
    ),
    "/odd": Reply(links("/", text=TEXT), headers={"X-Odd": b"caf\xe9", "Set-Cookie": "a=1"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Crawl, str]:
    with Site(PAGES, hosts=("127.0.0.1",)) as site:
        done = crawl(
            tmp_path_factory.mktemp("archived"),
            "keywords=pendulum clock, escapement, mainspring",
            f"seeds={site.url('/')}",
            FOCUS_EXPORT_WARC=True,
            FOCUS_EXPORT="all",
            FOCUS_CRAWL_LOG_TIMES=False,
            DOWNLOAD_DELAY=0,
            AUTOTHROTTLE_ENABLED=False,
            CONCURRENT_REQUESTS=1,
        )
        return done, site.url("")


def records(done: Crawl) -> list[tuple[str, str, dict[str, str], bytes]]:
    """Return (URL, status, headers, body as it came) of each response."""
    from warcio.archiveiterator import ArchiveIterator

    assert done.folder is not None
    with (done.folder / "pages.warc.gz").open("rb") as file:
        return [
            (
                record.rec_headers.get_header("WARC-Target-URI"),
                record.http_headers.get_statuscode(),
                dict(record.http_headers.headers),
                record.raw_stream.read(),
            )
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response"
        ]


class TestWarc:
    def test_all_that_was_fetched_is_in_it(self, archived: tuple[Crawl, str]) -> None:
        done, site = archived
        assert done.code == 0, done.log
        assert [(url.removeprefix(site), status) for url, status, _, _ in records(done)][:2] == [
            ("/robots.txt", "200"),
            ("/", "200"),
        ]
        assert {(url.removeprefix(site), status) for url, status, _, _ in records(done)} == {
            ("/robots.txt", "200"), ("/", "200"), ("/old", "301"), ("/new", "200"),
            ("/zipped", "200"), ("/gone", "404"), ("/odd", "200"),
        }  # fmt: skip

    def test_bodies_and_headers_are_as_they_came(self, archived: tuple[Crawl, str]) -> None:
        done, site = archived
        by_path = {
            url.removeprefix(site): (headers, body) for url, _, headers, body in records(done)
        }
        headers, body = by_path["/zipped"]
        assert headers["Content-Encoding"] == "gzip"
        assert body == PAGES["/zipped"].body
        assert headers["Content-Length"] == str(len(body))
        assert by_path["/old"][0]["Location"] == "/new"
        assert by_path["/odd"][0]["X-Odd"] == "caf%C3%A9", "headers are ASCII in a WARC"

    def test_another_reader_finds_the_same(self, archived: tuple[Crawl, str]) -> None:
        fastwarc = pytest.importorskip("fastwarc.warc")
        done, _ = archived
        assert done.folder is not None
        with (done.folder / "pages.warc.gz").open("rb") as file:
            found = [
                (record.headers["WARC-Target-URI"], str(record.http_headers.status_code))
                for record in fastwarc.ArchiveIterator(file)
                if record.record_type == fastwarc.WarcRecordType.response
            ]
        assert found == [(url, status) for url, status, _, _ in records(done)]

    def test_it_can_be_crawled_again(self, archived: tuple[Crawl, str], tmp_path: Path) -> None:
        done, site = archived
        assert done.folder is not None
        again = crawl(
            tmp_path,
            "keywords=pendulum clock, escapement, mainspring",
            f"seeds={site}/",
            FOCUS_REPLAY=done.folder / "pages.warc.gz",
            FOCUS_CRAWL_LOG_TIMES=False,
            FOCUS_EXPORT="all",
        )
        assert again.folder is not None
        assert (again.folder / "crawl.jsonl").read_bytes() == (
            done.folder / "crawl.jsonl"
        ).read_bytes()
        assert "forbidden" in again.log.lower(), "robots.txt is obeyed in the replay too"

    def test_answers_to_forms_are_left_out_and_fragments_cut(self, tmp_path: Path) -> None:
        writer = WarcWriter(tmp_path / "x.warc.gz")
        for method in ("POST", "GET", "HEAD"):
            request = scrapy.Request("http://a.example/x#top", method=method)
            writer.write(scrapy.http.Response(request.url, body=b"x"), request)
        writer.close()
        writer.close()
        done = Crawl(0, "", tmp_path)
        (tmp_path / "x.warc.gz").rename(tmp_path / "pages.warc.gz")
        assert [url for url, *_ in records(done)] == ["http://a.example/x"]

    def test_a_disk_that_is_full_ends_the_archive_and_not_the_crawl(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        writer = WarcWriter(tmp_path / "x.warc.gz")

        class Full:
            name = "x.warc.gz"
            closed = False

            def write(self, data: bytes) -> int:
                raise OSError(28, "No space left on device")

            def close(self) -> None:
                self.closed = True

        writer._file.close()
        writer._file = writer._writer.out = Full()  # type: ignore[assignment]
        request = scrapy.Request("http://a.example/x")
        for _ in range(3):
            writer.write(scrapy.http.Response(request.url), request)
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "No space left on device" in caplog.text
