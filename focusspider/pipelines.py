"""The run's own items: a journal, one line an item, there before the page is settled."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.exporters import JsonLinesItemExporter
from scrapy.http import Response

from focusspider import stats
from focusspider.session import Session

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from focusspider.runfolder import RunFolder

__all__ = ["ItemJournal"]


class ItemJournal:
    """Writes every item that has passed the pipelines to ``items.jsonl`` of the run's folder.

    It is an extension and no pipeline, since it has to know which page an item came from:
    if the process dies before that page is settled, the line is cut and made again.

    Feeds that the user adds with ``FEEDS`` or ``-O`` are Scrapy's own: every storage and
    format works, and after a crash an item may be in them twice.
    """

    def __init__(
        self, session: Session, folder: RunFolder, stats_collector: StatsCollector
    ) -> None:
        self._session = session
        self._folder = folder
        self._stats = stats_collector
        self._line = BytesIO()
        self._exporter = JsonLinesItemExporter(
            self._line, encoding="utf-8", sort_keys=False, ensure_ascii=False
        )
        self._escaping = JsonLinesItemExporter(
            self._line, encoding="utf-8", sort_keys=False, ensure_ascii=True
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ItemJournal:
        """Build the journal of a crawl that has a run folder."""
        session = Session.of(crawler)
        if session is None or session.folder is None:
            raise NotConfigured
        assert crawler.stats is not None
        journal = cls(session, session.folder, crawler.stats)
        crawler.signals.connect(journal.write, signals.item_scraped)
        return journal

    def write(self, item: Any, response: Any) -> None:
        """Write an item; one that does not come from a response is kept at once."""
        self._line.seek(0)
        self._line.truncate()
        try:
            self._exporter.export_item(item)
        except UnicodeEncodeError:  # half a surrogate pair, of which UTF-8 has none
            self._escaping.export_item(item)
        line = self._line.getvalue().decode().rstrip("\n")
        owner = self._session.owner(response) if isinstance(response, Response) else None
        self._folder.add_item(line, owner)
        self._stats.inc_value(stats.ITEM_EXPORTED)
