"""What can go wrong, named by what the caller should do about it.

Each message says what was wrong, with the value, where it was found, and what to do.
Errors of this module that reach Scrapy before the first request are printed as one
message without a traceback: they are about the user's input, not about the code.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BenchmarkError",
    "CorpusError",
    "FocusError",
    "FrontierError",
    "MissingExtraError",
    "ModelFileError",
    "NotAPageError",
    "ReplayError",
    "ResourceError",
    "RunFolderError",
    "ServiceError",
    "SettingError",
    "TopicError",
    "TrainingError",
    "UnknownNameError",
    "UnserializableError",
    "UrlListError",
    "WebGraphError",
]


class FocusError(Exception):
    """Base of every error that focusspider raises on purpose."""


class TopicError(FocusError, ValueError):
    """A topic cannot be used: mend the file or the argument that the message names."""


class BenchmarkError(FocusError, ValueError):
    """A benchmark cannot be run: mend the file or the option that the message names."""


class SettingError(FocusError, ValueError):
    """A setting cannot be used: mend the setting that the message names."""


class UnknownNameError(FocusError, ValueError):
    """A name is in no registry: take one of the known names, which the message lists."""

    def __init__(self, kind: str, name: object, known: Iterable[str], *, where: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        place = f"{where}: " if where else ""
        super().__init__(
            f"{place}{name!r} is not a known {kind}{nearest(str(name), self.known)}; "
            f"known: {', '.join(self.known) or 'none'}"
        )


class ReplayError(FocusError, ValueError):
    """An archive cannot be replayed: mend ``FOCUS_REPLAY`` or the file that it names."""


class ResourceError(FocusError, ValueError):
    """A file of a package cannot be found: mend its name, or put it into the package."""


class RunFolderError(FocusError, ValueError):
    """A folder is not that of a run: name another."""


class CorpusError(FocusError, ValueError):
    """Texts to learn from cannot be used: mend or make anew the file that the message names."""


class ModelFileError(FocusError, ValueError):
    """A learnt model cannot be used: give another file, or train again, as the message says."""


class TrainingError(FocusError, ValueError):
    """There is too little to learn from: collect more, as the message says."""


class ServiceError(FocusError, RuntimeError):
    """A service of others failed: do what the message says, and call again."""


class WebGraphError(FocusError, ValueError):
    """A web graph cannot be read or written: mend or make anew the file that is named."""


class UrlListError(FocusError, ValueError):
    """A list of URLs cannot be used: mend the file that the message names."""


class FrontierError(FocusError, RuntimeError):
    """A frontier cannot be opened or used: the message says which and why."""


class UnserializableError(FocusError, ValueError):
    """A request cannot be written down or read back: keep it in memory, or do without."""


class MissingExtraError(FocusError, ImportError):
    """An optional library is not installed: install the extra that the message names."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(
            f"{purpose} needs a library that is not installed; "
            f"run: pip install 'focusspider[{extra}]'"
        )


class NotAPageError(FocusError, ValueError):
    """A response is not an HTML page: count it and pass over it.

    ``reason`` is a short word for the statistics, such as ``not_html``.
    """

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        super().__init__(detail)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"``, or nothing where no known name is close.

    >>> nearest("hub-seek", ["dom", "hub-seeking"])
    " (did you mean 'hub-seeking'?)"
    >>> nearest("zzz", ["dom", "hub-seeking"])
    ''
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
