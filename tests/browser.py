"""A real Chromium for tests, driven through Playwright."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from focusspider.errors import SettingError
from focusspider.webgraph import chromium

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

#: It runs as root in containers, and talks to nobody by itself.
FLAGS = ("--no-sandbox", *chromium.LAUNCH_ARGS)
#: Why a test is skipped that needs it.
MISSING = "no Chromium here (Debian: apt-get install chromium)"


def find_chromium() -> str | None:
    """Return where Chromium is, or None."""
    with contextlib.suppress(SettingError):
        return chromium.find_chromium(None, "")
    return None


@contextlib.contextmanager
def launched(path: str) -> Iterator[Browser]:
    """Start Chromium without a window, and end it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
