"""What the commands share: how they end, and that most take one thing and work on it."""

from __future__ import annotations

import errno
import io
import os
import sys
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focusspider.errors import FocusError, SettingError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["FocusCommand", "ToldCommand", "make_folder"]

#: What is the disk's fault, and not ours.
_DISK = frozenset({errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EROFS})


class ToldCommand(ScrapyCommand):
    """A command that tells what is wrong in one line, and without a traceback.

    It says what is left when Ctrl-C ends it (``stopped``).
    """

    requires_project = False
    requires_crawler_process = False
    stopped: ClassVar[str] = "nothing was changed"

    def attempt(self, work: Callable[[], None]) -> None:
        """Do what the command is for; a FocusError, a full disk or Ctrl-C may end it.

        The exit status is 1 where something is wrong, 130 where it was stopped. A reader that
        has seen enough, as ``head`` has, is nothing wrong.
        """
        if isinstance(sys.stdout, io.TextIOWrapper):  # a title may have what it cannot show
            sys.stdout.reconfigure(errors="replace")
        try:
            work()
            sys.stdout.flush()
        except FocusError as error:
            self._fail(str(error))
        except KeyboardInterrupt:
            print(f"Stopped; {self.stopped}.", file=sys.stderr)
            self.exitcode = 130
        except BrokenPipeError:
            _drop_output()
        except OSError as error:
            if error.errno not in _DISK:
                raise
            _drop_output()
            self._fail(f"{error.filename or 'the output'} cannot be written: {error.strerror}")

    def _fail(self, message: str) -> None:
        # here, since every call of scrapy loads every command
        from focusspider.inspection.text import printable

        print("\n".join(map(printable, message.split("\n"))), file=sys.stderr)
        self.exitcode = 1


class FocusCommand(ToldCommand):
    """A command of one argument.

    It says what its argument is (``argument``), and does its work in :meth:`work`.
    """

    argument: ClassVar[str]

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Work on the one argument; see :meth:`attempt`."""
        if len(args) != 1:
            raise UsageError(f"name one {self.argument}")
        self.attempt(lambda: self.work(args[0], opts))

    @abstractmethod
    def work(self, given: str, opts: argparse.Namespace) -> None:
        """Do what the command is for."""


def _drop_output() -> None:
    """Let what is left in the buffer go nowhere, or it would fail once more at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_folder(path: Path, option: str) -> None:
    """Make the folder that an option names, before there is anything to write to it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(
            f"{option} {path} cannot be a folder: {error.strerror}; name another"
        ) from error
