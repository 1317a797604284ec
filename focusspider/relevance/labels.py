"""Relevance by a table of labelled URLs: the truth of a benchmark."""

from __future__ import annotations

import csv
import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from w3lib.url import canonicalize_url

from focusspider.errors import TopicError, nearest
from focusspider.registry import check_choice, check_texts
from focusspider.relevance.base import Judgement
from focusspider.resources import located
from focusspider.urls import RefusedURLError, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from focusspider.page import Page
    from focusspider.profile import TopicProfile

__all__ = ["LabelRelevance", "passed_over"]

logger = logging.getLogger(__name__)

_INDEX_NAMES = ("index.html", "index.htm", "default.html", "default.htm")
_LONGEST = 100_000  # characters of a URL; a table may have longer ones than a crawl
_SHOWN = 12  # labels in a message


class LabelRelevance:
    """A page is relevant where a table gives its URL one of the wanted labels.

    The table is a CSV file in UTF-8 with a header. It needs the columns ``url`` and
    ``label`` and may have others, such as ``group``; a URL can have several rows.

    URLs are one where the frontier takes them for one: the table's are resolved like
    links and made canonical like requests. Where the table does not have a page's URL, it
    is looked up as the other spellings of its address, as a replay does it: ``http`` and
    ``https``, and ``/dir``, ``/dir/`` and ``/dir/index.html``, are one page. Where the
    table has several of these, the page has the labels of all.

    Parameters
    ----------
    file : str
        The table; a relative path is relative to the topic file.
    label : str or list of str
        The labels that are wanted; the table must have each.
    match : {"exact", "prefix"}
        Whether a label must be one of the wanted, or begin with it.
    """

    def __init__(
        self,
        *,
        file: str | os.PathLike[str],
        label: str | Sequence[str],
        match: str = "exact",
        base_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        check_choice("match", match, ("exact", "prefix"))
        if not isinstance(file, str | os.PathLike) or not str(file):
            raise ValueError(f"file must be a path, got {file!r}")
        if not isinstance(label, str) or not label:
            check_texts("label", label)
        if not label:
            raise ValueError(f"label must name at least one label, got {label!r}")
        self.file = file
        self.label = label
        self.match = match
        self.base_dir = base_dir
        self._wanted = (label,) if isinstance(label, str) else tuple(label)
        path = located(file, base_dir)
        self._labels = _read(path)
        self._known = {label for labels in self._labels.values() for label in labels}
        for one in self._wanted:
            self._check(one, path)
        self._spellings: dict[str, tuple[str, ...]] = {}
        for url, labels in self._labels.items():
            address = _address(url)
            self._spellings[address] = (*self._spellings.get(address, ()), *labels)

    def start(self, profile: TopicProfile) -> None:
        """Learn nothing: the table decides."""

    def judge(self, page: Page) -> Judgement:
        """Look a page up."""
        return self.judge_url(page.url)

    def judge_url(self, url: str) -> Judgement:
        """Look a page up by its URL, which is all that the table knows of it."""
        with suppress(RefusedURLError):  # such as a file's
            url = _key(url)
        labels = self._labels.get(url) or self._spellings.get(_address(url))
        if labels is None:
            return Judgement(0.0, False, "not in the table of labels")
        wanted = [label for label in labels if self._is_wanted(label)]
        if wanted:
            return Judgement(1.0, True, f"label {', '.join(wanted)}")
        return Judgement(0.0, False, f"label {', '.join(labels)}")

    def _is_wanted(self, label: str) -> bool:
        return label.startswith(self._wanted) if self.match == "prefix" else label in self._wanted

    def _check(self, wanted: str, path: Path) -> None:
        if self.match == "prefix":
            found = any(label.startswith(wanted) for label in self._known)
        else:
            found = wanted in self._known
        if not found:
            known = sorted(self._known)
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            raise ValueError(
                f"label {wanted!r} is not in {path}{nearest(wanted, known)}; "
                f"labels there: {', '.join(known[:_SHOWN])}{more}"
            )


def passed_over(path: Path) -> str | None:
    """Return which rows of a table have URLs that no crawl can fetch, in words; None: none."""
    _, refused = _read_rows(path)
    return _in_words(path, refused) if refused else None


def _in_words(path: Path, refused: Sequence[str]) -> str:
    return (
        f"{path}: {len(refused)} rows have URLs that no crawl can fetch and are passed over; "
        f"the first is {refused[0]}"
    )


def _read(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the labels of each URL of a table."""
    labels, refused = _read_rows(path)
    if refused:
        logger.warning("%s", _in_words(path, refused))
    if not labels:
        raise TopicError(f"{path}: there are no labels in it; give rows of url,label")
    return labels


def _read_rows(path: Path) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the labels of each URL of a table, and the rows that have no such URL."""
    labels: dict[str, tuple[str, ...]] = {}
    refused: list[str] = []
    for line, url, label in _rows(path):
        try:
            key = _key(url)
        except RefusedURLError as error:
            refused.append(f"line {line}, {url[:80]!r}: {error.reason}")
            continue
        if label not in labels.get(key, ()):
            labels[key] = (*labels.get(key, ()), label)
    return labels, refused


def _rows(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line number, URL and label of each row."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip() for name in next(reader, [])]
            if "url" not in header or "label" not in header:
                raise TopicError(
                    f"{path}: the header is {','.join(header)[:80]!r}; its first line must name "
                    f"the columns url and label"
                )
            url_column, label_column = header.index("url"), header.index("label")
            try:
                for row in reader:
                    if not row:
                        continue
                    if len(row) <= max(url_column, label_column):
                        raise TopicError(
                            f"{path}, line {reader.line_num}: {','.join(row)[:80]!r} has "
                            f"{len(row)} of {len(header)} columns; give url and label"
                        )
                    url, label = row[url_column].strip(), row[label_column].strip()
                    if not url or not label:
                        empty = "label" if url else "url"
                        raise TopicError(
                            f"{path}, line {reader.line_num}: the {empty} is empty; "
                            f"give one, or take the line out"
                        )
                    yield reader.line_num, url, label
            except csv.Error as error:
                raise TopicError(
                    f"{path}, line {reader.line_num}: is not CSV: {error}; mend the line"
                ) from None
    except FileNotFoundError:
        raise TopicError(f"{path}: there is no such file; mend file = ...") from None
    except UnicodeDecodeError as error:
        raise TopicError(f"{path}: is not UTF-8 ({error.reason}); save it as UTF-8") from None
    except OSError as error:
        raise TopicError(f"{path}: cannot be read: {error.strerror or error}") from None


def _key(url: str) -> str:
    """Return the one spelling of the URLs that the frontier takes for one."""
    return canonicalize_url(resolve(url, url, _LONGEST))


def _address(url: str) -> str:
    """Return what the spellings of one page's URL have in common."""
    address, mark, query = url.partition("://")[2].partition("?")
    folder, slash, name = address.rpartition("/")
    if slash and name in _INDEX_NAMES:
        address = folder
    return f"{address.rstrip('/')}{mark}{query}"
