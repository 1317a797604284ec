"""What the files that a crawl reads hold, so that a result of other files is not taken for its."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import Settings

from focusspider.config import FocusConfig
from focusspider.resources import located
from focusspider.strategies import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focusspider.evaluation.benchmark import Benchmark, CrawlSpec

__all__ = ["FileDigests", "digest", "tables_of"]


class FileDigests:
    """The digests of what the crawls of a benchmark name: models, tables, target pages.

    A file counts where it is named in full, or from the working directory, or from the folder
    of the benchmark. One in ``out`` is of the evaluation itself, which makes it when it runs.
    """

    def __init__(self, benchmark: Benchmark, out: Path) -> None:
        self._out = out
        self._folders = (Path(), Path(benchmark.source).parent)
        self._models = FocusConfig.from_settings(Settings(dict(benchmark.settings))).models_dir
        self._known: dict[Path, str] = {}

    def of(self, value: object) -> dict[str, str]:
        """Return the digest of each file that is named anywhere in a value, by its name."""
        return {name: self._digest(path) for name, path in self._named(value)}

    def of_models(self, strategy: str, crawl: CrawlSpec) -> dict[str, str]:
        """Return the digests of the models in the topic's folder, where a strategy asks them."""
        kind = STRATEGIES.get(strategy)
        if kind is None or "models_dir" not in inspect.signature(kind).parameters:
            return {}
        folder = located(self._models / str(crawl.arguments["name"]))
        return {path.name: self._digest(path) for path in sorted(folder.glob("*.npz"))}

    def _named(self, value: object) -> Iterator[tuple[str, Path]]:
        if isinstance(value, dict):
            for one in value.values():
                yield from self._named(one)
        elif isinstance(value, list | tuple):
            for one in value:
                yield from self._named(one)
        elif isinstance(value, str) and value and "\0" not in value and "://" not in value:
            for folder in self._folders:
                path = folder / value
                try:
                    if path.is_file() and not path.is_relative_to(self._out):
                        yield value, path
                        break
                except OSError:  # a text that is too long for a name
                    return

    def _digest(self, path: Path) -> str:
        if path not in self._known:
            self._known[path] = digest(path)
        return self._known[path]


def digest(path: Path) -> str:
    """Return the digest of a file, or of all files in a folder and their names."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        text = "".join(f"{file.relative_to(path)} {digest(file)}\n" for file in files)
        return hashlib.sha256(text.encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tables_of(benchmark: Benchmark) -> list[Path]:
    """Return the tables of labels that the crawls of a benchmark take for the truth."""
    truths = [crawl.arguments["relevance"] for crawl in benchmark.crawls]
    return [
        Path(file)
        for file in dict.fromkeys(
            truth["file"] for truth in truths if truth.get("kind") == "labels"
        )
    ]
