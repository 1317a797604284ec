"""JSON that comes back as it went: bytes, tuples, sets and any keys included.

What JSON has no name for is written as ``{"!": kind, "=": value}``. Only the plain types
are taken, never their subclasses: a numpy scalar would come back as something else. So
what can be written is read back equal, and in the same types; all else is refused with its
place. Nothing that is read is executed.

One subclass is taken: the texts that lxml finds, which know their element. A
``CrawlSpider`` has one in the ``meta`` of each Request. They come back as plain texts.
"""

from __future__ import annotations

import json
from base64 import b85decode, b85encode
from typing import TYPE_CHECKING, Any

from scrapy import Item
from scrapy.utils.misc import load_object

from focusspider.errors import UnserializableError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["dumps", "loads"]

_KIND, _VALUE = "!", "="
_PLAIN = frozenset({type(None), bool, int, float, str})


def dumps(value: Any, where: str = "value") -> bytes:
    """Return a value as JSON, in ASCII.

    Raises :class:`UnserializableError` that names what can't be written, and its place in
    ``where``.
    """
    try:
        return json.dumps(_written(value, where), separators=(",", ":")).encode("ascii")
    except RecursionError:
        raise UnserializableError(f"{where}: nested too deeply, or in itself") from None
    except ValueError as error:
        if isinstance(error, UnserializableError):
            raise
        raise UnserializableError(f"{where}: {error}") from None  # an int of 5,000 digits


def loads(data: bytes) -> Any:
    """Return the value that :func:`dumps` wrote.

    >>> loads(dumps({"a": (1, b"x"), 2: {3.5}}))
    {'a': (1, b'x'), 2: {3.5}}
    """
    try:
        return _read(json.loads(data))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnserializableError(
            f"{_shortened(data)} was not written by focusspider: {error}"
        ) from None


def _written(value: Any, where: str) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return [_written(element, f"{where}[{n}]") for n, element in enumerate(value)]
    if kind is dict:
        if all(type(key) is str for key in value) and _KIND not in value:
            return {key: _written(element, f"{where}[{key!r}]") for key, element in value.items()}
        return {
            _KIND: "dict",
            _VALUE: [
                [_written(key, f"{where} (a key)"), _written(element, f"{where}[{key!r}]")]
                for key, element in value.items()
            ],
        }
    if isinstance(value, str) and kind.__module__ == "lxml.etree":
        return str(value)
    if kind is bytes:
        return {_KIND: "bytes", _VALUE: b85encode(value).decode("ascii")}
    if kind in (tuple, set, frozenset):
        elements = list(value)
        return {_KIND: kind.__name__, _VALUE: _written(elements, where)}
    if isinstance(value, Item):
        path = f"{kind.__module__}.{kind.__qualname__}"
        if _item_class(path) is kind:
            return {_KIND: "item", "class": path, _VALUE: _written(dict(value), where)}
    raise UnserializableError(f"{where}: a {kind.__module__}.{kind.__qualname__} is no JSON")


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(element) for element in value]
    if not isinstance(value, dict):
        return value
    if _KIND not in value:
        return {key: _read(element) for key, element in value.items()}
    kind, inner = value[_KIND], value[_VALUE]
    if kind == "item":
        item = _item_class(value["class"])
        if item is None:
            raise ValueError(f"{value['class']} is no item class")
        return item(_read(inner))
    return _READ[kind](inner)


_READ: dict[str, Callable[[Any], Any]] = {
    "bytes": b85decode,
    "tuple": lambda inner: tuple(_read(inner)),
    "set": lambda inner: set(_read(inner)),
    "frozenset": lambda inner: frozenset(_read(inner)),
    "dict": lambda inner: {_read(key): _read(element) for key, element in inner},
}


def _item_class(path: str) -> type[Item] | None:
    """Return the item class of this name, or None where there is none."""
    try:
        found = load_object(path)
    except (ImportError, NameError, ValueError):
        return None
    return found if isinstance(found, type) and issubclass(found, Item) else None


def _shortened(data: bytes) -> str:
    return repr(data[:60]) + ("…" if len(data) > 60 else "")
