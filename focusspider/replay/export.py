"""A web graph as an archive: a WARC, or a folder of HTML, which a replay reads again."""

from __future__ import annotations

import errno
from collections import Counter
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes, urlsplit

from focusspider.errors import MissingExtraError, ReplayError
from focusspider.replay.archive import INDEX_NAMES, page_key
from focusspider.replay.folder import file_url

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.webgraph import GraphPage, WebGraph

__all__ = ["write_folder", "write_targets", "write_warc"]

_NO_DATE = "1970-01-01T00:00:00Z"


def write_warc(graph: WebGraph, path: Path) -> None:
    """Write each page as a response, and each redirect as one to its page.

    A graph without a date gives a WARC with one that says so; equal graphs give records that
    differ in their identifiers alone. Raises ReplayError where the file is there, or can't be
    written.
    """
    try:
        from warcio.statusandheaders import StatusAndHeaders
        from warcio.warcwriter import WARCWriter
    except ImportError:
        raise MissingExtraError("warc", "writing a WARC") from None
    date = graph.date if "T" in graph.date else _NO_DATE

    def record(url: str, status: str, headers: list[tuple[str, str]], body: bytes) -> Any:
        headers = [*headers, ("Content-Length", str(len(body)))]
        return writer.create_warc_record(
            url,
            "response",
            payload=BytesIO(body),
            length=len(body),
            http_headers=StatusAndHeaders(status, headers, "HTTP/1.1"),
            warc_headers_dict={"WARC-Date": date},
        )

    aliases = Counter(url for url, _ in graph.aliases())
    try:
        with path.open("xb") as file:
            writer = WARCWriter(file, gzip=path.name.endswith(".gz"))
            for page in graph.pages():
                writer.write_record(
                    record(page.url, f"{page.status} OK", _headers(page), graph.body(page.url))
                )
            for url, page_url in graph.aliases():
                if aliases[url] == 1:  # a frameset leads to several, and can't be told so
                    location = [("Location", page_url)]
                    writer.write_record(record(url, "301 Moved Permanently", location, b""))
    except FileExistsError:
        raise ReplayError(f"{path} is there already; remove it, or name another") from None
    except OSError as error:
        raise ReplayError(f"{path} cannot be written: {error.strerror}") from None


def write_folder(graph: WebGraph, folder: Path) -> list[str]:
    """Write each page as ``FOLDER/HOST/PATH``; return the URLs that have no such path.

    Those are URLs with a port or a query that no file's name can hold, of names that are too
    long, and those whose path is a folder of other pages. Charset and redirects are not kept:
    a WARC keeps them. Raises ReplayError where the folder is there, or can't be written.
    """
    left_out = []
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ReplayError(f"{folder} is there already; remove it, or name another") from None
    except OSError as error:
        raise ReplayError(f"{folder} cannot be made: {error.strerror}") from None
    for page in graph.pages():
        name = _file_name(page.url)
        if name is None or not _written(folder / name, graph.body(page.url)):
            left_out.append(page.url)
    return left_out


def write_targets(graph: WebGraph, path: Path) -> None:
    """Write the URLs of the targets, one a line; an archive has no place for them.

    Raises ReplayError where the file is there, or can't be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.writelines(f"{url}\n" for url in graph.targets())
    except FileExistsError:
        raise ReplayError(f"{path} is there already; remove it, or name another") from None
    except OSError as error:
        raise ReplayError(f"{path} cannot be written: {error.strerror}") from None


def _headers(page: GraphPage) -> list[tuple[str, str]]:
    headers = [("Content-Type", page.content_type)]
    if page.content_language:
        headers.append(("Content-Language", page.content_language))
    return headers


def _file_name(url: str) -> str | None:
    """Return the path below a folder whose URL, as a replay makes it, is this one."""
    try:
        parts = urlsplit(page_key(url))
        path = unquote_to_bytes(parts.path).decode()
        query = unquote_to_bytes(parts.query).decode()
    except ValueError:
        return None
    if not path.strip("/") or path.endswith("/"):
        path += INDEX_NAMES[0]
    name = f"{parts.netloc}{path}" + (f"?{query}" if query else "")
    safe = all(part not in {"", ".", ".."} and part[0] != "." for part in name.split("/"))
    if not safe or "\0" in name or (parts.query and "/" in query):
        return None
    as_http = page_key(url).replace("https://", "http://", 1)
    return name if file_url(name) == as_http else None


def _written(path: Path, body: bytes) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(body)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        return False
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise ReplayError(f"{path} cannot be written: {error.strerror}") from None
    return True
