"""The folder of one crawl, ``exports/TOPIC/RUN/``: what it found and how it went.

Run folder contents
-------------------
``items.jsonl``
    one item a line, in the order in which they were made
``facts.jsonl``
    attributes and values of relevant pages, where the judge looks at tables
``crawl.jsonl``
    one fetched page a line, in order: enough to draw every curve of the crawl later
``run.json``
    topic, strategy, settings, seed, versions, counts, and why the crawl stopped
``learnt.npz``
    what a strategy that learns during the crawl has learnt, for ``scrapy focus-inspect``
``items.parquet``, ``pages.warc.gz``
    where asked for; a crawl that was resumed adds ``items-2.parquet`` and so on, since
    neither can be appended to when the process that wrote it was killed
"""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focusspider.config import is_folder_name
from focusspider.errors import SettingError
from focusspider.facts import FACTS
from focusspider.journal import Journal, Mark, recover
from focusspider.models.modelfile import write_model

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from focusspider.frontier.sqlite import SqliteFrontier
    from focusspider.models.modelfile import ModelFile

__all__ = ["LESSONS", "RunFolder", "make_once", "utc_stamp"]

#: What a strategy has learnt, in a run's folder.
LESSONS = "learnt.npz"

_JOURNALS = ("crawl.jsonl", "items.jsonl")


class RunFolder:
    """Paths and writers of one run's folder.

    Parameters
    ----------
    path
        the folder, which is there
    marks
        what a checkpoint of an interrupted crawl knew of its journals, as :meth:`marks`
        gave it
    """

    def __init__(self, path: Path, marks: Mapping[str, Any] | None = None) -> None:
        self.path = path
        #: whether something could not be written, such as on a full disk
        self.broken = False
        #: is told the error, once
        self.failed: Callable[[OSError], None] | None = None
        self._journals = {
            name: Journal(path / name, _mark((marks or {}).get(name))) for name in _JOURNALS
        }

        if (path / FACTS).exists():  # otherwise it is made with the first fact
            mark = None if marks is None else _mark(marks.get(FACTS)) or Mark(0)
            self._journals[FACTS] = Journal(path / FACTS, mark)

    @classmethod
    def make(
        cls,
        exports: Path,
        topic: str,
        run: str | None = None,
        *,
        job: str | None = None,
        reserve: Callable[[Path], None] | None = None,
    ) -> RunFolder:
        """Make the folder of a new run.

        Never one that holds another run's files: a run that is named and there already is
        a :class:`~focusspider.errors.SettingError`. Two crawls of one topic that start in
        the same second have folders of their own, and so does a job of Scrapyd, which names
        the folder where nothing else does, that is scheduled again. ``reserve`` is told the
        path before the folder is made.
        """
        name = run or job or utc_stamp()
        if not is_folder_name(name):
            raise SettingError(
                f"{'FOCUS_RUN' if run else '_job'}={name!r}: not a name for a folder; "
                "use letters, digits, '.', '-', '_' and '+'"
            )
        parent = exports / topic
        path = parent / name
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for attempt in range(2, 1000):
                try:
                    if reserve is not None and not path.exists():
                        reserve(path)
                    path.mkdir()
                    break
                except FileExistsError:
                    if run is not None:
                        raise SettingError(
                            f"FOCUS_RUN={run!r}: {path} is there already; "
                            "give another name, or remove that folder"
                        ) from None
                    path = parent / f"{name}-{attempt}"
            return cls(path)
        except OSError as error:
            raise SettingError(
                f"FOCUS_EXPORTS_DIR={str(exports)!r}: cannot make the run folder "
                f"{path}: {error.strerror}; give a folder that this user may write to"
            ) from error

    @classmethod
    def again(cls, saved: Mapping[str, Any], job: str) -> RunFolder:
        """Return the folder of an interrupted crawl, by what its job directory kept of it."""
        path = Path(saved["folder"])
        if not path.is_dir():
            raise SettingError(
                f"JOBDIR={job!r} holds a crawl whose run folder {path} is gone; put it back, or "
                "begin anew in another JOBDIR"
            )
        return cls(path, saved["marks"])

    @classmethod
    def take(cls, path: Path) -> RunFolder | None:
        """Take a folder that was reserved, and None where another run has it by now."""
        log = path / "crawl.jsonl"
        if log.exists() and log.stat().st_size:
            return None
        path.mkdir(parents=True, exist_ok=True)
        return cls(path)

    @classmethod
    def make_part(cls, run: Path, name: str) -> RunFolder:
        """Make a worker's folder in that of a run which several workers share."""
        path = run / name
        try:
            path.mkdir(parents=True)
            return cls(path)
        except FileExistsError:
            raise SettingError(
                f"{path} is there already, and Redis does not know of it: it was emptied since. "
                "Give another name with FOCUS_RUN, or remove that folder"
            ) from None
        except OSError as error:
            raise SettingError(
                f"FOCUS_EXPORTS_DIR: cannot make the folder {path}: {error.strerror}; "
                "give a folder that this user may write to"
            ) from error

    @staticmethod
    def cut(path: Path, marks: Mapping[str, Any]) -> None:
        """Cut the journals in a folder that nobody writes to back to these marks."""
        for name in (*_JOURNALS, FACTS):
            if (path / name).exists():
                recover(path / name, _mark(marks.get(name)) or Mark(0))

    @property
    def items(self) -> Path:
        """Where the items are journalled."""
        return self.path / "items.jsonl"

    @property
    def n_items(self) -> int:
        """How many items the journal holds."""
        with self.items.open("rb") as lines:
            return sum(1 for _ in lines)

    @property
    def crawl(self) -> Path:
        """Where the fetched pages are logged."""
        return self.path / "crawl.jsonl"

    def free(self, stem: str, suffix: str) -> Path:
        """Return the first of ``stem.suffix``, ``stem-2.suffix`` … that is not there."""
        path, attempt = self.path / f"{stem}{suffix}", 1
        while path.exists():
            attempt += 1
            path = self.path / f"{stem}-{attempt}{suffix}"
        return path

    def log(self, line: Mapping[str, Any], owner: Hashable | None) -> None:
        """Append one fetched page to ``crawl.jsonl``; the owner is settled later."""
        with self._guard():
            self._journals["crawl.jsonl"].append(json.dumps(line, ensure_ascii=False), owner)

    def add_item(self, line: str, owner: Hashable | None) -> None:
        """Append one item to ``items.jsonl``, for people to see at once."""
        journal = self._journals["items.jsonl"]
        with self._guard():
            journal.append(line, owner)
            journal.flush()

    def add_facts(self, lines: Iterable[Mapping[str, Any]], owner: Hashable | None) -> None:
        """Append facts to ``facts.jsonl``; the owner is settled later."""
        with self._guard():
            for line in lines:
                if FACTS not in self._journals:
                    self._journals[FACTS] = Journal(self.path / FACTS)
                self._journals[FACTS].append(json.dumps(line, ensure_ascii=False), owner)

    def settled(self, owner: Hashable) -> None:
        """Keep an owner's lines."""
        for journal in self._journals.values():
            journal.settled(owner)

    def marks(self) -> dict[str, Any]:
        """Hand all lines to the operating system, and return what a checkpoint keeps."""
        marks: dict[str, Any] = {}
        with self._guard():
            for name, journal in self._journals.items():
                marks[name] = journal.mark()
        return marks

    def write_run(self, run: Mapping[str, Any]) -> None:
        """Write ``run.json``, whole or not at all."""
        path = self.path / "run.json"
        draft = path.with_suffix(".json.part")
        text = json.dumps(run, ensure_ascii=False, indent=2) + "\n"
        with self._guard():
            draft.write_text(text, encoding="utf-8")
            draft.replace(path)

    def write_lessons(self, lessons: ModelFile | None) -> None:
        """Write ``learnt.npz``, where there is anything."""
        if lessons is not None:
            with self._guard():
                write_model(self.path / LESSONS, lessons)

    def close(self, marks: Mapping[str, Any] | None = None) -> None:
        """Close the journals, and cut them back to ``marks``; a second call does nothing."""
        for journal in self._journals.values():
            with self._guard():
                journal.close()
        if marks is not None:
            with self._guard():
                self.cut(self.path, marks)

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        """End the crawl where a file can't be written, and not with an error a page."""
        try:
            yield
        except OSError as error:
            self.broken = True
            failed, self.failed = self.failed, None
            if failed is not None:
                failed(error)


def make_once(
    exports: Path, topic: str, run: str | None, *, job: str | None, kept: SqliteFrontier | None
) -> RunFolder:
    """Make the folder of a run, once, however early and often the crawl is killed.

    ``kept`` is the frontier of its job directory, which keeps where the folder is.
    """
    if kept is None:
        return RunFolder.make(exports, topic, run, job=job)

    def reserve(path: Path) -> None:
        kept.remember("run", str(path.absolute()).encode())
        kept.flush()

    reserved = kept.recall("run")
    folder = RunFolder.take(Path(reserved.decode())) if reserved else None
    return folder or RunFolder.make(exports, topic, run, job=job, reserve=reserve)


def utc_stamp() -> str:
    """Return the time now as a name that sorts: ``20261127T101500Z``."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def _mark(kept: Any) -> Mark | None:
    """Return a mark as JSON kept it."""
    if kept is None:
        return None
    length, cuts = kept
    return Mark(length, tuple((start, stop) for start, stop in cuts))
