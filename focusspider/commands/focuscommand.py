"""What the commands share that take one thing, and work on it until it is done."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focusspider.errors import FocusError

if TYPE_CHECKING:
    import argparse

__all__ = ["FocusCommand"]


class FocusCommand(ScrapyCommand):
    """A command of one argument; what is wrong is one line, and no traceback.

    A command says what its argument is (``argument``), and what is left when Ctrl-C ends it
    (``stopped``), and does its work in :meth:`work`.
    """

    requires_project = False
    requires_crawler_process = False
    argument: ClassVar[str]
    stopped: ClassVar[str]

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Work; the exit status is 1 where something is wrong, 130 where it was stopped."""
        if len(args) != 1:
            raise UsageError(f"name one {self.argument}")
        try:
            self.work(args[0], opts)
        except FocusError as error:
            print(error, file=sys.stderr)
            self.exitcode = 1
        except KeyboardInterrupt:
            print(f"Stopped; {self.stopped}.", file=sys.stderr)
            self.exitcode = 130

    @abstractmethod
    def work(self, given: str, opts: argparse.Namespace) -> None:
        """Do what the command is for; a FocusError or Ctrl-C may end it."""
