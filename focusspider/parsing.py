"""The parser of pages that a crawl has by its settings, for all that reads pages as it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.config import FocusConfig
from focusspider.page import Page, PageParser
from focusspider.text import Analyzer

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

__all__ = ["blank_page", "parser_of"]


def parser_of(
    language: str,
    settings: BaseSettings,
    config: FocusConfig | None = None,
    *,
    aggregation: str = "parent",
) -> PageParser:
    """Return the parser that a crawl with these settings has.

    Parameters
    ----------
    language
        of the topic
    settings
        of the project, of which ``URLLENGTH_LIMIT`` counts too
    config
        the ``FOCUS_*`` settings, if they were read already
    aggregation
        what a link's context is; see :class:`~focusspider.page.PageParser`
    """
    config = config or FocusConfig.from_settings(settings)
    return PageParser(
        analyzer=Analyzer(language),
        aggregation=aggregation,
        max_links=config.max_links,
        max_url_length=settings.getint("URLLENGTH_LIMIT"),
        max_text=config.max_text,
        max_anchor=config.max_anchor,
        max_context=config.max_context,
    )


def blank_page(parser: PageParser, response: Response) -> Page:
    """Return what stands for a response that is no page: its address, and nothing on it."""
    return Page(
        response.url,
        analyzer=parser.analyzer,
        status=response.status,
        moved_from=response.meta.get("redirect_urls", ()),
        key_of=parser.key_of,
    )
