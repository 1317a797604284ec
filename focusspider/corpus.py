"""Documents as counts of terms: what a crawl has read, or texts that it learns from before.

A corpus that is saved is one ``.npz`` file of plain arrays. It holds how often each term is
in each document, and nothing else of the texts.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.errors import CorpusError
from focusspider.growing import GrowingArray
from focusspider.resources import located

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from focusspider.text import Analyzer

__all__ = [
    "Corpus",
    "Counts",
    "corpus_path",
    "frequent_terms",
    "pack_terms",
    "read_corpus",
    "unpack_terms",
]

#: Distinct terms of one document that count, the most frequent ones: a page can be made of
#: words that no other has.
MAX_TERMS = 2_000
#: Bytes of one file of a folder that are read.
MAX_FILE = 10_000_000
#: Bytes of a saved corpus, unpacked.
MAX_SIZE = 4_000_000_000
_HEADER = {"class": "focusspider.corpus.Corpus", "version": 1}
_HTML, _TEXT = {".html", ".htm", ".xhtml"}, {".txt"}


class Counts(NamedTuple):
    """The documents of a corpus at one moment; another thread may read it.

    ``matrix`` is (n_documents, n_terms), and ``terms`` names its columns. The list, and
    ``columns``, which has the column of each term, may hold more: what came later.
    """

    matrix: csr_array
    terms: Sequence[str]
    columns: Mapping[str, int]

    def totals(self) -> NDArray[np.float64]:
        """Return how often each term occurs, (n_terms,)."""
        matrix = self.matrix
        totals = np.bincount(matrix.indices, weights=matrix.data, minlength=matrix.shape[1])
        return totals.astype(np.float64, copy=False)

    def lengths(self) -> NDArray[np.float64]:
        """Return how many terms each document has, repeated ones too, (n_documents,)."""
        lengths: NDArray[np.float64] = self.matrix.sum(axis=1, dtype=np.float64)
        return lengths

    def select(self, vocabulary: Sequence[str]) -> csr_array:
        """Return the counts of some terms only, (n_documents, n_vocabulary)."""
        from scipy.sparse import csr_array

        n_documents, n_terms = self.matrix.shape
        place = np.full(n_terms, -1, dtype=np.int32)
        for number, term in enumerate(vocabulary):
            column = self.columns.get(term, n_terms)
            if column < n_terms:
                place[column] = number
        columns = place[self.matrix.indices]
        kept = columns >= 0
        ends = np.concatenate([[0], np.cumsum(kept)])[self.matrix.indptr]
        return csr_array(
            (self.matrix.data[kept], columns[kept], ends), shape=(n_documents, len(vocabulary))
        )


class Corpus:
    """Documents, each a count of terms.

    Parameters
    ----------
    language
        What the terms are stems of; None: they are not stemmed.

    Examples
    --------
    >>> corpus = Corpus()
    >>> corpus.add({"robot": 2, "arm": 1})
    >>> corpus.add({"arm": 1, "tea": 3})
    >>> counts = corpus.counts()
    >>> counts.matrix.toarray().tolist()
    [[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]]
    >>> counts.select(["tea", "milk", "robot"]).toarray().tolist()
    [[0.0, 0.0, 2.0], [3.0, 0.0, 0.0]]
    """

    def __init__(self, language: str | None = None) -> None:
        self.language = language
        self._terms: list[str] = []
        self._columns_of: dict[str, int] = {}
        self._ends = GrowingArray(np.int64)
        self._ends.append(0)
        self._columns = GrowingArray(np.int32)
        self._counts = GrowingArray(np.float32)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._ends) - 1

    def add(self, terms: Mapping[str, int]) -> None:
        """Add a document; no term may hold a line break."""
        chosen: Iterable[str] = terms
        if len(terms) > MAX_TERMS:
            chosen = sorted(terms, key=lambda term: (-terms[term], term))[:MAX_TERMS]
        numbers, names = self._columns_of, self._terms
        columns, counts = [], []
        for term in chosen:
            column = numbers.get(term)
            if column is None:
                column = numbers[term] = len(names)
                names.append(term)
            columns.append(column)
            counts.append(terms[term])
        self._columns.extend(np.array(columns, dtype=np.int32))
        self._counts.extend(np.array(counts, dtype=np.float32))
        self._ends.append(len(self._columns))

    def counts(self) -> Counts:
        """Return the documents as they are now; no count is copied."""
        from scipy.sparse import csr_array

        matrix = csr_array(
            (self._counts.view(), self._columns.view(), self._ends.view()),
            shape=(len(self), len(self._terms)),
            copy=False,
        )
        return Counts(matrix, self._terms, self._columns_of)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what :meth:`of` makes the corpus of again; the language is not in it."""
        return {
            "terms": pack_terms(self._terms),
            "ends": self._ends.view(),
            "columns": self._columns.view(),
            "counts": self._counts.view(),
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], language: str | None = None) -> Corpus:
        """Return the corpus whose :meth:`arrays` these are.

        Raises ``ValueError`` where they do not fit together.
        """
        terms = unpack_terms(arrays["terms"])
        ends, columns, counts = arrays["ends"], arrays["columns"], arrays["counts"]
        if (
            [ends.dtype.str, columns.dtype.str, counts.dtype.str] != ["<i8", "<i4", "<f4"]
            or not ends.ndim == columns.ndim == counts.ndim == 1
            or not (len(ends) and ends[0] == 0 and (np.diff(ends) >= 0).all())
            or not ends[-1] == len(columns) == len(counts)
            or not ((columns >= 0) & (columns < len(terms))).all()
            or not ((counts > 0) & (counts < np.inf)).all()
            or len(set(terms)) < len(terms)
        ):
            raise ValueError("its arrays do not fit together")
        corpus = cls(language)
        corpus._terms = terms
        corpus._columns_of = {term: column for column, term in enumerate(terms)}
        corpus._ends = GrowingArray.of(ends)
        corpus._columns = GrowingArray.of(columns)
        corpus._counts = GrowingArray.of(counts)
        return corpus

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the corpus into an ``.npz`` file, under this very name."""
        header = {**_HEADER, "language": self.language}
        arrays: dict[str, Any] = {"header": np.array(json.dumps(header)), **self.arrays()}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Corpus:
        """Read a corpus from an ``.npz`` file.

        Raises
        ------
        CorpusError
            For anything but a sound file that :meth:`save` wrote.
        """
        try:
            with zipfile.ZipFile(path) as packed:
                size = sum(info.file_size for info in packed.infolist())
            if size > MAX_SIZE:
                raise CorpusError(f"{path}: {size} bytes unpacked, and {MAX_SIZE} are the most")
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(str(arrays.pop("header")))
            if not isinstance(header, dict) or {k: header.get(k) for k in _HEADER} != _HEADER:
                raise CorpusError(f"{path}: not a corpus of this version: {header!r}; make it anew")
            return cls.of(arrays, header.get("language"))
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read: {error.strerror or error}") from None
        except CorpusError:
            raise
        except (KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise CorpusError(f"{path}: not a corpus, or damaged: {error}; make it anew") from None


def frequent_terms(
    corpora: Sequence[Counts], n_terms: int, *, always: Iterable[str] = ()
) -> list[str]:
    """Return the terms that occur most often, equals by name, and some that always count."""
    totals: dict[str, float] = {}
    for corpus in corpora:
        of_corpus = zip(corpus.terms, corpus.totals().tolist(), strict=False)
        if not totals:
            totals = dict(of_corpus)
            continue
        for term, total in of_corpus:
            totals[term] = totals.get(term, 0.0) + total
    least = 0.0
    if len(totals) > n_terms:  # most terms are rare: they need not be sorted
        least = float(np.partition(np.fromiter(totals.values(), float), -n_terms)[-n_terms])
    candidates = [term for term, total in totals.items() if total >= least]
    frequent = sorted(candidates, key=lambda term: (-totals[term], term))[:n_terms]
    return list(dict.fromkeys([*frequent, *always]))


def pack_terms(terms: Iterable[str]) -> NDArray[np.uint8]:
    r"""Return terms as the bytes of UTF-8, one a line.

    >>> pack_terms(["a", "bc"]).tobytes()
    b'a\nbc'
    """
    return np.frombuffer("\n".join(terms).encode(), dtype=np.uint8)


def unpack_terms(packed: NDArray[Any]) -> list[str]:
    """Return the terms of :func:`pack_terms`."""
    if packed.dtype != np.uint8:
        raise ValueError(f"terms are bytes of UTF-8, and these are {packed.dtype}")
    text = packed.tobytes().decode()
    return text.split("\n") if text else []


def corpus_path(
    corpus: str | os.PathLike[str] | None, base_dir: str | os.PathLike[str] | None
) -> Path | None:
    """Return where the corpus of a strategy is; ``ValueError`` where there is nothing."""
    if corpus is None:
        return None
    if not isinstance(corpus, str | os.PathLike) or not str(corpus):
        raise ValueError(f"corpus must be a path, got {corpus!r}")
    path = located(corpus, base_dir)
    if not path.exists():
        raise ValueError(
            f"corpus: there is no {path}; give a folder of HTML files and texts (.html, .txt), or "
            f"a file that Corpus.save wrote"
        )
    return path


def read_corpus(path: Path, analyzer: Analyzer) -> Counts:
    """Read texts to learn from: a file that :meth:`Corpus.save` wrote, or a folder.

    Of a folder and those within it, each HTML file (``.html``, ``.htm``, ``.xhtml``) and
    each text file (``.txt``, in UTF-8) is a document, in the order of their paths.

    Raises
    ------
    CorpusError
        Where there is nothing to learn from, or in another language than the analyzer's.
    """
    if path.is_dir():
        corpus = _read_folder(path, analyzer)
    else:
        corpus = Corpus.load(path)
        if corpus.language != analyzer.language:
            raise CorpusError(
                f"{path}: its terms are stems of {corpus.language or 'no language'}, and the "
                f"topic's language is {analyzer.language or 'none'}; make it anew in that language"
            )
    counts = corpus.counts()
    if not counts.matrix.nnz:
        raise CorpusError(f"{path}: no words to learn from; give HTML files or texts (.html, .txt)")
    return counts


def _read_folder(folder: Path, analyzer: Analyzer) -> Corpus:
    from focusspider.page import PageParser  # here, since models count terms without Scrapy

    corpus = Corpus(analyzer.language)
    parser = PageParser(analyzer=analyzer)
    for path in sorted(_files(folder)):
        try:
            with path.open("rb") as file:
                source = file.read(MAX_FILE)
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read: {error.strerror}") from None
        if path.suffix.lower() in _HTML:
            corpus.add(parser.parse_html(source, path.absolute().as_uri()).terms)
        else:
            corpus.add(analyzer.terms(source.decode("utf-8", "replace")))
    return corpus


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.suffix.lower() in _HTML | _TEXT and path.is_file():
            yield path
