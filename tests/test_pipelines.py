"""What the journal of items writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scrapy.http import Request, Response
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from focusspider.pipelines import ItemJournal

if TYPE_CHECKING:
    from collections.abc import Hashable


class Folder:
    def __init__(self) -> None:
        self.lines: list[tuple[str, Hashable | None]] = []

    def add_item(self, line: str, owner: Hashable | None) -> None:
        self.lines.append((line, owner))


class Session:
    def __init__(self, settles: bool) -> None:
        self.settles = settles

    def owner(self, response: Response) -> Request | None:
        return response.request if self.settles else None


def written(item: Any, *, settles: bool = True) -> tuple[str, Hashable | None]:
    folder = Folder()
    session: Any = Session(settles)
    journal = ItemJournal(session, folder, MemoryStatsCollector(get_crawler()))  # type: ignore[arg-type]
    request = Request("http://a.example/")
    journal.write(item, Response("http://a.example/", request=request))
    (line,) = folder.lines
    return line


def test_letters_stay_and_half_a_surrogate_pair_is_escaped() -> None:
    assert written({"a": "Zürich 日本"})[0] == '{"a": "Zürich 日本"}'
    line, _ = written({"a": "Zürich \ud83d"})
    assert line.encode()
    assert json.loads(line) == {"a": "Zürich \ud83d"}


def test_where_nobody_settles_pages_nothing_is_kept_for_them() -> None:
    assert written({"a": 1})[1] is not None
    assert written({"a": 1}, settles=False)[1] is None
