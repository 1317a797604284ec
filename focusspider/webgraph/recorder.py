"""Recording a person's browsing session in a real browser (HMM 2.1).

Chromium is asked through Playwright for what it shows; two buttons stand on each page. Pages
are recorded as they were served. Where the browser gives that no more, or a script has shown a
page without asking for a document, it is what the page is made of, without the buttons.

The buttons are in a world of their own (CDP's isolated world), and call the recorder by a name
that is made for the session. A page cannot see either, and what a script of it clicks does not
count. See ``buttons.js``.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from importlib.resources import files
from typing import TYPE_CHECKING

from focusspider.webgraph.tab import Arrival, Buttons, Tab

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page, Response

    from focusspider.webgraph.session import BrowsingSession

__all__ = ["Recorder"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WAITING = 200  # documents that no tab has shown; the rest are forgotten


class Recorder:
    """Listens to a browser until *Submit* is pressed, or its last tab is closed.

    Parameters
    ----------
    session : BrowsingSession
        Told what happens.
    """

    def __init__(self, session: BrowsingSession) -> None:
        self._session = session
        script = files("focusspider.webgraph").joinpath("buttons.js").read_text(encoding="utf-8")
        self._buttons = Buttons(script, secrets.token_hex(32))
        self._tabs: dict[Page, Tab] = {}
        self._others: set[Page] = set()
        self._arrivals: list[Arrival] = []
        self._attaching: set[asyncio.Future[None]] = set()
        self._done = asyncio.Event()
        self._error: BaseException | None = None

    def listen(self, context: BrowserContext, *, leave: bool = False) -> None:
        """Record what happens in a browser; with ``leave``, not in tabs that are open already."""
        context.on("response", self._responded)
        context.on("page", self._opened)
        context.on("close", lambda _: self._done.set())
        if context.browser is not None:
            context.browser.on("disconnected", lambda _: self._done.set())
        for page in context.pages:
            if leave:
                self._others.add(page)
            else:
                self._opened(page)

    async def ready(self) -> None:
        """Wait until the buttons are in each tab."""
        while self._attaching:
            await asyncio.wait(self._attaching)

    async def finished(self) -> None:
        """Wait for the end of the session. Raises what kept it from being written."""
        await self._done.wait()
        for tab in list(self._tabs.values()):
            await tab.close()
        self._session.submit()
        for arrival in self._arrivals:
            arrival.drop()
        if self._error is not None:
            raise self._error

    async def remove(self) -> None:
        """Take the buttons out of each page, and listen no more."""
        for page, tab in self._tabs.items():
            if not page.is_closed():
                await tab.remove()

    def _opened(self, page: Page) -> None:
        tab = self._tabs[page] = Tab(
            page, self._session, self._buttons, self._arrivals, self._done.set, self._failed
        )
        page.on("close", self._closed)
        attaching = asyncio.ensure_future(tab.attach())
        self._attaching.add(attaching)
        attaching.add_done_callback(self._attaching.discard)

    def _closed(self, page: Page) -> None:
        tab = self._tabs.get(page)
        if tab is not None:
            closing = asyncio.ensure_future(tab.close())
            self._attaching.add(closing)
            closing.add_done_callback(self._attaching.discard)
            closing.add_done_callback(lambda _: self._end_without_tabs(page))

    def _end_without_tabs(self, page: Page) -> None:
        self._tabs.pop(page, None)
        if not self._tabs:
            self._done.set()

    def _failed(self, error: BaseException) -> None:
        self._error = self._error or error
        self._done.set()

    def _responded(self, response: Response) -> None:
        with contextlib.suppress(Exception):  # the tab is gone already
            if not response.request.is_navigation_request() or response.status in _REDIRECTS:
                return
            arrival = Arrival(response)
            frame = arrival.frame()
            if frame is not None and frame.page in self._others:
                arrival.drop()
                return
            self._arrivals.append(arrival)
            while len(self._arrivals) > _WAITING:
                self._arrivals.pop(0).drop()
