from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import pytest

from focusspider.errors import MissingExtraError, ReplayError
from focusspider.replay.sample import sample_web
from focusspider.replay.spec import open_archive, replay_settings
from tests.replay.archives import Record, pages, warc_bytes, write_wacz, write_warc

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_of_archives_is_all_of_them(tmp_path: Path) -> None:
    write_warc(tmp_path / "b.warc.gz", *pages(2), Record("http://a.example/x", b"<p>b"))
    write_warc(tmp_path / "a.warc", *pages(1), Record("http://a.example/x", b"<p>a"), gzip=False)
    write_wacz(tmp_path / "c.wacz", {"archive/c.warc.gz": warc_bytes(pages(3))})
    (tmp_path / "labels.csv").write_text("url,label\n")
    archive = open_archive(tmp_path)
    assert len(archive) == 4
    assert archive.get("http://a.example/x").body == b"<p>b"


def test_a_pattern_is_what_it_finds(tmp_path: Path) -> None:
    for n in (1, 2, 3):
        write_warc(tmp_path / f"part-{n}.warc.gz", *pages(n))
    assert len(open_archive(str(tmp_path / "part-[12].warc.gz"))) == 2
    assert len(open_archive([str(tmp_path / "*-1.*"), tmp_path / "part-3.warc.gz"])) == 2


def test_kinds_can_be_mixed_and_the_last_counts(tmp_path: Path) -> None:
    warc = write_warc(tmp_path / "a.warc.gz", Record("http://a.example/x", b"<p>warc"), *pages(1))
    page = tmp_path / "mirror" / "a.example" / "x"
    page.parent.mkdir(parents=True)
    page.write_bytes(b"<html>folder")
    assert open_archive([warc, page.parents[1]]).get("http://a.example/x").body == b"<html>folder"
    mixed = open_archive([page.parents[1], warc])
    assert mixed.get("http://a.example/x").body == b"<p>warc"
    assert len(mixed) == 2


def test_the_content_decides_not_the_name(tmp_path: Path) -> None:
    assert len(open_archive(write_warc(tmp_path / "gzipped.warc", *pages(1)))) == 1
    assert len(open_archive(write_warc(tmp_path / "plain.gz", *pages(1), gzip=False))) == 1
    assert len(
        open_archive(write_wacz(tmp_path / "a.zip", {"archive/a.warc": warc_bytes(pages(1))}))
    )


def test_an_open_archive_is_shared_while_its_files_are_the_same(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "a.warc.gz", *pages(1))
    first = open_archive(path)
    assert open_archive([str(path)]) is first
    write_warc(path, *pages(1, 2))
    assert open_archive(path) is not first
    assert len(open_archive(path)) == 2


@pytest.mark.parametrize("spec", ["sample", ["sample"], ("sample",)])
def test_sample_is_built_in(spec: object) -> None:
    assert open_archive(spec) is sample_web()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.warc", None, "there is no such file or folder; mend FOCUS_REPLAY"),
        ("missing-*.warc", None, "nothing matches it; mend FOCUS_REPLAY"),
        ("empty.warc.gz", b"", "the file is empty"),
        ("page.html", b"<html></html>", "neither a WARC nor a WACZ .*FOLDER/HOST/PATH"),
        ("notes.txt", b"some notes", "neither a WARC nor a WACZ"),
        ("gzipped.html.gz", b"\x1f\x8b\x08" + b"\0" * 20, "neither a WARC nor a WACZ"),
        ("a.warc.zst", b"\x28\xb5\x2f\xfd" + b"\0" * 20, "zstd -d a.warc.zst"),
        ("no-pages.warc.gz", warc_bytes([]), "no web page in it"),
        ("header.warc", b"WARC/1.0\r\nWARC-Type: resp", "no web page in it"),
        ("first.warc.gz", warc_bytes([], gzip=False)[:40], "no web page in it"),
    ],
)
def test_what_cannot_be_replayed_says_why(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ReplayError, match=message) as caught:
        open_archive(path)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ([], "FOCUS_REPLAY is empty"),
        (["sample", "a.warc"], "'sample' stands alone"),
        ("a\0b", "there is no such file"),
        ("x" * 5000, "cannot be looked up"),
    ],
)
def test_a_spec_that_cannot_be_meant(spec: object, message: str) -> None:
    with pytest.raises(ReplayError, match=message):
        open_archive(spec)


def test_a_missing_library_names_the_extra(tmp_path: Path, monkeypatch) -> None:
    path = write_warc(tmp_path / "a.warc.gz", *pages(1))
    real = builtins.__import__

    def without_warcio(name: str, *args: object, **kwargs: object) -> object:
        if name.startswith("warcio"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_warcio)
    with pytest.raises(MissingExtraError, match=r"pip install 'focusspider\[warc\]'"):
        open_archive(path)


def test_settings() -> None:
    settings = replay_settings("a.warc.gz", missing="dns")
    assert settings["FOCUS_REPLAY"] == ["a.warc.gz"]
    assert settings["FOCUS_REPLAY_MISSING"] == "dns"
    assert set(settings["DOWNLOAD_HANDLERS"]) == {"http", "https"}
