"""``scrapy focus-collect``: the training data of a topic, from its targets backwards."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.commands.focuscommand import FocusCommand
from focusspider.config import FocusConfig
from focusspider.errors import SettingError, UnknownNameError
from focusspider.resources import located

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from focusspider.commands.collecting import Collected, Plan
    from focusspider.page import Page, PageParser
    from focusspider.relevance.base import Relevance
    from focusspider.replay import Archive
    from focusspider.replay.wholegraph import CrawlLog
    from focusspider.topic import Topic
    from focusspider.webgraph.layers import BacklinkSource

__all__ = ["Command"]

_ARCHIVE = "archive"
_WARCS = (".warc", ".warc.gz")


class Command(FocusCommand):
    """Collect the web graph that a topic's methods learn from."""

    argument = "topic, such as sample"
    stopped = "the same command begins again"
    default_settings = {"LOG_LEVEL": "INFO"}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] TOPIC"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Collect training data for a topic: the pages that lead to its targets"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Collect a web graph for a topic: its target pages, the pages that link to them, the "
            "pages that link to those, and so on, with all links among them. Who links to a page "
            "is told by an archive (FOCUS_REPLAY), by the folder of an earlier crawl, or by a "
            "back-link service (FOCUS_BACKLINKS_KEY); pages that these don't hold are fetched as "
            "in any crawl. An interrupted call goes on where it was. Then: scrapy focus-train "
            "TOPIC. See docs/training.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take where from, where to, and how much."""
        super().add_options(parser)
        add = parser.add_argument
        add("--from", dest="source", metavar="WHERE",
            help="archive (what FOCUS_REPLAY names), moz (a back-link service), the folder of a "
            "crawl, a WARC, WACZ, folder of HTML or web graph; by default what is set")  # fmt: skip
        add("--out", metavar="FILE", help="where the graph goes (models/TOPIC/graph.sqlite)")
        add("--targets", metavar="FILE", help="further targets of the topic, a URL a line")
        add("--relevant", action="store_true",
            help="pages that are relevant are targets: as the crawl judged them, or the topic's "
            "judge does")  # fmt: skip
        add("--whole", action="store_true", help="take the whole archive, and no layers of it")
        add("--layers", metavar="N", type=int, default=4, help="layers before the targets (4)")
        add("--per-layer", metavar="PAGES", type=int, default=600, help="most of each (600)")
        add("--threshold", metavar="COSINE", type=float, default=0.8,
            help="pages this like a target are targets too; 0 for none (0.8)")  # fmt: skip
        add("--fresh", action="store_true", help="collect again what is there already")
        add("--export", metavar="PATH",
            help="write the graph that is there as a WARC (.warc, .warc.gz) or a folder, and "
            "its targets beside it")  # fmt: skip

    def work(self, name: str, opts: argparse.Namespace) -> None:
        """Collect, or export what was collected."""
        # here, since every call of scrapy loads every command
        from focusspider.commands.graphfile import graph_of_topic
        from focusspider.topic import Topic
        from focusspider.webgraph.database import is_graph

        assert self.settings is not None
        config = FocusConfig.from_settings(self.settings)
        topic = Topic.load(name, config.topics_dir, needs_seeds=False)
        out = Path(opts.out) if opts.out else graph_of_topic(config, topic.name)
        if opts.export:
            _export(out, Path(opts.export))
            return
        _check(opts)
        if out.exists() and not is_graph(out):
            raise SettingError(
                f"{out} is no web graph, and is left as it is: name another file with --out"
            )
        if out.exists() and not opts.fresh:
            raise SettingError(
                f"{out} is there already: call with --fresh to collect it again, or with --out "
                f"to keep it. Next: scrapy focus-train {name}"
            )
        try:
            collected, plan = self._collect(topic, config, out, opts)
        finally:
            with suppress(OSError):  # where nothing was begun
                out.with_name(f"{out.name}.part").rmdir()
        if collected is not None:
            shutil.rmtree(plan.part, ignore_errors=True)
            print(_summary(collected, plan, name, named=bool(opts.out)))

    def _collect(
        self, topic: Topic, config: FocusConfig, out: Path, opts: argparse.Namespace
    ) -> tuple[Collected | None, Plan]:
        from focusspider.commands.collecting import Plan
        from focusspider.parsing import parser_of
        from focusspider.replay.wholegraph import CrawlLog
        from focusspider.urllist import listed_urls

        assert self.settings is not None
        parser = parser_of(topic.language, self.settings)
        where = _where(opts.source, config)
        log = CrawlLog(Path(where)) if CrawlLog.is_at(Path(where)) else None
        listed = listed_urls(Path(opts.targets)) if opts.targets else ()
        targets = [*topic.target_urls, *listed]
        if log is not None and opts.relevant:
            targets += log.relevant
        stored = _stored(where, log, config)
        examples = [
            parser.parse_html(path.read_bytes(), path.absolute().as_uri())
            for path in topic.target_files
        ]
        plan = Plan(
            topic=topic,
            parser=parser,
            out=out,
            targets=tuple(dict.fromkeys(targets)),
            examples=tuple(page.terms for page in examples),
            kind="crawl" if log is not None else "backlinks" if stored is None else "archive",
            source=", ".join(config.replay) if where == _ARCHIVE else str(where),
            layers=opts.layers,
            per_layer=opts.per_layer,
            threshold=opts.threshold or None,
            whole=opts.whole,
        )
        if opts.fresh:
            shutil.rmtree(plan.part, ignore_errors=True)
        _make_folder(plan.part)
        if stored is not None:
            judged = opts.relevant and log is None
            models = located(config.models_dir / topic.name)
            found = self._from_stored(plan, stored, examples, judged=judged, models_dir=models)
            return found, plan
        if plan.whole or (opts.relevant and log is None):
            option = "--whole" if plan.whole else "--relevant"
            raise SettingError(
                f"{option} needs pages that are stored, and {where} has none: take an archive, or "
                "a crawl that was made with FOCUS_EXPORT_WARC=True"
            )
        return self._from_web(plan, where, log, config), plan

    def _from_stored(
        self,
        plan: Plan,
        stored: Archive | Path,
        examples: list[Page],
        *,
        judged: bool,
        models_dir: Path,
    ) -> Collected:
        """Take the pages of an archive or of a graph."""
        from focusspider.commands.collecting import collect_archive, collect_graph
        from focusspider.commands.progress import ProgressBar
        from focusspider.relevance import started_relevance

        wanted = None
        if judged:
            named = (_read(stored, url, plan.parser) for url in plan.targets)
            known = [*examples, *filter(None, named)]
            judge = started_relevance(
                plan.topic, plan.parser.analyzer, known, models_dir=models_dir
            )
            wanted = _told_by(judge)
        try:
            with ProgressBar(f"Reading {plan.source}") as bar:
                if isinstance(stored, Path):
                    return collect_graph(plan, stored, wanted=wanted, told=bar.show)
                return collect_archive(plan, stored, wanted=wanted, told=bar.show)
        finally:
            shutil.rmtree(plan.part, ignore_errors=True)

    def _from_web(
        self, plan: Plan, where: str, log: CrawlLog | None, config: FocusConfig
    ) -> Collected | None:
        """Fetch the pages in a crawl; None where it was stopped."""
        from focusspider import stats
        from focusspider.commands.collecting import Cache, Collected, check_targets, collect_live
        from focusspider.commands.fetchspider import fetch_in_crawl

        check_targets(plan, plan.targets)
        source = log or _service(where, config)
        cache = Cache(plan.part, plan.topic.name, plan.source)
        if log is not None:
            cache.keep_all(log.pages())
        done = Collected()

        async def work(fetch: Any) -> None:
            await collect_live(plan, source, fetch, cache, done)

        assert self.settings is not None
        try:
            finished = fetch_in_crawl(
                self.settings,
                work,
                name="focus-collect",
                parser=plan.parser,
                read=cache.read,
                counted=(stats.COLLECT_FETCHED, stats.COLLECT_FAILED),
            )
        finally:
            kept = len(cache)
            cache.close()
        if not finished:
            print(
                f"Stopped; {kept} pages are kept, and the same command goes on from here.",
                file=sys.stderr,
            )
            self.exitcode = 130
            return None
        return done


def _check(opts: argparse.Namespace) -> None:
    for option, value in (("--layers", opts.layers), ("--per-layer", opts.per_layer)):
        if value < 1:
            raise SettingError(f"{option} {value}: give 1 or more")
    if not 0 <= opts.threshold <= 1:
        raise SettingError(f"--threshold {opts.threshold}: give a cosine from 0 to 1")


def _where(source: str | None, config: FocusConfig) -> str:
    """Return what ``--from`` names, or what is set."""
    from focusspider.search import BACKLINK_SERVICES

    if source is None:
        if config.replay:
            return _ARCHIVE
        if _key(config):
            return next(iter(BACKLINK_SERVICES))
        raise SettingError(
            "nothing tells who links to the targets: set FOCUS_REPLAY to an archive "
            "(-s FOCUS_REPLAY=sample), call with --from RUN, the folder of a crawl, or set "
            "FOCUS_BACKLINKS_KEY"
        )
    if source == _ARCHIVE and not config.replay:
        raise SettingError(
            "--from archive needs FOCUS_REPLAY: set it to a WARC, WACZ, folder, or sample"
        )
    known = [_ARCHIVE, *BACKLINK_SERVICES]
    if source in known or Path(source).exists() or glob.has_magic(source):
        return source
    raise UnknownNameError("source of back-links, or path", source, known, where="--from")


def _stored(where: str, log: CrawlLog | None, config: FocusConfig) -> Archive | Path | None:
    """Return the archive, or the file of the graph, that holds the pages; None: none does."""
    from focusspider.replay import open_archive
    from focusspider.search import BACKLINK_SERVICES
    from focusspider.webgraph.database import is_database

    if log is not None:
        return open_archive(log.warcs) if log.warcs else None
    if where in BACKLINK_SERVICES and not Path(where).exists():
        return None
    if where != _ARCHIVE and is_database(Path(where)):
        return Path(where)
    return open_archive(config.replay if where == _ARCHIVE else where)


def _key(config: FocusConfig) -> str | None:
    return config.backlinks_key or os.environ.get("FOCUS_BACKLINKS_KEY") or None


def _service(name: str, config: FocusConfig) -> BacklinkSource:
    from focusspider.search import backlink_service

    return backlink_service(
        name,
        key=_key(config),
        url=config.backlinks_url,
        delay=config.backlinks_delay,
    )


def _read(stored: Archive | Path, url: str, parser: PageParser) -> Page | None:
    """Return a page of an archive or a graph, where it is one."""
    from focusspider.errors import NotAPageError
    from focusspider.replay.reading import PageReader, stored_page
    from focusspider.webgraph import WebGraph

    if not isinstance(stored, Path):
        found = stored_page(stored, url)
        return None if found is None else PageReader(parser).read(found)
    with WebGraph.open(stored) as graph:
        try:
            return parser.parse(graph.response(url)) if url in graph else None
        except NotAPageError:
            return None


def _told_by(judge: Relevance) -> Callable[[Page], bool]:
    """Return what tells whether a page is relevant."""
    return lambda page: judge.judge(page).relevant


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"--out: {path} cannot be made: {error.strerror}") from None


def _export(graph_path: Path, to: Path) -> None:
    from focusspider.replay.export import write_folder, write_targets, write_warc
    from focusspider.webgraph import WebGraph

    targets = to.with_name(f"{to.name}.targets.txt")
    if targets.exists():  # before the archive is written
        raise SettingError(f"{targets} is there already; remove it, or name another --export")
    with WebGraph.open(graph_path) as graph:
        if to.name.endswith(_WARCS):
            write_warc(graph, to)
            left_out: list[str] = []
        else:
            left_out = write_folder(graph, to)
        write_targets(graph, targets)
        print(
            f"{len(graph) - len(left_out)} pages: {to}\n{len(graph.targets())} targets: {targets}"
        )
        if left_out:
            shown = ", ".join(left_out[:3]) + (" …" if len(left_out) > 3 else "")
            print(f"{len(left_out)} pages have no place in a folder: {shown}; a WARC has them all")


def _summary(done: Collected, plan: Plan, name: str, *, named: bool) -> str:
    from focusspider.commands.collectsummary import summary

    return summary(done, plan, name, named=named)
