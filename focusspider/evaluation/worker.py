"""A process that runs the crawls of an evaluation, one after the other.

It reads jobs from its standard input, a JSON object a line, and answers each with a line.
What takes time to load (Python's modules, the index of the archive) it loads once; then it
forks for each job. So a crawl begins at once, in a process of its own: its CPU seconds and
its peak memory are the crawl's, with what was loaded before, and a crawl that dies takes
nothing with it.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.misc import load_object

from focusspider.errors import FocusError
from focusspider.evaluation.bound import write_bounds
from focusspider.evaluation.testbed import write_similarities, write_splits
from focusspider.evaluation.texts import write_texts
from focusspider.replay import open_archive
from focusspider.spiders.focus import FocusSpider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from focusspider.replay import Archive

__all__ = ["MEASURED", "main", "run"]

#: What a crawl measured of itself, in its folder; written last, when all went well.
MEASURED = "measured.json"

#: What a crawl loads by name, so that each one does not load it anew.
_LOADED = (
    "scrapy.core.engine.ExecutionEngine",
    "scrapy.core.downloader.Downloader",
    "scrapy.core.scraper.Scraper",
    "focusspider.addon.FocusAddon",
)
_KILOBYTE = 1 if sys.platform == "darwin" else 1024  # the unit of ru_maxrss, in bytes


def main() -> None:
    """Run jobs until there are no more."""
    for path in _LOADED:
        load_object(path)
    archives: dict[tuple[str, ...], Archive] = {}
    for line in sys.stdin:
        job = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            spec = tuple(job["archive"])
            if spec not in archives:
                archives[spec] = open_archive(spec)
        except FocusError as error:
            answer = {"ok": False, "problem": str(error), "wrong_input": True}
        else:
            answer = run(_JOBS[job["kind"]], job)
        print(json.dumps(answer), flush=True)


def run(function: Callable[[Mapping[str, Any]], None], job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a job in a fork of this process, and return how it ended.

    ``problem`` says in words what went wrong, and ``wrong_input`` that it is the user's.
    """
    log = Path(job["log"])
    log.parent.mkdir(parents=True, exist_ok=True)
    note = log.with_suffix(".error")
    note.unlink(missing_ok=True)
    gc.collect()
    gc.freeze()  # what is shared stays shared
    child = os.fork()
    if child == 0:
        _be_child(function, job, log, note)
    _, status = os.waitpid(child, 0)
    signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    answer: dict[str, Any] = {"ok": status == 0, "signal": signalled}
    if note.exists():
        answer |= json.loads(note.read_text(encoding="utf-8"))
        note.unlink()
    return answer


def _be_child(
    function: Callable[[Mapping[str, Any]], None], job: Mapping[str, Any], log: Path, note: Path
) -> None:
    """Run a job with its output in a file, and end without what the parent has open."""
    code = 1
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        empty = os.open(os.devnull, os.O_RDONLY)
        for source, place in ((empty, 0), (file, 1), (file, 2)):
            os.dup2(source, place)
        function(job)
        code = 0
    except (FocusError, _FailedError) as error:
        told = {"problem": str(error), "wrong_input": isinstance(error, FocusError)}
        note.write_text(json.dumps(told), encoding="utf-8")
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _FailedError(Exception):
    """A crawl ended, and not as it should have."""


class _Stopwatch:
    """Measures a crawl from its first moment to its last: its start-up is not the crawl's."""

    def __init__(self) -> None:
        self.startup_s = self.cpu_s = self.wall_s = 0.0

    def opened(self) -> None:
        self.startup_s = time.process_time()
        self._wall = time.perf_counter()

    def closed(self) -> None:
        self.cpu_s = time.process_time() - self.startup_s
        self.wall_s = time.perf_counter() - self._wall


def _crawl(job: Mapping[str, Any]) -> None:
    """Crawl as ``scrapy crawl focus`` does."""
    process = AsyncCrawlerProcess(job["settings"])
    crawler = process.create_crawler(FocusSpider)
    stopwatch = _Stopwatch()
    crawler.signals.connect(stopwatch.opened, signals.spider_opened)
    crawler.signals.connect(stopwatch.closed, signals.spider_closed)
    process.crawl(crawler, **job["arguments"])
    process.start()
    if process.bootstrap_failed:
        raise _FailedError("the crawl could not begin")
    counts = crawler.stats.get_stats() if crawler.stats else {}
    errors = counts.get("spider_exceptions/count", 0)
    reason = counts.get("finish_reason")
    if reason not in {"finished", "page_limit", "strategy_done"}:
        raise _FailedError(f"the crawl stopped by {reason!r}")
    if errors:
        raise _FailedError(f"{errors} pages raised an exception")
    measured = {
        "startup_s": stopwatch.startup_s,
        "cpu_s": stopwatch.cpu_s,
        "wall_s": stopwatch.wall_s,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE / 1e6,
        "key": job["key"],
    }
    path = Path(job["folder"], MEASURED)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(measured) + "\n", encoding="utf-8")
    draft.replace(path)


_JOBS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "crawl": _crawl,
    "bounds": write_bounds,
    "splits": write_splits,
    "similarities": write_similarities,
    "texts": write_texts,
}

if __name__ == "__main__":
    main()
