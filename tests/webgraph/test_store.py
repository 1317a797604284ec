"""The store: what goes in comes out, what is not a graph is said to be none."""

from __future__ import annotations

import os
import sqlite3
import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from focusspider.errors import WebGraphError
from focusspider.page import PageParser
from focusspider.text import Analyzer
from focusspider.webgraph import GraphEdge, GraphPage, WebGraph
from focusspider.webgraph.database import FORMAT_VERSION
from focusspider.webgraph.digest import MAX_BODY

if TYPE_CHECKING:
    from pathlib import Path

A, B, C = (f"http://web.example/{name}" for name in "abc")


@pytest.fixture
def graph(tmp_path: Path):
    with WebGraph.create(tmp_path / "graph.sqlite", topic="mills", source="session") as made:
        yield made


def of(path: Path, *urls: str, order: int = 1) -> WebGraph:
    made = WebGraph.create(path, topic="t", source="session")
    for url in urls[::order]:
        made.add_page(url, f"<p>{url}", target=url == A)
    made.add_edge(*urls[:2], "next")
    return made


def test_a_page_comes_back_as_it_went_in(graph: WebGraph) -> None:
    body = "<title>Mühle</title><p>Öl".encode("latin-1")
    added = graph.add_page(
        A,
        body,
        title="Mühle",
        status=203,
        content_type="text/html; charset=latin-1",
        content_language="de",
        target=True,
        layer=0,
    )
    assert added
    assert graph.body(A) == body
    assert graph.html(A) == "<title>Mühle</title><p>Öl"
    assert list(graph.pages()) == [
        GraphPage(
            0, A, "Mühle", 203, "text/html; charset=latin-1", "de",
            target=True, extra=False, layer=0,
        )
    ]  # fmt: skip
    page = PageParser(analyzer=Analyzer("german")).parse(graph.response(A))
    assert (page.title, page.text, page.status, page.language) == ("Mühle", "Öl", 203, "german")


@pytest.mark.parametrize(
    ("html", "content_type", "text"),
    [
        ("<p>ž", "text/html", "<p>ž"),
        ("<p>ž", "text/html; charset=latin-1", "<p>ž"),  # text is not of that charset any more
        ("<p>ž".encode("iso-8859-2"), "text/html; charset=iso-8859-2", "<p>ž"),
        ('<meta charset="iso-8859-2"><p>ž'.encode("iso-8859-2"), "text/html", None),
        ("", "text/html", ""),
        (b"a\0b", "application/octet-stream", "a\0b"),
        ("<p>\udcff", "text/html", "<p>?"),
    ],
)
def test_charsets(graph: WebGraph, html: str | bytes, content_type: str, text: str | None) -> None:
    graph.add_page(A, html, content_type=content_type)
    assert graph.html(A) == (text if text is not None else '<meta charset="iso-8859-2"><p>ž')


def test_pages_and_edges_keep_their_order(graph: WebGraph) -> None:
    for url in (C, A, B):
        graph.add_page(url, "<p>")
    graph.add_edge(B, A, "second")
    graph.add_edge(A, C, "first")
    assert [page.url for page in graph.pages()] == [C, A, B]
    assert list(graph.edges()) == [GraphEdge(B, A, "second"), GraphEdge(A, C, "first")]
    urls, sources, destinations, targets = graph.arrays()
    assert urls == (C, A, B)
    assert (sources.tolist(), destinations.tolist()) == ([2, 1], [1, 0])
    assert (sources.dtype, targets.dtype) == (np.dtype(np.int64), np.dtype(np.bool_))


def test_pages_may_change_while_they_are_read(graph: WebGraph) -> None:
    with graph.transaction():
        for n in range(2_500):
            graph.add_page(f"{A}/{n}", "")
    for page in graph.pages():
        graph.mark_target(page.url)
    assert len(graph.targets()) == len(graph) == 2_500


@pytest.mark.parametrize(
    "spelling",
    [
        "HTTP://Web.Example:80/a?x=1&y=2",
        "http://web.example/a?y=2&x=1",
        "http://web.example/./b/../a?x=1&y=2#top",
    ],
)
def test_spellings_of_a_url_are_one_page(graph: WebGraph, spelling: str) -> None:
    assert graph.add_page("http://web.example/a?x=1&y=2", "<p>")
    assert not graph.add_page(spelling, "<p>other")
    assert spelling in graph
    assert graph.page(spelling).url == "http://web.example/a?x=1&y=2"
    assert graph.html(spelling) == "<p>"
    assert len(graph) == 1


def test_a_known_page_stays_and_may_become_a_target(graph: WebGraph) -> None:
    graph.add_page(A, "<p>first", title="first", layer=2)
    assert not graph.add_page(A, "<p>second", title="second", layer=1, target=True)
    page = graph.page(A)
    assert (page.title, page.layer, page.target, page.extra) == ("first", 2, True, False)


def test_parallel_links_are_one_edge_with_the_first_text(graph: WebGraph) -> None:
    graph.add_page(A, "")
    graph.add_page(B, "")
    added = [graph.add_edge(A, B, anchor) for anchor in ("", "mill", "oak")]
    assert added == [True, False, False]
    assert list(graph.edges()) == [GraphEdge(A, B, "mill")]
    assert not graph.add_edge(A, A, "self")
    assert graph.n_edges == 1


def test_redirects_are_their_page(graph: WebGraph) -> None:
    graph.add_page(A, "")
    graph.add_page(B, "", moved_from=[f"{B}/old", f"{B}/older"])
    assert graph.resolved(f"{B}/older") == (B,)
    assert graph.add_edge(A, f"{B}/old", "moved")
    assert graph.add_edge(f"{B}/older", A)
    assert [edge[:2] for edge in graph.edges()] == [(A, B), (B, A)]
    assert list(graph.aliases()) == [(f"{B}/old", B), (f"{B}/older", B)]
    assert len(graph) == 2


def test_a_frameset_is_the_pages_in_its_frames(graph: WebGraph) -> None:
    frames = [f"{C}/menu", f"{C}/text"]
    for url in (A, *frames):
        graph.add_page(url, "")
    graph.add_alias(C, *frames)
    graph.add_edge(A, C, "site")
    assert list(graph.edges()) == [GraphEdge(A, url, "site") for url in frames]
    graph.mark_target(C)
    assert graph.targets() == tuple(frames)


def test_what_is_a_page_is_no_alias(graph: WebGraph) -> None:
    graph.add_page(A, "")
    graph.add_page(B, "", moved_from=[A])
    assert graph.resolved(A) == (A,)
    graph.add_page(C, "", moved_from=[f"{C}/x"])
    graph.add_page(f"{C}/x", "")  # fetched once more, it redirects no longer
    assert graph.resolved(f"{C}/x") == (f"{C}/x",)


def test_an_extra_target_never_replaces_a_given_one(graph: WebGraph) -> None:
    graph.add_page(A, "", target=True)
    graph.add_page(B, "")
    graph.mark_target(A, extra=True)
    graph.mark_target(B, extra=True)
    assert [(p.target, p.extra) for p in graph.pages()] == [(True, False), (True, True)]
    graph.mark_target(B)
    assert not graph.page(B).extra
    assert graph.targets() == (A, B)


def test_a_transaction_is_all_or_nothing(graph: WebGraph) -> None:
    def fail() -> None:
        with graph.transaction():
            graph.add_page(A, "")
            with graph.transaction():
                graph.add_page(B, "")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert len(graph) == 0
    with graph.transaction():
        graph.add_page(A, "")
    with WebGraph.open(graph.path) as other:
        assert len(other) == 1


def test_each_change_is_on_the_disk_when_it_returns(graph: WebGraph) -> None:
    graph.add_page(A, "<p>")
    copy = graph.path.with_name("copy.sqlite")
    copy.write_bytes(graph.path.read_bytes())
    with WebGraph.open(copy) as other:
        assert other.html(A) == "<p>"
    assert [path.name for path in sorted(graph.path.parent.iterdir())] == [
        "copy.sqlite",
        "graph.sqlite",
    ]


def test_it_says_where_it_comes_from(tmp_path: Path) -> None:
    path = tmp_path / "models" / "mills" / "graph.sqlite"
    WebGraph.create(path, topic="mills", source="backlinks", date="2026-01-02").close()
    with WebGraph.open(path) as graph:
        assert (graph.topic, graph.source, graph.date) == ("mills", "backlinks", "2026-01-02")


def test_the_fingerprint_is_of_the_content(tmp_path: Path) -> None:
    with of(tmp_path / "1", A, B, C) as one, of(tmp_path / "2", A, B, C, order=-1) as other:
        first = one.fingerprint()
        assert other.fingerprint() == first
        assert len(first) == 64
        one._connection.execute("VACUUM")
        assert one.fingerprint() == first


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: graph.add_page(f"{A}/new", ""),
        lambda graph: graph.mark_target(B),
        lambda graph: graph.mark_target(B, extra=True),
        lambda graph: graph.add_edge(B, C),
        lambda graph: graph.add_alias(f"{A}/old", A),
        lambda graph: graph._connection.execute("UPDATE edge SET anchor = 'other'"),
        lambda graph: graph._connection.execute("UPDATE page SET layer = 1"),
        lambda graph: graph._connection.execute(
            "UPDATE page SET body = ? WHERE id = 1", (zlib.compress(b"other"),)
        ),
    ],
)
def test_each_change_gives_another_fingerprint(tmp_path: Path, change) -> None:
    with of(tmp_path / "graph", A, B, C) as graph:
        before = graph.fingerprint()
        change(graph)
        assert graph.fingerprint() != before


def test_unknown_pages(graph: WebGraph) -> None:
    graph.add_page(A, "")
    for act in (
        lambda: graph.add_edge(A, B),
        lambda: graph.add_edge(B, A),
        lambda: graph.page(B),
        lambda: graph.html(B),
        lambda: graph.mark_target(B),
        lambda: graph.add_alias(C, B),
    ):
        with pytest.raises(WebGraphError, match=f"has no page {B}: add it first"):
            act()
    assert B not in graph
    assert 7 not in graph
    assert graph.resolved(B) == ()


@pytest.mark.parametrize("url", ["", "no url", "http://"])
def test_what_is_no_url_is_no_page(graph: WebGraph, url: str) -> None:
    if url == "http://":
        graph.add_page(url, "")  # odd, but a request can be made of it
        return
    with pytest.raises(WebGraphError, match="cannot be a page"):
        graph.add_page(url, "")


def test_a_page_that_is_too_large(graph: WebGraph) -> None:
    with pytest.raises(WebGraphError, match="at most"):
        graph.add_page(A, bytes(MAX_BODY + 1))
    assert len(graph) == 0


def test_a_graph_that_is_there_is_not_overwritten(graph: WebGraph) -> None:
    graph.add_page(A, "")
    with pytest.raises(WebGraphError, match="is there already"):
        WebGraph.create(graph.path, topic="t", source="session")
    assert len(graph) == 1


def test_a_graph_that_is_open_for_reading_is_not_written(graph: WebGraph) -> None:
    with (
        WebGraph.open(graph.path) as reader,
        pytest.raises(WebGraphError, match=r"cannot be written"),
    ):
        reader.add_page(A, "")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_file_that_is_read_only(graph: WebGraph) -> None:
    graph.path.chmod(0o400)
    with pytest.raises(WebGraphError, match="cannot be written: check the permissions"):
        WebGraph.open(graph.path, writable=True)
    WebGraph.open(graph.path).close()


def test_a_graph_that_another_process_writes(graph: WebGraph) -> None:
    other = sqlite3.connect(graph.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    graph._connection.execute("PRAGMA busy_timeout = 0")
    with pytest.raises(WebGraphError, match="in use by another process"):
        graph.add_page(A, "")
    other.close()
    graph.add_page(A, "")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("<html>" * 100)


def _other_program(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE page (id)")
    connection.close()


def _other_version(path: Path) -> None:
    of(path, A, B).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION + 1}")
    connection.close()


def _cut_short(path: Path) -> None:
    of(path, A, B).close()
    path.write_bytes(path.read_bytes()[:-1])


def _without_tables(path: Path) -> None:
    of(path, A, B).close()
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE meta")
    connection.close()


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "is not there"),
        (_folder, "cannot be read: Is a directory"),
        (_empty, "is no web graph"),
        (_text, "is no web graph"),
        (_other_program, "of another program"),
        (_other_version, r"has format 2, and this focusspider reads format 1"),
        (_cut_short, "is cut short: [0-9,]+ of [0-9,]+ bytes are there"),
        (_without_tables, "no such table"),
    ],
)
def test_what_is_no_graph(tmp_path: Path, make, message: str, writable: bool) -> None:
    path = tmp_path / "graph.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(WebGraphError, match=message) as caught:
        WebGraph.open(path, writable=writable)
    assert str(path) in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_page_of_zeros_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "graph.sqlite"
    graph = of(path, A, B)
    with graph.transaction():
        for n in range(200):
            graph.add_page(f"{A}/{n}", os.urandom(200))
    graph.close()
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(len(data) - 4096))
    with pytest.raises(WebGraphError, match="damaged"), WebGraph.open(path) as graph:
        list(graph.pages())


@pytest.mark.parametrize(
    "packed", [b"no zlib", zlib.compress(b"<p>" * 9)[:-4], zlib.compress(bytes(MAX_BODY + 1)), "x"]
)
def test_a_body_that_is_damaged_or_a_bomb(graph: WebGraph, packed: bytes | str) -> None:
    graph.add_page(A, "<p>")
    graph._connection.execute("UPDATE page SET body = ?", (packed,))
    for act in (lambda: graph.html(A), graph.fingerprint):
        with pytest.raises(WebGraphError, match=f"the body of {A} is damaged"):
            act()
