"""HAR files as browsers write them, and as they should not be."""

from __future__ import annotations

import base64
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from focusspider.errors import WebGraphError
from focusspider.page import PageParser
from focusspider.replay.sample import sample_web
from focusspider.replay.server import ReplayServer
from focusspider.text import Analyzer
from focusspider.webgraph import GraphEdge, WebGraph, harfile
from focusspider.webgraph.har import HarReport, import_har
from focusspider.webgraph.session import BrowsingSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.sync_api import Browser

SITE = "http://web.example/"
PAGE = "text/html,application/xhtml+xml,*/*;q=0.8"


def entry(
    path: str,
    text: str | bytes | None,
    *,
    referer: str | None = None,
    kind: str = "text/html",
    status: int = 200,
    to: str = "",
    method: str = "GET",
    sent: Sequence[tuple[str, str]] = (),
    page: str = "page_1",
    **own: Any,
) -> dict[str, Any]:
    """Return an entry; ``own`` are fields of one browser alone, such as _resourceType."""
    headers = [("Accept", PAGE), *sent]
    if referer is not None:
        headers.append(("Referer", SITE + referer))
    content: dict[str, Any] = {"size": len(text or ""), "mimeType": kind}
    if isinstance(text, bytes):
        content |= {"text": base64.b64encode(text).decode(), "encoding": "base64"}
    elif text is not None:
        content["text"] = text
    return {
        "pageref": page,
        "startedDateTime": "2026-11-28T10:00:00.000Z",
        "time": 12.5,
        "request": {
            "method": method,
            "url": SITE + path,
            "httpVersion": "HTTP/1.1",
            "headers": [{"name": name, "value": value} for name, value in headers],
        },
        "response": {
            "status": status,
            "headers": [{"name": "content-type", "value": kind}],
            "content": content,
            "redirectURL": to,
        },
        **own,
    }


def links(*paths: str) -> str:
    return "".join(f'<p><a href="/{path}">to {path}</a>' for path in paths)


def file_of(path: Path, *entries: object, **log: object) -> Path:
    har = {"log": {"version": "1.2", "creator": {"name": "x"}, "pages": [], **log,
                   "entries": entries, "comment": 'an "entries" of {['}}  # fmt: skip
    path.write_text(json.dumps(har), encoding="utf-8")
    return path


@pytest.fixture
def session(tmp_path: Path):
    with WebGraph.create(tmp_path / "graph.sqlite", topic="t", source="har") as graph:
        yield BrowsingSession(graph, PageParser(analyzer=Analyzer()))


def drawn(graph: WebGraph) -> tuple[str, str, str]:
    name = len(SITE)
    edges = sorted(f"{edge.source[name:]}>{edge.destination[name:]}" for edge in graph.edges())
    return (
        " ".join(page.url[name:] for page in graph.pages()),
        " ".join(edges),
        " ".join(target[name:] for target in graph.targets()),
    )


CHROMIUM = (
    entry("1", links("2", "old"), _resourceType="document", _initiator={"type": "other"}),
    entry("style.css", "p {}", kind="text/css", referer="1", _resourceType="stylesheet"),
    entry("part", links("4"), referer="1", _resourceType="xhr", _initiator={"type": "script"}),
    entry("2", links("3"), referer="1", page="page_2", _resourceType="document"),
    entry("1", None, page="page_3", _resourceType="document"),  # back
    entry("old", "", status=302, to="/older", page="page_4", _resourceType="document"),
    entry("older", "", status=301, to=SITE + "3", page="page_4", _resourceType="document"),
    entry("3", links("1"), referer="1", page="page_4", _resourceType="document"),
    entry("4", links("1"), page="page_5", _resourceType="document"),  # typed
)
FIREFOX = tuple(
    {key: value for key, value in one.items() if not key.startswith("_")}
    for one in (
        *CHROMIUM[:2],
        # what scripts ask for: by a header, by what they accept, by what Firefox says of it
        entry("part", links("4"), sent=[("X-Requested-With", "XMLHttpRequest")]),
        entry("part", links("4"), sent=[("Sec-Fetch-Dest", "empty")]),
        {**entry("part", links("4")), "request": {"method": "GET", "url": SITE + "part",
         "headers": [{"name": "ACCEPT", "value": "*/*"}]}},
        *CHROMIUM[3:],
    )
)  # fmt: skip


@pytest.mark.parametrize("entries", [CHROMIUM, FIREFOX], ids=["chromium", "firefox"])
def test_documents_are_pages(
    session: BrowsingSession, tmp_path: Path, entries: Sequence[object]
) -> None:
    useful = [f"{SITE}{path}" for path in ("3#top", "nowhere", "part")]
    report = import_har(file_of(tmp_path / "s.har", *entries), session, useful)
    assert drawn(session.graph) == ("1 2 3 4", "1>2 1>3 2>3 3>1 4>1", "3")
    assert dict(session.graph.aliases()) == {f"{SITE}old": f"{SITE}3", f"{SITE}older": f"{SITE}3"}
    assert (
        report
        == HarReport(
            entries=len(entries),
            documents=5,
            passed_over={},  # type: ignore[arg-type]
            unknown=tuple((url, "it is not in the file") for url in useful[1:]),
        )
    )
    assert session.roots == [f"{SITE}{path}" for path in "114"]


FRAMES = '<frameset><frame src="/menu"><frame src="/start"></frameset>'


@pytest.mark.parametrize(
    ("of_frame", "of_iframe"),
    [
        ({"_initiator": {"type": "parser"}, "_resourceType": "document"},) * 2,
        (
            {"sent": [("Sec-Fetch-Dest", "frame")]},
            {"sent": [("Sec-Fetch-Dest", "iframe")]},
        ),
        ({}, {}),
    ],
    ids=["initiator", "header", "nothing"],
)
def test_frames_are_pages_and_iframes_are_not(
    session: BrowsingSession,
    tmp_path: Path,
    of_frame: dict[str, Any],
    of_iframe: dict[str, Any],
) -> None:
    document = {"_resourceType": "document"} if "_resourceType" in of_frame else {}
    entries = (
        entry("1", links("set") + '<iframe src="/ad"></iframe>', **document),
        entry("ad", links("1"), referer="1", **of_iframe),
        entry("set", FRAMES, referer="1", **document),
        entry("menu", links("start", "leaf"), referer="set", **of_frame),
        entry("start", "Start", referer="set", **of_frame),
        entry("leaf", links("set"), referer="menu", **document),
    )
    report = import_har(file_of(tmp_path / "s.har", *entries), session, [f"{SITE}set", f"{SITE}ad"])
    assert drawn(session.graph) == (
        "1 menu start leaf",
        "1>menu 1>start leaf>menu leaf>start menu>leaf menu>start",
        "menu start",
    )
    assert report.passed_over == {"embedded": 1}
    assert report.unknown == ((f"{SITE}ad", "it was a part of another page, in an iframe"),)


def test_what_cannot_be_a_page_is_counted(session: BrowsingSession, tmp_path: Path) -> None:
    entries = (
        entry("1", "One"),
        entry("missing", None),
        entry("broken", b"") | {"response": {"status": 200, "content": {
            "text": "!", "encoding": "base64", "mimeType": "text/html"}}},
        entry("gone", "Not found", status=404),
        entry("blocked", None, status=0),
        entry("posted", "Thanks", method="POST"),
        entry("paper.pdf", b"%PDF-1.4", kind="application/pdf", _resourceType="document"),
        entry("chart", "<svg/>", kind="image/svg+xml", _resourceType="document"),
        entry("blank", "", _resourceType="document"),
    )  # fmt: skip
    useful = [SITE + path for path in ("1", "missing", "gone", "1.html")]
    report = import_har(file_of(tmp_path / "s.har", *entries), session, useful)
    assert drawn(session.graph) == ("1", "", "1")
    assert report.passed_over == {
        "no_body": 2, "http": 2, "method": 1, "not_html": 2, "empty": 1
    }  # fmt: skip
    assert dict(report.unknown) == {
        f"{SITE}missing": "what the browser loaded is not known",
        f"{SITE}gone": "the server answered with an error",
        f"{SITE}1.html": "it is not in the file",
    }
    assert (report.entries, report.documents) == (9, 9)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<p>часы", "text/html; charset=windows-1251"),  # decoded by the browser
        ("<p>часы".encode("windows-1251"), "text/html; charset=windows-1251"),
        ('<meta charset="windows-1251"><p>часы'.encode("windows-1251"), "text/html"),
        ("<p>часы".encode("utf-16"), "text/html"),
    ],
)
def test_charsets(session: BrowsingSession, tmp_path: Path, text: str | bytes, kind: str) -> None:
    import_har(file_of(tmp_path / "s.har", entry("1", text, kind=kind)), session)
    assert "<p>часы" in session.graph.html(f"{SITE}1")


@pytest.mark.parametrize("kind", ["text/html; charset=iso-8859-1", "text/html"])
def test_text_that_the_browser_decoded_is_read_as_it_is(
    session: BrowsingSession, tmp_path: Path, kind: str
) -> None:
    first = "<meta charset=iso-8859-1><title>Übersicht</title><a href='/größe'>Größe</a>"
    entries = entry("1", first, kind=kind), entry("gr%C3%B6%C3%9Fe", "<p>x", kind=kind)
    import_har(file_of(tmp_path / "s.har", *entries), session)
    assert next(session.graph.pages()).title == "Übersicht"
    assert session.graph.n_edges == 1


ODD: list[object] = [
    {},
    {"request": None, "response": []},
    {"request": {"url": 7, "headers": "x"}, "response": {"status": "200"}},
    {"request": {"url": "about:blank"}, "response": {"status": 200}, "_resourceType": "document"},
    entry("1", "\ud800", kind="text/html; charset=\ud800\r\n"),
    entry("2\udfff", "x", referer="\ud800"),
    entry("r", "", status=302, to="http://[bad"),
    entry("r", "", status=302, to="/r"),
    *(
        {**entry("u", "x"), "request": {"method": "GET", "url": url, "headers": []}}
        for url in ("", "http://[::1/", "http://a.example:99999/")
    ),
    entry("a", "", status=302, to="/b"),
    entry("b", "", status=302, to="/a"),
    entry("n", "x", status=10**40),
    entry("i", "x") | {"response": {"status": float("nan")}, "_resourceType": "document"},
    entry("h", "x", sent=[("A", "\0" * 100)]),
    entry("x", "<frameset><frame src=/x><frame src=/1></frameset>"),
]


def test_odd_entries_are_passed_over(session: BrowsingSession, tmp_path: Path) -> None:
    report = import_har(file_of(tmp_path / "s.har", *ODD, entry("last", "Last")), session)
    assert report.entries == len(ODD) + 1
    assert f"{SITE}last" in session.graph


WHOLE = json.dumps({"log": {"entries": [entry("1", "One"), entry("2", 'Two ] } "')]}})
BROKEN = {
    "empty": ("", "cannot be read"),
    "white": (" \n ", "is no HAR, it begins with"),
    "html": ("<html>", "is no HAR, it begins with b'<html>'"),
    "a list": ("[1, 2]", "is no HAR"),
    "no log": ('{"entries": []}', "without entries in a log"),
    "no entries": ('{"log": {"pages": []}}', "without entries in a log"),
    "entries elsewhere": ('{"log": 1, "x": {"entries": []}}', "without entries in a log"),
    "a value": ('{"log": {"version": "entries"}}', "without entries in a log"),
    "an object": ('{"log": {"entries": {"a": {}}}}', "without entries in a log"),
    "cut in a string": (WHOLE[:400], "cut short after 0 entries"),
    "cut in the second": (WHOLE[: WHOLE.index("Two") + 2], "cut short after 1 entries"),
    "cut at the end": (WHOLE[:-1], "cut short after 2 entries"),
    "wrong bracket": ('{"log": {"entries": [{"a": [}]}}', "is damaged, '}' at byte 28"),
    "too many": ('{"log": {"entries": []}}}', "is damaged, '}' at byte 24"),
    "no JSON": ('{"log": {"entries": [{"a": nope}]}}', "entry 1 is no JSON"),
    "a number": ('{"log": {"entries": [{"a": ' + "9" * 5000 + "}]}}", "entry 1 is no JSON"),
    "an entry that is a list": ('{"log": {"entries": [[1]]}}', "entry 1 is no object"),
    "nested": (
        '{"log": {"entries": [{"a": ' + "[" * 100_000 + "]" * 100_000 + "}]}}",
        "entry 1 is no JSON",
    ),
    "escapes without end": ('{"log": {"entries": [{"a": "' + "\\" * 100_001, "cut short"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_one_clear_error(
    session: BrowsingSession, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "s.har"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(WebGraphError) as caught:
        import_har(path, session)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", ["missing.har", ".", "a\0b"])
def test_a_file_that_cannot_be_read(session: BrowsingSession, tmp_path: Path, name: str) -> None:
    with pytest.raises(WebGraphError, match="cannot be read"):
        import_har(tmp_path / name, session)


def test_an_empty_list_of_entries_is_a_har(session: BrowsingSession, tmp_path: Path) -> None:
    path = tmp_path / "s.har"
    path.write_bytes(b'\xef\xbb\xbf {"log" : {"entries" : [ ] } }\n')
    assert import_har(path, session).entries == 0


def test_an_entry_that_is_too_large_is_passed_over(
    session: BrowsingSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harfile, "MAX_ENTRY", 5_000)
    told: list[tuple[int, int]] = []
    film = entry("film", "x" * 6_000, kind="video/mp4")
    path = file_of(tmp_path / "s.har", entry("1", "One"), film, entry("2", "Two"))
    report = import_har(path, session, told=lambda *sizes: told.append(sizes))
    assert drawn(session.graph)[0] == "1 2"
    assert report.passed_over == {"too_large": 1}
    assert len(told) == 3
    assert told == sorted(told)
    assert {size for _, size in told} == {path.stat().st_size}


def test_a_file_of_100_megabytes_is_read_an_entry_at_a_time(
    session: BrowsingSession, tmp_path: Path
) -> None:
    path = tmp_path / "s.har"
    picture = json.dumps(entry("p.png", "\\" * 500_000, kind="image/png", _resourceType="image"))
    with path.open("w", encoding="utf-8") as file:
        file.write('{"log": {"entries": [')
        for number in range(100):
            file.write(f"{picture},\n{json.dumps(entry(str(number), links('0')))},\n")
        file.write("{}]}}")
    assert path.stat().st_size > 100_000_000
    assert import_har(path, session).entries == 201
    assert len(session.graph) == 100
    assert session.graph.n_edges == 99


def test_a_file_that_chromium_saved(
    session: BrowsingSession, tmp_path: Path, browser: Browser
) -> None:
    town, framed = "http://www.thornby.example/", "http://members.freepages.example/~tickover/"
    accented = "http://members.freepages.example/~lantern/facades-and-facon-french-clocks.htm"
    with ReplayServer(sample_web(), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context(
            proxy={"server": server.url}, record_har_path=tmp_path / "s.har"
        )
        tab = context.new_page()
        tab.goto(f"{town}old/home")  # is moved
        tab.click("text=Visitors")
        tab.wait_for_load_state()
        tab.go_back()
        tab.goto(framed)
        tab.frames[1].click("text=Cuckoo")
        tab.wait_for_timeout(300)
        tab.goto(accented)  # says its charset in the page alone
        context.close()
        server.shutdown()
    report = import_har(tmp_path / "s.har", session, [f"{framed}cuckoo.htm", f"{town}old/home"])
    graph = session.graph
    assert report.unknown == ()
    assert report.passed_over == {}
    frames = [f"{framed}menu.htm", f"{framed}carriage.htm", f"{framed}cuckoo.htm"]
    assert {one.url for one in graph.pages()} == {town, f"{town}visitors/", *frames, accented}
    assert set(graph.resolved(framed)) == set(frames[:2])
    assert graph.targets() == (town, frames[2])
    stored = sample_web().get(accented)
    assert stored is not None
    assert graph.html(accented) == stored.body.decode("windows-1252")
    assert GraphEdge(town, f"{town}visitors/", "Visitors") in list(graph.edges())
