"""``scrapy focus-status``: how a crawl of several workers goes, seen from outside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focusspider.commands.focuscommand import ToldCommand
from focusspider.errors import FrontierError

if TYPE_CHECKING:
    import argparse

    from focusspider.frontier.redisstatus import CrawlStatus

__all__ = ["Command"]


class Command(ToldCommand):
    """Print what Redis knows of the crawls that it holds."""

    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[--json] [--crawl NAME] [redis://...]"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Show how the crawls go that share a frontier in Redis"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Show the crawls whose frontier is in a Redis, FOCUS_FRONTIER if none is named: "
            "their workers, hosts, what waits, is leased and done, pages a second over the last "
            "minute, and the harvest rate (relevant pages by pages). It reads only, and can be "
            "run from any machine that reaches Redis."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command to Scrapy's."""
        super().add_options(parser)
        parser.add_argument("--crawl", metavar="NAME", help="this crawl only (FOCUS_CRAWL)")
        parser.add_argument("--json", action="store_true", help="print a JSON array")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print how the crawls go."""
        if len(args) > 1:
            raise UsageError("name one Redis")
        self.attempt(lambda: self._show(args, opts))

    def _show(self, args: list[str], opts: argparse.Namespace) -> None:
        from focusspider.config import FocusConfig
        from focusspider.frontier.redisstatus import crawls_of, read_status

        assert self.settings is not None
        overrides = {"FOCUS_FRONTIER": args[0]} if args else {}
        settings = self.settings.copy()
        settings.setdict(overrides, priority="cmdline")
        url = FocusConfig.from_settings(settings).frontier
        if url is None:
            raise FrontierError(
                "no Redis: name one (redis://HOST:PORT/NUMBER), or set FOCUS_FRONTIER"
            )
        names = [opts.crawl] if opts.crawl else crawls_of(url)
        found = [status for name in names if (status := read_status(url, name))]
        if opts.crawl and not found:
            raise FrontierError(
                f"no crawl {opts.crawl!r} there; known: {', '.join(crawls_of(url)) or 'none'}"
            )
        if opts.json:
            print(json.dumps([status.to_dict() for status in found], indent=2))
        else:
            print("\n\n".join(in_words(status) for status in found) or "No crawl.")


def in_words(status: CrawlStatus) -> str:
    """Return how a crawl goes, in lines for a person.

    Without a topic pages are not judged, and not counted.
    """
    judges = status.topic is not None
    lines = [
        (
            f"{status.crawl}: spider {status.spider}, topic {status.topic or '-'}, "
            f"strategy {status.strategy or '-'}, run {status.run}"
        ),
    ]
    if judges:
        rate, harvest = status.pages_per_second, status.harvest_rate
        lines.append(
            f"  pages    {status.pages:,}"
            + ("" if rate is None else f", {rate:.1f} a second")
            + f"; relevant {status.relevant:,}"
            + ("" if harvest is None else f", harvest rate {harvest:.3f}")
        )
    lines += [
        (
            f"  frontier {status.waiting:,} waiting, {status.leased:,} leased, "
            f"{status.done:,} done, {status.dropped:,} dropped, {status.evicted:,} evicted; "
            f"{status.hosts:,} hosts"
        ),
        f"  workers  {len(status.workers)}, {status.lost_workers} lost",
    ]
    lines += [
        f"    {one.worker}  {one.host}:{one.pid}  "
        + (f"{one.pages:,} pages, {one.relevant:,} relevant, " if judges else "")
        + f"{one.hosts:,} hosts to ask, {one.leased:,} leased, heard {one.heard:.0f} s ago"
        for one in status.workers
    ]
    return "\n".join(lines)
