"""WARC files (ISO 28500), plain or gzipped, read on demand.

Opening reads the files once and keeps, for each URL, the place of its record; bodies stay on
disk. ``response`` records of http and https URLs are pages, and so are ``resource`` records;
``revisit`` records are passed over, since what they repeat is stored already, and so is a 304.
Where a URL was stored several times, the last record counts, as the site was when the archive
was finished.

A WARC that was cut short, as a crawl that died leaves it, is used up to there, with a warning
that names the place. In a gzipped WARC each record is a gzip member of its own; where the whole
file is one member, it is unpacked into a temporary file first.
"""

from __future__ import annotations

import io
import logging
import re
import shutil
import tempfile
import weakref
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider.errors import MissingExtraError, ReplayError
from focusspider.replay.archive import Stored, page_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from io import BufferedReader

    from _typeshed import WriteableBuffer

__all__ = ["Slice", "Spool", "WarcArchive"]

logger = logging.getLogger(__name__)

#: Headers of a connection, and those that only repeat what the body is.
_LEFT_OUT = frozenset(
    {"connection", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade"}
)
_CHUNK = 1 << 20  # bytes that are unpacked at a time
_BLANK = 4  # bytes that follow a record of a plain WARC: two line ends
_STATUS_LINE = 1024  # bytes; longer is no status line
_STATUS = re.compile(rb"HTTP/\S+ +([2-5]\d\d)(?: |\r?\n|$)")


class Slice(NamedTuple):
    """A WARC: a file, or a part of one (a WARC in a WACZ); ``name`` is for messages."""

    path: Path
    start: int
    end: int
    name: str = ""

    def __str__(self) -> str:
        return self.name or str(self.path)


class _Window(io.RawIOBase):
    """A file up to the end of a slice; positions are the file's."""

    def __init__(self, file: BufferedReader, part: Slice) -> None:
        self._file = file
        self._end = part.end
        file.seek(part.start)

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: WriteableBuffer) -> int:
        left = max(self._end - self._file.tell(), 0)
        return self._file.readinto(memoryview(buffer)[:left])


class Spool:
    """Temporary files of one archive, removed when it is no longer used."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    def save(self, chunks: Iterable[bytes], name: str) -> Slice:
        """Write a WARC into a file, up to where it breaks off."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="focusspider-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        path = self._folder / f"{len(list(self._folder.iterdir()))}.warc"
        with path.open("wb") as file:
            try:
                file.writelines(chunks)
            except (EOFError, zlib.error, zipfile.BadZipFile) as error:
                logger.warning(
                    "%s: damaged or cut short (%s); what precedes it is used", name, error
                )
            except OSError as error:
                raise ReplayError(
                    f"{name}: cannot be unpacked into {path.parent}: {error.strerror}; "
                    f"unpack it yourself, or set TMPDIR to where there is room"
                ) from None
        return Slice(path, 0, path.stat().st_size, name)


class _OneMemberError(Exception):
    """The whole WARC is one gzip member, in which no record can be found again."""


class WarcArchive:
    """The pages of one or more WARCs."""

    def __init__(self, slices: Sequence[Slice], spool: Spool | None = None) -> None:
        self._spool = spool or Spool()
        self._slices: list[Slice] = []
        self._places: dict[str, tuple[int, int]] = {}  # URL -> (slice, offset)
        for part in slices:
            try:
                self._index(part)
            except _OneMemberError:
                with part.path.open("rb") as file:
                    whole = _unpacked(_Window(file, part))
                    self._index(self._spool.save(whole, str(part)))
        if not self._places:
            names = ", ".join(map(str, slices))
            raise ReplayError(f"{names}: no web page in it, no response record that is complete")

    def get(self, url: str) -> Stored | None:
        """Read the record of a URL."""
        key = page_key(url)
        place = self._places.get(key)
        if place is None:
            return None
        part, offset = self._slices[place[0]], place[1]
        try:
            stored = _read(part.path, offset)
        except OSError as error:
            raise ReplayError(f"{part}: cannot be read any more: {error.strerror}") from None
        if stored is None or stored.url != key:
            raise ReplayError(
                f"{part}: the record of {key}, at byte {offset}, is damaged, or the file was "
                f"changed while it was in use"
            )
        return stored

    def urls(self) -> Iterator[str]:
        """Yield the URLs in the order of their first records."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return how many URLs are stored."""
        return len(self._places)

    def _index(self, part: Slice) -> None:
        """Note the place of each page of a WARC."""
        number = len(self._slices)
        self._slices.append(part)
        count = 0
        try:
            with part.path.open("rb") as file:
                for offset, url in _records(_Window(file, part), part):
                    count += 1
                    if url is not None:
                        self._places[url] = (number, offset)
        except OSError as error:
            raise ReplayError(f"{part}: cannot be read: {error.strerror}") from None
        except _OneMemberError:
            self._slices.pop()
            raise
        logger.debug("%s: %d records", part, count)


def _unpacked(window: _Window) -> Iterator[bytes]:
    """Yield what a gzip file holds, to the last byte that can be had of it."""
    unpacker = zlib.decompressobj(wbits=31)
    while packed := window.read(_CHUNK):
        yield unpacker.decompress(packed)
        while unpacker.unused_data:  # another member follows
            packed, unpacker = unpacker.unused_data, zlib.decompressobj(wbits=31)
            yield unpacker.decompress(packed)
    if not unpacker.eof:
        raise EOFError("the end is missing")


def _archive_iterator(file: Any, **options: bool) -> Any:
    try:
        from warcio.archiveiterator import WARCIterator
    except ImportError:
        raise MissingExtraError("warc", "reading a WARC") from None
    return WARCIterator(file, **options)


def _broken() -> tuple[type[Exception], ...]:
    """Return what warcio raises where a record is damaged."""
    from warcio.exceptions import ArchiveLoadFailed
    from warcio.statusandheaders import StatusAndHeadersParserException

    return ArchiveLoadFailed, StatusAndHeadersParserException


def _records(window: _Window, part: Slice) -> Iterator[tuple[int, str | None]]:
    """Yield the offset of each complete record, with its URL if it is a page.

    Ends with a warning where the file is cut short or damaged.
    """
    records = _archive_iterator(window, no_record_parse=True)
    broken = _broken()
    place, count = part.start, 0
    while True:
        try:
            record = next(records, None)
            if record is None:
                if part.end - place <= _BLANK:
                    return
                break  # what follows the last record is too short to tell what it was
            url = _page_url(record)
            offset = records.get_record_offset()
        except broken:
            break
        if getattr(record.raw_stream, "limit", 1) > 0:  # the block ended before its length
            break
        if records.reader.decompressor and records.next_line:
            raise _OneMemberError
        yield offset, url
        count += 1
        place = offset + records.get_record_length()
    logger.warning(
        "%s: damaged or cut short after byte %d; the %d records before it are used",
        part,
        place - part.start,
        count,
    )


def _target(record: Any) -> str | None:
    """Return the URL of a record that is of a kind that holds pages."""
    if record.rec_type not in {"response", "resource"}:
        return None
    target = record.rec_headers.get_header("WARC-Target-URI", "")
    if not target.startswith(("http:", "https:")):  # warcio does not look for a page in others
        return None
    try:
        return page_key(target)
    except ValueError:
        return None


def _page_url(record: Any) -> str | None:
    """Return the URL of a record that holds a page; its block has not been read yet."""
    url = _target(record)
    if url is None or record.rec_type == "resource":
        return url
    status = _STATUS.match(record.raw_stream.readline(_STATUS_LINE))
    return url if status and status[1] != b"304" else None


def _read(path: Path, offset: int) -> Stored | None:
    """Read the record at a place, or return None where there is none any more."""
    with path.open("rb") as file:
        file.seek(offset)
        try:
            record = next(_archive_iterator(file), None)
        except _broken():
            return None
        if record is None or (record.http_headers is None and record.rec_type == "response"):
            return None
        url = _target(record)
        if url is None:
            return None
        return _stored(url, record)


def _stored(url: str, record: Any) -> Stored:
    if record.rec_type == "resource":
        kind = record.content_type or "application/octet-stream"
        return Stored(url, 200, (("Content-Type", kind),), record.raw_stream.read())
    from warcio.bufferedreaders import ChunkedDataReader

    headers = record.http_headers
    stream = record.raw_stream
    if "chunked" in headers.get_header("Transfer-Encoding", "").lower():
        stream = ChunkedDataReader(stream)
    body = stream.read()
    left_out = _LEFT_OUT
    if not _is_encoded(body, headers.get_header("Content-Encoding", "").strip().lower()):
        left_out |= {"content-encoding"}
    kept = tuple((name, value) for name, value in headers.headers if name.lower() not in left_out)
    return Stored(url, int(headers.get_statuscode()), kept, body)


def _is_encoded(body: bytes, encoding: str) -> bool:
    """Tell whether a body is still compressed: many archivers store it decoded.

    A body that begins as markup does is not compressed, whatever its header says; gzip and
    zstd have a mark of their own.
    """
    if encoding in {"gzip", "x-gzip"}:
        return body.startswith(b"\x1f\x8b")
    if encoding == "zstd":
        return body.startswith(b"\x28\xb5\x2f\xfd")
    return bool(encoding) and not body.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<")
