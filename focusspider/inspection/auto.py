"""What auto has learnt in a crawl: what pays, what weighs, and how sure it became."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focusspider.inspection.sections import Section, Table
from focusspider.models.lessons import COURSE, GROUPS, Lessons
from focusspider.report.document import cut

if TYPE_CHECKING:
    from focusspider.models.lessons import Record
    from focusspider.models.modelfile import ModelFile

__all__ = ["auto_sections"]

#: Characters of a name.
_LONGEST = 60
#: Rows that are shown of how it went on.
_COURSE_ROWS = 20
_TITLES = {
    "anchor_words": "Words of anchors",
    "context_words": "Words around links",
    "hosts": "Hosts",
    "directories": "Directories",
    "paths": "Tag paths",
}


def auto_sections(file: ModelFile, n: int) -> list[Section]:
    """Return what weighs, what of each kind paid and did not, and how the trust grew."""
    lessons = Lessons.from_file(file)
    weights = lessons.weights
    families: dict[str, float] = {}  # their sums
    for family, weight in zip(weights.families, weights.values.tolist(), strict=True):
        families[family] = families.get(family, 0.0) + abs(weight)
    order = np.argsort(-np.abs(weights.values), kind="stable")[:n]
    sections = [
        Section(
            "How the trust grew",
            "Each time that it learnt anew: pages fetched and relevant ones, what a page brought "
            "in the mean, the share of pairs of the last 100 pages that the model and what it "
            "began with had in the right order before they were fetched (½ is chance), how much "
            "the model counts, and NDCG of the order before, where more than 1,000 waited: a low "
            "one is a large change.",
            Table(COURSE, _course(lessons)),
        ),
        Section(
            "Families of features",
            "Sum of the absolute weights of each family in the last regression; features are "
            "standardised.",
            Table(("family", "weight"), _by_weight(families)),
        ),
        Section(
            "Features that weigh most",
            "What they are is told in docs/strategies.md.",
            Table(
                ("feature", "family", "weight"),
                [
                    (
                        cut(weights.names[i], _LONGEST),
                        cut(weights.families[i], _LONGEST),
                        float(weights.values[i]),
                    )
                    for i in order.tolist()
                ],
            ),
        ),
    ]
    for group in GROUPS:
        record = lessons.records[group]
        sections.append(
            Section(
                _TITLES[group],
                "Links followed, what they brought, and the log odds against the mean; the best "
                "first, then the worst.",
                Table(
                    (_TITLES[group].lower(), "followed", "brought", "log odds"), _ends(record, n)
                ),
            )
        )
    return sections


def _by_weight(families: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(
        ((cut(name, _LONGEST), weight) for name, weight in families.items()),
        key=lambda family: (-family[1], family[0]),
    )


def _course(lessons: Lessons) -> list[tuple[int | float | str, ...]]:
    rows = lessons.course
    if len(rows) > _COURSE_ROWS:
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, _COURSE_ROWS).astype(int))]
    return [
        (int(pages), int(relevant), *figures, ndcg or "–")
        for pages, relevant, *figures, ndcg in rows.tolist()
    ]


def _ends(record: Record, n: int) -> list[tuple[str, float, float, float]]:
    """Return the groups with the most evidence for them, and then those against."""
    order = np.argsort(-record.evidence, kind="stable")
    half = max(1, n // 2)
    good = [i for i in order.tolist() if record.evidence[i] > 0][:half]
    bad = [i for i in order[::-1].tolist() if record.evidence[i] < 0][:half]
    return [
        (cut(record.names[i], _LONGEST), *record.counts[i].tolist(), float(record.evidence[i]))
        for i in good + bad[::-1]
    ]
