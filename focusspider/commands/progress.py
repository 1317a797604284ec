"""How a command goes: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Any

__all__ = ["ProgressBar"]

_EVERY = 10.0  # seconds between two lines where there is no terminal


class ProgressBar:
    """Shows how much of a task is done, on the standard error; a context manager."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressBar:
        if sys.stderr.isatty():
            try:
                from rich.console import Console
                from rich.progress import Progress
            except ImportError:
                return self
            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._name, total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, total: int, doing: str | None = None) -> None:
        """Show how many are done, and of how many; ``doing`` takes the place of the name."""
        self._name = doing or self._name
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, description=self._name)
            return
        now = time.monotonic()
        if now - self._told >= _EVERY:
            self._told = now
            print(f"{self._name}: {done:,} of {total:,}", file=sys.stderr)
