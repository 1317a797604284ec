from __future__ import annotations

import io
import sys

import pytest

from focusspider.commands import progress
from focusspider.commands.progress import ProgressBar


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_it_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProgressBar("Reading") as bar:
        bar.show(1, 2_000)
        assert capsys.readouterr().err == ""  # not so soon
        monkeypatch.setattr(progress, "_EVERY", 0.0)
        bar.show(1_999, 2_000)
        bar.show(3, 5, "Counting")
        bar.show(4, 5)
    said = capsys.readouterr()
    assert said.err == "Reading: 1,999 of 2,000\nCounting: 3 of 5\nCounting: 4 of 5\n"
    assert said.out == ""


def test_on_a_terminal_it_is_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with ProgressBar("Reading") as bar:
        bar.show(1, 4)
        bar.show(4, 4, "Counting")
    assert "Counting" in screen.getvalue()
    assert "100%" in screen.getvalue()
    assert "4 of 4" not in screen.getvalue()
    assert capsys.readouterr().out == ""


def test_what_ends_the_work_ends_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setenv("TERM", "xterm")
    before = sys.stderr
    during = None
    try:
        with ProgressBar("Reading"):
            during = sys.stderr  # rich's, so that lines of others go above the bar
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert during is not before
    assert sys.stderr is before
