"""``scrapy focus-record``: a real Chromium, a hand on its mouse, and the graph on disk."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin

import pytest
from selectolax.lexbor import LexborHTMLParser

from focusspider.replay.sample import sample_web
from focusspider.webgraph import GraphEdge, WebGraph
from tests.browser import FLAGS
from tests.recording import Recording, page, recording, served, short

TOPICS = Path(__file__).resolve().parents[1] / "topics"
TOWN = "http://www.thornby.example/"
FRAMED = "http://members.freepages.example/~tickover/"
#: Says its charset in the page alone.
ACCENTED = "http://members.freepages.example/~lantern/facades-and-facon-french-clocks.htm"
WEB = "http://web.example/"
TOPIC = f'name = "mills"\nkeywords = ["mill"]\nseeds = ["{WEB}"]\n'

pytestmark = pytest.mark.usefixtures("chromium")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "mills.toml").write_text(TOPIC, encoding="utf-8")
    return tmp_path


def test_a_session_on_the_sample_web(tmp_path: Path) -> None:
    arguments = ("-s", "FOCUS_REPLAY=sample", "-s", f"FOCUS_TOPICS_DIR={TOPICS}")
    with recording(tmp_path, "sample", *arguments) as recorder:
        recorder.until_pages(1)  # it begins at the topic's first seed
        tab = recorder.page
        tab.goto(TOWN)  # as a URL that is typed
        tab.click("text=Visitors")
        recorder.until_pages(3)
        recorder.press("useful")
        recorder.until(lambda graph: len(graph.targets()) == 1)
        tab.go_back()
        tab.click("text=Services")
        recorder.until_pages(4)
        tab.goto(FRAMED)
        recorder.until_pages(6)
        tab.frames[1].click("text=Cuckoo")
        recorder.until_pages(7)
        recorder.press("useful")
        recorder.until(lambda graph: len(graph.targets()) == 2)
        tab.reload()
        tab.goto(f"{TOWN}old/home")  # is moved, three times, to what is known
        recorder.until(lambda graph: f"{TOWN}old/home" in graph)
        tab.goto(ACCENTED)
        recorder.until_pages(8)
        status, said, _ = recorder.submit()
    assert status == 0
    drawn = recorder.drawn()
    assert drawn[0][:4] == ["/", "/", "visitors/", "services/"]
    assert set(drawn[0][4:6]) == {"~tickover/menu.htm", "~tickover/carriage.htm"}
    assert drawn[0][6:] == ["~tickover/cuckoo.htm", short(ACCENTED)]
    assert drawn[2] == ["visitors/", "~tickover/cuckoo.htm"]
    links = linked(recorder.out)
    assert {(edge.source, edge.destination) for edge in links} == links_by_the_pages(recorder.out)
    assert f"8 pages, {len(links)} links among them, 2 useful" in said
    assert "Framesets, which count as the pages in their frames: 1" in said
    assert said.endswith(f"Next:  scrapy focus-train sample --graph {recorder.out}\n")
    with WebGraph.open(recorder.out) as graph:
        assert (graph.topic, graph.source) == ("sample", "session")
        assert set(graph.resolved(FRAMED)) == {f"{FRAMED}menu.htm", f"{FRAMED}carriage.htm"}
        for one in graph.pages():  # as they were served: there is no button in them
            stored = sample_web().get(one.url)
            assert stored is not None
            charset = "windows-1252" if one.url == ACCENTED else "utf-8"
            assert graph.html(one.url) == stored.body.decode(charset)


def linked(path: Path) -> list[GraphEdge]:
    with WebGraph.open(path) as graph:
        return list(graph.edges())


def links_by_the_pages(path: Path) -> set[tuple[str, str]]:
    """Return the links among the pages of a graph, read once more without a session."""
    found = set()
    with WebGraph.open(path) as graph:
        for one in graph.pages():
            tree = LexborHTMLParser(graph.html(one.url))
            for node in tree.css("a[href]"):
                to = urljoin(one.url, node.attributes["href"])
                if to.startswith("http"):
                    found |= {(one.url, url) for url in graph.resolved(to) if url != one.url}
    return found


POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src '
    "'unsafe-inline'; require-trusted-types-for 'script'\">"
)
HOSTILE = """<title>Hostile</title><style>
  :not(html) { display: none !important; opacity: 0 !important; transform: scale(9) !important; }
  html { filter: opacity(0); transform: translateX(-2000px); }
</style><body>
<script>
  const tried = [];
  for (const type of ["pointerdown", "mousedown", "click", "keydown"]) {
    addEventListener(type, (event) => { tried.push(event.target.localName); }, true);
  }
  setInterval(() => {
    const host = document.documentElement.lastElementChild;
    if (host.localName === "body") return;
    host.shadowRoot?.querySelector("button").click();
    host.click();
    host.style.cssText = "all: unset !important; position: fixed !important; inset: 0 !important;"
      + "width: 100vw !important; height: 100vh !important; opacity: 0 !important;";
    for (let x = 0; x < innerWidth; x += 40) {
      for (let y = innerHeight - 80; y < innerHeight; y += 20) {
        for (const type of ["pointerdown", "mousedown", "mouseup", "pointerup", "click"]) {
          host.dispatchEvent(new MouseEvent(type, { bubbles: true, composed: true, detail: 1,
            clientX: x, clientY: y }));
        }
      }
    }
    for (const name of Object.getOwnPropertyNames(window)) {
      if (/^f[0-9a-f]{32}$/.test(name)) window[name]('{"do": "useful"}');
    }
    for (const way of ["focusRecorder"]) window[way]?.dom();
    window.rounds = (window.rounds ?? 0) + 1;
    if (window.rounds % 3 === 0) host.remove();
  }, 50);
</script>"""


def test_no_page_can_press_a_button_or_keep_one_from_being_pressed(folder: Path) -> None:
    web = (
        page(WEB, f"{POLICY}<title>Policy</title><p><a href=hostile>on</a>"
             "<script>let seen = 0; addEventListener('click', () => seen++);</script>"),
        page(f"{WEB}hostile", HOSTILE),
        page(f"{WEB}svg", "<svg xmlns='http://www.w3.org/2000/svg'/>",
             Content_Type="image/svg+xml"),
        page(f"{WEB}film.txt", "{}"),
        page(f"{WEB}x", "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>X</title></head>"
             "<body><p>x</p></body></html>", Content_Type="application/xhtml+xml"),
    )  # fmt: skip
    with served(*web) as proxy, recording(folder, "mills", "--proxy", proxy) as recorder:
        recorder.until_pages(1)
        tab = recorder.page
        recorder.until_said("1 pages")
        for key in ("Tab", "Tab", "Enter"):  # past the link, to Useful
            tab.keyboard.press(key)
        recorder.until(lambda graph: graph.targets() == (WEB,))
        recorder.press("move")
        recorder.press("useful")  # takes it back
        recorder.until(lambda graph: not graph.targets())
        assert tab.evaluate("seen") == 0
        assert tab.evaluate("document.documentElement.lastElementChild.shadowRoot") is None

        tab.goto(f"{WEB}hostile")
        recorder.until_pages(2)
        tab.wait_for_function("window.rounds > 12")
        with WebGraph.open(recorder.out) as graph:
            assert graph.targets() == ()
        tab.evaluate("for (let i = 1; i < 10_000; i++) clearInterval(i)")
        tab.evaluate("for (const one of [...document.all]) if (one.popover) one.remove()")
        tab.wait_for_timeout(300)  # what was thrown out is back, though all timers are stopped
        recorder.press("useful")
        recorder.until(lambda graph: graph.targets() == (f"{WEB}hostile",))

        tab.goto(f"{WEB}x")
        recorder.until_pages(3)
        tab.evaluate("document.body.appendChild(document.createElement('dialog')).showModal()")
        tab.mouse.move(10, 10)
        recorder.press("useful")
        recorder.until(lambda graph: len(graph.targets()) == 2)
        tab.goto(f"{WEB}svg")
        assert recorder.button("useful") is None
        tab.goto(f"{WEB}film.txt")
        recorder.until_said("Not recorded: it is no HTML.")
        status, said, _ = recorder.interrupt()
    assert status == 0
    assert "3 pages, 1 links among them, 2 useful" in said
    assert "Passed over, it is no HTML: 2" in said


SCRIPTED = """<title>Scripted</title><body><p id=place></p><script>
  document.body.insertAdjacentHTML("beforeend",
    "<a id=made href=/plain>Made by <b>a script</b></a>"
    + "<a id=blank href=/blank target=_blank>B</a>");
  const show = () => { history.pushState({}, "", "/shown"); place.textContent = "shown later"; };
  const rename = () => history.replaceState({}, "", "/renamed");
</script><iframe src=/inner></iframe><form method=post action=/thanks><input id=send type=submit>
</form><form action=/found><input name=q value=mill><input id=ask type=submit></form>"""


def test_what_scripts_tabs_and_forms_do(folder: Path) -> None:
    web = (
        page(WEB, SCRIPTED),
        page(f"{WEB}plain", "<title>Plain</title>plain"),
        page(f"{WEB}blank", "<title>Blank</title><a href=/plain>plain</a>"),
        page(f"{WEB}opened", "<title>Opened</title>"),
        page(f"{WEB}inner", "inner"),
        page(f"{WEB}found?q=mill", "<title>Found</title><a href=/plain>plain</a>"),
        page(f"{WEB}film", "x" * 100_000, Content_Type="video/mp4"),
        page(f"{WEB}file", "x" * 1000, Content_Type="application/octet-stream",
             Content_Disposition="attachment"),
        page(f"{WEB}gone", "<h1>Gone</h1>", 410),
    )  # fmt: skip
    with served(*web) as proxy, recording(folder, "mills", "--proxy", proxy) as recorder:
        recorder.until_pages(1)
        tab = recorder.page
        tab.click("#made")
        recorder.until_pages(2)
        tab.go_back()
        with recorder.context.expect_page() as opened:
            tab.click("#blank")
        recorder.until_pages(3)
        recorder.until_said("3 pages")
        recorder.press("useful", opened.value)
        recorder.until(lambda graph: graph.targets() == (f"{WEB}blank",))
        tab.evaluate("window.open('/opened'), 0")
        recorder.until_pages(4)
        tab.bring_to_front()
        tab.click("#ask")
        recorder.until_pages(5)
        tab.go_back()
        tab.wait_for_timeout(1500)  # until the recorder has heard of it, which nothing shows
        tab.evaluate("rename()")
        recorder.until(lambda graph: f"{WEB}renamed" in graph)
        tab.evaluate("show()")
        recorder.until_pages(6)
        with pytest.raises(Exception, match=r"Download is starting|ERR_ABORTED"):
            tab.goto(f"{WEB}file")
        for other in recorder.context.pages[1:]:
            other.close()
        tab.goto(f"{WEB}gone")
        recorder.until_said("Not recorded: the server answered with an error.")
        tab.goto(WEB)
        tab.click("#send")
        recorder.until_said("Not recorded: it is the answer to a form that was posted.")
        tab.close()  # the last one: as Submit
        status, said, _ = recorder.ended()
    assert status == 0
    pages, edges, targets = recorder.drawn()
    assert pages == ["/", "plain", "blank", "opened", "found?q=mill", "shown"]
    assert edges == {
        ("/", "plain"), ("/", "blank"), ("blank", "plain"), ("found?q=mill", "plain")
    } | {("shown", name) for name in ("plain", "blank")}  # fmt: skip
    assert targets == ["blank"]
    assert "Passed over, the server answered with an error: 1" in said
    assert "Passed over, it is the answer to a form that was posted: 1" in said
    with WebGraph.open(recorder.out) as graph:
        anchors = {edge.destination: edge.anchor for edge in graph.edges() if edge.source == WEB}
        assert anchors == {f"{WEB}plain": "Made by a script", f"{WEB}blank": "B"}
        assert graph.html(WEB) == SCRIPTED
        shown = graph.html(f"{WEB}shown")
        assert "shown later" in shown
        assert "popover" not in shown
        assert "<x-" not in shown


def test_a_browser_that_dies_loses_nothing(folder: Path) -> None:
    web = page(WEB, "<a href=/next>next"), page(f"{WEB}next", "next")
    with served(*web) as proxy, recording(folder, "mills", "--proxy", proxy) as recorder:
        recorder.until_pages(1)
        recorder.page.click("text=next")
        recorder.until_pages(2)
        recorder.press("useful")
        recorder.until(lambda graph: len(graph.targets()) == 1)
        with contextlib.suppress(Exception):
            recorder.browser.new_browser_cdp_session().send("Browser.crash")
        status, said, _ = recorder.ended()
    assert status == 0
    assert "2 pages, 1 links among them, 1 useful" in said
    assert recorder.drawn() == (["/", "next"], {("/", "next")}, ["next"])

    with served(*web) as proxy:  # what is there is not touched, or gone on with
        line = [sys.executable, "-m", "scrapy", "focus-record", "mills", "--headless", "--out",
                str(recorder.out)]  # fmt: skip
        done = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False)
        assert done.returncode == 1
        assert "is there already: call with --append" in done.stderr
        web = (*web, page(f"{WEB}third", "third"))
    with served(*web) as proxy:
        options = ("--proxy", proxy, "--append", "--start", f"{WEB}third")
        with recording(folder, "mills", *options) as recorder:
            recorder.until_pages(3)
            recorder.process.kill()
            recorder.process.communicate()
    assert recorder.drawn() == (["/", "next", "third"], {("/", "next")}, ["next"])


def test_a_browser_that_runs_is_recorded_from_now_on(folder: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    web = page(WEB, "<a href=/next>next"), page(f"{WEB}next", "next"), page(f"{WEB}bank", "mine")
    profile = folder / "profile"
    with served(*web) as proxy, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium, proxy={"server": proxy},
            args=[*FLAGS, "--remote-debugging-port=0"],
        )  # fmt: skip
        private = context.pages[0]
        private.goto(f"{WEB}bank")
        port = (profile / "DevToolsActivePort").read_text(encoding="ascii").split()[0]
        out = folder / "graph.sqlite"
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "scrapy", "focus-record", "mills", "--cdp",
             f"http://127.0.0.1:{port}", "--out", str(out)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip
        try:
            with context.expect_page() as opened:
                pass
            recorder = Recording(process, context.browser, context, out)
            recorder.until_pages(1)
            tab = opened.value
            tab.click("text=next")
            recorder.until_pages(2)
            recorder.until_said("2 pages")
            private.reload()
            assert recorder.button("useful", private) is None
            assert recorder.button("useful", tab) is not None
            recorder.press("submit", tab)
            status, said, _ = recorder.ended()
            assert recorder.button("useful", tab) is None
            assert tab.evaluate("document.documentElement.lastElementChild.localName") == "body"
            assert private.evaluate("1 + 1") == 2
        finally:
            process.kill()
            process.communicate()
            context.close()
    assert status == 0
    assert "2 pages, 1 links among them, 0 useful" in said
    assert recorder.drawn() == (["/", "next"], {("/", "next")}, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is no display to open a window on"),
        (["--cdp", "http://192.0.2.1:9222"], "192.0.2.1 is not this machine"),
        (["--cdp", "http://localhost.evil.example:9222"], "is not this machine"),
        (["--cdp", "nonsense"], "give the address of a Chromium"),
        (["--cdp", "http://127.0.0.1:9"], "--cdp http://127.0.0.1:9 does not answer"),
        (["--cdp", "http://127.0.0.1:9", "--headless"], "leave one of them out"),
        (["--headless", "-s", "FOCUS_CHROMIUM=/no/where"], "FOCUS_CHROMIUM = '/no/where'"),
        (["--headless", "-s", f"FOCUS_CHROMIUM={sys.executable}"], "did not start"),
        (["--headless", "--start", "web.example"], "--start web.example: give a URL"),
        (["--headless", "--out", "topics/mills.toml/x"], "its folder cannot be made"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_leaves_nothing(
    folder: Path, arguments: list[str], message: str
) -> None:
    line = [sys.executable, "-W", "error", "-m", "scrapy", "focus-record", "mills", *arguments]
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    done = subprocess.run(
        line, capture_output=True, text=True, cwd=folder, check=False, env=environment
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.rglob("*.sqlite"))


def test_the_folder_of_models_is_what_the_setting_says(folder: Path) -> None:
    path = folder / "learnt" / "mills" / "graph.sqlite"
    WebGraph.create(path, topic="mills", source="session").close()
    line = [sys.executable, "-W", "error", "-m", "scrapy", "focus-record", "mills", "--headless",
            "-s", "FOCUS_MODELS_DIR=learnt"]  # fmt: skip
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("learnt/mills/graph.sqlite is there already: ")
