"""What a page costs that is rendered, and that is probed for links, and what that finds.

    python benchmarks/render.py [--pages 12] [--rounds 3] [--json]

A site on this machine whose pages of about 10 KB have 8 links in their source, 8 that a script
makes, 6 in menus that open under the mouse and 3 behind buttons. It is crawled plainly, rendered
(``actions = 0``) and probed, one page at a time and without delays, in turn. The time of a page is
from one page of the crawl's log to the next; CPU is that of the crawl and of what it has started,
as far as the system counts it there, less that of a crawl of one page, over the other pages. So the
start of the crawl and of its browser is in neither, and a plain page's CPU is too little to be told
from noise. Both are medians over the rounds; the ratio is to the plain crawl of the same run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import sys
import tempfile
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.crawls import crawl  # noqa: E402 - needs the path above
from tests.site import Site  # noqa: E402

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ARMS = {
    "plain": {"FOCUS_RENDER": "never"},
    "rendered": {"FOCUS_RENDER": "always", "FOCUS_RENDER_ACTIONS": 0},
    "probed": {"FOCUS_RENDER": "always"},
}
TEXT = "<p>sand and stones and shells on the shore of a clock</p>" * 150
SCRIPT = """
const list = (kind, n) => [...Array(n).keys()].map(k =>
  `<li><a href="${location.pathname}/${kind}/${k}">${kind} ${k}</a></li>`).join("");
document.getElementById("made").innerHTML = list("made", 8);
document.querySelectorAll(".menu li").forEach((menu, n) => { menu.onmouseenter = () => {
  if (!menu.children.length) menu.innerHTML += `<ul>${list(`menu${n}`, 2)}</ul>`;
}; });
document.querySelectorAll("button").forEach((button, n) => { button.onclick = () => {
  location.href = `${location.pathname}/button/${n}`;
}; });
"""


def page(_: str, path: str) -> str | None:
    """Answer any path with a page of its own."""
    if path == "/robots.txt":
        return None
    links = "".join(f"<p><a href='{path.rstrip('/')}/{n}'>clock {n}</a></p>" for n in range(8))
    menus = "<ul class=menu><li>one</li><li>two</li><li>three</li></ul>"
    buttons = "".join(f"<button>button {n}</button>" for n in range(3))
    body = f"{links}<ul id=made></ul>{menus}{buttons}{TEXT}<script>{SCRIPT}</script>"
    return f"<!DOCTYPE html><title>Clocks of {path}</title><body>{body}</body>"


def main() -> None:
    """Run the crawls, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=12, help="of each crawl (12)")
    parser.add_argument("--rounds", type=int, default=3, help="of the three crawls (3)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ARMS}
    for _, name in itertools.product(range(options.rounds), ARMS):
        one, all_ = (measured(name, pages) for pages in (1, options.pages))
        cpu = 1000 * (all_["cpu"] - one["cpu"]) / (options.pages - 1)
        runs[name].append({**all_, "cpu": cpu})
    medians = {
        name: {key: statistics.median(run[key] for run in rounds) for key in rounds[0]}
        for name, rounds in runs.items()
    }
    if options.json:
        print(json.dumps({"medians": medians, "runs": runs}, indent=2))
        return
    plain = medians["plain"]
    print("| crawl | links a page | actions a page | CPU ms a page | ms a page | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, run in medians.items():
        print(
            f"| {name} | {run['links']:.0f} | {run['actions']:.0f} "
            f"| {max(0.0, run['cpu']):,.0f} | {run['wall']:,.0f} "
            f"| {run['wall'] / plain['wall']:.0f} |"
        )


def measured(name: str, pages: int) -> dict[str, float]:
    """Crawl once; return the milliseconds and links of a page, and the CPU seconds of all."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Site(page) as site, tempfile.TemporaryDirectory() as exports:
        done = crawl(
            Path(exports),
            "keywords=clock",
            f"seeds={site.url('/')}",
            "strategy=breadth-first",
            f"pages={pages}",
            CONCURRENT_REQUESTS=1,
            DOWNLOAD_DELAY=0,
            AUTOTHROTTLE_ENABLED=False,
            **ARMS[name],
        )
        times = [datetime.fromisoformat(line["time"]) for line in done.pages]
        stats = done.stats
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    gaps = [(later - sooner).total_seconds() for sooner, later in itertools.pairwise(times)]
    return {
        "wall": 1000 * statistics.mean(gaps or [0.0]),
        "cpu": cpu,
        "links": stats["focus/link/found"] / len(times),
        "actions": stats.get("focus/render/action", 0) / len(times),
    }


if __name__ == "__main__":
    main()
