"""What a setting may hold, and how a value that comes as a string is read."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FLAG",
    "FOLDER_NAME",
    "NAMES",
    "PATH",
    "PORTS",
    "REDIS_URL",
    "SECRET",
    "SHARE",
    "TABLE",
    "TEXT",
    "TEXTS",
    "Kind",
    "choice",
    "is_folder_name",
    "whole",
]

_FOLDER = re.compile(r"\w[\w.+-]*")
_FOLDER_BYTES = 200  # file systems stop at 255


def is_folder_name(name: str) -> bool:
    """Return whether a name is safe as the name of one folder, on any system.

    >>> [is_folder_name(name) for name in ("robotics-2", "café", "..", "a/b", "")]
    [True, True, False, False, False]
    """
    return (
        _FOLDER.fullmatch(name) is not None
        and not name.endswith(".")
        and len(name.encode()) <= _FOLDER_BYTES
    )


class Kind(NamedTuple):
    """What a setting may hold: ``parse`` raises ValueError where it is not ``expects``.

    The value of a ``secret`` one is shown nowhere.
    """

    parse: Callable[[Any], Any]
    expects: str
    secret: bool = False


def whole(least: int) -> Kind:
    """Return the kind of whole numbers of so much or more."""

    def parse(value: Any) -> int:
        if isinstance(value, str):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError
        return value

    return Kind(parse, f"a whole number of {least} or more")


def _parse_share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError
    number = float(value)
    if math.isnan(number) or not 0.0 < number <= 1.0:
        raise ValueError
    return number


def _parse_flag(value: Any) -> bool:
    text = str(value).strip().lower()
    if isinstance(value, (bool, int, str)) and text in {"true", "1", "false", "0"}:
        return text in {"true", "1"}
    raise ValueError


def _parse_text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    return value.strip()


def _parse_texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = json.loads(value)
    if isinstance(value, (list, tuple)):
        return tuple(_parse_text(item) for item in value)
    return (_parse_text(value),)


def _parse_names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and not value.lstrip().startswith("["):
        value = value.split(",")
    return _parse_texts(value)


def _parse_folder(value: Any) -> str:
    if isinstance(value, str) and is_folder_name(value):
        return value
    raise ValueError


def _parse_ports(value: Any) -> tuple[int, int]:
    """Return the first and the last of a range of ports."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        first, dash, last = value.partition("-")
        value = (int(first), int(last if dash else first))
    first, last = value
    ports = range(1, 65_536)
    if (first, last) != (0, 0) and not (first in ports and last in ports and first <= last):
        raise ValueError
    return first, last


def _parse_redis_url(value: Any) -> str:
    url = _parse_text(value)
    if url.partition("://")[0] not in {"redis", "rediss", "unix"}:
        raise ValueError
    return url


def _parse_table(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError
    return dict(value)


def choice(*names: str) -> Kind:
    """Return the kind of one of these names."""

    def parse(value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value not in names:
            raise ValueError
        return str(value)

    return Kind(parse, "one of " + ", ".join(repr(name) for name in names))


TEXT = Kind(_parse_text, "a text that is not empty")
TEXTS = Kind(_parse_texts, "a path or a list of paths (JSON on the command line)")
NAMES = Kind(_parse_names, "names, comma-separated or a list")
PATH = Kind(lambda value: Path(_parse_text(value)), "a path")
PORTS = Kind(_parse_ports, "a port, or a range such as 9410-9419; 0: any that is free")
FLAG = Kind(_parse_flag, "True or False")
SHARE = Kind(_parse_share, "a number above 0 and up to 1")
FOLDER_NAME = Kind(_parse_folder, "a name that a folder can have: letters, digits, - _ . +")
SECRET = Kind(_parse_text, "a key; it is written nowhere", secret=True)
REDIS_URL = Kind(
    _parse_redis_url, "redis://HOST:PORT/NUMBER, rediss://… or unix:///PATH", secret=True
)
TABLE = Kind(_parse_table, "a dictionary (a JSON object on the command line)")
