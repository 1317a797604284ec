"""``scrapy focus-search``: pages of a topic by a search engine, to begin a crawl from."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from focusspider.commands.focuscommand import FocusCommand
from focusspider.config import FocusConfig
from focusspider.errors import SettingError, TopicError
from focusspider.resources import located

if TYPE_CHECKING:
    import argparse

    from focusspider.commands.searching import Searching
    from focusspider.search.authorities import SearchPlan
    from focusspider.topic import Topic

__all__ = ["Command"]

_LIST = "authorities.txt"
#: Options of whole numbers, and the parameter of the plan that each one sets.
_NUMBERS = {
    "--first": "first",
    "--length": "length",
    "--tokens": "tokens",
    "--max-iterations": "max_iterations",
    "--queries": "max_queries",
}


class Command(FocusCommand):
    """Ask a search engine for pages that are what a topic wants."""

    argument = "topic, such as sample"
    stopped = "the same command goes on"
    default_settings = {"LOG_LEVEL": "INFO"}  # noqa: RUF012 - Scrapy's own way

    def syntax(self) -> str:
        """Return how the command is called."""
        return "[options] TOPIC"

    def short_desc(self) -> str:
        """Return what the command does, in a line."""
        return "Find pages of a topic by a search engine, to begin a crawl from"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Find pages of a topic by a search engine. Queries are made of the words of the "
            "topic's targets, or, where it has none, of its keywords; the first results of each "
            "query are fetched as in any crawl, and judged as the topic says. What is relevant "
            "goes into a list of URLs, for -a seeds=FILE. The engine is FOCUS_SEARCH_ENGINE: "
            "local (what FOCUS_REPLAY names), searxng (FOCUS_SEARCH_URL) or ddgs. An interrupted "
            "call goes on where it was. See docs/search.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take where to, and how much is asked."""
        super().add_options(parser)
        add = parser.add_argument
        add("--targets", metavar="FILE", help="further targets of the topic, a URL a line")
        add("--out", metavar="FILE", help=f"where the list goes (models/TOPIC/{_LIST})")
        add("--first", metavar="N", type=int, default=10,
            help="results of a query that are fetched and judged (10)")  # fmt: skip
        add("--length", metavar="N", type=int, default=3, help="most words of a query (3)")
        add("--tokens", metavar="N", type=int, default=20,
            help="words of the targets that queries are made of (20)")  # fmt: skip
        add("--max-iterations", metavar="N", type=int, default=50,
            help="queries without a new page after which it ends (50)")  # fmt: skip
        add("--queries", metavar="N", type=int, default=200,
            help="most queries, those for the weights of words among them (200)")  # fmt: skip
        add("--fresh", action="store_true", help="search again for what is there already")

    def work(self, name: str, opts: argparse.Namespace) -> None:
        """Search, write the list, and say how it went."""
        # here, since every call of scrapy loads every command
        from focusspider.commands.searchsummary import is_list, summary
        from focusspider.resources import is_packaged
        from focusspider.topic import Topic

        assert self.settings is not None
        plan = _plan(opts)
        config = FocusConfig.from_settings(self.settings)
        topic = Topic.load(name, config.topics_dir, needs_seeds=False)
        out = Path(opts.out) if opts.out else located(config.models_dir / topic.name) / _LIST
        if is_packaged(out):
            raise SettingError(
                f"{out} is in a package, where no list can be written: name a file with --out"
            )
        part = out.with_name(f"{out.name}.part")
        answers = part / "answers.jsonl"
        if out.exists() and not is_list(out):
            raise SettingError(
                f"{out} is no list of focus-search, and is left as it is: name another file with "
                "--out"
            )
        if out.exists() and not opts.fresh and not answers.exists():
            raise SettingError(
                f"{out} is there already: call with --fresh to search again, or with --out to "
                "keep it"
            )
        if opts.fresh and answers.exists():
            answers.unlink()
        try:
            done = self._search(topic, config, plan, opts, out, answers)
            if done is not None:
                answers.unlink(missing_ok=True)
        finally:
            with suppress(OSError):  # where there are no answers to keep
                part.rmdir()
        if done is None:
            return
        engine = config.search_engine
        print(summary(done, plan, topic=name, engine=engine, out=out))
        if not done.found.authorities:
            print(
                "No page was found: give the topic other targets, a lower threshold, or raise "
                "--first, --tokens or --max-iterations",
                file=sys.stderr,
            )
            self.exitcode = 1

    def _search(
        self,
        topic: Topic,
        config: FocusConfig,
        plan: SearchPlan,
        opts: argparse.Namespace,
        out: Path,
        kept: Path,
    ) -> Searching | None:
        """Search in a crawl of its own; None where it was stopped."""
        from focusspider import stats
        from focusspider.commands.answers import Answers
        from focusspider.commands.fetchspider import fetch_in_crawl
        from focusspider.commands.progress import ProgressBar
        from focusspider.commands.searching import Searching
        from focusspider.commands.searchsummary import write_list
        from focusspider.parsing import parser_of
        from focusspider.resources import located
        from focusspider.search import search_engine
        from focusspider.urllist import listed_urls

        assert self.settings is not None
        listed = listed_urls(Path(opts.targets)) if opts.targets else ()
        urls = tuple(dict.fromkeys([*topic.target_urls, *listed]))
        if not (urls or topic.target_files or topic.keywords):
            raise TopicError(
                f"{topic.source}: there is nothing to make queries of; give targets or keywords, "
                "or call with --targets FILE"
            )
        parser = parser_of(topic.language, self.settings)
        with ProgressBar("Reading the archive") as bar:
            engine = search_engine(config, told=bar.show)
        source = f"{config.search_engine} {config.search_url or ', '.join(config.replay)}"
        done = Searching(
            topic=topic,
            parser=parser,
            models_dir=located(config.models_dir / topic.name),
            urls=urls,
            engine=engine,
            answers=Answers(kept, source),
            plan=plan,
        )
        finished = False
        try:
            finished = fetch_in_crawl(
                self.settings,
                done.work,
                name="focus-search",
                parser=parser,
                read=lambda _, page: page,
                counted=(stats.SEARCH_FETCHED, stats.SEARCH_FAILED),
            )
        finally:
            engine.close()
            if done.found.authorities:
                write_list(out, done.found, topic.name)
                if not finished:
                    n = len(done.found.authorities)
                    print(f"{n:,} pages were found so far: {out}", file=sys.stderr)
        if not finished:
            print(f"Stopped; {self.stopped} from here.", file=sys.stderr)
            self.exitcode = 130
            return None
        return done


def _plan(opts: argparse.Namespace) -> SearchPlan:
    from focusspider.search.authorities import SearchPlan

    values = {
        name: getattr(opts, option[2:].replace("-", "_")) for option, name in _NUMBERS.items()
    }
    for option, name in _NUMBERS.items():
        if values[name] < 1:
            raise SettingError(f"{option} {values[name]}: give 1 or more")
    if values["max_queries"] <= values["tokens"]:
        raise SettingError(
            f"--queries {values['max_queries']}: each word takes one to be weighed, and there are "
            f"up to {values['tokens']}; give more, or fewer --tokens"
        )
    return SearchPlan(**values)
