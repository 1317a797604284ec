"""What goes wrong in a browser costs a page its links at most, and never the crawl."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.crawls import Crawl, crawl
from tests.render.test_crawl import QUICK, paths, rendered
from tests.site import Reply, Site

pytestmark = pytest.mark.usefixtures("chromium")


def below(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    children = [
        int(stat.parent.name)
        for stat in Path("/proc").glob("[0-9]*/stat")
        if stat.read_text().rpartition(")")[2].split()[1] == str(pid)
    ]
    return [process for child in children for process in (child, *below(child))]


def end_browser() -> None:
    """Kill the browser of the crawl that this process has started."""
    for process in below(os.getpid()):
        command = Path(f"/proc/{process}/cmdline").read_bytes()
        if b"chrom" in command.partition(b"\0")[0] and b"--type=" not in command:
            os.kill(process, signal.SIGKILL)


def test_a_page_that_grows_or_breaks_the_browser_comes_as_it_was_fetched(tmp_path: Path) -> None:
    def pages(host: str, path: str) -> Reply | str | None:
        if path == "/breaks.js":
            end_browser()
        found = {
            "/": "<a href=/breaks>1</a><a href=/grows>2</a><a href=/last>3</a>",
            "/breaks": "<a href=/plain/1>clock</a><script src=/breaks.js></script>",
            "/grows": "<a href=/plain/2>clock</a><script>document.write('x'.repeat(3e5))</script>",
            "/last": "<script>document.write('<a href=/made>clock</a>')</script>",
        }
        return found.get(path, "clock" if path.startswith(("/plain", "/made")) else None)

    with Site(pages) as web:
        done = rendered(tmp_path, web, "render=auto", CONCURRENT_REQUESTS=1,
                        DOWNLOAD_MAXSIZE=200_000)  # fmt: skip
    assert sorted(paths(done)) == [
        "/",
        "/breaks",
        "/grows",
        "/last",
        "/made",
        "/plain/1",
        "/plain/2",
    ]
    stats = done.stats
    assert stats["focus/render/failed/crash"] == 1
    assert stats["focus/render/failed/too_large"] == 1
    assert stats["focus/render/page"] == 1
    assert stats["focus/render/open"] == 0
    assert "log_count/ERROR" not in stats, done.log


def test_the_end_of_the_browser_is_noticed_at_once_whatever_it_does(tmp_path: Path) -> None:
    waits = "const x = new XMLHttpRequest(); x.open('GET', '/breaks.js', false); x.send();"
    brings = "document.body.insertAdjacentHTML('beforeend', '<a href=/brought>clock</a>')"
    found = {
        "/": "<a href=/opens>1</a><a href=/probed>2</a><a href=/last>3</a>",
        "/opens": f"<a href=/plain>clock</a><script>{waits}</script>",
        "/probed": f'<button onclick="{brings}">1</button><button onclick="{waits}">2</button>'
        "<script></script>",
        "/last": "<script>document.write('<a href=/made>clock</a>')</script>",
    }

    def pages(host: str, path: str) -> Reply | str | None:
        if path == "/breaks.js":
            end_browser()
        return found.get(path, "clock" if path in {"/plain", "/brought", "/made"} else None)

    with Site(pages) as web:
        done = rendered(tmp_path, web, "render=auto", CONCURRENT_REQUESTS=1)
    assert sorted(paths(done)) == sorted([*found, "/brought", "/made", "/plain"])
    stats = done.stats
    assert stats["focus/render/failed/crash"] == stats["focus/render/failed"] == 1
    assert stats["focus/render/stopped/crash"] == stats["focus/render/stopped"] == 1
    assert stats["focus/render/page"] == 2
    assert stats["playwright/browser_count"] == 3
    assert "log_count/ERROR" not in stats, done.log


def test_a_page_that_came_to_be_saved_is_shown(tmp_path: Path) -> None:
    kinds = {
        "/attached": {"Content-Disposition": "attachment; filename=clock.html"},
        "/octets.html": {"Content-Type": "application/octet-stream"},
        "/wap": {"Content-Type": "application/vnd.wap.xhtml+xml"},
    }
    web: dict[str, Reply | str] = {
        path: Reply(
            f"<script>document.write('<a href=/made{path}>1</a>')</script>", headers=headers
        )
        for path, headers in kinds.items()
    }
    web |= {f"/made{path}": "clock" for path in kinds}
    web["/"] = "".join(f"<a href={path}>1</a>" for path in kinds)
    with Site(web) as site:
        done = rendered(tmp_path, site, "render=auto", "depth=2")
    assert sorted(paths(done)) == sorted(web)
    assert done.stats["focus/render/page"] == len(kinds)
    assert "log_count/ERROR" not in done.stats, done.log


def test_a_page_that_hangs_or_bends_what_it_is_asked_with_loses_nothing(tmp_path: Path) -> None:
    brings = "document.body.insertAdjacentHTML('beforeend', '<a href=/brought>clock</a>')"
    pages = {
        "/hangs": "<script>setTimeout(() => { for (;;); })</script>",
        "/presses": f'<button onclick="{brings}">1</button><button onclick="for (;;);">2</button>'
        "<script></script>",
        "/functions": "<script>JSON.stringify = Array.prototype.map = () => { throw 1; };</script>",
        "/types": "<script>window.Map = window.Set = window.Promise = null;</script>",
        "/nothing": "<script>document.documentElement.remove();</script>",
    }
    web = {path: f"<a href=/plain{path}>clock</a>{html}" for path, html in pages.items()}
    web |= {f"/plain{path}": "clock" for path in pages}
    web |= {"/": "".join(f"<a href={path}>clock</a>" for path in pages), "/brought": "clock"}
    with Site(web) as site:
        done = rendered(tmp_path, site, "render=auto", FOCUS_RENDER_SECONDS=8)
    assert sorted(paths(done)) == sorted(web)
    stats = done.stats
    assert stats["focus/render/failed/timeout"] == 1
    assert stats["focus/render/failed/error"] >= 1
    assert stats["focus/render/stopped/seconds"] == 1
    assert stats["focus/render/open"] == 0
    assert "log_count/ERROR" not in stats, done.log


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"FOCUS_CHROMIUM": "/nowhere/chromium"},
            "FOCUS_CHROMIUM = '/nowhere/chromium': there is no",
        ),
        ({"FOCUS_RENDER_BLOCK": "images"}, "did you mean 'image'?"),
    ],
)
def test_a_wrong_browser_stops_before_the_first_request(
    tmp_path: Path, settings: dict[str, Any], words: str
) -> None:
    done, asked = _begun(tmp_path, **settings)
    assert done.code == 1
    assert words in done.log
    assert "Traceback" not in done.log
    assert asked == []


def test_a_program_that_is_no_browser_stops_before_the_first_request(tmp_path: Path) -> None:
    done, asked = _begun(tmp_path, FOCUS_CHROMIUM="/bin/true")
    assert "The crawl stops: the browser does not work" in done.log
    assert "Traceback" not in done.log
    assert done.run["stop_reason"] == "render_error"
    assert asked == []


def _begun(tmp_path: Path, **settings: Any) -> tuple[Crawl, list[str]]:
    with Site({"/": "clock"}) as web:
        arguments = ("keywords=clock", f"seeds={web.url('/')}", "render=always")
        done = crawl(tmp_path, *arguments, **QUICK, **settings)
    return done, [hit.path for hit in web.hits]


def test_a_page_whose_script_leads_on_keeps_what_was_fetched(tmp_path: Path) -> None:
    found = {
        "/": "<a href=/first>1</a><a href=/last>2</a><script></script>",
        # Chromium reads no further, although the page may not lead on
        "/first": "<script>location.replace('/on/1')</script><p>clock</p><a href=/rest/1>clock</a>",
        "/last": "<p>clock</p><script>location.href = '/on/2'</script><a href=/rest/2>clock</a>",
        **dict.fromkeys(("/on/1", "/on/2", "/rest/1", "/rest/2"), "clock"),
    }
    with Site(found) as web:
        done = rendered(tmp_path, web, "render=auto")
    assert sorted(paths(done)) == sorted(found)
    assert "focus/render/failed" not in done.stats
