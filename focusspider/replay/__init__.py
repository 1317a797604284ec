"""Crawl a stored web as if it were the web.

``FOCUS_REPLAY`` names what is stored: WARC or WACZ files, folders of them, folders of HTML,
or ``sample``, the web that focusspider makes itself. Requests pass through the downloader
middlewares, delays and robots as always; only the network is replaced.

open_archive(spec)
    the :class:`~focusspider.replay.archive.Archive` that a path, list of paths, or
    ``"sample"`` names
replay_settings(spec, missing="404")
    the Scrapy settings of a crawl that replays it
"""

from focusspider.replay.archive import Archive, Stored, answer, page_key
from focusspider.replay.spec import open_archive, replay_settings

__all__ = ["Archive", "Stored", "answer", "open_archive", "page_key", "replay_settings"]
