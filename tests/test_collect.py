"""``scrapy focus-collect``, as a user calls it, on the sample web and without the network."""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from focusspider.commands.collect import Command
from focusspider.commands.collecting import Cache
from focusspider.evaluation.graph import stored_graph
from focusspider.frontier.database import open_database
from focusspider.page import PageParser
from focusspider.replay import open_archive
from focusspider.text import Analyzer
from focusspider.webgraph import WebGraph
from focusspider.webgraph.layers import FetchedPage
from tests.calls import call, command, environment
from tests.crawls import ROOT, crawl
from tests.jsonserver import Answer
from tests.mozserver import KEY, MozServer
from tests.site import Reply, Site

if TYPE_CHECKING:
    from pathlib import Path

CLOCK = "http://en.openwiki.example/wiki/Pendulum_clock"
RESTORATION = "http://en.openwiki.example/wiki/Clock_restoration"


collect = partial(call, "focus-collect")


@pytest.fixture(scope="session")
def sample_links() -> dict[str, list[str]]:
    """Page of the sample web → the pages that link to it, as the service spells them."""
    graph = stored_graph(open_archive("sample"), PageParser(analyzer=Analyzer()))
    links: dict[str, list[str]] = {}
    for node, url in enumerate(graph.urls):
        for to in graph.indices[graph.indptr[node] : graph.indptr[node + 1]]:
            links.setdefault(graph.urls[to].partition("//")[2], []).append(url.partition("//")[2])
    return links


@pytest.fixture
def targets(tmp_path: Path) -> Path:
    path = tmp_path / "targets.txt"
    path.write_text(f"\ufeff# what is wanted\n{CLOCK}\n\n  {RESTORATION}\n")
    return path


def test_from_the_sample_web(tmp_path: Path) -> None:
    out = tmp_path / "models" / "graph.sqlite"
    done = collect("sample", "--relevant", "--out", out, FOCUS_REPLAY="sample")
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in out.parent.iterdir()] == ["graph.sqlite"]
    with WebGraph.open(out) as graph:
        assert (graph.topic, graph.source) == ("sample", "archive")
        assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", graph.date)
        layers = [page.layer for page in graph.pages()]
        assert layers == sorted(layers)
        assert set(layers) >= {0, 1, 2}
        assert all((page.layer == 0) == (page.target and not page.extra) for page in graph.pages())
        distances = graph.distances(5).tolist()
        # no layer is full here, so each is as far from the targets as it says
        assert all(d <= layer for d, layer in zip(distances, layers, strict=True))
        pages, edges, n_targets = len(graph), graph.n_edges, len(graph.targets())
    assert f"{pages:,} pages, {edges:,} links, {n_targets:,} targets" in done.stdout
    assert f"0: {distances.count(0)}, 1: {distances.count(1)}" in done.stdout
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    documented = page.split("$ scrapy focus-collect sample --relevant -s FOCUS_REPLAY=sample\n")[1]
    told = done.stdout.replace(f" --graph {out}", "")  # where the document has no --out
    assert told.replace(str(out), "models/sample/graph.sqlite") == documented.split("```")[0]


def test_twice_the_same_and_not_over_what_is_there(tmp_path: Path, targets: Path) -> None:
    graphs = []
    for name in ("1", "2"):
        done = collect(
            "sample", "--targets", targets, "--per-layer", 20, "--out", tmp_path / name,
            FOCUS_REPLAY="sample",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        with WebGraph.open(tmp_path / name) as graph:
            graphs.append((graph.fingerprint(), list(graph.pages()), list(graph.edges())))
    assert graphs[0] == graphs[1]
    assert [page.url for page in graphs[0][1][:2]] == [CLOCK, RESTORATION]
    assert max(sum(p.layer == layer for p in graphs[0][1]) for layer in range(1, 5)) == 20

    before = (tmp_path / "1").read_bytes()
    arguments = ["sample", "--targets", targets, "--out", tmp_path / "1"]
    done = collect(*arguments, FOCUS_REPLAY="sample")
    assert done.returncode == 1
    assert "is there already: call with --fresh" in done.stderr
    assert (tmp_path / "1").read_bytes() == before
    done = collect(*arguments, "--fresh", FOCUS_REPLAY="sample")
    assert done.returncode == 0, done.stderr
    with WebGraph.open(tmp_path / "1") as graph:
        assert len(graph) > len(graphs[0][1])


def test_an_archive_whole_and_back_and_again(tmp_path: Path, targets: Path) -> None:
    out = tmp_path / "graph.sqlite"
    done = collect("sample", "--whole", "--targets", targets, "--out", out, FOCUS_REPLAY="sample")
    assert done.returncode == 0, done.stderr
    for name in ("out.warc.gz", "folder"):
        done = collect("sample", "--out", out, "--export", tmp_path / name)
        assert done.returncode == 0, done.stderr
        listed = tmp_path / f"{name}.targets.txt"
        done = collect("sample", "--out", out, "--export", tmp_path / name)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{listed} is there already" in done.stderr
        again = tmp_path / f"{name}.sqlite"
        done = collect(
            "sample", "--from", tmp_path / name, "--whole",
            "--targets", listed, "--out", again,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    with (
        WebGraph.open(out) as graph,
        WebGraph.open(tmp_path / "out.warc.gz.sqlite") as warc,
        WebGraph.open(tmp_path / "folder.sqlite") as folder,
    ):
        assert set(graph.targets()) == {CLOCK, RESTORATION}
        assert warc.fingerprint() == graph.fingerprint()
        assert len(folder) == len(graph)
        assert folder.targets() == tuple(sorted(graph.targets()))


def test_from_a_graph_that_is_whole(tmp_path: Path, targets: Path) -> None:
    """An archive is read once, and serves many topics."""
    whole, straight = tmp_path / "whole.sqlite", tmp_path / "straight.sqlite"
    replay = {"FOCUS_REPLAY": "sample"}
    done = collect("sample", "--whole", "--relevant", "--out", whole, **replay)
    assert done.returncode == 0, done.stderr
    before = whole.read_bytes()
    for arguments in (["--targets", targets], ["--relevant"], ["--whole", "--targets", targets]):
        again = tmp_path / f"again{len(arguments)}{arguments[0]}"
        done = collect("sample", *arguments, "--out", straight, "--fresh", **replay)
        assert done.returncode == 0, done.stderr
        done = collect("sample", *arguments, "--from", whole, "--out", again)
        assert (done.returncode, done.stderr) == (0, "")
        with WebGraph.open(straight) as one, WebGraph.open(again) as other:
            assert other.fingerprint() == one.fingerprint()
    assert whole.read_bytes() == before
    # its own targets are those that the judge found
    done = collect("sample", "--from", whole, "--out", tmp_path / "own")
    assert done.returncode == 0, done.stderr
    with (
        WebGraph.open(tmp_path / "again1--relevant") as one,
        WebGraph.open(tmp_path / "own") as own,
    ):
        assert own.fingerprint() == one.fingerprint()


def test_from_a_crawl_that_wrote_what_it_fetched(tmp_path: Path) -> None:
    run = crawl(
        tmp_path / "exports", "topic=sample", "pages=60", FOCUS_REPLAY="sample",
        FOCUS_EXPORT_WARC=True, LOG_LEVEL="WARNING",
    )  # fmt: skip
    assert run.folder is not None
    out = tmp_path / "graph.sqlite"
    done = collect("sample", "--from", run.folder, "--relevant", "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    relevant = {page["url"] for page in run.pages if page["relevant"]}
    with WebGraph.open(out) as graph:
        assert graph.source == "crawl"
        given = {page.url for page in graph.pages() if page.target and not page.extra}
        assert given == relevant
        assert {page.url for page in graph.pages()} <= {page["url"] for page in run.pages}


def test_from_the_log_of_a_crawl_alone(tmp_path: Path) -> None:
    """Its pages are fetched once more; the log knows by which links they were come to."""
    run = crawl(
        tmp_path / "exports", "topic=sample", "pages=60", FOCUS_REPLAY="sample",
        FOCUS_EXPORT_BODY=True, LOG_LEVEL="WARNING",
    )  # fmt: skip
    out = tmp_path / "graph.sqlite"
    done = collect(
        "sample", "--from", run.folder, "--relevant", "--out", out, FOCUS_REPLAY="sample"
    )
    assert done.returncode == 0, done.stderr
    relevant = {page["url"] for page in run.pages if page["relevant"]}
    parents = {page["parent"] for page in run.pages if page["relevant"]} - {None} - relevant
    with WebGraph.open(out) as graph:
        assert {page.url for page in graph.pages() if page.layer == 0} == relevant
        assert {page.url for page in graph.pages() if page.layer == 1} == parents
        assert graph.n_edges >= len(graph) - 1
    # the relevant ones are among the items, with their HTML
    assert f"'focus/request/scheduled': {len(graph_pages(out)) - len(relevant)}" in done.stderr


def graph_pages(path: Path) -> list[str]:
    with WebGraph.open(path) as graph:
        return [page.url for page in graph.pages()]


def test_from_a_service(tmp_path: Path, targets: Path, sample_links) -> None:
    out = tmp_path / "graph.sqlite"
    arguments = ["sample", "--targets", targets, "--per-layer", 25, "--out", out]
    with MozServer(sample_links) as moz:
        settings = {
            "FOCUS_REPLAY": "sample",
            "FOCUS_BACKLINKS_URL": moz.url,
            "FOCUS_BACKLINKS_DELAY": 0,
            "LOG_LEVEL": "DEBUG",
        }
        with targets.open("a") as file:
            file.write("http://en.openwiki.example/gone\nhttp://www.dalemuseum.example/x.pdf\n")
        done = collect(*arguments, "--from", "moz", env={"FOCUS_BACKLINKS_KEY": KEY}, **settings)
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    assert "2 × status 404" in done.stdout
    assert "robots.txt" in done.stderr  # it was asked for
    with WebGraph.open(out) as graph:
        assert graph.source == "backlinks"
        assert [page.url for page in graph.pages()][:2] == [CLOCK, RESTORATION]
        assert graph.page(CLOCK).title
        expected = set(sample_links[CLOCK.partition("//")[2]])
        sources = {e.source.partition("//")[2] for e in graph.edges() if e.destination == CLOCK}
        assert sources <= expected
        assert {p.url.partition("//")[2] for p in graph.pages() if p.layer == 1} & expected
        assert graph.n_edges > len(graph)
    assert not out.with_name("graph.sqlite.part").exists()


def test_a_service_that_stops_is_gone_on_with(tmp_path: Path, targets: Path, sample_links) -> None:
    out = tmp_path / "graph.sqlite"
    arguments = ["sample", "--from", "moz", "--targets", targets, "--per-layer", 12, "--out", out]
    with MozServer(sample_links) as moz:
        settings = {
            "FOCUS_REPLAY": "sample",
            "FOCUS_BACKLINKS_URL": moz.url,
            "FOCUS_BACKLINKS_DELAY": 0,
        }
        quota = Answer(402, {"message": f"no rows left for {KEY}"})
        env = {"FOCUS_BACKLINKS_KEY": KEY}
        moz.instead = []
        usual, calls = moz.answer, iter(range(1_000))
        moz.answer = lambda *given: quota if next(calls) >= 8 else usual(*given)  # type: ignore[method-assign]
        done = collect(*arguments, env=env, **settings)
        assert done.returncode == 1
        assert "quota of the key is used up" in done.stderr
        assert "call this again: what came so far is kept" in done.stderr
        assert "Traceback" not in done.stderr
        assert KEY not in done.stdout + done.stderr
        assert not out.exists()
        first = len(moz.asked)
        moz.answer = usual  # type: ignore[method-assign]
        done = collect(*arguments, env=env, **settings)
        assert done.returncode == 0, done.stderr
        asked = [(body["target"], body["limit"]) for body in moz.asked]
        assert len(set(asked)) == len(asked)  # nothing was paid for twice
        assert first == 8
    fetched = int(re.search(r"'focus/request/scheduled': (\d+)", done.stderr)[1])
    assert fetched < len(graph_pages(out))
    assert not out.with_name("graph.sqlite.part").exists()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_it_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    """What came is on the disk when it came, and is not fetched again."""
    slow = {f"/{n}": Reply(f"<title>{n}</title><a href=/t>t</a>", delay=0.15) for n in range(30)}
    with Site({"/t": "<title>t</title>", **slow}) as site:
        links = {site.url("/t").partition("//")[2]: [
            site.url(f"/{n}").partition("//")[2] for n in range(30)
        ]}  # fmt: skip
        (tmp_path / "targets.txt").write_text(site.url("/t"))
        out = tmp_path / "graph.sqlite"
        with MozServer(links) as moz:
            line = command(
                "focus-collect",
                "sample", "--from", "moz", "--targets", tmp_path / "targets.txt", "--out", out,
                FOCUS_BACKLINKS_URL=moz.url, FOCUS_BACKLINKS_DELAY=0, DOWNLOAD_DELAY=0,
                CONCURRENT_REQUESTS_PER_DOMAIN=1, AUTOTHROTTLE_ENABLED=False,
            )  # fmt: skip
            env = environment({"FOCUS_BACKLINKS_KEY": KEY})
            with subprocess.Popen(
                line, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as process:
                deadline = time.monotonic() + 60
                while len(site.hits) < 12 and time.monotonic() < deadline:
                    time.sleep(0.05)
                process.send_signal(how)
                _, log = process.communicate(timeout=60)
            if how == signal.SIGINT:
                assert process.returncode == 130
                last = log.splitlines()[-1]
                assert re.fullmatch(r"Stopped; \d+ pages are kept, and the same command .*", last)
                assert "Traceback" not in log
            before = [hit.path for hit in site.hits]
            assert 12 <= len(before) < 30
            done = subprocess.run(
                line, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
            )
        assert done.returncode == 0, done.stderr
        pages = [hit.path for hit in site.hits if hit.path != "/robots.txt"]
    with WebGraph.open(out) as graph:
        assert len(graph) == 31
        assert graph.n_edges == 30
    assert len(pages) <= 31 + 2  # what was on its way when the process died


def test_in_any_project(tmp_path: Path) -> None:
    """Without a project of ours hosts are treated as well, and its own settings do no harm."""
    pages = {
        "/robots.txt": Reply(
            "User-agent: *\nDisallow: /no", headers={"Content-Type": "text/plain"}
        ),
        "/t": "<title>t</title>",
        "/a": "<a href=/t>t</a>",
        "/no": "<a href=/t>t</a>",
        "/error": Reply("<a href=/t>t</a>", status=500),
    }
    with Site(pages) as site, MozServer({}) as moz:
        host = site.url("/").partition("//")[2].rstrip("/")
        moz.links = {f"{host}/t": [f"{host}/{name}" for name in ("no", "error", "a")]}
        (tmp_path / "mills.toml").write_text(f'keywords = ["mill"]\ntargets = ["{site.url("/t")}"]')
        done = collect(
            "mills.toml", "--from", "moz", cwd=tmp_path, env={"FOCUS_BACKLINKS_KEY": KEY},
            FOCUS_BACKLINKS_URL=moz.url, FOCUS_BACKLINKS_DELAY=0, DOWNLOAD_DELAY=0,
            HTTPERROR_ALLOW_ALL=True, RETRY_ENABLED=False, JOBDIR="job",
            FEEDS='{"out.json": {"format": "json"}}',
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 × robots" in done.stdout
    assert "1 × status 500" in done.stdout
    assert "'focus/collect/fetched': 2" in done.stderr
    assert "'focus/collect/failed': 2" in done.stderr
    assert graph_pages(tmp_path / "models" / "mills" / "graph.sqlite") == [
        f"http://{host}/t",
        f"http://{host}/a",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mills.toml", "models"]


def test_the_cache_of_what_came(tmp_path: Path) -> None:
    page = FetchedPage("http://a.example/", b"<p>", "t", moved_from=("http://old.example/",))
    cache = Cache(tmp_path / "part", "t", "moz")
    cache.keep(page)
    cache.answers.keep("http://a.example/", 5, ["http://b.example/", "http://c.example/"])
    cache.close()
    with (tmp_path / "part" / "answers.jsonl").open("a") as file:
        file.write('{"n": 1}\n[]\n{"source": "moz", "question": "http://x')
    cache = Cache(tmp_path / "part", "t", "moz")
    assert len(cache) == 1
    assert cache.page("http://a.example/") == page._replace(moved_from=())
    assert cache.page("http://old.example/") == page
    assert cache.page("http://other.example/") is None
    assert len(cache.answers) == 1
    for n in (1, 5):
        known = cache.answers.get("http://a.example/", n)
        assert known == ["http://b.example/", "http://c.example/"]
    assert cache.answers.get("http://a.example/", 6) is None
    assert cache.answers.get("http://b.example/", 1) is None
    cache.close()
    other = Cache(tmp_path / "part", "t", "another source")
    other.keep_all([page, FetchedPage("http://b.example/", b"<p>")])
    assert len(other) == 2
    assert other.answers.get("http://a.example/", 1) is None
    other.close()


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ([], {}, "nothing tells who links to the targets: set FOCUS_REPLAY"),
        (["--from", "archive"], {}, "--from archive needs FOCUS_REPLAY"),
        (["--from", "mozz"], {}, r"'mozz' is not a known source of back-links.*mean 'moz'"),
        (["--from", "moz"], {}, "there is no target to collect from"),
        (["--from", "moz", "--targets", "{targets}"], {}, "needs a key: set FOCUS_BACKLINKS_KEY"),
        (["--from", "moz", "--relevant"], {}, "--relevant needs pages that are stored"),
        (["--from", "moz", "--whole"], {}, "--whole needs pages that are stored"),
        ([], {"FOCUS_REPLAY": "sample"}, "there is no target to collect from.*--relevant"),
        (["--targets", "nowhere.txt"], {"FOCUS_REPLAY": "sample"}, "cannot be read: No such file"),
        (["--targets", "{bad}"], {"FOCUS_REPLAY": "sample"},
         "line 2 is no URL of a page, 'mailto:a@b'"),
        (["--layers", "0"], {}, "--layers 0: give 1 or more"),
        (["--per-layer", "0"], {}, "--per-layer 0: give 1 or more"),
        (["--threshold", "1.5"], {}, "--threshold 1.5: give a cosine"),
        (["--export", "x.warc"], {}, "is not there .*make it with scrapy focus-collect"),
        (["--whole"], {"FOCUS_REPLAY": "sample"}, "none of the 579 pages is a target"),
        (["--targets", "{other}"], {"FOCUS_REPLAY": "sample"},
         r"none of the 1 targets came \(1 × not stored\)"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line(
    tmp_path: Path,
    targets: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    settings: dict[str, str],
    message: str,
) -> None:
    (tmp_path / "bad.txt").write_text("http://a.example/\nmailto:a@b\n")
    (tmp_path / "other.txt").write_text("http://a.example/\n")
    named = {
        "targets": targets,
        "bad": tmp_path / "bad.txt",
        "other": tmp_path / "other.txt",
    }
    filled = [argument.format(**named) for argument in arguments]
    monkeypatch.delenv("FOCUS_BACKLINKS_KEY", raising=False)
    collecting = Command()
    collecting.settings = Settings({"FOCUS_TOPICS_DIR": ROOT / "topics", **settings})
    parser = argparse.ArgumentParser()
    collecting.add_options(parser)
    options = parser.parse_args([*filled, "--out", str(tmp_path / "out" / "graph")])
    collecting.run(["sample"], options)
    said = capsys.readouterr().err
    assert collecting.exitcode == 1
    assert re.search(message, said), said
    assert len(said.splitlines()) == 1
    assert not list((tmp_path).glob("out/*"))


@pytest.mark.parametrize("name", ["topic.toml", "frontier.sqlite", "folder", "empty"])
def test_fresh_takes_the_place_of_graphs_alone(tmp_path: Path, targets: Path, name: str) -> None:
    out = tmp_path / name
    if name == "folder":
        out.mkdir()
    elif name == "frontier.sqlite":
        open_database(out).close()
    else:
        out.write_text('name = "mills"\n' if name == "topic.toml" else "")
    before = None if out.is_dir() else out.read_bytes()
    done = collect("sample", "--targets", targets, "--out", out, "--fresh", FOCUS_REPLAY="sample")
    assert done.returncode == 1
    assert done.stderr == (
        f"{out} is no web graph, and is left as it is: name another file with --out\n"
    )
    assert before is None or out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "targets.txt"])


def test_fresh_takes_the_place_of_a_graph_that_is_cut_short(tmp_path: Path, targets: Path) -> None:
    out = tmp_path / "graph"
    WebGraph.create(out, topic="t", source="har").close()
    out.write_bytes(out.read_bytes()[:5_000])
    done = collect("sample", "--targets", targets, "--out", out, "--fresh", FOCUS_REPLAY="sample")
    assert done.returncode == 0, done.stderr
    assert CLOCK in graph_pages(out)


def test_an_error_of_a_real_call_is_one_line_too(tmp_path: Path) -> None:
    done = collect("sampel", "--out", tmp_path / "graph", FOCUS_REPLAY="sample")
    assert done.returncode == 1
    assert re.fullmatch(r"topic 'sampel': .*did you mean 'sample'.*\n", done.stderr)


def test_help_names_each_option() -> None:
    done = collect("--help")
    assert done.returncode == 0
    for option in ("--from", "--out", "--targets", "--relevant", "--whole", "--layers",
                   "--per-layer", "--threshold", "--fresh", "--export"):  # fmt: skip
        assert option in done.stdout


def test_redirects_robots_and_files_of_the_real_web(tmp_path: Path) -> None:
    plain = {"Content-Type": "text/plain"}
    pages = {
        "/robots.txt": Reply("User-agent: *\nDisallow: /private", headers=plain),
        "/t": "<title>target</title><a href=/moved>c</a>",
        "/old-t": Reply(status=301, headers={"Location": "/t"}),
        "/a": "<title>a</title><a href=/old-t>old</a>",
        "/moved": Reply(status=302, headers={"Location": "/c"}),
        "/also-moved": Reply(status=302, headers={"Location": "/c"}),
        "/back": Reply(status=302, headers={"Location": "/t"}),
        "/c": "<title>c</title><a href=/t>t</a>",
        "/private/p": "<a href=/t>t</a>",
        "/file": Reply(b"%PDF-1.4", headers={"Content-Type": "application/pdf"}),
        "/deny/d": "<a href=/t>t</a>",
        "/latin": Reply(
            "<title>Mühle</title><a href=/t>t</a>".encode("latin-1"),
            headers={"Content-Type": "text/html; charset=latin-1"},
        ),
    }  # fmt: skip
    with Site(pages) as site, MozServer({}) as moz:
        host = site.url("/").partition("//")[2].rstrip("/")
        names = "a moved also-moved back private/p file deny/d gone latin"
        moz.links = {f"{host}/t": [f"{host}/{name}" for name in names.split()]}
        (tmp_path / "mills.toml").write_text(
            f'keywords = ["mill"]\ntargets = ["{site.url("/old-t")}"]\n'
            f'[sites]\ndeny = ["http://{host}/deny/"]\n'
        )
        done = collect(
            tmp_path / "mills.toml", "--from", "moz", "--out", tmp_path / "graph",
            env={"FOCUS_BACKLINKS_KEY": KEY}, FOCUS_BACKLINKS_URL=moz.url,
            FOCUS_BACKLINKS_DELAY=0, DOWNLOAD_DELAY=0, AUTOTHROTTLE_ENABLED=False,
            RETRY_ENABLED=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        fetched = {hit.path for hit in site.hits}
        with WebGraph.open(tmp_path / "graph") as graph:
            assert [(page.url, page.title, page.layer) for page in graph.pages()] == [
                (site.url("/t"), "target", 0),
                (site.url("/a"), "a", 1),
                (site.url("/c"), "c", 1),
                (site.url("/latin"), "Mühle", 1),
            ]
            assert {alias.removeprefix(site.url("/")) for alias, _ in graph.aliases()} == {
                "old-t", "moved", "also-moved", "back",
            }  # fmt: skip
            assert [(e.source[-2:], e.destination[-2:]) for e in graph.edges()] == [
                ("/t", "/c"), ("/a", "/t"), ("/c", "/t"), ("in", "/t"),
            ]  # fmt: skip
            assert graph.distances(3).tolist() == [0, 1, 1, 1]
    assert not fetched & {"/private/p", "/deny/d"}
    for why in ("1 × robots", "1 × not_html", "1 × status 404", "1 × outside [sites]"):
        assert why in done.stdout
