"""Every page of real archives can be read."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from focusspider.replay.archive import answer
from focusspider.replay.spec import open_archive

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        # 8,223 records: nine URLs differ from another only by "/", ":80" or a fragment.
        ("webkb", 8_214),
        ("uci", 12_000),
    ],
)
def test_every_page_is_readable(corpora: Path, caplog, name: str, pages: int) -> None:
    archive = open_archive(corpora / name)
    assert len(archive) == pages
    for url in archive.urls():
        stored = archive.get(url)
        assert stored.url == url
        assert stored.status == 200
    assert not caplog.records
    with (corpora / name / "labels.csv").open(encoding="utf-8") as file:
        labelled = {row["url"] for row in csv.DictReader(file)}
    for url in labelled:
        if url.startswith("http"):
            assert answer(archive, url).status == 200
