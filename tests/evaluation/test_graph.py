from __future__ import annotations

import csv
import gzip
import zlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
import pytest

from focusspider.evaluation.graph import StoredGraph, stored_graph
from focusspider.evaluation.metrics import recall_area
from focusspider.evaluation.omniscient import breadth_first_order, omniscient_order
from focusspider.page import PageParser
from focusspider.replay import Stored, open_archive
from focusspider.sites import Sites
from focusspider.text import Analyzer
from tests.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from focusspider.replay import Archive

HTML = ("Content-Type", "text/html")


class Part:
    """The pages of an archive whose URL is allowed."""

    def __init__(self, archive: Archive, allows: Callable[[str], bool]) -> None:
        self._archive = archive
        self._urls = [url for url in archive.urls() if allows(url)]

    def get(self, url: str) -> Stored | None:
        return self._archive.get(url)

    def urls(self) -> Iterator[str]:
        return iter(self._urls)

    def __len__(self) -> int:
        return len(self._urls)


def html(*hrefs: str) -> bytes:
    links = "".join(f'<p><a href="{href}">a link</a></p>' for href in hrefs)
    return f"<html><body>{links}</body></html>".encode()


def page(path: str, *hrefs: str) -> Stored:
    return Stored(f"http://a.example{path}", 200, (HTML,), html(*hrefs))


def redirect(path: str, to: str, status: int = 301) -> Stored:
    return Stored(f"http://a.example{path}", status, (("Location", to),), b"")


def graph_of(*stored: Stored) -> StoredGraph:
    return stored_graph(Shelf(*stored), PageParser(analyzer=Analyzer()))


def links_of(graph: StoredGraph, path: str) -> list[str]:
    node = graph.node(f"http://a.example{path}")
    assert node is not None
    found = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    return [graph.urls[link].removeprefix("http://a.example") for link in found]


@pytest.mark.parametrize(
    "href",
    ["/dir", "dir/", "/dir/index.html", "HTTP://A.EXAMPLE:80/dir#top", "/old", "/oldest"],
    ids=["no slash", "a slash", "its file", "another spelling", "redirected", "and again"],
)
def test_a_link_ends_where_a_crawl_would(href: str) -> None:
    graph = graph_of(
        page("/", href), page("/dir/"), redirect("/old", "/dir"), redirect("/oldest", "old", 302)
    )
    assert links_of(graph, "/") == ["/dir/"]


def test_a_page_that_was_stored_with_two_slashes_is_found() -> None:
    graph = graph_of(
        page("/", "/people"), page("/people//", "baer.html"), page("/people/baer.html")
    )
    assert links_of(graph, "/") == ["/people//"]


def test_links_are_in_the_order_of_the_page_and_once() -> None:
    graph = graph_of(page("/", "/c", "/b", "/c/", "/", "/c"), page("/b"), page("/c", "/b"))
    assert links_of(graph, "/") == ["/c", "/b"]
    assert links_of(graph, "/c") == ["/b"]
    assert graph.indptr.tolist() == [0, 2, 2, 3]


def test_what_a_crawl_does_not_get_is_no_node() -> None:
    gone = Stored("http://a.example/gone", 404, (HTML,), html("/b"))
    graph = graph_of(
        page("/", "/gone", "/loop", "/away", "/nowhere", "http://b.example/", "/robots.txt"),
        gone,
        redirect("/loop", "/loop2"),
        redirect("/loop2", "/loop"),
        redirect("/away", "http://b.example/"),
    )
    assert graph.urls == ("http://a.example/",)
    assert links_of(graph, "/") == []


def test_what_is_no_html_is_a_page_without_links() -> None:
    text = Stored("http://a.example/t", 200, (("Content-Type", "text/plain"),), b"see /b")
    image = Stored("http://a.example/i", 200, (("Content-Type", "image/png"),), b"\x89PNG\0")
    empty = Stored("http://a.example/e", 200, (HTML,), b"")
    graph = graph_of(page("/", "/t", "/i", "/e", "/b"), text, image, empty, page("/b"))
    assert links_of(graph, "/") == ["/t", "/i", "/e", "/b"]
    assert [links_of(graph, path) for path in ("/t", "/i", "/e")] == [[], [], []]


@pytest.mark.parametrize(
    ("encoding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_pages_may_be_stored_compressed(encoding: str, compress: Callable[[bytes], bytes]) -> None:
    headers = (HTML, ("Content-Encoding", encoding))
    graph = graph_of(Stored("http://a.example/", 200, headers, compress(html("/b"))), page("/b"))
    assert links_of(graph, "/") == ["/b"]


def test_the_nodes_of_urls() -> None:
    graph = graph_of(page("/"), page("/dir/"), redirect("/old", "/dir"))
    urls = ["/old", "/dir", "/none", "/index.html"]
    assert graph.nodes(f"http://a.example{url}" for url in urls) == [1, 0]
    assert graph.node("http://a.example/none") is None
    assert graph.node("mailto:x@a.example") is None
    assert graph.mask(["http://a.example/old"]).tolist() == [False, True]
    assert graph.mask([]).tolist() == [False, False]


def test_within_a_scope_no_link_leads_out_of_it() -> None:
    graph = graph_of(
        page("/", "/in/a", "/out", "/in/b"), page("/in/a", "/out"), page("/out", "/in/b"),
        page("/in/b", "/in/a", "/"),
    )  # fmt: skip
    inside = graph.within(lambda url: "/out" not in url)
    assert inside.urls == graph.urls
    assert [links_of(inside, path) for path in ("/", "/in/a", "/out", "/in/b")] == [
        ["/in/a", "/in/b"], [], ["/in/b"], ["/in/a", "/"],
    ]  # fmt: skip
    assert links_of(graph, "/in/a") == ["/out"]


def test_an_archive_without_pages() -> None:
    graph = graph_of(redirect("/", "/b"))
    assert len(graph) == 0
    assert (graph.indptr.tolist(), graph.indices.tolist()) == ([0], [])
    assert len(graph.within(lambda url: True)) == 0


def labels(file: Path) -> list[tuple[str, str, str]]:
    with file.open(encoding="utf-8", newline="") as rows:
        return [(row["url"], row["label"], row["group"]) for row in csv.DictReader(rows)]


def areas(graph: StoredGraph, seeds: list[str], targets: list[str]) -> tuple[float, float]:
    """Return the area of breadth-first and of the bound, and say how many are reachable."""
    starts, mask = graph.nodes(seeds), graph.mask(targets)
    order = breadth_first_order(graph.indptr, graph.indices, starts)
    best = omniscient_order(graph.indptr, graph.indices, starts, mask)
    found, reachable = int(mask[order].sum()), len(order)
    return tuple(recall_area(mask[each], found, reachable) for each in (order, best))


def test_the_universities_of_webkb(corpora: Path) -> None:
    # Reachable pages within 2.5 %, and the mean areas of an independent simulator.
    universities = {
        "cornell": ("cornell.edu", "http://www.cs.cornell.edu/", 800),
        "texas": ("utexas.edu", "http://www.cs.utexas.edu/", 785),
        "washington": ("washington.edu", "http://www.cs.washington.edu/", 1115),
        "wisconsin": ("wisc.edu", "http://www.cs.wisc.edu/", 1155),
    }
    sites = tuple(site for site, _, _ in universities.values())
    archive = open_archive(corpora / "webkb/webkb.warc.gz")
    hosts = Part(archive, lambda url: (urlsplit(url).hostname or "").endswith(sites))
    graph = stored_graph(hosts, PageParser(analyzer=Analyzer()))
    rows = labels(corpora / "webkb/labels.csv")
    measured = []
    for university, (site, seed, pages) in universities.items():
        own = graph.within(Sites(allow=(site,)).allows)
        reached = breadth_first_order(own.indptr, own.indices, own.nodes([seed]))
        assert len(reached) == pytest.approx(pages, rel=0.025)
        for wanted in ("course", "faculty", "project", "student"):
            targets = [u for u, label, group in rows if (label, group) == (wanted, university)]
            measured.append(areas(own, [seed], targets))
    np.testing.assert_allclose(np.mean(measured, axis=0), [0.722, 0.961], rtol=0, atol=0.005)


def test_wikispeedia(corpora: Path) -> None:
    archive = open_archive(corpora / "wikispeedia/wikispeedia.warc.gz")
    graph = stored_graph(archive, PageParser(analyzer=Analyzer()))
    wiki = "http://wikispeedia.example/wiki/"
    seeds = [f"{wiki}United_Kingdom", f"{wiki}World_War_II"]
    assert len(breadth_first_order(graph.indptr, graph.indices, graph.nodes(seeds))) == 4055
    topics = (
        "Science.Biology.Birds", "Science.Chemistry.Chemical_elements",
        "Everyday_life.Food_and_agriculture", "Science.Physics.Space_Astronomy",
        "Design_and_Technology.Railway_transport", "Music", "Mathematics",
        "History.Military_History_and_War",
    )  # fmt: skip
    rows = labels(corpora / "wikispeedia/labels.csv")
    measured = [
        areas(graph, seeds, [url for url, label, _ in rows if label.startswith(topic)])
        for topic in topics
    ]
    np.testing.assert_allclose(np.mean(measured, axis=0), [0.369, 0.989], rtol=0, atol=0.005)
