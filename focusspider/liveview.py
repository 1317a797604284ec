"""The foot of a terminal: a few lines that stay, while the log scrolls above them.

The terminal is told to scroll all but its last lines (DECSTBM, which every terminal since
the VT100 knows). So nothing that is printed needs to pass through here: the log is as it
was, and costs what it did.
"""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from focusspider.progress import Progress

__all__ = ["BEST_SHOWN", "Foot", "LiveView"]

BEST_SHOWN = 5
_LINES = 4 + BEST_SHOWN
_LEAST_ROWS = 2 * _LINES
_BAR = 24  # columns


class Foot:
    """The last rows of a terminal, kept from scrolling.

    Parameters
    ----------
    stream
        a terminal
    height
        how many rows
    """

    def __init__(self, stream: TextIO, height: int) -> None:
        self._stream = stream
        self._height = height
        self._rows = 0  # of the terminal as it was when the foot was made; 0: there is none

    @property
    def columns(self) -> int:
        """How wide the terminal is now."""
        return os.get_terminal_size(self._stream.fileno()).columns

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines; they must not be wider than the terminal."""
        rows = os.get_terminal_size(self._stream.fileno()).lines
        text = ""
        if rows != self._rows:
            text = self._removed() + self._made(rows)
        first = rows - self._height + 1
        shown = "".join(
            f"\x1b[{row};1H\x1b[2K{line}"
            for row, line in enumerate(lines[: self._height], start=first)
        )
        self._write(f"{text}\x1b7{shown}\x1b8")

    def remove(self) -> None:
        """Give the terminal back."""
        self._write(self._removed())

    def _made(self, rows: int) -> str:
        """Make room below the cursor, and let the rest scroll."""
        self._rows = rows
        room = "\n" * self._height + f"\x1b[{self._height}A"
        return f"{room}\x1b7\x1b[1;{rows - self._height}r\x1b8"

    def _removed(self) -> str:
        if not self._rows:
            return ""
        first, self._rows = self._rows - self._height + 1, 0
        # setting the region moves the cursor, as drawing does
        return f"\x1b7\x1b[r\x1b[{first};1H\x1b[J\x1b8"

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class LiveView:
    """Shows how a crawl goes at the foot of a terminal.

    One crawl of a process has it; :meth:`opened` returns None for others, and where there
    is no terminal, or one too small, or no library to draw with.
    """

    _open: LiveView | None = None

    def __init__(self, stream: TextIO, console: Console, drawing: StringIO) -> None:
        self._foot = Foot(stream, _LINES)
        self._console = console
        self._drawing = drawing
        atexit.register(self.close)

    @classmethod
    def opened(cls, stream: TextIO) -> LiveView | None:
        """Return the view on a terminal, or None where that can't be."""
        if cls._open is not None or not stream.isatty() or os.environ.get("TERM") == "dumb":
            return None
        try:
            from rich.console import Console

            rows = os.get_terminal_size(stream.fileno()).lines
        except (ImportError, OSError):
            return None
        if rows < _LEAST_ROWS:
            return None
        drawing = StringIO()
        console = Console(file=drawing, force_terminal=True, legacy_windows=False, highlight=False)
        cls._open = cls(stream, console, drawing)
        return cls._open

    def show(self, title: str, progress: Progress) -> bool:
        """Show how the crawl goes; False: the terminal has gone."""
        try:
            self._console.width = max(self._foot.columns - 1, 20)
            self._foot.draw(self._drawn(_renderables(title, progress)))
        except OSError:
            self._forget()
            return False
        return True

    def close(self) -> None:
        """Give the terminal back; a second call does nothing."""
        if LiveView._open is not self:
            return
        with suppress(OSError, ValueError):  # it has gone
            self._foot.remove()
        self._forget()

    def _forget(self) -> None:
        LiveView._open = None
        atexit.unregister(self.close)

    def _drawn(self, renderables: Sequence[Any]) -> list[str]:
        self._drawing.seek(0)
        self._drawing.truncate()
        for renderable in renderables:
            self._console.print(renderable, no_wrap=True, overflow="ellipsis", crop=True)
        return self._drawing.getvalue().split("\n")


def _renderables(title: str, progress: Progress) -> list[Any]:
    """Return one renderable a line."""
    from rich.columns import Columns
    from rich.progress_bar import ProgressBar
    from rich.rule import Rule
    from rich.text import Text

    pages, found, waiting = (Text(words) for words in progress.in_words())
    lines: list[Any] = [Rule(Text(title, style="bold"), align="left", style="dim")]
    if progress.budget is None:
        lines.append(pages)
    else:
        bar = ProgressBar(total=progress.budget, completed=progress.fetched, width=_BAR)
        lines.append(Columns([bar, pages]))
    lines += [found, waiting]
    for score, url in progress.best[:BEST_SHOWN]:
        line = Text("  ")
        # No link is certain: a score below 1 is not rounded up to it.
        line.append(f"{min(score, 0.999):.3f} ", style="green")
        line.append("".join(c if c.isprintable() else "\ufffd" for c in url))
        lines.append(line)
    return lines + [Text()] * (_LINES - len(lines))
