"""The browser that a session is recorded in: one of its own, or one that runs."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.errors import SettingError
from focusspider.webgraph.chromium import LAUNCH_ARGS, find_chromium, launch_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from playwright.async_api import BrowserContext

__all__ = ["connected", "launched", "stored_web"]

_CLOSE_SECONDS = 10.0  # after which a browser that does not end is left to itself


@contextlib.contextmanager
def stored_web(replay: Sequence[str]) -> Iterator[str | None]:
    """Serve what ``FOCUS_REPLAY`` names; give the address of the proxy, None where it is unset."""
    if not replay:
        yield None
        return
    from focusspider.replay import open_archive
    from focusspider.replay.server import ReplayServer

    with ReplayServer(open_archive(replay), 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


@contextlib.asynccontextmanager
async def launched(
    program: Path | None, *, proxy: str | None, headless: bool
) -> AsyncIterator[BrowserContext]:
    """Open a Chromium with a profile of its own, which is deleted in the end."""
    from playwright.async_api import Error, async_playwright

    with tempfile.TemporaryDirectory(prefix="focus-record-", ignore_cleanup_errors=True) as profile:
        async with async_playwright() as playwright:
            path = find_chromium(program, playwright.chromium.executable_path)
            options: dict[str, Any] = {"proxy": {"server": proxy}} if proxy else {}
            arguments = [*LAUNCH_ARGS, "--remote-debugging-port=0"] if headless else LAUNCH_ARGS
            try:
                context = await playwright.chromium.launch_persistent_context(
                    profile,
                    headless=headless,
                    no_viewport=not headless,
                    **launch_options(path, arguments),
                    **options,
                )
            except Error as error:
                raise SettingError(f"{path} did not start: {_first_line(error)}") from None
            if headless:
                port = Path(profile, "DevToolsActivePort").read_text(encoding="ascii").split()[0]
                print(f"Drive it at http://127.0.0.1:{port}", file=sys.stderr, flush=True)
            try:
                yield context
            finally:
                await _closed(context.close())


@contextlib.asynccontextmanager
async def connected(endpoint: str) -> AsyncIterator[BrowserContext]:
    """Use a Chromium that runs, and leave it running."""
    from playwright.async_api import Error, async_playwright

    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.connect_over_cdp(endpoint)
        except Error as error:
            raise SettingError(f"--cdp {endpoint} does not answer: {_first_line(error)}") from None
        try:
            yield browser.contexts[0]
        finally:
            await _closed(browser.close())


async def _closed(closing: Any) -> None:
    with contextlib.suppress(Exception):
        await asyncio.wait_for(closing, _CLOSE_SECONDS)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
