"""What ``FOCUS_REPLAY`` may say, and the archive that it names.

===============================  ==========================================================
``sample``                       the web that focusspider makes itself
``crawl.warc.gz``, ``x.warc``    a WARC, gzipped or plain; told by its content, not its name
``crawl.wacz``                   a WACZ: the WARCs in its folder ``archive/``
``crawls/``                      every WARC and WACZ in a folder, such as that of a run
``mirror/``                      pages as ``mirror/HOST/PATH``, as ``wget --mirror`` saves them
``crawls/2026-*.warc.gz``        whatever a pattern finds, in the order of the names
===============================  ==========================================================

A list of these is one web. Where several hold the same URL, the last one counts.
"""

from __future__ import annotations

import glob
import hashlib
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from focusspider.errors import ReplayError
from focusspider.replay.archive import Archives
from focusspider.replay.folder import FolderArchive, file_names
from focusspider.replay.wacz import wacz_slices
from focusspider.replay.warc import Slice, Spool, WarcArchive
from focusspider.wholerun import is_run, run_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focusspider.replay.archive import Archive

__all__ = ["SAMPLE", "archive_identity", "open_archive", "replay_settings"]

#: Names the built-in web; a folder of this name is ``./sample``.
SAMPLE = "sample"

_SUFFIXES = (".warc", ".warc.gz", ".wacz")
_HANDLER = "focusspider.replay.handler.ReplayDownloadHandler"
_HEAD = 4096  # bytes of a file that tell what it is

# http and https each have a handler, and an evaluation has many crawls: they share.
_open: WeakValueDictionary[tuple[object, ...], Archive] = WeakValueDictionary()


def open_archive(spec: str | Path | Sequence[str | Path]) -> Archive:
    """Open what a path, a pattern, a list of them, or ``"sample"`` names.

    An archive that is open already, and whose files have not changed, is shared.

    Raises
    ------
    ReplayError
        Something is missing, cannot be read, holds no pages, or is not an archive.
    MissingExtraError
        The library that reads WARCs is not installed.
    """
    entries = [spec] if isinstance(spec, (str, Path)) else list(spec)
    if not entries:
        raise ReplayError("FOCUS_REPLAY is empty; give a WARC, a WACZ, a folder, or 'sample'")
    if SAMPLE in entries:
        if len(entries) > 1:
            raise ReplayError("FOCUS_REPLAY = 'sample' stands alone; take it out of the list")
        from focusspider.replay.sample import sample_web

        return sample_web()
    paths = [path for entry in entries for path in _expand(str(entry))]
    key = tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths)
    archive = _open.get(key)
    if archive is None:
        archive = _open[key] = _open_paths(paths)
    return archive


def archive_identity(spec: str | Path | Sequence[str | Path]) -> str:
    """Return a name for what an archive holds, 64 hexadecimal digits.

    Files are told by their names, sizes and times, and not by where they are. Raises
    :class:`ReplayError` as :func:`open_archive` does.
    """
    entries = [spec] if isinstance(spec, (str, Path)) else list(spec)
    digest = hashlib.sha256()
    if entries == [SAMPLE]:
        sample = open_archive(SAMPLE)
        for url in sorted(sample.urls()):
            stored = sample.get(url)
            digest.update(repr(stored).encode())
        return digest.hexdigest()
    for path in (path for entry in entries for path in _expand(str(entry))):
        files = [path / name for name in file_names(path)] if path.is_dir() else [path]
        for file in files:
            state = file.stat()
            name = file.relative_to(path.parent).as_posix()
            digest.update(repr((name, state.st_size, state.st_mtime_ns)).encode())
    return digest.hexdigest()


def replay_settings(
    spec: str | Path | Sequence[str | Path], missing: str = "404"
) -> dict[str, Any]:
    """Return the Scrapy settings that make a crawl a replay.

    ``missing`` is ``"404"``, ``"dns"`` or ``"refuse"``: how a URL fails that is not stored.
    """
    entries = [spec] if isinstance(spec, (str, Path)) else list(spec)
    return {
        "FOCUS_REPLAY": [str(entry) for entry in entries],
        "FOCUS_REPLAY_MISSING": missing,
        "DOWNLOAD_HANDLERS": {"http": _HANDLER, "https": _HANDLER},
    }


def _expand(entry: str) -> list[Path]:
    """Return the files and folders of HTML that an entry names."""
    path = Path(entry).expanduser()
    try:
        if path.is_dir():
            return sorted(_archives_in(path)) or [path]
        if path.exists():
            return [path]
        found = sorted(glob.glob(str(path)))  # noqa: PTH207 - the pattern may be absolute
    except (OSError, ValueError) as error:
        raise ReplayError(f"{entry}: cannot be looked up: {error}") from None
    if not found:
        what = "nothing matches it" if glob.has_magic(entry) else "there is no such file or folder"
        raise ReplayError(f"{entry}: {what}; mend FOCUS_REPLAY (relative to {Path.cwd()})")
    return [path for name in found for path in _expand(name)]


def _archives_in(folder: Path) -> list[Path]:
    """Return the archives in a folder, or in those of the workers that wrote a run there."""
    folders = run_parts(folder) if is_run(folder) else [folder]
    paths = (path for part in folders for path in part.iterdir())
    return [path for path in paths if path.name.endswith(_SUFFIXES) and path.is_file()]


def _open_paths(paths: Sequence[Path]) -> Archive:
    """Open each path as what it is; WARCs that follow one another share an index."""
    archives: list[Archive] = []
    slices: list[Slice] = []
    spool = Spool()

    def flush() -> None:
        if slices:
            archives.append(WarcArchive(tuple(slices), spool))
            slices.clear()

    for path in paths:
        if path.is_dir():
            flush()
            archives.append(FolderArchive(path))
        else:
            slices.extend(_slices(path, spool))
    flush()
    return archives[0] if len(archives) == 1 else Archives(archives)


def _slices(path: Path, spool: Spool) -> list[Slice]:
    """Return the WARCs of a file, told by its first bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise ReplayError(f"{path}: cannot be read: {error.strerror}") from None
    if not head:
        raise ReplayError(f"{path}: the file is empty; take it out of FOCUS_REPLAY")
    if head.startswith(b"PK"):
        return wacz_slices(path, spool)
    if head.startswith(b"WARC/") or (head.startswith(b"\x1f\x8b") and _is_gzipped_warc(head)):
        return [Slice(path, 0, path.stat().st_size)]
    if path.name.endswith(".wacz"):
        raise ReplayError(f"{path}: not a zip file, so no WACZ; fetch it again")
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        raise ReplayError(f"{path}: compressed with zstd; unpack it first: zstd -d {path.name}")
    raise ReplayError(
        f"{path}: neither a WARC nor a WACZ (it begins with {head[:12]!r}); "
        f"pages in files are replayed from a folder, as FOLDER/HOST/PATH"
    )


def _is_gzipped_warc(head: bytes) -> bool:
    try:
        return zlib.decompressobj(wbits=31).decompress(head, 5) == b"WARC/"
    except zlib.error:
        return False
