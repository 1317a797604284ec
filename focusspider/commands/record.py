"""``scrapy focus-record``: training data from what a person does in a browser."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from focusspider.commands.focuscommand import FocusCommand
from focusspider.config import FocusConfig
from focusspider.errors import SettingError

if TYPE_CHECKING:
    import argparse

    from focusspider.topic import Topic
    from focusspider.webgraph.session import BrowsingSession

__all__ = ["Command"]


class Command(FocusCommand):
    """Record a browsing session as the web graph of a topic."""

    argument = "topic, such as sample"
    stopped = "what was recorded is saved"

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] TOPIC"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Record a browsing session as training data: press Useful on what you want"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Open a browser, and make a web graph of what you do in it: the pages that you visit, "
            "and the links among them. Press Useful on each page that is what you are looking "
            "for, once more to take that back, and Submit, or close the window, at the end. All "
            "is saved as it happens. The browser has a profile of its own that is deleted "
            "afterwards; the graph keeps each page that you see, so log in nowhere. See "
            "docs/training.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take which browser, from where to where."""
        super().add_options(parser)
        add = parser.add_argument
        add("--start", metavar="URL", help="the first page (the topic's first seed)")
        add("--out", metavar="FILE", help="where the graph goes (models/TOPIC/graph.sqlite)")
        add("--append", action="store_true", help="add to a graph that is there")
        add("--cdp", metavar="ADDRESS",
            help="record in a Chromium that runs, started with --remote-debugging-port; only "
            "tabs that are opened from now on are recorded")  # fmt: skip
        add("--remote", action="store_true", help="let --cdp be on another machine")
        add("--proxy", metavar="URL", help="proxy of the browser that is opened")
        add("--headless", action="store_true",
            help="open no window; a program may drive it at the address printed")  # fmt: skip

    def work(self, name: str, opts: argparse.Namespace) -> None:
        """Record a session."""
        # here, since every call of scrapy loads every command
        from focusspider.commands.graphfile import graph_of_topic, new_graph
        from focusspider.commands.sessiongraph import check_new, told
        from focusspider.parsing import parser_of
        from focusspider.topic import Topic
        from focusspider.webgraph import WebGraph
        from focusspider.webgraph.document import PASSED_OVER
        from focusspider.webgraph.session import BrowsingSession

        assert self.settings is not None
        config = FocusConfig.from_settings(self.settings)
        topic = Topic.load(name, config.topics_dir, needs_seeds=False)
        _check(opts)
        out = Path(opts.out) if opts.out else graph_of_topic(config, topic.name)
        check_new(out, append=opts.append)
        is_new = not out.exists()
        made = (
            new_graph(out, topic.name, "session") if is_new else WebGraph.open(out, writable=True)
        )
        empty = True
        try:
            with made as graph:
                session = BrowsingSession(graph, parser_of(topic.language, self.settings))
                try:
                    with contextlib.suppress(KeyboardInterrupt):  # as Submit: all is saved
                        asyncio.run(_recorded(session, topic, config, opts))
                finally:
                    empty = not len(graph)
                passed_over = {reason: session.counts[reason] for reason in PASSED_OVER}
                summary = told(session, passed_over, out, name, named=bool(opts.out))
        finally:
            if is_new and empty:
                out.unlink(missing_ok=True)
        if empty:
            raise SettingError("no page was visited, so that there is nothing to save")
        print(summary)


def _check(opts: argparse.Namespace) -> None:
    """Refuse what would only fail when the browser is there."""
    from focusspider.urls import RefusedURLError, resolve
    from focusspider.webgraph.chromium import check_endpoint, has_display

    if opts.cdp:
        check_endpoint(opts.cdp, remote=opts.remote)
        if opts.headless or opts.proxy:
            option = "--headless" if opts.headless else "--proxy"
            raise SettingError(
                f"--cdp and {option}: the browser runs already; leave one of them out"
            )
    elif not opts.headless and not has_display():
        raise SettingError(
            "there is no display to open a window on: call it on a desktop, or let it record in "
            "a Chromium elsewhere with --cdp, or browse on any machine and import a HAR file "
            "(scrapy focus-import)"
        )
    if opts.start is not None:
        try:
            opts.start = resolve("", opts.start)
        except RefusedURLError:
            raise SettingError(
                f"--start {opts.start}: give a URL, such as https://www.example.org/"
            ) from None


async def _recorded(
    session: BrowsingSession, topic: Topic, config: FocusConfig, opts: argparse.Namespace
) -> None:
    """Open the browser, and let the session see what happens in it, until its end."""
    from focusspider.commands.browsing import connected, launched, stored_web
    from focusspider.webgraph.recorder import Recorder

    recorder = Recorder(session)
    with stored_web(() if opts.cdp else config.replay) as proxy:
        browser = (
            connected(opts.cdp)
            if opts.cdp
            else launched(config.chromium, proxy=opts.proxy or proxy, headless=opts.headless)
        )
        async with browser as context:
            recorder.listen(context, leave=bool(opts.cdp))
            page = context.pages[0] if context.pages and not opts.cdp else await context.new_page()
            await recorder.ready()
            start = opts.start or next(iter(topic.seeds), None)
            print("Recording. Browse; press Useful on what you want, and Submit at the end.",
                  file=sys.stderr, flush=True)  # fmt: skip
            if start is not None:
                with contextlib.suppress(Exception):  # a page of the browser's says what is wrong
                    await page.goto(start, wait_until="commit")
            await recorder.finished()
            if opts.cdp:
                await recorder.remove()
