"""What the focusspider components of one crawl share: topic, strategy, judge, run folder."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider import stats
from focusspider.config import DEFAULT_STRATEGY
from focusspider.errors import NotAPageError, SettingError
from focusspider.facts import facts_of
from focusspider.failures import Failures
from focusspider.parsing import blank_page, parser_of
from focusspider.profile import TopicProfile
from focusspider.record import CrawlRecord, content_of
from focusspider.relevance import topic_relevance
from focusspider.relevance.base import Judgement, sound
from focusspider.remotemodel import with_fetched_model
from focusspider.resources import located
from focusspider.runfolder import RunFolder, make_once
from focusspider.runreport import lessons_file, run_report
from focusspider.strategies import build_strategy
from focusspider.targets import Targets
from focusspider.visits import META, VISITS, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from numpy.typing import NDArray
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from focusspider.config import FocusConfig
    from focusspider.fleet import Fleet
    from focusspider.frontier.sqlite import SqliteFrontier
    from focusspider.page import Page
    from focusspider.strategies.base import LinkScores
    from focusspider.topic import Topic

__all__ = ["Session"]

logger = logging.getLogger(__name__)


class Session:
    """One focused crawl: built before the first request, so that wrong input stops there.

    Parameters
    ----------
    topic
        what to look for; its strategy, else ``FOCUS_STRATEGY``, else auto
    config, settings
        the FOCUS_* settings, and all
    scrapyd_job
        names the run's folder; ``FOCUS_RUN`` comes first
    saved
        what :meth:`state` gave the last checkpoint of an interrupted crawl, to go on with
    memory
        what its strategy had learnt
    job
        the frontier of a job directory, which keeps where the run's folder is
    join
        makes this worker one of those that crawl together, if they do, when all else is checked
    """

    def __init__(
        self,
        *,
        topic: Topic,
        config: FocusConfig,
        settings: BaseSettings,
        scrapyd_job: str | None = None,
        saved: Mapping[str, Any] | None = None,
        memory: Mapping[str, NDArray[Any]] | None = None,
        job: SqliteFrontier | None = None,
        join: Callable[[], Fleet] | None = None,
    ) -> None:
        self.topic = topic
        self.config = config
        self.settings = settings
        if topic.strategy is not None:
            self.strategy_name, params = topic.strategy, topic.strategy_params
            where = topic.place("strategy")
        else:
            default = "" if config.strategy else f" = {DEFAULT_STRATEGY!r}, the default"
            self.strategy_name, params = config.strategy or DEFAULT_STRATEGY, config.strategy_params
            where = f"FOCUS_STRATEGY{default}"
        self.strategy_params = dict(params)
        base_dir, models_dir = Path(topic.base_dir), located(config.models_dir / topic.name)
        params = with_fetched_model(params, config.cache_dir, where=where)
        self.strategy = build_strategy(
            self.strategy_name,
            params,
            base_dir=base_dir,
            models_dir=models_dir,
            budget=config.auto_budget,
            where=where,
        )
        self.relevance = topic_relevance(topic, models_dir=models_dir)
        aggregation = getattr(self.strategy, "aggregation", "parent")
        self.parser = parser_of(topic.language, settings, config, aggregation=aggregation)
        self.profile = TopicProfile(topic, self.parser.analyzer)
        for path in topic.target_files:
            url = path.absolute().as_uri()
            self.profile.add_target(self.parser.parse_html(path.read_bytes(), url))
        self.failures = Failures()
        self.targets = Targets(self.profile, self.parser)
        self.begun = self._said = False
        self.settles = False  # whether somebody will say when a page is settled
        self._memory = memory
        if not topic.target_urls:
            self.begin()
        self.record = CrawlRecord()
        self._stats: StatsCollector | None = None
        self._counted: Mapping[str, Any] = {}  # before an interruption
        self.started = datetime.now(UTC)
        self.job = job
        self.fleet = fleet = join() if join is not None else None
        self.elsewhere = 0  # pages that others have had: earlier processes, other workers
        self.stored: Container[str] | None = None  # all that may be asked for; None: the web
        self.folder: RunFolder | None = None
        if saved is not None:
            self._restore(saved)
        elif config.run_folder:
            folder = (config.exports_dir, topic.name, config.run)
            self.folder = (
                fleet.folder(*folder[:2])
                if fleet is not None
                else make_once(*folder, job=scrapyd_job, kept=job)
            )
        if self.folder is not None:
            self.folder.write_run(run_report(self, stop_reason=None))

    @staticmethod
    def of(crawler: Crawler) -> Session | None:
        """Return the session of a crawl, or None where it has no topic."""
        for addon in crawler.addons.addons:
            session = getattr(addon, "session", None)
            if isinstance(session, Session):
                return session
        return None

    def begin(self) -> None:
        """Let the judge and the strategy learn the topic; all targets are known now."""
        self.relevance.start(self.profile)
        self._start_strategy()
        if self._memory is not None and hasattr(self.strategy, "recall"):
            try:
                self.strategy.recall(self._memory)
            except (KeyError, TypeError, ValueError) as problem:
                logger.warning(
                    "What the strategy %r learnt before the interruption was written by another "
                    "version of it (%r), and cannot be taken up. It learns anew, from the pages to "
                    "come",
                    self.strategy_name,
                    problem,
                )
                self._start_strategy()
        self._memory, self.begun = None, True

    def _start_strategy(self) -> None:
        self.strategy.start(self.profile, np.random.default_rng(self.config.seed))

    def memory(self) -> Mapping[str, NDArray[Any]] | None:
        """Return what the strategy has learnt, or None where it does not learn."""
        if not (self.begun and hasattr(self.strategy, "memory")):
            return None
        learnt: Mapping[str, NDArray[Any]] = self.strategy.memory()
        return learnt

    @property
    def remaining(self) -> int | None:
        """How many pages the budget still has; None: no bound."""
        pages = self.topic.limits.pages
        return None if pages is None else max(0, pages - self.fetched - self.elsewhere)

    @property
    def fetched(self) -> int:
        """How many pages the crawl has had."""
        return self.record.fetched

    @property
    def relevant(self) -> int:
        """How many of them were relevant."""
        return self.record.relevant

    @property
    def counts(self) -> Mapping[str, Any]:
        """What the statistics hold so far; nothing before the crawl begins."""
        return self._stats.get_stats() if self._stats else {}

    @property
    def stats(self) -> StatsCollector:
        """The crawl's statistics; they exist when the first component is built."""
        assert self._stats is not None
        return self._stats

    @stats.setter
    def stats(self, collector: StatsCollector) -> None:
        self._stats = self.failures.stats = self.targets.stats = collector
        for key, value in self._counted.items():
            collector.set_value(key, value)

    def visit(self, response: Response) -> Visit:
        """Parse and judge a response, once, and write it into the crawl's log."""
        visit = VISITS.get(response)
        if visit is None:
            visit = VISITS[response] = self._visit(response)
        return visit

    def _visit(self, response: Response) -> Visit:
        page: Page | None = None
        link: dict[str, Any] = response.meta.get(META) or {}
        try:
            page = self.parser.parse(response)
            page.pointing = link.get("anchor")
            judgement = sound(self.relevance.judge(page))
        except NotAPageError as error:
            self.stats.inc_value(stats.PAGE_NOT_HTML)
            judgement = Judgement(0.0, False, f"no page: {error}")
        parent = int(link.get("parent", 0))
        content = content_of(page, response.body)
        owner = self.owner(response)
        n, digest, first = self.record.add(response.url, parent, content, owner=owner)
        self.record.judged(judgement.relevant)
        self.stats.inc_value(stats.PAGE_FETCHED)
        if judgement.failed:
            self.stats.inc_value(stats.PAGE_JUDGE_FAILED)
        self.stats.inc_value(stats.PAGE_RELEVANT if judgement.relevant else stats.PAGE_IRRELEVANT)
        if first != n:
            self.stats.inc_value(stats.PAGE_DUPLICATE_CONTENT)
        visit = Visit(
            n=n,
            url=response.url,
            page=page,
            judgement=judgement,
            parent=parent,
            depth=int(response.meta.get("depth", 0)),
            link=link,
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
            duplicate_of=self.record.url(first) if first != n else None,
        )
        if page is not None:
            self.strategy.observe(page, judgement)
        elif (observe_nothing := getattr(self.strategy, "observe_nothing", None)) is not None:
            observe_nothing(blank_page(self.parser, response))
        if self.folder is not None:
            line = self._line(visit, response.status, digest)
            self.folder.log(line, owner=owner)
            self.folder.add_facts(facts_of(self.relevance, visit), owner)
        return visit

    def owner(self, response: Response) -> Request | None:
        """Return who is settled later, and what is kept of a page with it; None: it is now."""
        return response.request if self.settles else None

    def settled(self, request: Request) -> None:
        """Keep what a request has brought: it will not be fetched again."""
        self.record.settled(request)
        if self.folder is not None:
            self.folder.settled(request)

    def _line(self, visit: Visit, status: int, digest: str) -> dict[str, Any]:
        line = {
            "n": visit.n,
            "url": visit.url,
            "parent": self.record.url(visit.parent),
            "anchor": visit.link.get("anchor"),
            "depth": visit.depth,
            "priority": visit.link.get("priority"),
            "relevance": round(visit.judgement.relevance, 6),
            "relevant": visit.judgement.relevant,
            "status": status,
            "digest": digest,
        }
        if self.config.crawl_log_times:
            line["time"] = visit.time
        if self.config.explain:
            line["explain"] = visit.link.get("explain")
        return line

    def score(self, visit: Visit) -> LinkScores:
        """Score the links of a visited page."""
        assert visit.page is not None
        state = visit.link.get("state")
        return self.strategy.score(visit.page, tuple(state) if state is not None else None)

    def stop_reason(self) -> str | None:
        """Return why an idle crawl stops, where that is not an empty frontier."""
        if self.remaining == 0:
            return "page_limit"
        counts = self.stats.get_stats()
        # an error in the spider has been logged, and is Scrapy's reason
        if not (
            self.fetched
            or self.elsewhere
            or counts.get("item_scraped_count")
            or "spider_exceptions/count" in counts
        ):
            if not self._said:  # a spider may be idle again and again, and wait for work
                logger.error("No page could be fetched: %s", self.failures.in_words(counts))
            self._said = True
            return "no_page"
        return None

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of the crawl, JSON-safe."""
        return {
            "topic": self.topic.name,
            "identity": self.topic.identity(),
            "strategy": self.strategy_name,
            "folder": None if self.folder is None else str(self.folder.path.absolute()),
            "marks": None if self.folder is None else self.folder.marks(),
            "record": self.record.state(),
            "started": self.started.isoformat(),
            "stats": {k: v for k, v in self.counts.items() if k.startswith("focus/")},
        }

    def _restore(self, saved: Mapping[str, Any]) -> None:
        """Go on with an interrupted crawl, in its folder."""
        for key, what, now in (
            ("topic", "topic", self.topic.name),
            ("identity", "topic", self.topic.identity()),
            ("strategy", "strategy", self.strategy_name),
        ):
            if saved.get(key, now) != now:
                raise SettingError(
                    f"JOBDIR={self.settings['JOBDIR']!r} holds a crawl with the {what} "
                    f"{saved[key]!r}, and this one has {now!r}; go on with the same, or take "
                    "another JOBDIR"
                )
        self.started = datetime.fromisoformat(saved["started"])
        self._counted = saved["stats"]
        if saved["folder"] is None:
            self.record.restore(saved["record"], None)
            self._say_what_is_forgotten(saved)
            return
        self.folder = RunFolder.again(saved, self.settings["JOBDIR"])
        if self.config.run not in {None, self.folder.path.name}:
            logger.warning(
                "FOCUS_RUN = %r has no effect: the crawl goes on in %s, where it was",
                self.config.run,
                self.folder.path,
            )
        self.record.restore(saved["record"], self.folder.crawl)
        # without those that a crash has lost, which will be counted again
        self._counted = {
            **saved["stats"],
            stats.PAGE_FETCHED: self.fetched,
            stats.PAGE_RELEVANT: self.relevant,
            stats.PAGE_IRRELEVANT: self.fetched - self.relevant,
            stats.ITEM_EXPORTED: self.folder.n_items,
        }
        self._say_what_is_forgotten(saved)

    def _say_what_is_forgotten(self, saved: Mapping[str, Any]) -> None:
        """Tell how many pages the strategy did not get to remember before a crash."""
        forgotten = self.fetched - saved.get("remembered", self.fetched)
        if forgotten > 0 and hasattr(self.strategy, "recall"):
            logger.warning(
                "The strategy %r does not remember the last %d of the %d pages: the crash came "
                "before what it had learnt of them was written",
                self.strategy_name,
                forgotten,
                self.fetched,
            )

    def close(self, reason: str) -> None:
        """Write how the crawl went."""
        if self.folder is not None:
            self.folder.close()
            self.folder.write_lessons(lessons_file(self))
            self.folder.write_run(run_report(self, stop_reason=reason))
