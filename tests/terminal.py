"""Terminals to test with: what one would show, and a real one to run in."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

from tests.crawls import ROOT

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Terminal", "in_terminal"]

_TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b([78])|([\r\n])|([^\x1b\r\n]+)|(.)", re.DOTALL)


class Terminal:
    """Keeps what a terminal would show, and what has scrolled away.

    It knows as much of a VT100 as a log and a foot need.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.screen = [""] * rows
        self.gone: list[str] = []
        self.region = (0, rows - 1)
        self.row = self.column = 0
        self._saved = (0, 0)

    def feed(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            numbers, command, saving, newline, words, unknown = token.groups()
            assert unknown is None, f"what is {text[token.start() : token.start() + 20]!r}?"
            if command:
                self._command(command, [int(n) for n in numbers.split(";") if n.isdigit()])
            elif saving == "7":
                self._saved = (self.row, self.column)
            elif saving == "8":
                self.row, self.column = self._saved
            elif newline == "\r":
                self.column = 0
            elif newline:
                self._down()
            else:
                for character in words:
                    self._put(character)

    def _command(self, command: str, numbers: list[int]) -> None:
        if command == "H":
            self.row, self.column = numbers[0] - 1, numbers[1] - 1
        elif command == "A":
            self.row = max(0, self.row - numbers[0])
        elif command == "r":
            self.region = (numbers[0] - 1, numbers[1] - 1) if numbers else (0, self.rows - 1)
            self.row = self.column = 0
        elif command == "K":
            self.screen[self.row] = ""
        elif command == "J":
            self.screen[self.row] = self.screen[self.row][: self.column]
            self.screen[self.row + 1 :] = [""] * (self.rows - self.row - 1)
        else:
            assert command == "m", command

    def _put(self, character: str) -> None:
        if self.column == self.columns:
            self.column = 0
            self._down()
        line = self.screen[self.row].ljust(self.column)
        self.screen[self.row] = line[: self.column] + character + line[self.column + 1 :]
        self.column += 1

    def _down(self) -> None:
        top, bottom = self.region
        if self.row != bottom:
            self.row = min(self.row + 1, self.rows - 1)
            return
        assert top == 0
        self.gone.append(self.screen.pop(0))
        self.screen.insert(bottom, "")

    def text(self) -> list[str]:
        """All lines from the first, without those that are empty at the end."""
        lines = [line.rstrip() for line in (*self.gone, *self.screen)]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def in_terminal(
    arguments: list[str], *, rows: int = 40, columns: int = 200, cwd: Path = ROOT, **env: str
) -> tuple[int, str]:
    """Run Python with a real pseudo-terminal; return its exit code and what it wrote."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-W", "error", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **env},
    )
    os.close(theirs)
    written = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                written += os.read(ours, 65536)
            except OSError:  # the other end is closed, and all is read
                break
        elif process.poll() is not None:
            break
    os.close(ours)
    return process.wait(timeout=10), written.decode()
