"""What can be had of a crawl: the pages that it can reach, the targets, the omniscient order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.config import FocusConfig
from focusspider.errors import BenchmarkError, NotAPageError
from focusspider.evaluation.graph import PageReader, stored_graph
from focusspider.evaluation.omniscient import breadth_first_order, omniscient_order
from focusspider.parsing import parser_of
from focusspider.relevance import started_relevance
from focusspider.relevance.labels import LabelRelevance
from focusspider.replay import open_archive
from focusspider.replay.reading import stored_page
from focusspider.resources import located
from focusspider.text import Analyzer
from focusspider.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy.settings import BaseSettings

    from focusspider.evaluation.graph import StoredGraph
    from focusspider.page import Page
    from focusspider.replay import Archive

__all__ = ["Bound", "StoredTruth", "reached_urls", "read_bound", "write_bounds"]

_FILE = "bound.json"


class Bound(NamedTuple):
    """One crawl's truth, and the crawl of one that knows it.

    ``reachable`` is the number of pages within the scope that links lead to, ``targets``
    the URLs of those of them that are relevant, and ``found_at`` the number of pages that
    the omniscient crawler has fetched with each target that it finds.
    """

    reachable: int
    targets: frozenset[str]
    found_at: tuple[int, ...]
    fetched: int


class StoredTruth:
    """The relevant pages of a stored web, by the judge that crawls of it have.

    Parameters
    ----------
    arguments
        of the crawl, which name its judge
    """

    def __init__(
        self, arguments: Mapping[str, Any], archive: Archive, settings: BaseSettings
    ) -> None:
        self.topic = Topic.from_arguments(**arguments)
        self.analyzer = Analyzer(self.topic.language)
        self._archive = archive
        self._reader = PageReader(parser_of(self.topic.language, settings))
        models_dir = FocusConfig.from_settings(settings).models_dir / self.topic.name
        self._judge = started_relevance(
            self.topic, self.analyzer, self._targets(), models_dir=located(models_dir)
        )

    def _targets(self) -> Iterator[Page]:
        parser = self._reader.parser
        for path in self.topic.target_files:
            yield parser.parse_html(path.read_bytes(), path.absolute().as_uri())
        for url in self.topic.target_urls:
            page = self.page(url)
            if page is not None:
                yield page

    def page(self, url: str) -> Page | None:
        """Return the page that a request for a URL ends at."""
        stored = stored_page(self._archive, url)
        return self._reader.read(stored) if stored is not None else None

    def relevant(self, urls: Iterable[str]) -> list[str]:
        """Return those of the URLs whose page is relevant; a redirect is no page."""
        return [url for url in urls if self._is_relevant(url)]

    def _is_relevant(self, url: str) -> bool:
        if isinstance(self._judge, LabelRelevance) and not self._judge.judge_url(url).relevant:
            return False  # most pages, and quicker than to read them
        page = self.page(url)
        if page is None or page.url != url:
            return False
        try:
            return self._judge.judge(page).relevant
        except NotAPageError:
            return False


def write_bounds(job: Mapping[str, Any]) -> None:
    """Compute the bound of each crawl of a job, and write it into the crawl's folder.

    The graph of the archive takes most of the time, and serves all of them.
    """
    from scrapy.settings import Settings

    settings = Settings(job["settings"])
    archive = open_archive(job["archive"])
    truths = [StoredTruth(one["arguments"], archive, settings) for one in job["crawls"]]
    graph = stored_graph(archive, parser_of("english", settings))
    for one, truth in zip(job["crawls"], truths, strict=True):
        bound = bound_of(graph, truth, one["arguments"].get("pages"))
        folder = Path(one["folder"])
        folder.mkdir(parents=True, exist_ok=True)
        table = {
            "key": one["key"],
            "reachable": bound.reachable,
            "fetched": bound.fetched,
            "found_at": list(bound.found_at),
            "targets": sorted(bound.targets),
        }
        draft = folder / f"{_FILE}.part"
        draft.write_text(json.dumps(table) + "\n", encoding="utf-8")
        draft.replace(folder / _FILE)


def bound_of(graph: StoredGraph, truth: StoredTruth, pages: int | None = None) -> Bound:
    """Return what a crawl of so many pages can bring; None: a crawl to the end."""
    topic = truth.topic
    own = graph.within(topic.sites.allows)
    seeds = own.nodes(topic.seeds)
    if not seeds:
        raise BenchmarkError(
            f"crawl {topic.name}: none of its seeds is in the corpus, not even {topic.seeds[0]}; "
            f"mend seeds ="
        )
    reached = [own.urls[node] for node in breadth_first_order(own.indptr, own.indices, seeds)]
    targets = truth.relevant(reached)
    if not targets:
        raise BenchmarkError(
            f"crawl {topic.name}: none of the {len(reached)} pages that it can reach is relevant; "
            f"mend its label or relevance, or the seeds"
        )
    mask = own.mask(targets)
    order = omniscient_order(own.indptr, own.indices, seeds, mask)[:pages]
    found_at = np.flatnonzero(mask[order]) + 1
    return Bound(len(reached), frozenset(targets), tuple(map(int, found_at)), len(order))


def reached_urls(graph: StoredGraph, truth: StoredTruth) -> list[str]:
    """Return the pages that a crawl can reach, in the order of a breadth-first search."""
    own = graph.within(truth.topic.sites.allows)
    seeds = own.nodes(truth.topic.seeds)
    return [own.urls[node] for node in breadth_first_order(own.indptr, own.indices, seeds)]


def read_bound(folder: Path, key: str) -> Bound | None:
    """Return the bound in a crawl's folder; None where there is none of this key."""
    try:
        table = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if table["key"] != key:
        return None
    return Bound(
        table["reachable"], frozenset(table["targets"]), tuple(table["found_at"]), table["fetched"]
    )
