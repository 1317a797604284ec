from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from focusspider.errors import ReplayError
from focusspider.replay.spec import open_archive
from tests.replay.archives import Record, pages, warc_bytes, write_wacz

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_its_warcs_are_read_in_the_order_of_their_names(tmp_path: Path, compression: int) -> None:
    members = {
        "archive/b.warc": warc_bytes([Record("http://a.example/x", b"<p>b")], gzip=False),
        "archive/a.warc.gz": warc_bytes([*pages(1, 2), Record("http://a.example/x", b"<p>a")]),
        "pages/pages.jsonl": b"{}",
        "indexes/index.cdx.gz": b"not a WARC",
    }
    archive = open_archive(write_wacz(tmp_path / "a.wacz", members, compression))
    assert len(archive) == 3
    assert archive.get("http://a.example/1").body.startswith(b"<html>page 1")
    assert archive.get("http://a.example/x").body == b"<p>b"


def test_a_warc_within_it_ends_where_the_zip_says(tmp_path: Path, caplog) -> None:
    whole = warc_bytes(pages(1, 2))
    members = {"archive/a.warc.gz": whole[:-100], "archive/b.warc.gz": warc_bytes(pages(3))}
    archive = open_archive(write_wacz(tmp_path / "a.wacz", members))
    assert list(archive.urls()) == ["http://a.example/1", "http://a.example/3"]
    assert "a.wacz!archive/a.warc.gz: damaged or cut short after byte" in caplog.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "a zip without archive/"),
        (b"PK\x03\x04 and then nothing of a zip", "a damaged zip file"),
        (b"<html></html>", "not a zip file, so no WACZ"),
        (b"", "the file is empty"),
    ],
    ids=["no archive", "damaged", "no zip", "empty"],
)
def test_what_is_no_wacz(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "bad.wacz"
    if content is None:
        write_wacz(path, {"pages/pages.jsonl": b"{}"})
    else:
        path.write_bytes(content)
    with pytest.raises(ReplayError, match=message) as caught:
        open_archive(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [(10, 93, "compression"), (6, 99, "zip file version 9.9")],
    ids=["Zstandard", "a later version"],
)
def test_a_zip_that_is_whole_and_cannot_be_unpacked(
    tmp_path: Path, field: int, value: int, reason: str
) -> None:
    """It is not said to be damaged: another one just like it would come."""
    members = {"archive/a.warc.gz": warc_bytes(pages(1))}
    path = write_wacz(tmp_path / "a.wacz", members, zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    entry = content.rfind(b"PK\x01\x02")  # of the zip's list, the WARC's
    content[entry + field] = value
    path.write_bytes(content)
    with pytest.raises(ReplayError, match=reason) as caught:
        open_archive(path)
    assert str(caught.value).startswith(f"{path}: a zip that Python cannot unpack (")
    assert "unpack it with the program that made it" in str(caught.value)
    assert "fetch it again" not in str(caught.value)
