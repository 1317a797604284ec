"""Small archives, written with warcio and zipfile as real tools would write them."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, NamedTuple

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

HTML = (("Content-Type", "text/html"),)


class Record(NamedTuple):
    """A WARC record; ``body`` is written as it is, whatever the headers say."""

    url: str
    body: bytes = b"<html>a page</html>"
    status: str = "200 OK"
    headers: tuple[tuple[str, str], ...] = HTML
    kind: str = "response"
    protocol: str = "HTTP/1.1"


def warc_bytes(records: Iterable[Record], gzip: bool = True) -> bytes:
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=gzip)
    writer.write_record(writer.create_warcinfo_record("test.warc", {"software": "a test"}))
    for record in records:
        head = None
        if record.kind in {"response", "revisit"}:
            head = StatusAndHeaders(record.status, list(record.headers), record.protocol)
        made = writer.create_warc_record(
            record.url,
            record.kind,
            payload=io.BytesIO(record.body),
            length=len(record.body),
            http_headers=head,
            warc_content_type="" if head else dict(record.headers).get("Content-Type", ""),
        )
        writer.write_record(made)
    return buffer.getvalue()


def write_warc(path: Path, *records: Record, gzip: bool = True) -> Path:
    path.write_bytes(warc_bytes(records, gzip))
    return path


def write_wacz(
    path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED
) -> Path:
    with zipfile.ZipFile(path, "w", compression) as wacz:
        wacz.writestr("datapackage.json", '{"profile": "data-package"}')
        for name, content in members.items():
            wacz.writestr(name, content)
    return path


def pages(*numbers: int) -> list[Record]:
    return [
        Record(f"http://a.example/{n}", f"<html>page {n} {'x' * 200}</html>".encode())
        for n in numbers
    ]
