"""A real Scrapyd on loopback, in an environment of its own, and what one sends to it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.crawls import ROOT

if TYPE_CHECKING:
    from typing import Self

__all__ = ["MISSING", "Node", "find_scrapyd", "free_port"]

MISSING = "scrapyd is not in its environment; make it with: make node"

_CONF = """\
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.1
max_proc = 4
jobs_dir = {jobs}
"""


def find_scrapyd() -> Path | None:
    """Return the folder of the programs scrapyd and scrapyd-deploy, or None."""
    folder = Path(sys.prefix) / "node/bin"
    return folder if (folder / "scrapyd").exists() else None


def free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Node:
    """A running Scrapyd, whose working directory and files are below a folder.

    ``installed``: whether focusspider is installed on it; if not, it has the libraries alone.
    """

    def __init__(self, folder: Path, programs: Path, *, installed: bool) -> None:
        self.folder = folder
        self._programs = programs
        self.url = f"http://127.0.0.1:{free_port()}"
        folder.mkdir()
        port = urllib.parse.urlsplit(self.url).port
        (folder / "scrapyd.conf").write_text(_CONF.format(port=port, jobs=folder / "jobs"))
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        environment.pop("PYTHONPATH", None)
        if installed:
            environment["PYTHONPATH"] = str(ROOT)
        self._log = (folder / "scrapyd.log").open("wb")
        self._process = subprocess.Popen(
            [programs / "scrapyd"], cwd=folder, env=environment, stdout=self._log, stderr=self._log
        )

    def __enter__(self) -> Self:
        deadline = time.monotonic() + 30
        while True:
            try:
                self.ask("daemonstatus")
                return self
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    self.__exit__()
                    raise AssertionError((self.folder / "scrapyd.log").read_text()) from None
                time.sleep(0.05)

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        self._log.close()

    def ask(self, method: str, **fields: Any) -> dict[str, Any]:
        """Call its API: GET, or POST with fields."""
        data = urllib.parse.urlencode(fields, doseq=True).encode() if fields else None
        if method in {"listspiders", "listjobs", "daemonstatus"}:
            method, data = f"{method}.json?{(data or b'').decode()}", None
        else:
            method = f"{method}.json"
        with urllib.request.urlopen(f"{self.url}/{method}", data, timeout=30) as answer:
            return json.load(answer)

    def deploy(self, project: Path) -> dict[str, Any]:
        """Send a project with scrapyd-deploy, as a user does, and return the answer."""
        path = f"{self._programs}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [self._programs / "scrapyd-deploy"],
            cwd=project,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def schedule(self, project: str, spider: str, **fields: Any) -> str:
        """Start a job, and return its id."""
        answer = self.ask("schedule", project=project, spider=spider, **fields)
        assert answer["status"] == "ok", answer
        return answer["jobid"]

    def wait(self, *jobs: str) -> None:
        """Wait until jobs have ended."""
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline:
            found = self.ask("listjobs")
            if {job["id"] for job in found["finished"]} >= {*jobs}:
                return
            time.sleep(0.1)
        raise AssertionError(f"{jobs} have not ended: {found}")

    def log(self, project: str, spider: str, job: str) -> str:
        """Return the log of a job."""
        return (self.folder / "logs" / project / spider / f"{job}.log").read_text()
