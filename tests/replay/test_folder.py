from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from focusspider.errors import ReplayError
from focusspider.replay.archive import answer
from focusspider.replay.spec import open_archive

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("name", "url", "kind"),
    [
        ("a.example/index.html", "http://a.example/", "text/html"),
        ("a.example/b/index.html", "http://a.example/b/", "text/html"),
        ("a.example/b/index.htm", "http://a.example/b/index.htm", "text/html"),
        ("a.example/b.html", "http://a.example/b.html", "text/html"),
        ("a.example/about.php", "http://a.example/about.php", "text/html"),
        ("a.example/about", "http://a.example/about", "text/html"),
        ("a.example/list?page=2&by=a b", "http://a.example/list?page=2&by=a%20b", "text/html"),
        ("a.example/index.html?page=2", "http://a.example/index.html?page=2", "text/html"),
        ("a.example/50% off.html", "http://a.example/50%25%20off.html", "text/html"),
        ("a.example/é.html", "http://a.example/%C3%A9.html", "text/html"),
        ("a.example:8080/x.html", "http://a.example:8080/x.html", "text/html"),
    ],
)
def test_a_file_is_the_page_of_its_path(tmp_path: Path, name: str, url: str, kind: str) -> None:
    archive = open_archive(write(tmp_path, {name: b"<HTML><BODY>hello"}))
    assert list(archive.urls()) == [url]
    stored = archive.get(url)
    assert (stored.status, stored.body) == (200, b"<HTML><BODY>hello")
    assert stored.header("Content-Type") == kind


def test_other_files_are_served_as_what_they_are(tmp_path: Path) -> None:
    files = {
        "a.example/index.html": b"<html>",
        "a.example/robots.txt": b"User-agent: *\nDisallow: /b\n",
        "a.example/sitemap.xml": b"<urlset/>",
        "a.example/data": b"\0\1\2",
        "a.example/.hidden": b"<html>",
        "README.txt": b"of no host",
        ".git/config.html": b"<html>",
    }
    archive = open_archive(write(tmp_path, files))
    kinds = {url: archive.get(url).header("Content-Type") for url in archive.urls()}
    assert kinds.pop("http://a.example/sitemap.xml") in {"text/xml", "application/xml"}
    assert kinds == {
        "http://a.example/": "text/html",
        "http://a.example/robots.txt": "text/plain",
        "http://a.example/data": "",
    }


def test_a_directory_and_its_index_are_one_page(tmp_path: Path) -> None:
    archive = open_archive(write(tmp_path, {"a.example/b/index.html": b"<html>b"}))
    for url in ("http://a.example/b", "http://a.example/b/index.html", "https://a.example/b/"):
        assert answer(archive, url).header("Location") == "http://a.example/b/"


def test_nothing_outside_the_folder_is_served(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_bytes(b"<html>secret")
    folder = write(tmp_path / "mirror", {"a.example/index.html": b"<html>"})
    (folder / "a.example" / "link.html").symlink_to(tmp_path / "secret.html")
    (folder / "b.example").symlink_to(tmp_path)
    archive = open_archive(folder)
    assert list(archive.urls()) == ["http://a.example/"]
    for url in ("http://a.example/../../secret.html", "http://a.example/%2e%2e/secret.html"):
        assert answer(archive, url) is None


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no HTML in it; pages are expected as FOLDER/HOST/PATH"),
        ({"a.example/data.bin": b"\0"}, "no HTML in it; pages are expected"),
        ({"index.html": b"<html>"}, "the files in it need a host"),
    ],
    ids=["empty", "no HTML", "no host"],
)
def test_a_folder_that_cannot_be_used(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    folder = write(tmp_path / "mirror", files)
    folder.mkdir(exist_ok=True)
    with pytest.raises(ReplayError, match=message):
        open_archive(folder)


def test_a_file_that_has_gone_is_an_error_of_that_page(tmp_path: Path) -> None:
    archive = open_archive(write(tmp_path, {"a.example/b.html": b"<html>"}))
    (tmp_path / "a.example" / "b.html").unlink()
    with pytest.raises(ReplayError, match=r"b\.html: cannot be read"):
        archive.get("http://a.example/b.html")
