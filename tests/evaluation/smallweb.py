"""A web of six pages whose crawls can be worked out by hand, and strategies that fail.

``index`` links to ``news``, then to ``clocks``, which the text around it is about. ``news``
leads to ``old`` and out of the web; ``clocks`` to the two targets.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from focusspider.strategies.breadth_first import BreadthFirst

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.page import Page
    from focusspider.strategies.base import LinkScores, State

PAGES = {
    "index.html": '<p>news <a href="news.html">all</a></p><p>clock <a href="clocks.html">x</a></p>',
    "news.html": '<p><a href="old.html">old</a> <a href="gone.html">gone</a>'
    ' <a href="http://b.example/">b</a></p>',
    "clocks.html": '<p>clock <a href="t1.html">1</a></p><p>clock <a href="t2.html">2</a></p>',
    "old.html": "<p>nothing</p>",
    "t1.html": "<p>a clock</p>",
    "t2.html": "<p>another clock</p>",
}
BENCHMARK = """
strategies = ["breadth-first", "dom"]

[corpus]
archive = "web"
labels = "labels.csv"

[[crawls]]
name = "clocks"
seeds = ["http://a.example/"]
keywords = ["clock"]
label = "wanted"
"""


def write(folder: Path, benchmark: str = BENCHMARK) -> Path:
    """Write the web, its labels and a benchmark file."""
    site = folder / "corpora/web/a.example"
    site.mkdir(parents=True)
    for name, body in PAGES.items():
        (site / name).write_text(f"<html><body>{body}</body></html>")
    rows = [f"http://a.example/{n},{'wanted' if n[0] == 't' else 'other'}" for n in PAGES]
    (folder / "corpora/labels.csv").write_text("\n".join(["url,label", *rows, ""]))
    path = folder / "small.toml"
    path.write_text(benchmark)
    return path


class Broken(BreadthFirst):
    """Raises where it should score."""

    def score(self, page: Page, state: State | None) -> LinkScores:
        raise RuntimeError("the strategy is broken")


class Dying(BreadthFirst):
    """Takes its process with it."""

    def observe(self, *args: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)
