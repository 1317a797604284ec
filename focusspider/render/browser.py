"""The Chromium of a crawl, driven through scrapy-playwright."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import itertools
import logging
import re
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import HtmlResponse, TextResponse

from focusspider.errors import FocusError, SettingError
from focusspider.markup import text_of
from focusspider.render.context import context_request
from focusspider.render.guard import Guard
from focusspider.render.policy import RenderPolicy
from focusspider.render.probing import Probed, Prober, ask, loaded
from focusspider.webgraph.chromium import find_chromium, launch_options

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

__all__ = ["Browser", "RenderError", "Rendered", "check_browser"]

logger = logging.getLogger(__name__)

_START = 60.0  # seconds that the browser may take to start
_PAUSE = 0.02  # seconds between two looks at whether the browser is there
_GRACE = 5.0  # seconds beside those of the policy, and to close a page
_TAG = re.compile(r"<[A-Za-z]")
_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)
#: Rendered before anything is asked of the web, to see that the browser works.
_TRIAL = HtmlResponse("http://trial.invalid/", body=b"<p><a href=/a>a</a>", encoding="utf-8")


class RenderError(FocusError, RuntimeError):
    """A page could not be rendered: take it as it was fetched.

    ``reason`` is one of those of ``focus/render/failed``.
    """

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        super().__init__(detail)


@dataclass
class Rendered:
    """A page as it is in the browser, and what happened there."""

    html: str
    probed: Probed
    refused: Counter[str]
    dialogs: int


def check_browser(program: Path | None, settings: BaseSettings) -> None:
    """Raise SettingError where pages can't be rendered, for want of a library or a browser."""
    if importlib.util.find_spec("scrapy_playwright") is None:
        raise SettingError(
            "rendering needs scrapy-playwright, which is not installed; "
            "run: pip install scrapy-playwright, or set FOCUS_RENDER = 'never'"
        )
    if not _is_remote(settings):
        find_chromium(program, "")


def _is_remote(settings: BaseSettings) -> bool:
    return bool(settings.get("PLAYWRIGHT_CDP_URL") or settings.get("PLAYWRIGHT_CONNECT_URL"))


class Browser:
    """Renders the pages of one crawl, each in a context of its own.

    Parameters
    ----------
    crawler
        whose settings ``PLAYWRIGHT_*`` are obeyed where they make sense for pages that are
        only read
    program
        the Chromium, as in ``FOCUS_CHROMIUM``
    pages
        most that are open at a time
    blocked, most_requests, max_size
        types of resources that are not loaded; requests that a page may make; characters
        of a document
    """

    def __init__(
        self,
        crawler: Crawler,
        *,
        program: Path | None,
        pages: int,
        blocked: frozenset[str],
        most_requests: int,
        max_size: int,
    ) -> None:
        from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

        self._crawler = crawler
        self._blocked = blocked
        self._most_requests = most_requests
        self._max_size = max_size
        self._numbers = itertools.count()
        self._verifies = crawler.settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        self._room = asyncio.Semaphore(pages)
        self._handler = ScrapyPlaywrightDownloadHandler(crawler)
        options = self._handler.config.launch_options
        if not _is_remote(crawler.settings):
            options = {**launch_options(find_chromium(program, "")), **options}
        self._handler.config = replace(
            self._handler.config,
            browser_type_name="chromium",
            launch_options=options,
            max_pages_per_context=2,
            startup_context_kwargs={},
            restart_disconnected_browser=True,
            target_closed_max_retries=0,  # a page is given its document once: see _open
        )

    @property
    def open_pages(self) -> int:
        """How many pages are open."""
        contexts = [wrapper.context for wrapper in self._handler.context_wrappers.values()]
        return sum(len(context.pages) for context in contexts)

    async def try_out(self) -> None:
        """Start the browser. Raises RenderError where it does not render."""

        async def nothing(_: str) -> bool:
            return False

        patient = RenderPolicy(mode="always", seconds=_START, actions=0)
        await self.render(Request(_TRIAL.url), _TRIAL, patient, allowed=nothing, fetch=None)

    async def render(
        self,
        request: Request,
        document: Response,
        policy: RenderPolicy,
        *,
        allowed: Callable[[str], Awaitable[bool]],
        fetch: Callable[[str], Awaitable[Response | None]] | None,
    ) -> Rendered:
        """Return a fetched document as it is in the browser; see :class:`Guard`.

        Raises RenderError.
        """
        async with self._room:
            guard = Guard(
                document,
                blocked=self._blocked,
                most=self._most_requests,
                allowed=allowed,
                fetch=fetch,
            )
            name = f"focus-{next(self._numbers)}"
            inner = context_request(request, document, guard, name, self._verifies)
            # not cancelled when it takes too long: what it has opened would stay open
            opening = asyncio.ensure_future(self._open(inner, guard))
            end = asyncio.get_running_loop().time() + policy.seconds
            try:
                async with guard.within(end + _GRACE):
                    return await self._rendered(opening, document, policy, guard, end)
            except TimeoutError:
                if guard.gone:
                    gone = f"{document.url}: the page or its browser is gone"
                    raise RenderError("crash", gone) from None
                late = f"{document.url}: the browser does not answer"
                raise RenderError("timeout", late) from None
            except RenderError:
                raise
            except _nonsense() as error:
                reason = "crash" if guard.gone or _is_gone(error) else "error"
                detail = str(error).strip().partition("\n")[0]
                raise RenderError(reason, f"{document.url}: {detail}") from error
            finally:
                await self._close(name, opening, guard)
                guard.release()

    async def _open(self, request: Request, guard: Guard) -> Response:
        """Open a page; once more where its browser was gone before the page was there."""
        for last in (False, True):
            await self._let_go()
            try:
                response: Response = await self._handler.download_request(request)
            except _nonsense() as error:
                if last or guard.page is not None or not _is_gone(error):
                    raise
            else:
                break
        return response

    async def _let_go(self) -> None:
        """Wait until no browser that is gone is taken for one that is there."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                while self._is_left():
                    await asyncio.sleep(_PAUSE)

    def _is_left(self) -> bool:
        browser = getattr(self._handler, "browser", None)
        return browser is not None and not browser.is_connected()

    async def _rendered(
        self,
        opening: asyncio.Future[Response],
        document: Response,
        policy: RenderPolicy,
        guard: Guard,
        deadline: float,
    ) -> Rendered:
        guard.expect()
        async with guard.within(deadline):
            await asyncio.shield(opening)
        page = guard.page
        assert page is not None
        await loaded(page, guard, seconds=policy.seconds / 2)
        read = await ask(page, guard, "read", self._max_size)
        size = read.get("size") or len(read["html"])
        if size > self._max_size:
            raise RenderError("too_large", f"{document.url}: {size} characters")
        if not size:
            raise RenderError("error", f"{document.url}: its scripts left nothing of it")
        html = _based(read["html"], read["base"])
        if guard.led and isinstance(document, TextResponse) and _is_cut(html, text_of(document)):
            html = text_of(document)
        prober = Prober(
            page,
            guard,
            document.url,
            actions=policy.actions,
            deadline=deadline,
            max_size=self._max_size,
        )
        await self._probe(prober, guard)
        return Rendered(
            _joined(html, prober.found.html),
            prober.found,
            guard.refused + prober.found.refused,
            guard.dialogs,
        )

    async def _probe(self, prober: Prober, guard: Guard) -> None:
        """Search the page; what has been found stays found when the page breaks."""
        try:
            await prober.run()
        except _nonsense() as error:
            logger.debug("Probing ended: %s", error)
            prober.found.stopped = "crash" if guard.gone or _is_gone(error) else "error"

    async def _close(self, name: str, opening: asyncio.Future[Response], guard: Guard) -> None:
        """End a page with its context, and the browser where that can't be done."""
        for last in (False, True):
            wrapper = self._handler.context_wrappers.get(name)
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_GRACE):
                    if wrapper is not None:
                        await wrapper.context.close()
                    if guard.page is not None:
                        opening.cancel()  # it may wait for a download, which is not to come
                    if not opening.done():
                        await asyncio.wait({opening})
            if name not in self._handler.context_wrappers and opening.done():
                break
            if last:
                logger.debug("A page does not let itself be closed, and the browser is ended")
                with contextlib.suppress(Exception):
                    async with asyncio.timeout(_GRACE):
                        await self._handler.browser.close()
        if opening.done() and not opening.cancelled():
            opening.exception()  # it has been seen, or came too late to matter

    async def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(Exception):
            await self._handler.close()


def _nonsense() -> tuple[type[Exception], ...]:
    """Return what a browser, and a page that has bent its own functions, can make us raise."""
    from playwright.async_api import Error

    return (Error, LookupError, TypeError, ValueError, AttributeError, RuntimeError)


def _is_gone(error: Exception) -> bool:
    return any(words in str(error) for words in ("crashed", "has been closed", "Connection closed"))


def _is_cut(html: str, fetched: str) -> bool:
    """Return whether a document that leads elsewhere has less than was fetched.

    Where a script leads on, Chromium reads no further, whatever comes of it.
    """
    implied = sum(tag not in fetched.lower() for tag in ("<html", "<head", "<body"))
    return len(_TAG.findall(html)) - implied < len(_TAG.findall(fetched))


def _based(html: str, base: str | None) -> str:
    """Give a document the base that it has in the browser, where a script has changed its URL."""
    if base is None:
        return html
    return _HEAD.sub(lambda head: f'{head[0]}<base href="{escape(base)}">', html, count=1)


def _joined(html: str, found: list[str]) -> str:
    """Put what probing has found into a document, where readers of links see it."""
    if not found:
        return html
    sections = "\n".join(f"<section>{part}</section>" for part in found)
    nav = f'\n<nav class="focus-probed" hidden>\n{sections}\n</nav>\n'
    before, body, after = html.rpartition("</body>")
    return f"{before}{nav}{body}{after}" if body else html + nav
