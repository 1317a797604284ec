"""``scrapy focus-import``: training data from a HAR file that a browser saved."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from focusspider.commands.focuscommand import FocusCommand
from focusspider.config import FocusConfig
from focusspider.errors import SettingError

if TYPE_CHECKING:
    import argparse

__all__ = ["Command"]


class Command(FocusCommand):
    """Make a web graph of a browsing session that a browser saved."""

    argument = "HAR file, such as session.har"
    stopped = "nothing was changed"

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] SESSION.har"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Take a browsing session from a HAR file as training data"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Make a web graph of a browsing session: the pages that were visited, and the links "
            "among them. Any browser saves a HAR file: open its network tools before you begin, "
            "let them keep the log, and at the end save all as HAR with content. Which pages "
            "were useful is told by a list of URLs. A HAR file holds cookies and passwords; of "
            "it only pages are taken, with their URLs. See docs/training.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take what was useful, and where the graph goes."""
        super().add_options(parser)
        add = parser.add_argument
        add("--useful", metavar="FILE", help="the pages that are wanted, a URL a line")
        add("--topic", metavar="TOPIC", help="topic whose training data it is")
        add("--out", metavar="FILE",
            help="where the graph goes (models/TOPIC/graph.sqlite; without a topic, beside the "
            "HAR file)")  # fmt: skip
        add("--append", action="store_true", help="add to a graph that is there")

    def work(self, given: str, opts: argparse.Namespace) -> None:
        """Import a file."""
        # here, since every call of scrapy loads every command
        from focusspider.commands.graphfile import graph_of_topic, new_graph
        from focusspider.commands.progress import ProgressBar
        from focusspider.commands.sessiongraph import check_new, told
        from focusspider.parsing import parser_of
        from focusspider.topic import Topic
        from focusspider.urllist import listed_urls
        from focusspider.webgraph import WebGraph
        from focusspider.webgraph.har import import_har
        from focusspider.webgraph.session import BrowsingSession

        assert self.settings is not None
        har = Path(given)
        config = FocusConfig.from_settings(self.settings)
        topic = opts.topic and Topic.load(opts.topic, config.topics_dir, needs_seeds=False)
        out = Path(opts.out) if opts.out else None
        if out is None:
            out = graph_of_topic(config, topic.name) if topic else har.with_suffix(".sqlite")
        check_new(out, append=opts.append)
        useful = listed_urls(Path(opts.useful)) if opts.useful else ()
        part = out.with_name(f"{out.name}.part")
        with contextlib.suppress(OSError):
            part.unlink()
        try:
            if out.exists():
                WebGraph.open(out).close()  # it is one, and whole
                shutil.copyfile(out, part)
                graph = WebGraph.open(part, writable=True)
            else:
                graph = new_graph(part, topic.name if topic else har.stem, "har")
            with graph, ProgressBar(f"Reading {har}") as bar:
                parser = parser_of(topic.language if topic else "english", self.settings)
                session = BrowsingSession(graph, parser)
                report = import_har(har, session, useful, told=bar.show)
                if not len(graph):
                    raise SettingError(
                        f"{har} has no page that can be learnt from: {report.entries:,} entries, "
                        f"{report.documents:,} of them documents; record the bodies, too"
                    )
                summary = told(session, report.passed_over, out, opts.topic, named=bool(opts.out))
            part.replace(out)  # all of it, or nothing
        except OSError as error:
            raise SettingError(
                f"{out} cannot be written: {error.strerror}; name another file with --out"
            ) from None
        finally:
            with contextlib.suppress(OSError):
                part.unlink()
        for url, reason in report.unknown:
            print(f"Not marked as useful, {reason}: {url}", file=sys.stderr)
        print(f"{report.entries:,} entries, {report.documents:,} of them documents\n{summary}")
