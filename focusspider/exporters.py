"""Parquet as a feed format, and WARC of what was fetched."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from io import BytesIO
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, cast

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.exporters import BaseItemExporter
from scrapy.extensions.postprocessing import PostProcessingManager
from scrapy.utils.serialize import ScrapyJSONEncoder

import focusspider
from focusspider.errors import MissingExtraError
from focusspider.session import Session

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["ParquetItemExporter", "WarcWriter", "load_arrow", "load_warcio"]

logger = logging.getLogger(__name__)

_BATCH = 1000  # items that are held before a row group is written


class ParquetItemExporter(BaseItemExporter):
    """A feed exporter for Parquet: ``FEEDS = {"items.parquet": {"format": "parquet"}}``.

    A column has one type, and a file's columns are fixed before it is written: they are
    those of the first thousand items, or the ``fields`` of the feed. Lists, tables and
    items within an item are JSON texts. What has no place (a field that turns up later, a
    text in a column of numbers) is left out, counted, and said at the end.

    A file can't be appended to: one that is there already needs ``"overwrite": True``.
    """

    def __init__(self, file: BinaryIO, **kwargs: Any) -> None:
        self._arrow = load_arrow()
        super().__init__(dont_fail=True, **kwargs)
        self._file = file
        self._encoder = ScrapyJSONEncoder(ensure_ascii=False)
        self._rows: list[dict[str, Any]] = []
        self._writer: Any = None
        self._schema: Any = None
        self._lost: Counter[str] = Counter()
        self._usable = not _written(file)
        if not self._usable:
            logger.error(
                "%s is there already, and a Parquet file can't be appended to: nothing is "
                'written to it. Give the feed "overwrite": True, or another path.',
                getattr(file, "name", "The feed's file"),
            )

    def export_item(self, item: Any) -> None:
        """Hold an item until its row group is full."""
        if not self._usable:
            return
        # its name had an underscore before Scrapy 2.19
        name = "get_serialized_fields"
        fields = getattr(self, name, None) or getattr(self, f"_{name}")
        pairs = fields(item, default_value=None, include_empty=True)
        self._rows.append({str(name): self._cell(value) for name, value in pairs})
        if len(self._rows) >= _BATCH:
            self._write()

    def finish_exporting(self) -> None:
        """Write the last row group, and the file's footer."""
        if not self._usable:
            return
        self._write()
        self._writer.close()
        if self._lost:
            logger.warning(
                "Parquet: values were left out that have no column of their type, as the first "
                "%d items made it: %s. Name the fields in the feed's 'fields', give each one "
                "type, or use another format.",
                _BATCH,
                ", ".join(f"{name} {count} times" for name, count in self._lost.most_common(10)),
            )

    def _write(self) -> None:
        arrow = self._arrow
        if self._writer is None:
            names = dict.fromkeys(
                [*self._declared(), *(name for row in self._rows for name in row)]
            )
            columns = {name: [row.get(name) for row in self._rows] for name in names}
            self._schema = arrow.schema(
                [(name, _column_type(arrow, values)) for name, values in columns.items()]
            )
            self._writer = arrow.parquet.ParquetWriter(self._file, self._schema)
        known = set(self._schema.names)
        for row in self._rows:
            self._lost.update(
                name for name, value in row.items() if name not in known and value is not None
            )
        cells = [self._column(field) for field in self._schema]
        if self._rows and cells:
            self._writer.write_table(arrow.table(cells, schema=self._schema))
        self._rows = []

    def _declared(self) -> list[str]:
        """Return the columns that the feed names, so that a file without items has them too."""
        fields = self.fields_to_export or ()
        return list(fields.values() if isinstance(fields, Mapping) else fields)

    def _column(self, field: Any) -> Any:
        fits = _FITS[str(field.type)]
        values = []
        for row in self._rows:
            value = row.get(field.name)
            fitting = None if value is None else fits(value)
            if fitting is None and value is not None:
                self._lost[field.name] += 1
            values.append(fitting)
        return self._arrow.array(values, field.type)

    def _cell(self, value: Any) -> bool | int | float | str | None:
        """Return a value as a column can hold it."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real):
            return float(value)
        if isinstance(value, bytes):
            return value.decode("utf-8", "backslashreplace")
        if isinstance(value, date):
            return value.isoformat()
        if not isinstance(value, str):
            try:
                value = self._encoder.encode(value)
            except (TypeError, ValueError):
                value = str(value)
        return str(value).encode("utf-8", "replace").decode("utf-8")  # no half of a character


def load_arrow() -> Any:
    """Return pyarrow with its Parquet, or say which extra has it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("parquet", "the feed format 'parquet'") from error
    return pyarrow


def _written(file: BinaryIO) -> bool:
    """Return whether a feed's file has content, as one that is appended to.

    What Scrapy's post-processing has written before the first byte, such as the header of gzip,
    is none.
    """
    if isinstance(cast("Any", file), PostProcessingManager):
        return False
    try:
        return file.tell() > 0
    except (OSError, AttributeError):
        return False


def _column_type(arrow: Any, values: list[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return arrow.bool_()
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return arrow.int64()
    if kinds and kinds <= {int, float} and float in kinds:
        return arrow.float64()
    return arrow.string()


#: A value as the column's type has it, or None.
_FITS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda value: value if isinstance(value, bool) else None,
    "int64": lambda value: value if type(value) is int and abs(value) < 2**63 else None,
    "double": lambda value: float(value) if type(value) in (int, float) else None,
    "string": lambda value: value if isinstance(value, str) else json.dumps(value),
}


class WarcWriter:
    """An extension that writes what the crawl fetched to ``pages.warc.gz``.

    That is each answer to a GET, as the downloader had it: redirects, errors and
    ``robots.txt`` too, bodies with their content codings, as the headers say. It can be
    crawled again with ``FOCUS_REPLAY``. An archive that can't be written any more, as on a
    full disk, ends with an error in the log; the crawl goes on.
    """

    def __init__(self, path: Path) -> None:
        warcio = load_warcio()
        self._headers = warcio.statusandheaders.StatusAndHeaders
        self._file = path.open("ab")
        self._writer = warcio.warcwriter.WARCWriter(self._file, gzip=True)
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

    def write(self, response: Response, request: Request) -> None:
        """Write one response."""
        if request.method != "GET" or self._file.closed:
            return  # a form's answer, replayed, would stand for the form
        try:
            self._writer.write_record(self._record(response))
            self._file.flush()
        except OSError as error:
            logger.error("%s can't be written, and ends here: %s", self._file.name, error)
            self.close()

    def _record(self, response: Response) -> Any:
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
            if name.lower() not in {b"transfer-encoding", b"content-length"}
        ]
        headers.append(("Content-Length", str(len(response.body))))
        http = self._headers(f"{response.status} {_phrase(response.status)}", headers, "HTTP/1.1")
        return self._writer.create_warc_record(
            response.url.partition("#")[0],
            "response",
            payload=BytesIO(response.body),
            length=len(response.body),
            http_headers=http,
            warc_headers_dict={
                "WARC-Date": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            },
        )

    def close(self) -> None:
        """Close the archive; a second call does nothing."""
        with suppress(OSError):
            self._file.close()


def load_warcio() -> Any:
    """Return warcio with its writer, or say which extra has it."""
    try:
        import warcio
        import warcio.statusandheaders
        import warcio.warcwriter
    except ImportError as error:
        raise MissingExtraError("warc", "FOCUS_EXPORT_WARC") from error
    return warcio


def _phrase(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
