"""Jobs in several worker processes side by side."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Answer", "run_jobs", "tail"]

_COMMAND = (sys.executable, "-m", "focusspider.evaluation.worker")
#: One BLAS thread a worker: side by side they would wait for each other.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

_RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[")
_ERROR = re.compile(r"\] (ERROR|CRITICAL): ")


class Answer(NamedTuple):
    """How a job ended.

    ``problem`` is None where all went well; ``wrong_input`` says that the user's input is
    at fault, which goes for other jobs as well.
    """

    job: Mapping[str, Any]
    problem: str | None
    wrong_input: bool


def run_jobs(jobs: Sequence[Mapping[str, Any]], workers: int) -> Iterator[Answer]:
    """Run jobs in so many processes, and yield the answers as they come.

    When the caller stops listening, by an interrupt too, the workers and what they run are
    killed.
    """
    waiting: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    crew = [_Worker(waiting, answers) for _ in range(min(workers, len(jobs)))]
    try:
        for worker in crew:
            worker.start()
        for _ in jobs:
            yield answers.get()
    finally:
        for worker in crew:
            worker.stop()
        for worker in crew:
            worker.join()


class _Worker(threading.Thread):
    """Feeds one process; a new one where the last has died."""

    def __init__(
        self, waiting: queue.SimpleQueue[Mapping[str, Any]], answers: queue.SimpleQueue[Answer]
    ) -> None:
        super().__init__(daemon=True)
        self._waiting = waiting
        self._answers = answers
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def run(self) -> None:
        """Take jobs until there are none."""
        while not self._stopped:
            try:
                job = self._waiting.get_nowait()
            except queue.Empty:
                break
            self._answers.put(self._answer(job))
        self._end()

    def stop(self) -> None:
        """Kill the process with all that it runs."""
        with self._lock:
            self._stopped = True
            process = self._process
        if process is not None and process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def _end(self) -> None:
        """Let the process end, and close what led to it."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):  # it may have died with something unread
                pipe.close()
        self._process.wait()
        self._process = None

    def _answer(self, job: Mapping[str, Any]) -> Answer:
        try:
            line = self._ask(job)
        except OSError as error:
            return Answer(job, f"the worker cannot be asked: {error}", False)
        if not line:
            assert self._process is not None
            code = self._process.wait()
            return Answer(job, f"the worker ended with {code}", False)
        told = json.loads(line)
        problem = told.get("problem")
        if problem is None and not told["ok"]:
            problem = f"killed by signal {told['signal']}" if told["signal"] else "failed"
        return Answer(job, problem, bool(told.get("wrong_input")))

    def _ask(self, job: Mapping[str, Any]) -> str:
        with self._lock:
            if self._stopped:
                return ""
            if self._process is not None and self._process.poll() is not None:
                self._end()
            if self._process is None:
                self._process = _start()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        return process.stdout.readline()


def _start() -> subprocess.Popen[str]:
    environment = {**dict.fromkeys(_THREADS, "1"), **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    return subprocess.Popen(  # noqa: S603 - our own module
        _COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,  # an interrupt from the terminal is the parent's to handle
    )


def tail(log: Path, lines: int = 12) -> str:
    """Return the last error of a log, or without one its last lines, indented."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "    (there is no log)"
    records = [number for number, line in enumerate(text) if _RECORD.match(line)]
    errors = [number for number in records if _ERROR.search(text[number])]
    shown = text[-lines:]
    if errors:
        after = [number for number in records if number > errors[-1]]
        shown = text[errors[-1] : after[0] if after else None]
        if len(shown) > lines:  # a traceback says most at its end
            shown = [shown[0], "…", *shown[2 - lines :]]
    return "\n".join(f"    {line}" for line in shown) or "    (it is empty)"
