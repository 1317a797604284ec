"""What ``focus-collect`` does: from targets and a source of links to the file of a graph."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from focusspider.commands.answers import Answers
from focusspider.commands.graphfile import new_graph
from focusspider.errors import NotAPageError, WebGraphError
from focusspider.replay.wholegraph import add_archive
from focusspider.webgraph import WebGraph
from focusspider.webgraph.backlinks import GraphBacklinks, copy_links, page_of
from focusspider.webgraph.extra_targets import mark_extra_targets
from focusspider.webgraph.layers import Failed, FetchedPage, LayerReport, add_links, grow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from pathlib import Path

    from scrapy.http import Response

    from focusspider.page import Page, PageParser
    from focusspider.replay import Archive
    from focusspider.text import Terms
    from focusspider.topic import Topic
    from focusspider.webgraph.layers import BacklinkSource

    _Fetch = Callable[[Sequence[str]], Awaitable[Sequence[FetchedPage | Failed]]]

__all__ = [
    "Cache",
    "Collected",
    "Plan",
    "check_targets",
    "collect_archive",
    "collect_graph",
    "collect_live",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be collected, and where to.

    Parameters
    ----------
    targets
        URLs of the pages that are wanted.
    examples
        Terms of those that are files.
    kind
        How the graph is made; see :attr:`WebGraph.source`.
    source
        Where from, for people.
    threshold
        From which likeness to a target on a page is one; None: none is added.
    """

    topic: Topic
    parser: PageParser
    out: Path
    targets: tuple[str, ...]
    examples: tuple[Terms, ...] = ()
    kind: str
    source: str
    layers: int
    per_layer: int
    threshold: float | None
    whole: bool = False

    @property
    def part(self) -> Path:
        """The folder of what is not finished."""
        return self.out.with_name(f"{self.out.name}.part")

    def begun(self, name: str) -> WebGraph:
        """Return an empty graph in the folder of what is not finished, in the place of another."""
        path = self.part / name
        path.unlink(missing_ok=True)
        return new_graph(path, self.topic.name, self.kind)


@dataclass(kw_only=True)
class Collected:
    """What was collected, for the summary."""

    reports: list[LayerReport] = field(default_factory=list)
    passed_over: int | None = None
    missing: tuple[str, ...] = ()
    extra: int = 0
    states: Counter[int] = field(default_factory=Counter)
    pages: int = 0
    edges: int = 0
    targets: int = 0


def collect_archive(
    plan: Plan,
    archive: Archive,
    *,
    wanted: Callable[[Page], bool] | None,
    told: Callable[[int, int], None],
) -> Collected:
    """Collect from an archive, whose pages and links are all there.

    ``wanted`` tells of a page whether it is a target, besides those of the plan.
    """
    done = Collected()
    with plan.begun("whole.sqlite") as whole:
        done.passed_over = add_archive(whole, archive, plan.parser, wanted=wanted, told=told)
        _collect_stored(plan, whole, [*plan.targets, *whole.targets()], done)
    return done


def collect_graph(
    plan: Plan,
    path: Path,
    *,
    wanted: Callable[[Page], bool] | None,
    told: Callable[[int, int], None],
) -> Collected:
    """Collect from a web graph, in the place of the archive that it was made of.

    Its own targets count where there is no other.
    """
    done = Collected()
    copy = plan.part / "whole.sqlite"
    with WebGraph.open(path) as graph:  # it is one of ours
        targets = list(plan.targets)
        if wanted is not None:
            for page in graph.pages():
                try:
                    if wanted(plan.parser.parse(graph.response(page.url))):
                        targets.append(page.url)
                except NotAPageError:
                    pass
                told(page.number + 1, len(graph))
        if not targets and not plan.examples:
            targets = [page.url for page in graph.pages() if page.target and not page.extra]
    try:
        shutil.copyfile(path, copy)
    except OSError as error:
        raise WebGraphError(f"{copy} cannot be written: {error.strerror}") from None
    with WebGraph.open(copy, writable=True) as whole:
        with whole.transaction():
            for url in whole.targets():
                whole.unmark_target(url)
        _collect_stored(plan, whole, targets, done)
    return done


def _collect_stored(plan: Plan, whole: WebGraph, targets: Sequence[str], done: Collected) -> None:
    """Collect from all that is stored, whose targets may be marked."""
    targets = list(dict.fromkeys(targets))
    done.missing = tuple(url for url in targets if url not in whole)
    if plan.whole:
        with whole.transaction():
            for url in targets:
                if url in whole:
                    whole.mark_target(url)
        _finish(plan, whole, done)
        return
    check_targets(plan, targets)
    source = GraphBacklinks(whole)

    async def ask(url: str, n: int) -> Sequence[str]:
        return source.backlinks(url, n)

    async def fetch(urls: Sequence[str]) -> Sequence[FetchedPage | Failed]:
        return source.pages(urls)

    with plan.begun("graph.sqlite") as graph:
        done.reports = asyncio.run(
            grow(graph, targets, ask=ask, fetch=_within(plan, fetch), **_sizes(plan))
        )
        copy_links(whole, graph)
        _finish(plan, graph, done)


async def collect_live(
    plan: Plan,
    source: BacklinkSource,
    fetch: _Fetch,
    cache: Cache,
    done: Collected,
) -> None:
    """Collect from the web: ``source`` names pages, and ``fetch`` brings them."""

    async def ask(url: str, n: int) -> Sequence[str]:
        known: list[str] | None = cache.answers.get(url, n)
        if known is None:
            known = list(await asyncio.to_thread(source.backlinks, url, n))
            cache.answers.keep(url, n, known)
        return known[:n]

    async def cached(urls: Sequence[str]) -> Sequence[FetchedPage | Failed]:
        pages = {url: cache.page(url) for url in urls}
        rest = [url for url, page in pages.items() if page is None]
        came = dict(zip(rest, await fetch(rest), strict=True)) if rest else {}
        return [pages[url] or came[url] for url in urls]

    def told(report: LayerReport) -> None:
        logger.info(
            "Layer %d: %d pages, of %d that were named", report.layer, report.added, report.found
        )

    with plan.begun("graph.sqlite") as graph:
        done.reports = await grow(
            graph, plan.targets, ask=ask, fetch=_within(plan, cached), told=told, **_sizes(plan)
        )
        add_links(graph, plan.parser)
        _finish(plan, graph, done)


class Cache:
    """What came so far of a collection that may be interrupted.

    Folder contents
    ---------------
    ``pages.sqlite``
        the pages, a web graph without links
    ``answers.jsonl``
        what the source of back-links said, a line each
    """

    def __init__(self, folder: Path, topic: str, source: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        pages = folder / "pages.sqlite"
        self._pages = (
            WebGraph.open(pages, writable=True)
            if pages.exists()
            else WebGraph.create(pages, topic=topic, source=source)
        )
        self.answers = Answers(folder / "answers.jsonl", source)

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self._pages)

    def page(self, url: str) -> FetchedPage | None:
        """Return a page that came, by its URL or one that redirects to it."""
        if url not in self._pages:
            return None
        page = page_of(self._pages, url)
        return page._replace(moved_from=(url,)) if page.url != url else page

    def read(self, response: Response, page: Page) -> FetchedPage:
        """Keep a page that has come, and return it."""
        fetched = FetchedPage.of(response, page)
        self.keep(fetched)
        return fetched

    def keep(self, page: FetchedPage) -> None:
        """Keep a page."""
        page.add_to(self._pages)

    def keep_all(self, pages: Iterable[FetchedPage]) -> None:
        """Keep pages that are there at once, in one transaction."""
        with self._pages.transaction():
            for page in pages:
                self.keep(page)

    def close(self) -> None:
        """Close the files."""
        self._pages.close()


def _within(plan: Plan, fetch: _Fetch) -> _Fetch:
    """Return what fetches only pages that a crawl of the topic may fetch."""
    allows = plan.topic.sites.allows

    async def limited(urls: Sequence[str]) -> Sequence[FetchedPage | Failed]:
        inside = [url for url in urls if allows(url)]
        came = dict(zip(inside, await fetch(inside), strict=True)) if inside else {}
        return [came.get(url) or Failed("outside [sites]") for url in urls]

    return limited


def _sizes(plan: Plan) -> dict[str, Any]:
    return {"layers": plan.layers, "per_layer": plan.per_layer}


def check_targets(plan: Plan, targets: Sequence[str]) -> None:
    """Stop where there is nothing to begin from."""
    if not targets:
        raise WebGraphError(
            f"{plan.topic.source}: there is no target to collect from; give the topic URLs as "
            "targets, or call with --targets FILE, or with --relevant"
        )


def _finish(plan: Plan, graph: WebGraph, done: Collected) -> None:
    """Mark extra targets, count, and put the file in its place."""
    if plan.threshold is not None:
        done.extra = len(
            mark_extra_targets(graph, plan.parser, threshold=plan.threshold, examples=plan.examples)
        )
    done.pages, done.edges, done.targets = len(graph), graph.n_edges, len(graph.targets())
    if not done.targets:
        raise WebGraphError(
            f"{plan.topic.source}: none of the {done.pages} pages is a target; give the topic "
            "targets that are among them, or call with --relevant"
        )
    done.states = Counter(graph.distances(plan.layers + 1).tolist())
    graph.close()
    try:
        graph.path.replace(plan.out)
    except OSError as error:
        raise WebGraphError(f"{plan.out} cannot be written: {error.strerror}") from None
