"""WACZ files: a zip with WARCs in its folder ``archive/`` (specs.webrecorder.net/wacz).

A WARC that is stored as it is, which the format recommends, is read in place; one that the
zip compresses is unpacked into a temporary file first.
"""

from __future__ import annotations

import struct
import zipfile
from functools import partial
from typing import TYPE_CHECKING

from focusspider.errors import ReplayError
from focusspider.replay.warc import Slice

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.replay.warc import Spool

__all__ = ["wacz_slices"]

_LOCAL_HEADER = 30  # bytes before the name, the last four being the lengths of name and extra
_ENCRYPTED = 0x1
_CHUNK = 1 << 20  # bytes that are unpacked at a time


def wacz_slices(path: Path, spool: Spool) -> list[Slice]:
    """Return the WARCs of a WACZ, in the order of their names."""
    try:
        with zipfile.ZipFile(path) as wacz:
            members = sorted(
                (member for member in wacz.infolist() if _is_warc(member.filename)),
                key=lambda member: member.filename,
            )
            if not members:
                raise ReplayError(
                    f"{path}: a zip without archive/*.warc.gz, so no WACZ; "
                    f"a zip of pages is replayed once it is unpacked"
                )
            return [_slice(path, wacz, member, spool) for member in members]
    except zipfile.BadZipFile as error:
        raise ReplayError(f"{path}: a damaged zip file ({error}); fetch it again") from None
    except NotImplementedError as error:  # another one just like it would come
        raise ReplayError(
            f"{path}: a zip that Python cannot unpack ({error}); unpack it with the program that "
            "made it, and zip its files again without compression, as the format recommends"
        ) from None
    except OSError as error:
        raise ReplayError(f"{path}: cannot be read: {error.strerror}") from None


def _is_warc(name: str) -> bool:
    return name.startswith("archive/") and name.endswith((".warc", ".warc.gz"))


def _slice(path: Path, wacz: zipfile.ZipFile, member: zipfile.ZipInfo, spool: Spool) -> Slice:
    name = f"{path}!{member.filename}"
    if member.flag_bits & _ENCRYPTED:
        raise ReplayError(f"{name}: encrypted; unpack it with its password first")
    if member.compress_type != zipfile.ZIP_STORED:
        with wacz.open(member) as stream:
            return spool.save(iter(partial(stream.read, _CHUNK), b""), name)
    with path.open("rb") as file:
        file.seek(member.header_offset)
        header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise ReplayError(f"{name}: the zip's list does not lead to it; fetch the file again")
    # The local header's extra field may differ in length from the one in the zip's list.
    lengths = struct.unpack("<HH", header[-4:])
    start = member.header_offset + _LOCAL_HEADER + sum(lengths)
    return Slice(path, start, start + member.file_size, name)
