"""What relevant pages say of something, as attributes and values: ``facts.jsonl``.

A line is one pair of one table: ``url`` of the page, ``table``, the number of the table among those
of the page (see :class:`~focusspider.tables.DataTable`), its ``heading``, ``attribute`` and
``value``, both as they are written.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from focusspider.errors import RunFolderError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from focusspider.page import Page
    from focusspider.relevance.base import Judgement, Relevance

__all__ = ["FACTS", "facts_of", "read_lines"]

FACTS = "facts.jsonl"

#: Bytes of a line that is read back.
_LONGEST = 10_000_000


class Judged(Protocol):
    """A page, or None for what is none, and what its judge says of it."""

    @property
    def page(self) -> Page | None:
        """The page."""
        ...

    @property
    def judgement(self) -> Judgement:
        """The judgement."""
        ...


def facts_of(relevance: Relevance, visit: Judged) -> Iterator[dict[str, Any]]:
    """Yield the facts of a page, where it is relevant and its judge looks at tables.

    A judge of one's own may do so too: a method ``facts(page)`` that returns some of
    ``page.tables``.
    """
    page = visit.page
    if page is None or not visit.judgement.relevant or not hasattr(relevance, "facts"):
        return
    for table in relevance.facts(page):
        for attribute, value in table.pairs:
            yield {
                "url": page.url,
                "table": table.index,
                "heading": table.heading,
                "attribute": attribute,
                "value": value,
            }


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file of a run's folder; a last one that is half written is left out.

    Raises RunFolderError where a line is no JSON object.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST), b""), 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise RunFolderError(f"{path}, line {number}: not JSON: {error}") from None
                if not isinstance(found, dict):
                    raise RunFolderError(f"{path}, line {number}: not an object of JSON")
                yield found
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read: {error.strerror or error}") from None
