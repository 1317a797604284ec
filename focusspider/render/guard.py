"""What a page may do while it is in the browser: be read, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import secrets
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from playwright.async_api import Browser, Dialog, Page, Request, Route
    from scrapy.http import Response

__all__ = ["Guard", "is_local"]

_METHODS = frozenset({"GET", "HEAD"})
#: How Chromium says that a page led on by itself, and not by sending a form.
_LED_ON = frozenset({"anchorClick", "httpHeaderRefresh", "metaTagRefresh", "scriptInitiated"})
#: Headers that tell how a body came, and not what it is.
_OF_TRANSFER = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"}
)
#: Types that Chromium shows as pages, and does not save.
_PAGES = ("text/html", "application/xhtml+xml")
_SCRIPT = files("focusspider.render").joinpath("probe.js").read_text(encoding="utf-8").rstrip()


class Guard:
    """Stands between one page and the web.

    The page is given the document that was fetched already, also when it is loaded again.
    Beyond that it may ask for scripts, styles and data, by GET. It may not lead anywhere:
    where it would have gone is noted in ``led``. What was refused is counted in
    ``refused``, by the reasons of ``focus/render/refused``.

    Parameters
    ----------
    document
        what was fetched, without content codings
    blocked
        types of resources that are not loaded, by Playwright's names
    most
        requests that the page may make
    allowed
        whether robots.txt lets a URL be asked for
    fetch
        answers a request in the place of the web, with None for what there is not; None: it
        goes to the web
    """

    def __init__(
        self,
        document: Response,
        *,
        blocked: frozenset[str],
        most: int,
        allowed: Callable[[str], Awaitable[bool]],
        fetch: Callable[[str], Awaitable[Response | None]] | None,
    ) -> None:
        self.page: Page | None = None
        self.name = f"f{secrets.token_hex(16)}"
        self.led: list[str] = []
        self.refused: Counter[str] = Counter()
        self.dialogs = 0
        self.gone = False  # the page, or the browser that it was in
        self._browser: Browser | None = None
        self._limits: list[asyncio.Timeout] = []
        self._document = document
        self._local = is_local(document.url)
        self._blocked = blocked
        self._left = most
        self._allowed = allowed
        self._fetch = fetch
        self._expected = False
        self._frame = ""
        self._pending: set[Request] = set()

    async def attach(self, page: Page, _: Any) -> None:
        """Take a page over, before it asks for anything."""
        self.page = page
        try:
            page.on("crash", self._end)
            page.on("close", self._end)
            self._browser = page.context.browser
            assert self._browser is not None
            self._browser.on("disconnected", self._end)
            page.on("dialog", self._answer)
            page.on("request", self._asks)
            page.on("requestfinished", self._has)
            page.on("requestfailed", self._has)
            await page.add_init_script(f"{_SCRIPT.rstrip(';')}({json.dumps(self.name)});")
            cdp = await page.context.new_cdp_session(page)
            cdp.on("Page.frameRequestedNavigation", self._navigates)
            await cdp.send("Page.enable")
            tree = await cdp.send("Page.getFrameTree")
            self._frame = tree["frameTree"]["frame"]["id"]
            await page.context.route("**/*", self._elsewhere)
            page.context.on("page", self._window)
            await page.route("**/*", self._route)
        except BaseException:
            await page.close()  # or it would go on without its guard
            raise

    @contextlib.asynccontextmanager
    async def within(self, when: float) -> AsyncIterator[None]:
        """Wait for the page until a time by the loop's clock, or until it is ``gone``.

        What is asked of a page in a browser that was killed may never be answered. Raises
        TimeoutError.
        """
        async with asyncio.timeout_at(0 if self.gone else when) as limit:
            self._limits.append(limit)
            try:
                yield
            finally:
                self._limits.pop()

    def release(self) -> None:
        """Listen to the browser no more."""
        if self._browser is not None:
            self._browser.remove_listener("disconnected", self._end)
            self._browser = None

    def expect(self) -> None:
        """Let the page have its document, once."""
        self._expected = True

    @property
    def busy(self) -> bool:
        """Whether the page waits for an answer."""
        return bool(self._pending)

    def take_led(self) -> list[str]:
        """Return where the page would have gone since the last call."""
        led, self.led = self.led, []
        return led

    async def _route(self, route: Route, request: Request) -> None:
        with contextlib.suppress(Exception):  # the page is gone, and nobody waits
            if self._is_document(request) and self._expected and request.method == "GET":
                self._expected = False
                await self._give(route, self._document, _shown(self._document))
                return
            reason = await self._refusal(request)
            if reason is not None:
                self.refused[reason] += 1
                await route.abort("aborted" if reason == "navigation" else "blockedbyclient")
            elif self._fetch is None:
                await route.fallback()
            elif (stored := await self._fetch(request.url)) is None:
                await route.abort("namenotresolved")
            else:
                await self._give(route, stored, _plain(stored))

    async def _refusal(self, request: Request) -> str | None:
        """Return why a request may not be made, or None."""
        if request.method not in _METHODS:
            return "method"
        if request.is_navigation_request():
            return "navigation" if self._is_document(request) else "frame"
        if request.resource_type in self._blocked:
            return "type"
        if not request.url.startswith(("http://", "https://")):
            return "scheme"
        if is_local(request.url) and not self._local:
            return "local"
        if self._left <= 0:
            return "requests"
        self._left -= 1
        return None if await self._allowed(request.url) else "robots"

    def _is_document(self, request: Request) -> bool:
        assert self.page is not None
        return request.is_navigation_request() and request.frame == self.page.main_frame

    async def _give(self, route: Route, response: Response, headers: dict[str, str]) -> None:
        await route.fulfill(status=response.status, headers=headers, body=response.body)

    async def _elsewhere(self, route: Route, request: Request) -> None:
        """Keep a window that the page has opened from loading anything."""
        with contextlib.suppress(Exception):
            self.refused["window"] += 1
            if request.method == "GET" and request.is_navigation_request():
                self.led.append(request.url)
            await route.abort("blockedbyclient")

    async def _window(self, page: Page) -> None:
        if page is not self.page:
            with contextlib.suppress(Exception):
                await page.close()

    def _navigates(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._frame and event["reason"] in _LED_ON:
            self.led.append(event["url"])

    async def _answer(self, dialog: Dialog) -> None:
        """Answer as who wants to go on: yes, and what is proposed."""
        self.dialogs += 1
        with contextlib.suppress(Exception):
            await dialog.accept(dialog.default_value)

    def _end(self, _: Page | Browser) -> None:
        self.gone = True
        if self._limits and not self._limits[-1].expired():
            self._limits[-1].reschedule(0)

    def _asks(self, request: Request) -> None:
        self._pending.add(request)

    def _has(self, request: Request) -> None:
        self._pending.discard(request)


def _plain(response: Response) -> dict[str, str]:
    """Return the headers of an answer that has come whole, their names in lower case."""
    headers = {
        name.decode("latin-1").lower(): "\n".join(value.decode("latin-1") for value in values)
        for name, values in response.headers.items()
    }
    return {name: value for name, value in headers.items() if name not in _OF_TRANSFER}


def _shown(document: Response) -> dict[str, str]:
    """Return the headers of a document that is to be shown, and not saved."""
    headers = _plain(document)
    headers.pop("content-disposition", None)
    if not headers.get("content-type", "").lower().startswith(_PAGES):
        headers["content-type"] = "text/html"  # Scrapy has found that it is a page
    return headers


def is_local(url: str) -> bool:
    """Return whether a URL names this machine or a private network.

    A name that leads there is not looked up.

    >>> [is_local(f"http://{host}/") for host in ("localhost:8000", "10.0.0.1", "[::1]", "a.org")]
    [True, True, True, False]
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False
