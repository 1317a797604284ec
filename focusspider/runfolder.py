"""The folder of one crawl, ``exports/TOPIC/RUN/``: what it found and how it went.

Run folder contents
-------------------
``items.jsonl``
    one item a line, in the order in which the pages were fetched
``crawl.jsonl``
    one fetched page a line, in order: enough to draw every curve of the crawl later
``run.json``
    topic, strategy, settings, seed, versions, counts, and why the crawl stopped
``items.parquet``, ``pages.warc.gz``
    where asked for
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from focusspider.config import is_folder_name
from focusspider.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["RunFolder", "utc_stamp"]


class RunFolder:
    """Paths and writers of one run's folder.

    The folder is made at once, and never one that holds another run's files: a run that is
    named and there already is a :class:`~focusspider.errors.SettingError`.
    """

    def __init__(self, exports: Path, topic: str, run: str | None = None) -> None:
        self.name = run or utc_stamp()
        parent = exports / topic
        if run is not None and not is_folder_name(run):
            raise SettingError(
                f"FOCUS_RUN={run!r}: not a name for a folder; "
                "use letters, digits, '.', '-', '_' and '+'"
            )
        self.path = parent / self.name
        try:
            self._make(parent, named=run is not None)
        except OSError as error:
            raise SettingError(
                f"FOCUS_EXPORTS_DIR={str(exports)!r}: cannot make the run folder "
                f"{self.path}: {error.strerror}; give a folder that this user may write to"
            ) from error
        self._log = (self.path / "crawl.jsonl").open("a", encoding="utf-8")

    def _make(self, parent: Path, *, named: bool) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(2, 1000):
            try:
                self.path.mkdir()
                return
            except FileExistsError:
                if named:
                    raise SettingError(
                        f"FOCUS_RUN={self.name!r}: {self.path} is there already; "
                        "give another name, or remove that folder"
                    ) from None
            # two crawls of one topic that start in the same second
            self.path = parent / f"{self.name}-{attempt}"
        raise SettingError(f"FOCUS_RUN: no free name for a run folder in {parent}")

    @property
    def items(self) -> Path:
        """Where the items are journalled."""
        return self.path / "items.jsonl"

    @property
    def parquet(self) -> Path:
        """Where the items go as Parquet."""
        return self.path / "items.parquet"

    @property
    def warc(self) -> Path:
        """Where the fetched responses go."""
        return self.path / "pages.warc.gz"

    def log(self, line: Mapping[str, Any]) -> None:
        """Append one fetched page to ``crawl.jsonl``."""
        self._log.write(json.dumps(line, ensure_ascii=False) + "\n")

    def write_run(self, run: Mapping[str, Any]) -> None:
        """Write ``run.json``, whole or not at all."""
        path = self.path / "run.json"
        draft = path.with_suffix(".json.part")
        draft.write_text(json.dumps(run, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        draft.replace(path)

    def flush(self) -> None:
        """Hand what was logged to the operating system."""
        self._log.flush()

    def close(self) -> None:
        """Close ``crawl.jsonl``; a second call does nothing."""
        with suppress(ValueError):
            self._log.close()


def utc_stamp() -> str:
    """Return the time now as a name that sorts: ``20261127T101500Z``."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
