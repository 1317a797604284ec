"""What a graph holds, in one number; and a page's body, unpacked."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

from focusspider.errors import WebGraphError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

__all__ = ["MAX_BODY", "content_digest", "unpacked"]

#: Bytes of a page, unpacked; more is an error, when it is written as when it is read.
MAX_BODY = 64_000_000

# Whole rows in an order that is theirs, not that of adding.
_PAGES = """
    SELECT lower(hex(fingerprint)), url, title, status, content_type, content_language,
        target, layer, body
    FROM page ORDER BY fingerprint
"""
_LINKS = """
    SELECT 'edge', lower(hex(s.fingerprint)), lower(hex(d.fingerprint)), edge.anchor
    FROM edge JOIN page s ON s.id = edge.source JOIN page d ON d.id = edge.destination
    UNION ALL
    SELECT 'alias', lower(hex(alias.fingerprint)), lower(hex(d.fingerprint)), alias.url
    FROM alias JOIN page d ON d.id = alias.page
    ORDER BY 1, 2, 3
"""


def content_digest(connection: sqlite3.Connection, path: Path) -> str:
    """Return the SHA-256 of a graph's content; see :meth:`WebGraph.fingerprint`."""
    digest = hashlib.sha256()
    for fingerprint, url, *values, packed in connection.execute(_PAGES):
        body = hashlib.sha256(unpacked(packed, url, path)).hexdigest()
        digest.update(_line(["page", fingerprint, url, *values, body]))
    for link in connection.execute(_LINKS):
        digest.update(_line(link))
    return digest.hexdigest()


def unpacked(packed: bytes, url: str, path: Path) -> bytes:
    """Return a page's body. Raises WebGraphError where it is damaged, or a bomb."""
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(packed, MAX_BODY + 1)
        whole = unpacker.eof and len(body) <= MAX_BODY
        problem = "" if whole else f"cut short, or above {MAX_BODY:,} bytes"
    except (zlib.error, TypeError) as error:
        problem = str(error)
    if problem:
        raise WebGraphError(
            f"web graph {path}: the body of {url} is damaged ({problem}); restore a copy, or "
            "collect it anew"
        )
    return body


def _line(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=True).encode() + b"\n"
