"""What scrapy-playwright is asked for: a page in a context of its own, as its request came."""

from __future__ import annotations

import base64
import contextlib
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from scrapy import Request

from focusspider.render.guard import is_local

if TYPE_CHECKING:
    from scrapy.http import Response

    from focusspider.render.guard import Guard

__all__ = ["context_request"]


def context_request(
    request: Request, document: Response, guard: Guard, name: str, verifies: bool
) -> Request:
    """Return the request for a page that is given a fetched document.

    Its context is as a new visitor's, with the user agent, the cookies and the proxy that the
    document was fetched with.

    Parameters
    ----------
    name
        of the context
    verifies
        whether certificates are verified
    """
    agent = request.headers.get("User-Agent")
    options: dict[str, Any] = {
        "accept_downloads": False,
        "service_workers": "block",
        "ignore_https_errors": not verifies,
        "storage_state": {"cookies": _cookies(request), "origins": []},
    }
    if agent:
        options["user_agent"] = agent.decode("latin-1")
    if request.meta.get("proxy"):
        options["proxy"] = _proxy(request)
    if is_local(document.url):  # Chromium asks the person, but a local page may ask its peers
        options["permissions"] = ["local-network-access"]
    return Request(
        document.url,
        headers={"User-Agent": agent} if agent else {},
        meta={
            "playwright": True,
            "playwright_include_page": True,
            "playwright_context": name,
            "playwright_context_kwargs": options,
            "playwright_page_init_callback": guard.attach,
            "playwright_page_goto_kwargs": {"wait_until": "commit"},
        },
    )


def _cookies(request: Request) -> list[dict[str, Any]]:
    """Return the cookies that were sent, for the page's host alone."""
    host = urlsplit(request.url).hostname or ""
    pairs = (request.headers.get("Cookie") or b"").decode("latin-1").split(";")
    return [
        {
            "name": name.strip(),
            "value": value.strip(),
            "domain": host,
            "path": "/",
            "expires": -1,
            "httpOnly": False,
            "secure": False,
            "sameSite": "Lax",
        }
        for name, found, value in (pair.partition("=") for pair in pairs)
        if found and name.strip()
    ]


def _proxy(request: Request) -> dict[str, str]:
    """Return the proxy that Scrapy used; it keeps the password in a header."""
    parts = urlsplit(request.meta["proxy"])
    proxy = {"server": f"{parts.scheme or 'http'}://{parts.netloc.rpartition('@')[2]}"}
    sent = request.headers.get("Proxy-Authorization") or b""
    scheme, _, encoded = sent.partition(b" ")
    if scheme.lower() == b"basic":
        with contextlib.suppress(ValueError):
            user, _, password = base64.b64decode(encoded).decode("latin-1").partition(":")
            proxy |= {"username": user, "password": password}
    elif parts.username:
        proxy |= {"username": unquote(parts.username), "password": unquote(parts.password or "")}
    return proxy
