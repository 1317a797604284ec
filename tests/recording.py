"""``scrapy focus-record`` in a process of its own, and a hand that uses its browser."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from focusspider.errors import WebGraphError
from focusspider.replay.archive import Stored
from focusspider.replay.server import ReplayServer
from focusspider.webgraph import WebGraph
from tests.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

SECONDS = 30.0


def page(url: str, html: str, status: int = 200, **headers: str) -> Stored:
    kind = {"Content-Type": "text/html; charset=utf-8"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Stored(url, status, tuple((kind | named).items()), html.encode())


@contextlib.contextmanager
def served(*stored: Stored) -> Iterator[str]:
    with ReplayServer(Shelf(*stored), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.url
        server.shutdown()


class Recording:
    """A recorder that runs, and the browser that it opened."""

    def __init__(
        self,
        process: subprocess.Popen[str],
        browser: Browser | None,
        context: BrowserContext,
        out: Path,
    ) -> None:
        self.process = process
        self.browser = browser
        self.context = context
        self.out = out

    @property
    def page(self) -> Page:
        """The tab that was opened last."""
        return self.context.pages[-1]

    def press(self, name: str, tab: Page | None = None) -> None:
        """Move the mouse to a button, which only a debugger finds, and click, when it can be."""
        tab = tab or self.page
        end = time.monotonic() + SECONDS
        while (node := self.button(name, tab)) is None or "disabled" in node:
            assert time.monotonic() < end, f"there is no button {name} to press: {node}"
            time.sleep(0.05)
        box = node["box"]
        tab.mouse.click((box[0] + box[4]) / 2, (box[1] + box[5]) / 2)

    def button(self, name: str, tab: Page | None = None) -> dict[str, Any] | None:
        """Return a button's attributes and its box; None where there is none."""
        tab = tab or self.page
        cdp = tab.context.new_cdp_session(tab)
        node = part(cdp, name)
        if node is None:
            return None
        model = cdp.send("DOM.getBoxModel", {"nodeId": node["nodeId"]})["model"]
        return node["named"] | {"box": model["content"]}

    def until_said(self, text: str) -> None:
        """Wait until a text is below the buttons."""
        end = time.monotonic() + SECONDS
        said = ""
        while text not in said:
            assert time.monotonic() < end, said
            with contextlib.suppress(Exception):  # while a document takes another's place
                node = part(self.context.new_cdp_session(self.page), "said")
                said = "".join(one["nodeValue"] for one in node["children"]) if node else ""
            time.sleep(0.05)

    def until(self, test: Callable[[WebGraph], object]) -> None:
        """Wait until the graph on disk is as it should be."""
        end = time.monotonic() + SECONDS
        while True:
            with contextlib.suppress(WebGraphError), WebGraph.open(self.out) as graph:
                if test(graph):
                    return
            assert time.monotonic() < end, self.drawn()
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.05)

    def until_pages(self, number: int) -> None:
        self.until(lambda graph: len(graph) == number)

    def drawn(self) -> tuple[list[str], set[tuple[str, str]], list[str]]:
        """Return pages, edges and targets, as paths without their hosts."""
        with WebGraph.open(self.out) as graph:
            return (
                [short(one.url) for one in graph.pages()],
                {(short(edge.source), short(edge.destination)) for edge in graph.edges()},
                [short(url) for url in graph.targets()],
            )

    def ended(self) -> tuple[int, str, str]:
        """Wait for the end; return the exit status and what was said."""
        said, complained = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, said, complained

    def submit(self) -> tuple[int, str, str]:
        """Press Submit, which ends the browser, too."""
        with contextlib.suppress(Exception):
            self.press("submit")
        return self.ended()

    def interrupt(self) -> tuple[int, str, str]:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.ended()


def part(cdp: CDPSession, name: str) -> dict[str, Any] | None:
    """Return a part of the buttons by its class, as only a debugger finds it."""
    waiting = [cdp.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]]
    for node in waiting:
        waiting += [*node.get("children", ()), *node.get("shadowRoots", ())]
        listed = node.get("attributes", [])
        named = dict(zip(listed[::2], listed[1::2], strict=True))
        if named.get("class") == name:
            return node | {"named": named}
    return None


def short(url: str) -> str:
    return url.partition("://")[2].partition("/")[2] or "/"


@contextlib.contextmanager
def recording(folder: Path, topic: str, *arguments: str) -> Iterator[Recording]:
    """Start the recorder without a window, and take hold of its browser."""
    from playwright.sync_api import sync_playwright

    out = folder / "graph.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "scrapy", "focus-record", topic, "--headless",
         "--out", str(out), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip
    try:
        address, line = "", " "
        assert process.stderr is not None
        while line and not line.startswith("Recording"):
            line = process.stderr.readline()
            found = re.match(r"Drive it at (http://127\.0\.0\.1:\d+)$", line)
            address = found[1] if found else address
        assert address, process.communicate(timeout=SECONDS)
        with sync_playwright() as playwright:
            browser = playwright.chromium.connect_over_cdp(address)
            yield Recording(process, browser, browser.contexts[0], out)
    finally:
        process.kill()
        process.communicate()
