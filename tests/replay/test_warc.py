from __future__ import annotations

import gzip
import logging
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import pytest

from focusspider.errors import ReplayError
from focusspider.replay.spec import open_archive
from tests.replay.archives import HTML, Record, pages, warc_bytes, write_warc

if TYPE_CHECKING:
    from pathlib import Path

PAGE = b"<html><title>A page</title>and its text</html>"


@pytest.mark.parametrize("gzipped", [True, False], ids=["gzip", "plain"])
def test_every_record_is_found_again(tmp_path: Path, caplog, gzipped: bool) -> None:
    path = write_warc(tmp_path / "a.warc", *pages(*range(50)), gzip=gzipped)
    archive = open_archive(path)
    assert len(archive) == 50
    assert list(archive.urls()) == [f"http://a.example/{n}" for n in range(50)]
    for n in reversed(range(50)):  # not in the order of the file
        stored = archive.get(f"http://a.example/{n}")
        assert stored.status == 200
        assert stored.url == f"http://a.example/{n}"
        assert stored.header("content-type") == "text/html"
        assert stored.body.startswith(f"<html>page {n} ".encode())
        assert stored.body.endswith(b"x</html>")
    assert archive.get("http://a.example/50") is None
    assert not caplog.records


def test_bodies_stay_on_disk(tmp_path: Path) -> None:
    body = b"<html>" + b"y" * 1_000_000
    records = [Record(f"http://a.example/{n}", body) for n in range(40)]
    path = write_warc(tmp_path / "big.warc", *records, gzip=False)
    code = (
        "import resource, sys\n"
        "from focusspider.replay import open_archive\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "archive = open_archive(sys.argv[1])\n"
        "assert all(len(archive.get(url).body) == 1_000_006 for url in archive.urls())\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 20_000  # KiB, of 40 MB of pages


def test_several_files_are_one_web(tmp_path: Path) -> None:
    first = write_warc(
        tmp_path / "1.warc.gz", *pages(1, 2), Record("http://a.example/x", b"<b>old")
    )
    second = write_warc(tmp_path / "2.warc", Record("http://a.example/x", b"<b>new"), gzip=False)
    archive = open_archive([first, second])
    assert len(archive) == 3
    assert archive.get("http://a.example/x").body == b"<b>new"
    assert open_archive([second, first]).get("http://a.example/x").body == b"<b>old"


def test_of_one_url_the_last_record_counts(tmp_path: Path) -> None:
    path = write_warc(
        tmp_path / "a.warc.gz",
        Record("http://a.example/", b"<p>busy", status="503 Service Unavailable"),
        Record("http://A.example:80/#top", b"<p>there"),
    )
    archive = open_archive(path)
    assert len(archive) == 1
    assert archive.get("http://a.example").body == b"<p>there"


@pytest.mark.parametrize(
    ("record", "status", "headers"),
    [
        (Record("http://a.example/", status="404 Not Found"), 404, {"Content-Type": "text/html"}),
        (Record("http://a.example/", status="200"), 200, {"Content-Type": "text/html"}),
        (Record("http://a.example/", protocol="HTTP/2"), 200, {"Content-Type": "text/html"}),
        (
            Record("http://a.example/", b"", "302 Found", (("Location", "/b"), ("Server", "x"))),
            302,
            {"Location": "/b", "Server": "x"},
        ),
        (
            Record(
                "http://a.example/",
                headers=(("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Connection", "close")),
            ),
            200,
            {"Set-Cookie": "b=2"},
        ),
        (Record("http://a.example/", PAGE, headers=HTML, kind="resource"), 200, dict(HTML)),
    ],
    ids=["404", "no reason", "HTTP/2", "redirect", "cookies", "resource"],
)
def test_status_and_headers_are_the_stored_ones(
    tmp_path: Path, record: Record, status: int, headers: dict[str, str]
) -> None:
    stored = open_archive(write_warc(tmp_path / "a.warc.gz", record)).get(record.url)
    assert stored.status == status
    assert dict(stored.headers) == headers
    assert stored.body == record.body
    assert len([name for name, _ in stored.headers if name == "Set-Cookie"]) in {0, 2}


@pytest.mark.parametrize(
    "record",
    [
        Record("http://a.example/", kind="revisit"),
        Record("http://a.example/", b"", status="304 Not Modified"),
        Record("http://a.example/", status="nonsense"),
        Record("dns:a.example", b"20200101 a.example A", kind="resource"),
        Record("urn:pageinfo:http://a.example/", b"{}", kind="resource"),
        Record("http://a.example/", b"GET / HTTP/1.1\r\n\r\n", kind="metadata"),
    ],
    ids=["revisit", "304", "no status", "dns", "urn", "metadata"],
)
def test_what_is_no_page_does_not_count(tmp_path: Path, record: Record) -> None:
    path = write_warc(tmp_path / "a.warc.gz", *pages(1), record)
    assert list(open_archive(path).urls()) == ["http://a.example/1"]


def chunked(body: bytes) -> bytes:
    parts = [body[:10], body[10:]]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("headers", "body", "kept", "served"),
    [
        ({"Transfer-Encoding": "chunked"}, chunked(PAGE), {}, PAGE),
        ({"Transfer-Encoding": "Chunked"}, PAGE, {}, PAGE),  # some archivers undo it
        (
            {"Content-Encoding": "gzip"},
            gzip.compress(PAGE, mtime=0),
            {"Content-Encoding": "gzip"},
            gzip.compress(PAGE, mtime=0),
        ),
        (
            {"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"},
            chunked(gzip.compress(PAGE, mtime=0)),
            {"Content-Encoding": "gzip"},
            gzip.compress(PAGE, mtime=0),
        ),
        ({"Content-Encoding": "gzip"}, PAGE, {}, PAGE),
        ({"Content-Encoding": "br"}, b"\xef\xbb\xbf\n" + PAGE, {}, b"\xef\xbb\xbf\n" + PAGE),
        (
            {"Content-Encoding": "deflate"},
            zlib.compress(PAGE),
            {"Content-Encoding": "deflate"},
            zlib.compress(PAGE),
        ),
        ({"Content-Encoding": "zstd"}, PAGE, {}, PAGE),
        ({"Content-Length": "99999"}, PAGE, {}, PAGE),
    ],
    ids=[
        "chunked",
        "chunked in name only",
        "gzip",
        "gzip and chunked",
        "gzip in name only",
        "br in name only",
        "deflate",
        "zstd in name only",
        "wrong length",
    ],
)
def test_encodings(
    tmp_path: Path, headers: dict[str, str], body: bytes, kept: dict[str, str], served: bytes
) -> None:
    record = Record("http://a.example/", body, headers=(*HTML, *headers.items()))
    stored = open_archive(write_warc(tmp_path / "a.warc.gz", record)).get(record.url)
    assert stored.body == served
    assert dict(stored.headers) == {**dict(HTML), **kept}


@pytest.mark.parametrize("gzipped", [True, False], ids=["gzip", "plain"])
def test_an_archive_cut_short_is_used_up_to_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, gzipped: bool
) -> None:
    whole = warc_bytes(pages(1, 2, 3), gzipped)
    last = whole.rindex(b"\x1f\x8b\x08" if gzipped else b"WARC/1.")  # where the third page begins
    path = tmp_path / "cut.warc.gz"
    path.write_bytes(whole[: last + 60])
    with caplog.at_level(logging.WARNING):
        archive = open_archive(path)
    assert list(archive.urls()) == ["http://a.example/1", "http://a.example/2"]
    assert archive.get("http://a.example/2").body.startswith(b"<html>page 2")
    (record,) = caplog.records
    assert "cut.warc.gz: damaged or cut short after byte" in record.getMessage()
    assert "the 3 records before it are used" in record.getMessage()  # with the warcinfo
    assert abs(record.args[1] - last) <= 4  # of a plain WARC, two line ends follow a record


def test_every_cut_gives_the_pages_before_it(tmp_path: Path) -> None:
    whole = warc_bytes(pages(1, 2, 3))
    ends = [len(warc_bytes(pages(*range(1, n + 1)))) for n in range(4)]
    path = tmp_path / "cut.warc.gz"
    for size in range(ends[1], len(whole), 17):
        path.write_bytes(whole[:size])
        complete = sum(size >= end for end in ends) - 1
        # The last eight bytes of a member are its checksum, without which the page is whole.
        assert len(open_archive(path)) - complete in {0, 1}


@pytest.mark.parametrize("cut", [0, 40], ids=["whole", "cut short"])
def test_a_warc_gzipped_as_a_whole(tmp_path: Path, caplog, cut: int) -> None:
    """As ``gzip crawl.warc`` makes it: no record begins a gzip member."""
    compressed = gzip.compress(warc_bytes(pages(*range(200)), gzip=False))
    path = tmp_path / "whole.warc.gz"
    path.write_bytes(compressed[: len(compressed) - cut])
    archive = open_archive(path)
    assert 150 < len(archive) <= 200
    assert (len(archive) == 200) == (cut == 0)
    assert archive.get("http://a.example/150").body.startswith(b"<html>page 150 ")
    assert bool(caplog.records) == (cut > 0)


def test_the_temporary_file_goes_with_the_archive(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = tmp_path / "whole.warc.gz"
    path.write_bytes(gzip.compress(warc_bytes(pages(1, 2), gzip=False)))
    archive = open_archive(path)
    assert len(list((tmp_path / "temporary").rglob("*.warc"))) == 1
    assert len(archive) == 2
    del archive
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_damaged_record_ends_the_archive(tmp_path: Path, caplog) -> None:
    parts = [warc_bytes(pages(*range(n))) for n in (2, 3)]
    path = tmp_path / "bad.warc.gz"
    path.write_bytes(parts[0] + b"\0" * 100 + parts[1])
    assert len(open_archive(path)) == 2
    assert "damaged or cut short" in caplog.text


def test_a_file_that_has_gone_is_an_error_of_that_page(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "a.warc.gz", *pages(1))
    archive = open_archive(path)
    path.unlink()
    with pytest.raises(ReplayError, match=r"a\.warc\.gz: cannot be read any more"):
        archive.get("http://a.example/1")


@pytest.mark.parametrize(
    "content",
    [b"", b"x" * 9000, warc_bytes(pages(7, 8, 9)), warc_bytes(pages(1, 2), gzip=False)],
    ids=["empty", "garbage", "other pages", "plain"],
)
def test_a_file_that_was_overwritten_is_an_error_of_that_page(
    tmp_path: Path, content: bytes
) -> None:
    path = write_warc(tmp_path / "a.warc.gz", *pages(1, 2))
    archive = open_archive(path)
    path.write_bytes(content)
    with pytest.raises(ReplayError, match="is damaged, or the file was changed"):
        archive.get("http://a.example/2")
