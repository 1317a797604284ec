"""How the commands end that share a skeleton."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest
from scrapy.exceptions import UsageError

from focusspider.commands.focuscommand import FocusCommand
from focusspider.errors import SettingError


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
