"""Calls of Scrapy's commands in a process of their own, as a user makes them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.crawls import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["call", "command", "environment"]


def command(name: str, *arguments: Any, **settings: Any) -> list[str]:
    """Return the line ``scrapy NAME ARGUMENT … -s SETTING=VALUE …``."""
    line = [sys.executable, "-W", "error", "-m", "scrapy", name, *map(str, arguments)]
    for setting, value in settings.items():
        line += ["-s", f"{setting}={value}"]
    return line


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a call, without the keys of whoever runs the tests."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OPENBLAS_NUM_THREADS": "1",
        "FOCUS_BACKLINKS_KEY": "",
        "FOCUS_SEARCH_KEY": "",
        **(extra or {}),
    }


def call(
    name: str,
    *arguments: Any,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    **settings: Any,
) -> subprocess.CompletedProcess[str]:
    """Call a command, and return what it printed."""
    return subprocess.run(
        command(name, *arguments, **settings),
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
