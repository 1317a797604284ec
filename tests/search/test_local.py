"""The search engine over a stored web, against what its pages hold."""

from __future__ import annotations

import os
import re
import sqlite3
from typing import TYPE_CHECKING

import pytest

from focusspider.config import FocusConfig
from focusspider.errors import ReplayError, SettingError, UnknownNameError
from focusspider.page import PageParser
from focusspider.replay import Stored, open_archive
from focusspider.replay.reading import PageReader
from focusspider.replay.spec import archive_identity
from focusspider.search import SEARCH_ENGINES, search_engine
from focusspider.search.base import Answer, Hit
from focusspider.search.index import build_index, open_index
from focusspider.search.local import LocalEngine
from focusspider.text import Analyzer
from tests.shelf import Shelf

if TYPE_CHECKING:
    from pathlib import Path


def folder_of(tmp_path: Path, **pages: str) -> Path:
    folder = tmp_path / "mirror"
    for name, html in pages.items():
        path = folder / "a.example" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")
    return folder


def engine_of(folder: Path, tmp_path: Path) -> LocalEngine:
    return LocalEngine(replay=[str(folder)], models_dir=tmp_path / "models")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> LocalEngine:
    return LocalEngine(replay=["sample"], models_dir=tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def stems_of_pages() -> dict[str, set[str]]:
    """Each page of the sample web, and the stems of its words as another library makes them."""
    archive = open_archive("sample")
    reader = PageReader(PageParser(analyzer=Analyzer()))
    stem = Analyzer("porter").stems
    pages = {}
    for url in archive.urls():
        stored = archive.get(url)
        page = reader.read(stored) if stored and 200 <= stored.status < 300 else None
        if page is not None:
            words = set(re.findall(r"[^\W_]+", f"{page.title} {page.text}".lower()))
            pages[url] = {found for word in words for found in stem(word)}
    return pages


@pytest.mark.parametrize("query", ["town", "pendulum", "clock museum", "CLOCK  Museum", "qzxv"])
def test_totals_are_those_of_the_pages(
    sample: LocalEngine, stems_of_pages: dict[str, set[str]], query: str
) -> None:
    wanted = set(Analyzer("porter").stems(query))
    expected = {url for url, stems in stems_of_pages.items() if wanted <= stems}
    answer = sample.search(query, 10_000)
    assert {hit.url for hit in answer.hits} == expected
    assert answer.total == len(expected)
    assert sample.search(query, 3) == Answer(answer.hits[:3], answer.total)


def test_the_best_come_first(tmp_path: Path) -> None:
    filler = "<p>" + "other words of no use " * 30
    folder = folder_of(
        tmp_path,
        long=f"<title>Long</title>{filler} mill",
        short="<title>Short</title><p>The mill, the mill and its wheel",
        none=f"<title>None</title>{filler}",
    )
    engine = engine_of(folder, tmp_path)
    assert engine.search("mill", 5) == Answer(
        (Hit("http://a.example/short.html", "Short"), Hit("http://a.example/long.html", "Long")), 2
    )


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("mills", 1), ("MÜLLER", 1), ("muller", 1), ("mill wheel", 0), ("mill OR wheel", 0),
        ("mill NOT wheel", 0), ('"mill', 1), ("mill*", 1), ("mil*", 0), ("title:mill", 0),
        ("", 0), ("   ", 0), ('"', 0), ("++", 0), ("mill\0", 1), ("\ud800", 0), ("NEAR(mill)", 0),
    ],
)  # fmt: skip
def test_a_query_is_words_and_nothing_else(tmp_path: Path, query: str, total: int) -> None:
    engine = engine_of(folder_of(tmp_path, a="<p>A mill of Müller's"), tmp_path)
    assert engine.search(query, 5).total == total


def test_only_pages_are_found(tmp_path: Path) -> None:
    html = (("Content-Type", "text/html"),)
    shelf = Shelf(
        Stored("http://a.example/page", 200, html, b"<p>mill"),
        Stored("http://a.example/gone", 404, html, b"<p>mill"),
        Stored("http://a.example/file", 200, (("Content-Type", "image/png"),), b"\x89PNG mill"),
        Stored("http://a.example/old", 301, (("Location", "/page"),), b"mill"),
        Stored(
            "http://a.example/odd", 200, html, b"<title>\0mill \xff</title><p>a\0b \xed\xa0\x80"
        ),
    )
    told = []
    build_index(tmp_path / "i.sqlite", shelf, "1", told=lambda *how: told.append(how))
    assert told == [(n, 5) for n in range(1, 6)]
    connection = open_index(tmp_path / "i.sqlite", "1")
    assert connection is not None
    rows = connection.execute("SELECT url FROM page ORDER BY id").fetchall()
    assert rows == [("http://a.example/odd",), ("http://a.example/page",)]
    connection.close()


def test_it_is_made_once(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a="<p>mill")
    first = engine_of(folder, tmp_path)
    made = first.path.stat().st_mtime_ns
    first.close()
    again = engine_of(folder, tmp_path)
    assert (again.path, again.path.stat().st_mtime_ns) == (first.path, made)
    again.close()
    folder_of(tmp_path, b="<p>mill, another one")
    changed = engine_of(folder, tmp_path)
    assert changed.path != first.path
    assert changed.search("mill", 5).total == 2
    changed.close()
    # not a thing is left of what was being made
    files = sorted(path.name for path in first.path.parent.iterdir())
    assert files == sorted([first.path.name, changed.path.name])


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "other", "version"])
def test_what_is_not_sound_is_made_anew(tmp_path: Path, damage: str) -> None:
    folder = folder_of(tmp_path, a="<p>mill")
    engine = engine_of(folder, tmp_path)
    engine.close()
    path = engine.path
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:5_000])
    elif damage == "text":
        path.write_text("no database")
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        change = "application_id = 1" if damage == "other" else "user_version = 99"
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA {change}")
        connection.close()
    again = engine_of(folder, tmp_path)
    assert again.search("mill", 5).total == 1
    again.close()


def test_an_index_of_another_archive_is_none(tmp_path: Path) -> None:
    shelf = Shelf(Stored("http://a.example/", 200, (("Content-Type", "text/html"),), b"<p>mill"))
    build_index(tmp_path / "i.sqlite", shelf, "1")
    assert open_index(tmp_path / "i.sqlite", "2") is None
    assert open_index(tmp_path / "missing.sqlite", "1") is None


def test_damage_that_shows_later_is_one_line(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, **{f"p{n}": f"<p>mill {'w' * n}" for n in range(50)})
    engine = engine_of(folder, tmp_path)
    with engine.path.open("r+b") as file:
        file.seek(4_096)
        file.write(b"\xff" * (engine.path.stat().st_size - 4_096))
    with pytest.raises(ReplayError, match=r"search index .* is damaged: remove it"):
        engine.search("mill", 5)
    engine.close()


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a="<p>mill")
    (tmp_path / "models").write_text("a file")
    with pytest.raises(SettingError, match=r"search index .* cannot be written: .*MODELS_DIR"):
        engine_of(folder, tmp_path)


def test_identity_is_that_of_what_is_stored(tmp_path: Path) -> None:
    assert archive_identity("sample") == archive_identity(["sample"])
    folder = folder_of(tmp_path, a="<p>mill")
    before = archive_identity(folder)
    page = folder / "a.example" / "a.html"
    moved = tmp_path / "elsewhere" / "mirror"
    moved.parent.mkdir()
    folder.rename(moved)
    assert archive_identity(moved) == before
    moved.rename(folder)
    os.utime(page, (1, 1))
    assert archive_identity(folder) != before
    with pytest.raises(ReplayError, match="no such file or folder"):
        archive_identity(tmp_path / "missing")


def test_by_the_settings(tmp_path: Path) -> None:
    assert list(SEARCH_ENGINES) == ["local", "searxng", "ddgs"]
    config = FocusConfig(replay=("sample",), models_dir=tmp_path)
    told = []
    engine = search_engine(config, told=lambda *how: told.append(how))
    assert isinstance(engine, LocalEngine)
    assert told[-1][0] == told[-1][1]
    engine.close()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({}, SettingError, "set FOCUS_REPLAY"),
        (
            {"search_engine": "locl"},
            UnknownNameError,
            "did you mean 'local'.*known: local, searxng",
        ),
        ({"search_engine": "json.nothing"}, SettingError, "FOCUS_SEARCH_ENGINE: search engine"),
        ({"search_engine": "searxng"}, SettingError, "set FOCUS_SEARCH_URL"),
        (
            {"search_engine": "searxng", "search_url": "http://a.example", "search_key": "k"},
            SettingError,
            "FOCUS_SEARCH_URL = 'http://a.example/search' cannot be used: give an https URL",
        ),
        (
            {"replay": ("sample",), "search_params": {"backend": "x"}},
            SettingError,
            "search engine 'local' has no parameter 'backend'",
        ),
    ],
)
def test_wrong_settings(
    settings: dict[str, object], error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        search_engine(FocusConfig(models_dir=tmp_path, **settings))


class OwnEngine:
    """An engine of one's own."""

    def __init__(self, *, url: str | None, answer: str = "") -> None:
        self.url, self.answer = url, answer

    def search(self, query: str, n: int) -> Answer:
        return Answer((Hit(self.answer, query),), None)

    def close(self) -> None:
        pass


def test_an_engine_of_ones_own() -> None:
    config = FocusConfig(
        search_engine=f"{__name__}:OwnEngine",
        search_url="http://mine.example",
        search_params={"answer": "http://a.example/"},
    )
    engine = search_engine(config)
    assert engine.search("mill", 1).hits == (Hit("http://a.example/", "mill"),)
