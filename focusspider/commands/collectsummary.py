"""What was collected, for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from focusspider.commands.graphfile import to_train

if TYPE_CHECKING:
    from focusspider.commands.collecting import Collected, Plan

__all__ = ["summary"]

_SHOWN = 5  # missing targets


def summary(done: Collected, plan: Plan, topic: str, *, named: bool) -> str:
    """Return the summary: layers, pages, links, targets, what failed, and what to do next.

    ``topic`` is the topic as the user named it, and ``named`` whether the graph has a place that
    was named.
    """
    lines = [f"Topic: {plan.topic.name}", f"From: {plan.source}", ""]
    if done.reports:
        lines += [*_table(done), ""]
    n_given = done.targets - done.extra
    likeness = f"{done.extra} more by their likeness" if done.extra else "none more by likeness"
    lines.append(
        f"{done.pages:,} pages, {done.edges:,} links, {done.targets:,} targets "
        f"({n_given:,} given, {likeness})"
    )
    last = plan.layers
    states = ", ".join(
        f"{state}{' or more' if state == last else ''}: {done.states[state]:,}"
        for state in range(last + 1)
    )
    lines.append(f"Pages by links to the nearest target: {states}")
    if done.passed_over:
        lines.append(f"{done.passed_over:,} stored answers are no HTML pages (files, redirects …)")
    failed: Counter[str] = Counter()
    for report in done.reports:
        failed += report.failed
    if failed:
        why = ", ".join(f"{count:,} × {reason}" for reason, count in failed.most_common())
        lines.append(f"Pages that did not come: {why}")
    if done.missing:
        shown = ", ".join(done.missing[:_SHOWN]) + (" …" if len(done.missing) > _SHOWN else "")
        lines.append(f"{len(done.missing):,} targets are not stored there: {shown}")
    lines += ["", f"Graph: {plan.out}", to_train(topic, plan.out, named=named)]
    return "\n".join(lines)


def _table(done: Collected) -> list[str]:
    rows = [("layer", "pages", "named", "did not come")]
    rows += [
        (
            "0, the targets" if report.layer == 0 else str(report.layer),
            f"{report.added:,}",
            f"{report.found:,}",
            f"{report.failed.total():,}",
        )
        for report in done.reports
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
