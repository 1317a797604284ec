"""A folder of pages, as ``FOLDER/HOST/PATH``: what ``wget --mirror`` leaves behind.

A file is served under ``http://HOST/PATH``, and ``index.html`` as its folder's own URL, ending
in ``/``. A ``?`` in a file's name begins the query. The type of a page is guessed from its
name; a file that begins as HTML does is HTML whatever its name (``about.php``). Names that
begin with a dot are passed over, and links to other files are not followed.
"""

from __future__ import annotations

import mimetypes
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from focusspider.errors import ReplayError
from focusspider.replay.archive import INDEX_NAMES, Stored, page_key

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FolderArchive", "file_names", "file_url"]

_HTML_SUFFIXES = (".html", ".htm", ".xhtml")
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|title|body|frameset)\b", re.IGNORECASE)
_IN_PATHS = "/:@!$&'()*+,;="  # what links write as it is (RFC 3986, 3.3)
_HEAD = 1024  # bytes in which a page shows that it is HTML


class FolderArchive:
    """The files below a folder whose sub-folders are hosts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, str] = {}  # URL -> path below the folder
        for name in file_names(folder):
            url = file_url(name)
            if url is not None and self._files.setdefault(url, name) != name:
                raise ReplayError(
                    f"{folder}: {self._files[url]} and {name} are both {url}; keep one of them"
                )
        if not any(self._is_html(name) for name in self._files.values()):
            raise ReplayError(f"{folder}: no HTML in it; {_remedy(folder)}")

    def get(self, url: str) -> Stored | None:
        """Read the file of a URL."""
        key = page_key(url)
        name = self._files.get(key)
        if name is None:
            return None
        try:
            body = (self._folder / name).read_bytes()
        except OSError as error:
            raise ReplayError(f"{self._folder / name}: cannot be read: {error.strerror}") from None
        kind = mimetypes.guess_type(name.partition("?")[0])[0]
        if kind != "text/html" and _HTML.search(body[:_HEAD]):
            kind = "text/html"
        headers = (("Content-Type", kind),) if kind else ()
        return Stored(key, 200, headers, body)

    def urls(self) -> Iterator[str]:
        """Yield the URLs in the order of the files' names."""
        return iter(self._files)

    def __len__(self) -> int:
        """Return how many URLs are stored."""
        return len(self._files)

    def _is_html(self, name: str) -> bool:
        if name.lower().endswith(_HTML_SUFFIXES):
            return True
        with (self._folder / name).open("rb") as file:
            return _HTML.search(file.read(_HEAD)) is not None


def file_names(folder: Path) -> Iterator[str]:
    """Yield the paths below the folder that are at least one folder deep, sorted."""
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(base, name)
            if name.startswith(".") or path.parent == folder or path.is_symlink():
                continue
            if path.is_file():
                yield path.relative_to(folder).as_posix()


def file_url(name: str) -> str | None:
    """Return the URL of a file, by its path below the folder; None where that is no host's."""
    host, _, path = name.partition("/")
    path, mark, query = path.partition("?")
    parent, slash, last = path.rpartition("/")
    if last == INDEX_NAMES[0] and not mark:
        path = parent + slash
    try:
        # Names are bytes on disk, and need not be UTF-8.
        return page_key(
            f"http://{host}/{quote(os.fsencode(path), safe=_IN_PATHS)}"
            f"{mark}{quote(os.fsencode(query), safe='=&+;/:,%')}"
        )
    except ValueError:  # a folder whose name cannot be a host
        return None


def _remedy(folder: Path) -> str:
    if any(path.suffix.lower() in _HTML_SUFFIXES for path in folder.iterdir()):
        return (
            f"the files in it need a host: put them into FOLDER/HOST/, such as "
            f"{folder / 'www.site.example'}, or give {folder.resolve().parent} "
            f"if {folder.resolve().name} is the host"
        )
    return "pages are expected as FOLDER/HOST/PATH, or as WARC or WACZ files"
