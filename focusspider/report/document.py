"""HTML of hostile text, and the page around it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from focusspider.errors import FocusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["Html", "PageFileError", "cut", "document", "element", "escape", "joined", "link",
           "write_page"]  # fmt: skip

#: Longest text that is shown whole, and longest address that becomes a link.
_MAX_TEXT, _MAX_HREF = 200, 2083
#: What browsers take for no link to a script: no space or control character anywhere.
_WEB = re.compile(r"https?://[^\s\x00-\x20\x7f<>\"\\^`{|}]+", re.IGNORECASE)
#: What no text of a page may hold; line ends and tabs are blanks.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_VOID = {"br", "input", "meta"}


class PageFileError(FocusError, OSError):
    """A page cannot be written: give another place for it."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(text: str) -> Html:
    r"""Return text as HTML that shows it; HTML stays as it is.

    >>> escape("<b> & \x00")
    '&lt;b&gt; &amp; \ufffd'
    """
    if isinstance(text, Html):
        return text
    return Html(html.escape(_CONTROL.sub("\ufffd", text)))


def joined(parts: Iterable[str]) -> Html:
    """Return parts one after the other, each escaped where it is not HTML."""
    return Html("".join(map(escape, parts)))


def element(name: str, /, *children: str, **attributes: str | int | bool | None) -> Html:
    """Return an element; attributes that are None or False are left out.

    A trailing ``_`` is dropped from an attribute's name, and others become ``-``.

    >>> element("td", "a < b", class_="x", data_value=3, hidden=False)
    '<td class="x" data-value="3">a &lt; b</td>'
    """
    start = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        start.append(key if value is True else f'{key}="{escape(str(value))}"')
    opened = f"<{' '.join(start)}>"
    return Html(opened if name in _VOID else f"{opened}{joined(children)}</{name}>")


def cut(text: str, most: int = _MAX_TEXT) -> str:
    """Return a text in one line, and no longer than that."""
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def link(url: str, text: str | None = None) -> Html:
    """Return a link to an address of the web, and of any other the text alone.

    >>> link("javascript:alert(1)")
    '<bdi>javascript:alert(1)</bdi>'
    """
    shown = element("bdi", cut(text or url))  # what is written backwards stays in its place
    if len(url) > _MAX_HREF or not _WEB.fullmatch(url):
        return shown
    return element("a", shown, href=url, rel="noreferrer noopener nofollow", title=cut(url, 500))


def document(
    title: str,
    body: Iterable[str],
    *,
    data: Mapping[str, Any] | None = None,
    libraries: Iterable[str] = (),
) -> str:
    """Return a whole page.

    Parameters
    ----------
    body
        its parts
    data
        what its script draws, JSON-safe; see :mod:`~focusspider.report.charts`
    libraries
        scripts that come before its own
    """
    scripts = [_lines(text) for text in (*libraries, _resource("page.js"))]
    policy = (
        "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
        f"script-src {' '.join(map(_digest, scripts))}; base-uri 'none'; form-action 'none'"
    )
    head = joined(
        [
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", cut(title)),
            element("style", Html(_resource("page.css"))),
        ]
    )
    parts = [element("h1", cut(title)), *body]
    parts.append(element("script", _json(data or {}), type="application/json", id="data"))
    parts += [element("script", Html(script)) for script in scripts]
    page = element("html", element("head", head), element("body", *parts), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def write_page(path: Path, page: str) -> None:
    """Write a page, whole or not at all.

    Raises :class:`PageFileError`.
    """
    draft = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(page, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise PageFileError(
            f"{path} can't be written: {error.strerror}; give another file"
        ) from error


def _json(data: Mapping[str, Any]) -> Html:
    """Return JSON that ends no script element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Html(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _lines(script: str) -> str:
    """Return a script as the browser will see it, for its digest."""
    return script.replace("\r\n", "\n").replace("\r", "\n")


def _digest(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _resource(name: str) -> str:
    return files("focusspider.report").joinpath(name).read_text(encoding="utf-8")
