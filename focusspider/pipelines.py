"""The run's own items: a journal, one line an item, flushed before the page is settled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from scrapy.exceptions import NotConfigured
from scrapy.exporters import JsonLinesItemExporter

from focusspider import stats
from focusspider.session import Session

if TYPE_CHECKING:
    from io import BytesIO

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from focusspider.runfolder import RunFolder

__all__ = ["ItemJournal"]


class ItemJournal:
    """Writes every item that reaches it to ``items.jsonl`` of the run's folder.

    It stands behind the user's own pipelines, and writes what they leave of an item.
    Feeds that the user adds with ``FEEDS`` or ``-O`` are Scrapy's own: every storage and
    format works, and after a crash an item may be in them twice.
    """

    def __init__(self, folder: RunFolder, stats_collector: StatsCollector) -> None:
        self._folder = folder
        self._stats = stats_collector
        self._file: BytesIO | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ItemJournal:
        """Build the journal of a crawl that has a run folder."""
        session = Session.of(crawler)
        if session is None or session.folder is None:
            raise NotConfigured
        assert crawler.stats is not None
        return cls(session.folder, crawler.stats)

    def open_spider(self) -> None:
        """Open the journal."""
        # the exporter is typed for BytesIO, and writes to any binary file
        self._file = cast("BytesIO", self._folder.items.open("ab"))
        self._exporter = JsonLinesItemExporter(
            self._file, encoding="utf-8", sort_keys=False, ensure_ascii=False
        )
        self._exporter.start_exporting()

    def process_item(self, item: Any) -> Any:
        """Write an item, and pass it on."""
        assert self._file is not None
        self._exporter.export_item(item)
        self._file.flush()
        self._stats.inc_value(stats.ITEM_EXPORTED)
        return item

    def close_spider(self) -> None:
        """Close the journal."""
        if self._file is not None:
            self._exporter.finish_exporting()
            self._file.close()
