"""Real ``scrapy crawl`` subprocesses, and what they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Crawl:
    """What a crawl printed and wrote."""

    code: int
    log: str
    folder: Path | None

    def lines(self, name: str) -> list[dict[str, Any]]:
        assert self.folder is not None, self.log
        text = (self.folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    @property
    def items(self) -> list[dict[str, Any]]:
        return self.lines("items.jsonl")

    @property
    def pages(self) -> list[dict[str, Any]]:
        return self.lines("crawl.jsonl")

    @property
    def run(self) -> dict[str, Any]:
        assert self.folder is not None, self.log
        return json.loads((self.folder / "run.json").read_text(encoding="utf-8"))

    @property
    def stats(self) -> dict[str, Any]:
        return self.run["stats"]


def crawl(
    exports: Path, *arguments: str, spider: str = "focus", cwd: Path = ROOT, **settings: Any
) -> Crawl:
    """Run ``scrapy crawl SPIDER -a ARGUMENT … -s SETTING=VALUE …`` as a user would."""
    command = [sys.executable, "-W", "error", "-m", "scrapy", "crawl", spider]
    for argument in arguments:
        command += ["-a", argument]
    given = {"FOCUS_EXPORTS_DIR": exports, **settings}
    if cwd == ROOT:  # models that were trained in the checkout are asked by no test
        given.setdefault("FOCUS_MODELS_DIR", exports / "no-models")
    for name, value in given.items():
        command += ["-s", f"{name}={value}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    runs = sorted(exports.glob("*/*/run.json"), key=lambda path: path.stat().st_mtime_ns)
    return Crawl(done.returncode, done.stdout + done.stderr, runs[-1].parent if runs else None)
