"""Responses of the real pages in the corpora."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from warcio.archiveiterator import ArchiveIterator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("manuals", "uci", "webkb", "wikispeedia")


def responses(corpora: Path, name: str, count: int) -> Iterator[Response]:
    """Yield the first pages of a corpus, as Scrapy would have got them."""
    with (corpora / name / f"{name}.warc.gz").open("rb") as file:
        for record in islice(ArchiveIterator(file), count):
            if record.rec_type != "response":
                continue
            url = record.rec_headers.get_header("WARC-Target-URI")
            headers = Headers(record.http_headers.headers)
            body = record.content_stream().read()
            kind = responsetypes.from_args(headers=headers, url=url, body=body)
            yield kind(url, headers=headers, body=body)
