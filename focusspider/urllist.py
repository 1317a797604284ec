"""A list of pages in a file: what was useful in a session, what is a target, what is a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.errors import UrlListError
from focusspider.urls import RefusedURLError, resolve

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["listed_urls"]

_MAX_LINE = 80  # characters of a wrong line in a message


def listed_urls(path: Path) -> tuple[str, ...]:
    """Return the URLs of a file, one a line; a line that begins with ``#`` is a remark.

    Raises UrlListError where the file cannot be read, or a line is no URL.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UrlListError(
            f"{path} holds a byte that is not UTF-8 ({error.reason}); save it as UTF-8"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UrlListError(f"{path} cannot be read: {reason}; mend the path") from None
    urls: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            urls[resolve("", text)] = None
        except RefusedURLError:
            shown = text if len(text) <= _MAX_LINE else f"{text[: _MAX_LINE - 1]}…"
            raise UrlListError(
                f"{path}: line {number} is no URL of a page, {shown!r}; give one a line, such "
                "as https://www.example.org/page"
            ) from None
    return tuple(urls)
