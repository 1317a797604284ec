"""What the commands that take in a browsing session share: its graph, and the last words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focusspider.commands.graphfile import to_train
from focusspider.errors import SettingError
from focusspider.webgraph.document import PASSED_OVER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from focusspider.webgraph.session import BrowsingSession

__all__ = ["check_new", "told"]


def check_new(path: Path, *, append: bool) -> None:
    """Refuse to touch a graph that is there, unless it is to be added to."""
    if path.exists() and not append:
        raise SettingError(
            f"{path} is there already: call with --append to add to it, or with --out to keep it"
        )


def told(
    session: BrowsingSession,
    passed_over: Mapping[str, int],
    out: Path,
    topic: str | None,
    *,
    named: bool,
) -> str:
    """Return the summary of a session.

    ``passed_over`` counts documents by their reason; ``topic`` is as the user named it, None
    where there is none, and ``named`` is whether the graph has a place that was named.
    """
    graph, counts = session.graph, session.counts
    pages, edges, targets = len(graph), graph.n_edges, len(graph.targets())
    new = f" ({counts['pages']:,} of them new)" if counts["pages"] != pages else ""
    lines = [f"{pages:,} pages{new}, {edges:,} links among them, {targets:,} useful"]
    if counts["framesets"]:
        lines.append(
            f"Framesets, which count as the pages in their frames: {counts['framesets']:,}"
        )
    lines += [
        f"Passed over, {PASSED_OVER.get(reason, 'a part of another page, in an iframe')}: {count:,}"
        for reason, count in sorted(passed_over.items())
        if count
    ]
    lines += ["", f"Graph: {out}"]
    if not targets:
        lines.append("No page is useful yet, and without one there is nothing to learn.")
    elif topic is not None:
        lines.append(to_train(topic, out, named=named))
    return "\n".join(lines)
