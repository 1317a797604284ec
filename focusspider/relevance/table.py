"""Relevance by a table of the wanted kind, which is learnt from the target pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.errors import TopicError
from focusspider.models.tablekinds import TableSigns, learn_kinds
from focusspider.registry import check_share, check_texts
from focusspider.relevance.base import Judgement
from focusspider.tables import attribute_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focusspider.models.tablekinds import Match, TableKind
    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.tables import DataTable

__all__ = ["MIN_SAMPLES", "TableRelevance"]

#: Target pages with tables that are needed: what one page has is not yet a kind.
MIN_SAMPLES = 2
_SHOWN = 5  # attributes in an explanation


class TableRelevance:
    """A page is relevant where it has the kind of table that the target pages have.

    xCrawl (Shchekotykhin, Jannach and Friedrich) asks a validator whether a page has a
    specification table. Here the kind of table is learnt from the topic's targets: the names of
    its attributes, its shape and its markup, see :class:`~focusspider.models.tablekinds.TableKind`.
    Tables that are there for the layout do not count.

    A page must have each kind of table that all targets have; it is as relevant as the one that
    is least like is.

    Parameters
    ----------
    threshold : float
        Least likeness, in [0, 1].
    attributes : list of str
        Names of attributes, of which a wanted kind must have one; for targets that have other
        tables in common as well.
    outliers : float
        Share of the targets, in [0, 1], that may lack a kind that is wanted all the same.
    """

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        attributes: Sequence[str] = (),
        outliers: float = 0.05,
    ) -> None:
        check_share("threshold", threshold)
        check_texts("attributes", attributes)
        check_share("outliers", outliers)
        self.threshold = threshold
        self.attributes = attributes
        self.outliers = outliers

    def start(self, profile: TopicProfile) -> None:
        """Learn which kinds of tables the targets have."""
        where = f"{profile.topic.source}: relevance 'table'"
        samples = [_signs(target.page) for target in profile.targets]
        with_tables = sum(any(signs.names for signs in tables) for tables in samples)
        if with_tables < MIN_SAMPLES:
            raise TopicError(
                f"{where} learns from target pages with a table of attributes and values, and "
                f"{with_tables} of {len(samples)} have one; give {MIN_SAMPLES} targets or more"
            )
        keys = [attribute_key(name) for name in self.attributes]
        self._kinds = learn_kinds(samples, outliers=self.outliers, attributes=keys)
        if not self._kinds.wanted:
            raise TopicError(f"{where} finds no kind of table that the targets have in common: "
                             f"{self._most_common(len(samples))}")  # fmt: skip

    def _most_common(self, n_samples: int) -> str:
        if self.attributes:
            return (
                f"none that half of them have has one of {', '.join(self.attributes)}; mend "
                f"attributes, or leave it out"
            )
        if not self._kinds.kinds:
            return "no attribute is in two of them; give targets that are alike"
        first = self._kinds.kinds[0]
        return (
            f"the most common one ({_named(first)}) is in {len(first.pages)} of {n_samples}; "
            f"give targets that are alike"
        )

    def judge(self, page: Page) -> Judgement:
        """Look for the wanted kinds of tables."""
        signs = _signs(page)
        if not signs:
            return Judgement(0.0, False, "no table that holds data")
        matches = self._kinds.matches(signs)
        found = zip(self._kinds.wanted, matches, strict=True)
        kind, match = min(found, key=lambda entry: entry[1].likeness if entry[1] else 0.0)
        likeness = match.likeness if match else 0.0
        relevant = likeness >= self.threshold
        return Judgement(likeness, relevant, self._why(page, kind, match, relevant))

    def facts(self, page: Page) -> list[DataTable]:
        """Return the tables of a page that are of a wanted kind."""
        return [
            table
            for table, signs in zip(page.tables, _signs(page), strict=True)
            if any(kind.likeness(signs) >= self.threshold for kind in self._kinds.wanted)
        ]

    def _why(self, page: Page, kind: TableKind, match: Match | None, relevant: bool) -> str:
        if match is None:
            return f"no table has {_named(kind)}"
        table = page.tables[match.table]
        known = kind.attributes(page.language)
        shared = [name for name in known if name in table.attributes]
        sign = "≥" if relevant else "<"
        said = f"table {table.index} {match.likeness:.3f} {sign} threshold {self.threshold:g}"
        if shared:
            said += f", with {_listed(shared)}"
        lacking = [name for name, share in known.items() if share >= 0.5 and name not in shared]
        if not relevant and lacking:
            said += f"; it lacks {_listed(lacking)}"
        return said if shared else f"{said}, by its markup"


def _signs(page: Page) -> list[TableSigns]:
    return [TableSigns.of(table, page.language) for table in page.tables]


def _named(kind: TableKind) -> str:
    return _listed([name for name, share in kind.attributes().items() if share >= 0.5])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
