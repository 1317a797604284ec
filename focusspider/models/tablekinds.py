"""Kinds of tables: which tables the pages of some samples have in common.

A kind is what tables of the same sort share: the names of their attributes, their shape, and where
in the markup they are. Names decide; the markup of one site helps where names are partly others,
and decides alone where the pages are in another language than the samples.
"""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from focusspider.registry import check_number, check_share

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from focusspider.tables import DataTable

__all__ = ["MAX_SORTS", "Match", "TableKind", "TableKinds", "TableSigns", "learn_kinds"]

#: Sorts of tables that are told apart among the samples, those of most samples first.
MAX_SORTS = 500

#: How much of the likeness in the markup comes from the table's own classes; the rest is of the
#: elements around it.
_OWN = 0.6
#: What is left of a likeness where one has its attributes in rows and the other in columns.
_TURNED = 0.4


class TableSigns(NamedTuple):
    """What a table is known by.

    Attributes
    ----------
    language : str or None
        Of its page.
    names : frozenset of str
        Keys of its attributes.
    own, around : frozenset of str
        Its classes, and those of the two elements around it.
    orientation : str
        See :class:`~focusspider.tables.DataTable`.
    """

    language: str | None
    names: frozenset[str]
    own: frozenset[str]
    around: frozenset[str]
    orientation: str

    @classmethod
    def of(cls, table: DataTable, language: str | None) -> TableSigns:
        """Return the signs of a table of a page in a language."""
        *above, own = table.tag_path.split("/")
        around = frozenset(name for tag in above[-2:] for name in tag.split(".")[1:])
        return cls(
            language,
            frozenset(table.attributes),
            frozenset(own.split(".")[1:]),
            around,
            table.orientation,
        )


def _dice(a: Collection[str], b: Collection[str]) -> float:
    both = len(set(a) & set(b))
    return 2 * both / (len(a) + len(b)) if both else 0.0


class TableKind:
    """Tables of one sort, of which each sample page may have several.

    Attributes
    ----------
    pages : set of int
        The samples that have such a table.
    n_tables : int
        How many there are in all.
    distinct : bool
        Whether no other kind has its classes, so that these alone tell it.
    """

    def __init__(self) -> None:
        self.pages: set[int] = set()
        self.n_tables = 0
        self.distinct = True
        self._names: dict[str | None, Counter[str]] = {}
        self._tables: Counter[str | None] = Counter()
        self._markup: Counter[tuple[frozenset[str], frozenset[str]]] = Counter()
        self._orientation: Counter[str] = Counter()

    def add(self, signs: TableSigns, n_tables: int, pages: Iterable[int]) -> None:
        """Take tables with the same signs in."""
        self.pages.update(pages)
        self.n_tables += n_tables
        self._tables[signs.language] += n_tables
        names = self._names.setdefault(signs.language, Counter())
        names.update(dict.fromkeys(signs.names, n_tables))
        self._markup[signs.own, signs.around] += n_tables
        self._orientation[signs.orientation] += n_tables

    @property
    def classes(self) -> set[frozenset[str]]:
        """The sets of classes that its tables have."""
        return {own for own, _ in self._markup}

    def attributes(self, language: str | None = None) -> dict[str, float]:
        """Return which share of the kind's tables has each attribute, the largest first.

        Of the tables in a language where there are any, else of all.
        """
        languages = [language] if language in self._tables else list(self._tables)
        total = sum(self._tables[one] for one in languages)
        counts: Counter[str] = Counter()
        for one in languages:
            counts.update(self._names[one])
        ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        return {name: count / total for name, count in ordered}

    def likeness(self, signs: TableSigns) -> float:
        """Return how much a table is of this kind, in [0, 1].

        With R the share of the kind's attributes that the table has, each weighted by how many
        of the kind's tables have it, P the share of the table's attributes that the kind has,
        and t the likeness in the markup, it is F^(1 - t/2), where F = 2 P R / (P + R). A table
        in another language than any of the kind is as like as its markup is, if its classes
        are the kind's alone. Attributes in columns instead of rows leave two fifths of it.
        """
        known = self.attributes(signs.language)
        shared = signs.names & known.keys()
        markup = self._likeness_of_markup(signs)
        found = 0.0
        if shared:
            recall = fsum(known[name] for name in shared) / fsum(known.values())
            precision = len(shared) / len(signs.names)
            found = (2 * precision * recall / (precision + recall)) ** (1 - markup / 2)
        foreign = None not in (signs.language, *self._tables) and (
            signs.language not in self._tables
        )
        if foreign and self.distinct and signs.own and signs.own in self.classes and signs.names:
            found = max(found, markup)
        return found if signs.orientation in self._orientation else _TURNED * found

    def _likeness_of_markup(self, signs: TableSigns) -> float:
        return max(
            _OWN * _dice(own, signs.own) + (1 - _OWN) * _dice(around, signs.around)
            for own, around in self._markup
        )


class Match(NamedTuple):
    """The table of a page that is most like a kind: its place among them, and how like it is."""

    table: int
    likeness: float


class TableKinds:
    """The kinds of tables that sample pages have, and which of them a page must have.

    Attributes
    ----------
    kinds : list of TableKind
        Those of most samples first.
    wanted : list of TableKind
        Those that a page must have.
    """

    def __init__(self, kinds: list[TableKind], wanted: list[TableKind]) -> None:
        self.kinds = kinds
        self.wanted = wanted

    def matches(self, tables: Sequence[TableSigns]) -> list[Match | None]:
        """Return for each wanted kind the table that is most like it, of equals the first.

        None for a kind that no table is at all like.
        """
        found: list[Match | None] = []
        for kind in self.wanted:
            best = max(
                (Match(place, kind.likeness(signs)) for place, signs in enumerate(tables)),
                key=lambda match: (match.likeness, -match.table),
                default=None,
            )
            found.append(best if best is not None and best.likeness > 0 else None)
        return found


def learn_kinds(
    samples: Sequence[Sequence[TableSigns]],
    *,
    merge: float = 0.6,
    outliers: float = 0.05,
    attributes: Collection[str] = (),
) -> TableKinds:
    """Return the kinds of tables that samples have.

    Tables are gone through from those of most samples to those of fewest. Each joins the kind
    that it is most like, if that is at least ``merge``, and begins a new one otherwise.

    A page must have every kind that all samples have but for a share of ``outliers``; where
    there is none, the kind that most samples have, if that is at least half of them. Where
    nothing is that common, ``wanted`` is empty.

    Parameters
    ----------
    samples
        Signs of the tables of each sample page.
    attributes
        Keys of attributes; a wanted kind must have one of them, if any are given.
    """
    check_share("outliers", outliers)
    check_number("merge", merge)
    kinds: list[TableKind] = []
    for signs, (n_tables, pages) in _sorts(samples):
        likest = max(kinds, key=lambda kind: kind.likeness(signs), default=None)
        if likest is None or likest.likeness(signs) < merge:
            likest = TableKind()
            kinds.append(likest)
        likest.add(signs, n_tables, pages)
    kinds.sort(key=lambda kind: (-len(kind.pages), -kind.n_tables, list(kind.attributes())))
    for kind in kinds:
        others = [other for other in kinds if other is not kind]
        kind.distinct = not any(kind.classes & other.classes for other in others)
    named = [k for k in kinds if k.attributes().keys() & set(attributes)] if attributes else kinds
    needed = len(samples) - int(outliers * len(samples))
    wanted = [kind for kind in named if len(kind.pages) >= needed]
    if not wanted and named and 2 * len(named[0].pages) >= len(samples):
        wanted = named[:1]
    return TableKinds(kinds, wanted)


def _sorts(
    samples: Sequence[Sequence[TableSigns]],
) -> list[tuple[TableSigns, tuple[int, set[int]]]]:
    """Return each sort of table with how many there are and in which samples.

    A name that one sample alone has says nothing of the others, so that it does not count, if
    there are others in its language.
    """
    in_language = Counter(
        language for tables in samples for language in {t.language for t in tables}
    )
    pages_with: dict[tuple[str | None, str], set[int]] = {}
    for page, tables in enumerate(samples):
        for table in tables:
            for name in table.names:
                pages_with.setdefault((table.language, name), set()).add(page)
    found: dict[TableSigns, tuple[int, set[int]]] = {}
    for page, tables in enumerate(samples):
        for table in tables:
            few = in_language[table.language] < 2
            names = frozenset(
                name for name in table.names if few or len(pages_with[table.language, name]) > 1
            )
            if names:
                n_tables, pages = found.get(table._replace(names=names), (0, set()))
                found[table._replace(names=names)] = n_tables + 1, pages | {page}
    return sorted(found.items(), key=_common_first)[:MAX_SORTS]


def _common_first(sort: tuple[TableSigns, tuple[int, set[int]]]) -> tuple[Any, ...]:
    signs, (n_tables, pages) = sort
    names = (sorted(signs.names), signs.language or "", sorted(signs.own), sorted(signs.around))
    return (-len(pages), -n_tables, *names, signs.orientation)
