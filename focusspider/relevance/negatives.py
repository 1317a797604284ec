"""Pages that are not wanted, from files: what a judge learns to tell the wanted ones from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.errors import NotAPageError
from focusspider.page import PageParser
from focusspider.registry import check_texts
from focusspider.resources import located

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from focusspider.page import Page
    from focusspider.text import Analyzer

__all__ = ["negative_files", "read_negatives"]

_HTML = {".html", ".htm", ".xhtml"}
_MAX_FILE = 10_000_000  # bytes that are read of one


def negative_files(
    negatives: Sequence[str] | str, base_dir: str | os.PathLike[str] | None
) -> tuple[Path, ...]:
    """Return the HTML files that a parameter names, itself or by their folder.

    Raises ``ValueError`` where it is no list of paths, or there is nothing.
    """
    if isinstance(negatives, str) and negatives.strip():
        negatives = [negatives]
    check_texts("negatives", negatives)
    return tuple(path for name in negatives for path in _files(name, located(name, base_dir)))


def _files(name: str, path: Path) -> list[Path]:
    if "://" in name:
        raise ValueError(f"negatives: {name!r} is a URL; save the page as an HTML file")
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise ValueError(
            f"negatives: there is no {path}; give HTML files, or folders of them, of pages that "
            f"are not wanted"
        )
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in _HTML)
    if not found:
        raise ValueError(f"negatives: {name!r} is a folder without HTML files (.html, .htm)")
    return found


def read_negatives(paths: Iterable[Path], analyzer: Analyzer) -> Iterator[Page]:
    """Read pages from files; what is no page is passed over."""
    parser = PageParser(analyzer=analyzer)
    for path in paths:
        with path.open("rb") as file:
            source = file.read(_MAX_FILE)
        try:
            yield parser.parse_html(source, path.absolute().as_uri())
        except NotAPageError:
            continue
