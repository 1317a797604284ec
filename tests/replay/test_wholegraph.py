"""An archive as a web graph, and back."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from focusspider.errors import ReplayError
from focusspider.evaluation.graph import stored_graph
from focusspider.page import PageParser
from focusspider.replay import open_archive
from focusspider.replay.archive import Stored
from focusspider.replay.export import write_folder, write_targets, write_warc
from focusspider.replay.wholegraph import CrawlLog, add_archive
from focusspider.text import Analyzer
from focusspider.webgraph import GraphEdge, WebGraph
from focusspider.webgraph.layers import FetchedPage
from tests.shelf import Shelf

if TYPE_CHECKING:
    from pathlib import Path

PARSER = PageParser(analyzer=Analyzer())
HTML = (("Content-Type", "text/html"),)
HOST = "http://a.example"


def page(path: str, *links: str, url: str = HOST, headers=HTML, status: int = 200) -> Stored:
    body = f"<title>{path}</title>" + "".join(f'<a href="{link}">{link}</a>' for link in links)
    return Stored(f"{url}{path}", status, headers, body.encode())


def whole(path: Path, archive, **options) -> WebGraph:
    graph = WebGraph.create(path, topic="t", source="archive")
    add_archive(graph, archive, PARSER, **options)
    return graph


SHELF = Shelf(
    page("/", "/b", "/b/", "/moved", "/twice", "/file", "/missing", "http://other.example/"),
    page("/b/", "/"),
    page("/c", "/loop"),
    Stored(f"{HOST}/moved", 301, (("Location", "/c"),), b""),
    Stored(f"{HOST}/twice", 302, (("Location", "/moved"),), b""),
    Stored(f"{HOST}/loop", 302, (("Location", "/loop"),), b""),
    Stored(f"{HOST}/file", 200, (("Content-Type", "application/pdf"),), b"%PDF-1"),
    page("/error", "/", status=500),
)


def test_links_end_where_a_crawl_would(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    graph = WebGraph.create(tmp_path / "graph", topic="t", source="archive")
    left_out = add_archive(
        graph,
        SHELF,
        PARSER,
        wanted=lambda found: found.title == "/c",
        told=lambda done, of: told.append((done, of)),
    )
    assert [found.url for found in graph.pages()] == [f"{HOST}/", f"{HOST}/b/", f"{HOST}/c"]
    assert [found.title for found in graph.pages()] == ["/", "/b/", "/c"]
    assert list(graph.edges()) == [
        GraphEdge(f"{HOST}/", f"{HOST}/b/", "/b"),
        GraphEdge(f"{HOST}/", f"{HOST}/c", "/moved"),
        GraphEdge(f"{HOST}/b/", f"{HOST}/", "/"),
    ]
    assert dict(graph.aliases()) == {
        f"{HOST}/b": f"{HOST}/b/",
        f"{HOST}/moved": f"{HOST}/c",
        f"{HOST}/twice": f"{HOST}/c",
    }
    assert graph.targets() == (f"{HOST}/c",)
    assert left_out == 5
    assert told[-1] == (8, 8)


def test_the_sample_web_is_the_graph_that_the_evaluation_knows(tmp_path: Path) -> None:
    archive = open_archive("sample")
    graph = whole(tmp_path / "graph", archive)
    known = stored_graph(archive, PARSER)
    pages = {found.url for found in graph.pages()}
    expected = {
        (url, known.urls[to])
        for node, url in enumerate(known.urls)
        for to in known.indices[known.indptr[node] : known.indptr[node + 1]]
        if url in pages and known.urls[to] in pages
    }
    assert pages <= set(known.urls)
    assert len(known.urls) - len(pages) < 10  # files
    assert {(edge.source, edge.destination) for edge in graph.edges()} == expected


def test_compressed_pages_and_other_charsets(tmp_path: Path) -> None:
    body = "<title>Mühle</title>".encode("latin-1")
    headers = (("Content-Type", "text/html; charset=latin-1"), ("Content-Encoding", "gzip"))
    with whole(
        tmp_path / "graph", Shelf(Stored(f"{HOST}/", 200, headers, gzip.compress(body)))
    ) as graph:
        assert graph.body(f"{HOST}/") == body
        assert graph.page(f"{HOST}/").title == "Mühle"
        assert graph.html(f"{HOST}/") == "<title>Mühle</title>"


def test_a_warc_of_it_gives_the_same_graph(tmp_path: Path) -> None:
    with whole(tmp_path / "1", SHELF) as graph:
        write_warc(graph, tmp_path / "out.warc.gz")
        write_warc(graph, tmp_path / "out.warc")
        with pytest.raises(ReplayError, match="is there already"):
            write_warc(graph, tmp_path / "out.warc")
        for name in ("out.warc.gz", "out.warc"):
            with whole(tmp_path / f"{name}.graph", open_archive(tmp_path / name)) as again:
                assert again.fingerprint() == graph.fingerprint()


def test_the_sample_web_through_a_warc_and_a_folder(tmp_path: Path) -> None:
    with whole(tmp_path / "1", open_archive("sample")) as graph:
        write_warc(graph, tmp_path / "out.warc.gz")
        with whole(tmp_path / "2", open_archive(tmp_path / "out.warc.gz")) as again:
            assert again.fingerprint() == graph.fingerprint()
        assert write_folder(graph, tmp_path / "folder") == []
        with whole(tmp_path / "3", open_archive(tmp_path / "folder")) as again:
            assert {p.url for p in again.pages()} == {p.url for p in graph.pages()}
            links, again_links = (
                {(edge.source, edge.destination) for edge in one.edges()} for one in (graph, again)
            )
            assert again_links <= links
            # but those to redirects, for which a folder has no place
            assert len(links - again_links) < 10


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://a.example/", "a.example/index.html"),
        ("http://a.example/b/", "a.example/b/index.html"),
        ("http://a.example/b.html", "a.example/b.html"),
        ("https://a.example/s", "a.example/s"),
        ("http://a.example/wiki/A:B", "a.example/wiki/A:B"),
        ("http://a.example/m%C3%BChle", "a.example/mühle"),
        ("http://a.example/p?id=3&x=1", "a.example/p?id=3&x=1"),
        ("http://a.example/p?u=/x", None),
        ("http://a.example//b", None),
        ("http://a.example/.hidden", None),
        ("http://a.example/b%2Fc", None),
        ("http://a.example/" + "x" * 300, None),
    ],
)
def test_names_of_files(tmp_path: Path, url: str, path: str | None) -> None:
    folder = tmp_path / "folder"
    with WebGraph.create(tmp_path / "graph", topic="t", source="session") as graph:
        graph.add_page(url, "<html>")
        left_out = write_folder(graph, folder)
    if path is None:
        assert left_out == [url]
        return
    assert left_out == []
    assert (folder / path).read_bytes() == b"<html>"
    assert list(open_archive(folder).urls()) == [url.replace("https:", "http:")]


def test_a_path_that_is_a_folder_of_others_is_left_out(tmp_path: Path) -> None:
    with WebGraph.create(tmp_path / "graph", topic="t", source="session") as graph:
        graph.add_page(f"{HOST}/a/b", "<html>")
        graph.add_page(f"{HOST}/a", "<html>")
        graph.add_page(f"{HOST}/a/b/c", "<html>")
        assert write_folder(graph, tmp_path / "folder") == [f"{HOST}/a", f"{HOST}/a/b/c"]
        with pytest.raises(ReplayError, match="is there already"):
            write_folder(graph, tmp_path / "folder")


def test_targets_as_a_list(tmp_path: Path) -> None:
    with WebGraph.create(tmp_path / "graph", topic="t", source="session") as graph:
        graph.add_page(f"{HOST}/a", "", target=True)
        graph.add_page(f"{HOST}/b", "")
        graph.add_page(f"{HOST}/c", "", target=True)
        write_targets(graph, tmp_path / "targets.txt")
        assert (tmp_path / "targets.txt").read_text() == f"{HOST}/a\n{HOST}/c\n"
        (tmp_path / "targets.txt").write_text("mine")
        with pytest.raises(ReplayError, match=r"targets\.txt is there already"):
            write_targets(graph, tmp_path / "targets.txt")
        with pytest.raises(ReplayError, match="cannot be written: No such file"):
            write_targets(graph, tmp_path / "none/targets.txt")
    assert (tmp_path / "targets.txt").read_text() == "mine"


def run_folder(path: Path, *lines: dict, items=()) -> Path:
    path.mkdir()
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (path / "crawl.jsonl").write_text(text + '{"half')
    (path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def test_the_log_of_a_crawl(tmp_path: Path) -> None:
    lines = [
        {"url": f"{HOST}/", "parent": None, "relevant": False},
        {"url": f"{HOST}/a", "parent": f"{HOST}/", "relevant": True},
        {"url": f"{HOST}/b", "parent": f"{HOST}/a", "relevant": True},
        {"url": f"{HOST}/b", "parent": f"{HOST}/", "relevant": True},
    ]
    items = [{"url": f"{HOST}/a", "body": "<p>"}, {"url": f"{HOST}/b"}]
    folder = run_folder(tmp_path / "run", *lines, items=items)
    log = CrawlLog(folder)
    assert CrawlLog.is_at(folder)
    assert not CrawlLog.is_at(tmp_path)
    assert log.relevant == (f"{HOST}/a", f"{HOST}/b")
    assert log.backlinks(f"{HOST}/b", 5) == [f"{HOST}/a"]
    assert log.backlinks(f"{HOST}/", 5) == []
    assert log.backlinks(f"{HOST}/b", 0) == []
    html = "text/html; charset=utf-8"
    assert list(log.pages()) == [FetchedPage(f"{HOST}/a", b"<p>", content_type=html)]
    (folder / "items.jsonl").unlink()
    assert list(log.pages()) == []
    assert log.warcs == ()
    (folder / "pages.warc.gz").write_bytes(b"")
    assert CrawlLog(folder).warcs == (folder / "pages.warc.gz",)


def test_a_log_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="cannot be read: No such file"):
        CrawlLog(tmp_path)
    folder = run_folder(tmp_path / "run", {"page": 1})
    with pytest.raises(ReplayError, match="line 1 has no 'url'"):
        CrawlLog(folder)
    for n, (one, parent) in enumerate([(None, None), (["a"], None), (f"{HOST}/", 3)]):
        line = {"url": one, "parent": parent, "relevant": True}
        with pytest.raises(ReplayError, match="line 1 has a URL that is no text"):
            CrawlLog(run_folder(tmp_path / f"odd{n}", line))
