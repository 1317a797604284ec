"""A benchmark: a stored web, the crawls of it, and the strategies that are compared on them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.replay.spec import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from focusspider.evaluation.testbed import TestbedSpec

__all__ = ["BASELINE", "Benchmark", "CrawlSpec", "StrategySpec"]

#: What headroom is measured from, and what t-tests compare with where nothing else is named.
BASELINE = "breadth-first"


@dataclass(frozen=True, kw_only=True)
class CrawlSpec:
    """One crawl of the corpus: ``arguments`` are those of ``scrapy crawl focus``.

    Their relevance is the truth. ``judge`` is the relevance that the crawl itself has, where
    it is not told the truth.

    ``site`` and ``topic`` are the names that its id was made of, where it was.
    """

    id: str
    arguments: Mapping[str, Any]
    judge: Mapping[str, Any] | None = None
    site: str = ""
    topic: str = ""


@dataclass(frozen=True, kw_only=True)
class StrategySpec:
    """One strategy that is compared; ``random`` ones are run once for each seed."""

    label: str
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    random: bool = False

    def of(
        self, crawl: CrawlSpec, corpora: Path, texts: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Return it as a topic names it, with its places filled in.

        They are ``{site}``, ``{topic}``, ``{corpora}``, and those of the crawl's ``texts``.
        """
        places = {"{site}": crawl.site, "{topic}": crawl.topic, "{corpora}": str(corpora)}
        places |= texts or {}
        return {"name": self.name, **{key: _filled(v, places) for key, v in self.params.items()}}


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """What an evaluation runs.

    Parameters
    ----------
    archive
        what ``FOCUS_REPLAY`` takes: absolute paths, or ``("sample",)``
    labels
        the table of labels, if the truth is one
    corpora
        the folder that both are relative to
    pages
        the budget of each crawl; None: it runs to the end
    settings
        Scrapy settings of every crawl
    texts
        by name, the sites of the archive whose pages are texts to learn from, as far as a
        crawl does not come to them: see :mod:`~focusspider.evaluation.texts`
    testbed
        makes it hub-seeking's test bed; None: recall of what can be reached
    """

    name: str
    source: str
    archive: tuple[str, ...]
    crawls: tuple[CrawlSpec, ...]
    strategies: tuple[StrategySpec, ...]
    corpora: Path
    labels: Path | None = None
    description: str = ""
    baseline: str = BASELINE
    pages: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    testbed: TestbedSpec | None = None

    @property
    def missing(self) -> tuple[Path, ...]:
        """The files of the corpus that are not there; it is not the benchmark's fault."""
        files = [] if SAMPLE in self.archive else [Path(entry) for entry in self.archive]
        files += [self.labels] if self.labels else []
        return tuple(file for file in files if not file.exists())

    def narrowed(
        self,
        *,
        crawls: Sequence[CrawlSpec] | None = None,
        strategies: Sequence[StrategySpec] | None = None,
        pages: int | None = None,
    ) -> Benchmark:
        """Return a benchmark of some of the crawls and strategies, with another budget."""
        chosen = self.crawls if crawls is None else tuple(crawls)
        if pages is not None:
            chosen = tuple(
                replace(crawl, arguments={**crawl.arguments, "pages": pages}) for crawl in chosen
            )
        return replace(
            self,
            crawls=chosen,
            strategies=self.strategies if strategies is None else tuple(strategies),
            pages=self.pages if pages is None else pages,
        )


def _filled(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_filled(one, places) for one in value]
    if isinstance(value, str):
        for place, text in places.items():
            value = value.replace(place, text)
    return value
