"""One tab of the browser in which a session is recorded."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

from focusspider.webgraph.document import PASSED_OVER, Document

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import CDPSession, Frame, Page, Response

    from focusspider.webgraph.session import BrowsingSession

__all__ = ["Arrival", "Buttons", "Tab"]

_BODY_SECONDS = 10.0  # that a body may take to come whole
_SETTLE_SECONDS = 1.0  # before a page is read that a script made
#: What may be a page.
_TEXT = ("text/", "application/xhtml", "application/xml")
_TRIES = 10  # to ask for the history, while the tab changes its process
_TYPED = frozenset(
    {"typed", "address_bar", "auto_bookmark", "generated", "keyword", "keyword_generated",
     "start_page", "auto_toplevel"}
)  # fmt: skip


class Buttons:
    """What the page's side of the recorder is called, and its script.

    ``name`` and ``world`` are made for a session, and no page can see them.
    """

    def __init__(self, script: str, secret: str) -> None:
        self.name = f"f{secret[:32]}"
        self.world = f"w{secret[32:]}"
        tag = f"x-{secret[:12][::-1]}"
        self.source = f"{script.rstrip().rstrip(';')}({json.dumps(self.name)}, {json.dumps(tag)});"
        self.tag = tag


class Arrival:
    """A document on its way: its answer is there, its body comes.

    The body is not asked for where it is a film or such.
    """

    def __init__(self, response: Response) -> None:
        self.url = _plain(response.url)
        kind = response.headers.get("content-type", "text/html")
        self.is_text = kind.strip().lower().startswith(_TEXT)
        self._response = response
        self._body = asyncio.ensure_future(self._read())

    async def _read(self) -> bytes | None:
        if not self.is_text:
            return None
        try:
            return await self._response.body()
        except Exception:  # noqa: BLE001 - a download, a tab that is gone: there is no body
            return None

    def drop(self) -> None:
        """Wait no longer."""
        self._body.cancel()

    def frame(self) -> Frame | None:
        """Return the frame that asked for it; None where its tab is not known yet."""
        try:
            return self._response.frame
        except Exception:  # noqa: BLE001 - Playwright's own, of several types
            return None

    async def document(self) -> Document:
        """Return the document, its body None where that did not come in time."""
        body: bytes | str | None = None
        with contextlib.suppress(asyncio.TimeoutError):
            body = await asyncio.wait_for(asyncio.shield(self._body), _BODY_SECONDS)
        if isinstance(body, bytes):
            with contextlib.suppress(UnicodeDecodeError):
                body = body.decode()  # the browser has read its charset
        moved_from = []
        request = self._response.request.redirected_from
        while request is not None:
            moved_from.append(request.url)
            request = request.redirected_from
        headers = self._response.headers
        return Document(
            self.url,
            body,
            headers.get("content-type", "text/html"),
            headers.get("content-language", ""),
            self._response.status,
            self._response.request.method,
            moved_from[::-1],
        )


class Tab:
    """Tells a session what one tab shows, and what is pressed in it.

    What happens is queued and handled in its order, so that *Useful* means the page that it
    was pressed on.
    """

    def __init__(
        self,
        page: Page,
        session: BrowsingSession,
        buttons: Buttons,
        arrivals: list[Arrival],
        submitted: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self.page = page
        self._session = session
        self._buttons = buttons
        self._arrivals = arrivals
        self._submitted = submitted
        self._queue: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._cdp: CDPSession | None = None
        self._context = 0  # the buttons' world in the document that is shown
        self._entries: set[int] = set()  # of the tab's history
        self._entry = 0
        self._url = ""
        self._frames: set[Frame] = set()  # of framesets
        self._left: list[str] = []  # documents that led on at once, as redirects do
        self._note = ""
        self._attached = asyncio.Event()
        page.on("framenavigated", self._navigated)
        self._worker = asyncio.ensure_future(self._work(failed))

    async def attach(self) -> None:
        """Listen to the tab, and put the buttons into what it shows."""
        page, buttons = self.page, self._buttons
        with contextlib.suppress(Exception):  # the tab may be closed meanwhile
            cdp = self._cdp = await page.context.new_cdp_session(page)
            cdp.on("Runtime.bindingCalled", self._heard)
            await cdp.send("Page.enable")
            await cdp.send("Runtime.enable")
            await cdp.send(
                "Runtime.addBinding",
                {"name": buttons.name, "executionContextName": buttons.world},
            )
            await cdp.send(
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": buttons.source, "worldName": buttons.world, "runImmediately": True},
            )
        if page.url not in {"", "about:blank"}:
            self._navigated(page.main_frame)  # it may have come before there was who listens
        self._attached.set()

    async def close(self) -> None:
        """Handle what is queued, as far as that takes no time, and end."""
        self._queue.put_nowait(("end", None))
        with contextlib.suppress(asyncio.TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(self._worker, _SETTLE_SECONDS)
        self._session.leave(self)

    async def remove(self) -> None:
        """Take the buttons out of what the tab shows."""
        await self._evaluate("focusRecorder.remove()")
        if self._cdp is not None:
            with contextlib.suppress(Exception):
                await self._cdp.detach()

    def _navigated(self, frame: Frame) -> None:
        self._put("shown", (frame, _plain(frame.url)))

    def _put(self, what: str, about: Any) -> None:
        self._queue.put_nowait((what, about))

    def _heard(self, event: dict[str, Any]) -> None:
        if event.get("name") != self._buttons.name:
            return
        with contextlib.suppress(ValueError, TypeError, KeyError):
            message = json.loads(event["payload"])
            if message["do"] == "ready":
                self._context = event["executionContextId"]
            self._put(message["do"], message)

    async def _work(self, failed: Callable[[BaseException], None]) -> None:
        await self._attached.wait()
        while True:
            what, about = await self._queue.get()
            if what == "end":
                return
            try:
                await self._handle(what, about)
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001 - told once, and the recording ends
                failed(error)
                return

    async def _handle(self, what: str, about: Any) -> None:
        session = self._session
        if what == "submit":
            self._submitted()
        elif what == "click":
            url, anchor, source = (str(about[key]) for key in ("url", "anchor", "source"))
            session.click(self, url, anchor, source=source)
        else:
            if what == "shown" and not await self._shown(*about):
                return
            if what in {"useful", "useless"}:
                session.useful(self, wanted=what == "useful")
            await self._show()

    async def _shown(self, frame: Frame, url: str) -> bool:
        """Take what a frame showed, a new document or another place in its history.

        Returns whether it is anything to the session.
        """
        arrival = self._arrived(frame, url)
        if frame.parent_frame is not None:
            return arrival is not None and await self._frame(frame, arrival)
        if arrival is None and (url == self._url or url != _plain(frame.url)):
            return False  # a fragment, or what a script has shown and taken away
        before, self._url = self._url, url
        self._note = ""
        if not url.startswith(("http://", "https://")):
            self._session.leave(self)
            return True
        entry, kind = await self._history(url)
        same = entry == self._entry
        known = entry in self._entries and not same
        self._entries.add(entry)
        self._entry = entry
        if arrival is not None:
            move = _move(kind, known=known, same=same and url == before)
            document = await arrival.document()
            if document.body is None and arrival.is_text:
                document = document._replace(body=await self._dom(url))
                if document.body is None and await self._is_replaced(url):
                    self._left += [*document.moved_from, url]
                    return False
        elif same and before:  # a script gave the page another URL
            self._session.redirect(url, before)
            return False
        elif known:
            move, document = "history", Document(url, await self._dom(url))
        else:  # a script showed another page
            await asyncio.sleep(_SETTLE_SECONDS)
            move, document = "link", Document(url, await self._dom(url))
        if move == "link":
            document = document._replace(moved_from=[*self._left, *document.moved_from])
        self._left = []
        reason = self._session.visit(self, document, move=move)
        self._note = f"Not recorded: {PASSED_OVER[reason]}." if reason else ""
        return True

    def _arrived(self, frame: Frame, url: str) -> Arrival | None:
        """Return the document that a frame shows, the last to come of its URL."""
        for place in range(len(self._arrivals) - 1, -1, -1):
            arrival = self._arrivals[place]
            if arrival.url == url and arrival.frame() in {frame, None}:
                del self._arrivals[place]
                return arrival
        return None

    async def _frame(self, frame: Frame, arrival: Arrival) -> bool:
        if frame not in self._frames and not self._session.is_framed(arrival.url):
            arrival.drop()
            return False  # an iframe: a part of its page
        self._frames.add(frame)
        self._session.frame(self, await arrival.document())
        return True

    async def _history(self, url: str) -> tuple[int, str]:
        """Return the number and the kind of the entry that a URL has in the tab's history."""
        for _ in range(_TRIES):
            entries = await self._entries_now()
            for entry in entries:
                if _plain(entry["url"]) == url:
                    return int(entry["id"]), str(entry["transitionType"])
            await asyncio.sleep(0.1)
        return -1, "link"

    async def _is_replaced(self, url: str) -> bool:
        """Return whether a document has led on by itself: its history does not hold it any more."""
        entries = await self._entries_now()
        return bool(entries) and all(_plain(entry["url"]) != url for entry in entries)

    async def _entries_now(self) -> list[dict[str, Any]]:
        """Return the tab's history, the entry that it is at first; nothing where it is gone."""
        if self._cdp is not None:
            with contextlib.suppress(Exception):  # not while the tab changes its process
                history = await self._cdp.send("Page.getNavigationHistory")
                return [history["entries"][history["currentIndex"]], *history["entries"][::-1]]
        return []

    async def _dom(self, url: str) -> str | None:
        """Return the document as scripts have made it, without the buttons."""
        if _plain(self.page.url) != url:
            return None
        html = await self._evaluate("focusRecorder.dom()")
        return html if isinstance(html, str) and _plain(self.page.url) == url else None

    async def _show(self) -> None:
        """Let the buttons show what is known of the page."""
        session, graph = self._session, self._session.graph
        pages = session.shown(self)
        state = {
            "on": bool(pages) and not session.ended,
            "pressed": session.is_useful(self),
            "text": self._note or f"{len(graph):,} pages, {len(graph.targets()):,} useful",
        }
        await self._evaluate(f"focusRecorder.show({json.dumps(state)})")

    async def _evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the buttons' world; None where that is gone."""
        if self._cdp is None or not self._context:
            return None
        with contextlib.suppress(Exception):
            done = await self._cdp.send(
                "Runtime.evaluate",
                {"expression": expression, "contextId": self._context, "returnByValue": True},
            )
            return done["result"].get("value")
        return None


def _move(kind: str, *, known: bool, same: bool) -> str:
    """Return how a document came, of the kinds that Chromium's history tells."""
    if same or kind == "reload":
        return "reload"
    if known:
        return "history"
    if kind == "form_submit":
        return "form"
    return "typed" if kind in _TYPED else "link"


def _plain(url: str) -> str:
    return url.partition("#")[0]
