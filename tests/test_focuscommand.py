"""How the commands end that share a skeleton."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError

from focusspider.commands.focuscommand import FocusCommand
from focusspider.errors import SettingError
from tests.crawls import ROOT


class Mill(FocusCommand):
    argument = "sack, such as wheat"
    stopped = "the flour is kept"

    def short_desc(self) -> str:
        return "Grind"

    def work(self, given: str, opts: argparse.Namespace) -> None:
        if opts.error is not None:
            raise opts.error
        print(f"{given} is ground")


@pytest.mark.parametrize(
    ("error", "status", "out", "err"),
    [
        (None, 0, "wheat is ground\n", ""),
        (SettingError("no water: open the sluice"), 1, "", "no water: open the sluice\n"),
        (SettingError("no\x1b[2J\nwater"), 1, "", "no\ufffd[2J\nwater\n"),
        (KeyboardInterrupt(), 130, "", "Stopped; the flour is kept.\n"),
    ],
)
def test_it_ends(
    capsys: pytest.CaptureFixture[str],
    error: BaseException | None,
    status: int,
    out: str,
    err: str,
) -> None:
    mill = Mill()
    mill.run(["wheat"], argparse.Namespace(error=error))
    assert mill.exitcode == status
    assert capsys.readouterr() == (out, err)


@pytest.mark.parametrize("arguments", [[], ["wheat", "rye"]])
def test_it_takes_one_thing(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="name one sack, such as wheat"):
        Mill().run(arguments, argparse.Namespace(error=None))


def test_a_fault_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        Mill().run(["wheat"], argparse.Namespace(error=ZeroDivisionError()))


GRINDS = """
import argparse
from tests.test_focuscommand import Mill
mill = Mill()
mill.run([{grain!r} * {times}], argparse.Namespace(error=None))
raise SystemExit(mill.exitcode)
"""


def grind(
    grain: str, shell: str, times: int = 1, **environment: str
) -> subprocess.CompletedProcess[str]:
    program = shlex.join(
        [sys.executable, "-W", "error", "-c", GRINDS.format(grain=grain, times=times)]
    )
    return subprocess.run(
        ["bash", "-c", f"{program} {shell}"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_one_line() -> None:
    done = grind("wheat", "> /dev/full")
    assert done.returncode == 1
    assert done.stderr == "the output cannot be written: No space left on device\n"


def test_a_reader_that_has_seen_enough_is_nothing_wrong() -> None:
    done = grind("wheat", "| true; exit ${PIPESTATUS[0]}", times=100_000)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_a_terminal_cannot_show_is_replaced() -> None:
    done = grind("blé", "", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout, done.stderr) == (0, "bl? is ground\n", "")


def test_a_call_of_scrapy_loads_all_commands_and_little_else() -> None:
    code = (
        "import sys; from importlib.metadata import entry_points; "
        "print(sorted(one.name for one in entry_points(group='scrapy.commands') if one.load())); "
        "print([name for name in ('numpy', 'selectolax', 'playwright') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, loaded = done.stdout.splitlines()
    assert "'focus-record'" in names
    assert loaded == "[]"
