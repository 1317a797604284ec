"""Parquet as a feed format, and WARC of what was fetched."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.exporters import BaseItemExporter

import focusspider
from focusspider.errors import MissingExtraError
from focusspider.session import Session

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["ParquetItemExporter", "WarcWriter"]

_BATCH = 1000  # items that are held before a row group is written


class ParquetItemExporter(BaseItemExporter):
    """A feed exporter for Parquet: ``FEEDS = {"items.parquet": {"format": "parquet"}}``.

    The columns are those of the first thousand items. Lists and tables within an item are
    written as JSON texts, so that one odd item does not cost the file its schema; a value
    that does not fit its column's type is written as null.
    """

    def __init__(self, file: BinaryIO, **kwargs: Any) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise MissingExtraError("parquet", "the feed format 'parquet'") from error
        super().__init__(dont_fail=True, **kwargs)
        self._arrow = pyarrow
        self._file = file
        self._rows: list[dict[str, Any]] = []
        self._writer: Any = None

    def export_item(self, item: Any) -> None:
        """Hold an item until its row group is full."""
        self._rows.append({k: _scalar(v) for k, v in ItemAdapter(item).asdict().items()})
        if len(self._rows) >= _BATCH:
            self._write()

    def finish_exporting(self) -> None:
        """Write the last row group, and the file's footer."""
        self._write()
        self._writer.close()

    def _write(self) -> None:
        arrow = self._arrow
        if self._writer is None:
            names = list(dict.fromkeys(name for row in self._rows for name in row))
            self._schema = arrow.schema(
                [
                    (name, _column_type(arrow, [row.get(name) for row in self._rows]))
                    for name in names
                ]
            )
            self._writer = arrow.parquet.ParquetWriter(self._file, self._schema)
        columns = [
            arrow.array(
                [_fit(row.get(field.name), field.type, arrow) for row in self._rows], field.type
            )
            for field in self._schema
        ]
        if self._rows:
            self._writer.write_table(arrow.table(columns, schema=self._schema))
        self._rows = []


def _scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _column_type(arrow: Any, values: list[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return arrow.bool_()
    if kinds == {int}:
        return arrow.int64()
    if kinds and kinds <= {int, float}:
        return arrow.float64()
    return arrow.string()


def _fit(value: Any, kind: Any, arrow: Any) -> Any:
    if value is None:
        return None
    if kind == arrow.string():
        return value if isinstance(value, str) else str(value)
    if kind == arrow.bool_():
        return value if isinstance(value, bool) else None
    if isinstance(value, str):
        return None
    if kind == arrow.int64():
        return value if isinstance(value, int) and abs(value) < 2**63 else None
    return float(value)


class WarcWriter:
    """An extension that writes each response of the crawl to ``pages.warc.gz``.

    That is what the downloader had: redirects, errors and ``robots.txt`` too, bodies with
    their content codings, as the headers say. It can be crawled again with ``FOCUS_REPLAY``.
    """

    def __init__(self, path: Path) -> None:
        try:
            from warcio.statusandheaders import StatusAndHeaders
            from warcio.warcwriter import WARCWriter
        except ImportError as error:
            raise MissingExtraError("warc", "FOCUS_EXPORT_WARC") from error
        self._headers = StatusAndHeaders
        self._file = path.open("ab")
        self._writer = WARCWriter(self._file, gzip=True)
        self._writer.write_record(
            self._writer.create_warcinfo_record(
                path.name, {"software": f"focusspider {focusspider.__version__}"}
            )
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> WarcWriter:
        """Build the writer where ``FOCUS_EXPORT_WARC`` asks for it."""
        session = Session.of(crawler)
        if session is None or session.folder is None or not session.config.export_warc:
            raise NotConfigured
        writer = cls(session.folder.free("pages", ".warc.gz"))
        crawler.signals.connect(writer.write, signals.response_downloaded)
        crawler.signals.connect(writer.close, signals.spider_closed)
        return writer

    def write(self, response: Response) -> None:
        """Write one response."""
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
            if name.lower() not in {b"transfer-encoding", b"content-length"}
        ]
        headers.append(("Content-Length", str(len(response.body))))
        http = self._headers(f"{response.status} {_phrase(response.status)}", headers, "HTTP/1.1")
        record = self._writer.create_warc_record(
            response.url,
            "response",
            payload=BytesIO(response.body),
            http_headers=http,
            warc_headers_dict={
                "WARC-Date": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            },
        )
        self._writer.write_record(record)

    def close(self) -> None:
        """Close the archive."""
        self._file.close()


def _phrase(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
