"""A page in a browser that is watched: what it logs, what it asks for, what goes wrong."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page


@contextlib.contextmanager
def opened(browser: Browser, path: Path) -> Iterator[Page]:
    """Open a file; fail at the end where it logged anything, or asked for anything else."""
    told: list[str] = []
    with browser.new_page(viewport={"width": 1280, "height": 900}) as page:
        page.set_default_timeout(20_000)
        page.on("console", lambda message: told.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: told.append(f"error: {error}"))
        page.on("dialog", lambda dialog: told.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: told.append(f"request: {request.url}"))
        page.goto(path.as_uri())
        yield page
        page.wait_for_timeout(50)
    assert told == [f"request: {path.as_uri()}"]


def drawn(page: Page, chart: str) -> list[str]:
    """Return the names of the lines that a chart shows, each of which has been drawn."""
    page.wait_for_selector(f"#chart-{chart} .main-svg")
    names: list[str] = page.evaluate(
        """id => document.getElementById(id).data.filter((t) => t.name).map((t) => t.name)""",
        f"chart-{chart}",
    )
    traces = page.locator(f"#chart-{chart} .scatterlayer .trace .js-line")
    paths = [traces.nth(n).get_attribute("d") or "" for n in range(traces.count())]
    assert sum(len(one) > 8 for one in paths) >= len(names)
    return names
