"""The rows of an evaluation: one for each crawl by each strategy, and one for the bound."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.evaluation.metrics import (
    RECALL_LEVELS,
    at_recall,
    harvest_rate,
    headroom,
    pages_for_share,
    recall_area,
    relevant_flags,
)
from focusspider.replay import page_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from focusspider.evaluation.bound import Bound

__all__ = ["OMNISCIENT", "SHARES", "Curve", "flags_of", "row_of"]

#: The strategy of the bound's rows.
OMNISCIENT = "omniscient"
#: Shares of the reachable pages after which the harvest rate is given.
SHARES = (0.1, 0.25)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """All that a crawl's curves are drawn from.

    ``found_at`` has, for each target that was found, the number of pages fetched with it,
    in order: recall after n pages is the share of ``targets`` that was found at n or
    before, and the harvest rate is their number over n.
    """

    crawl: str
    strategy: str
    seed: int
    reachable: int
    targets: int
    fetched: int
    found_at: tuple[int, ...]

    @classmethod
    def of_log(
        cls, crawl: str, strategy: str, seed: int, bound: Bound, urls: Iterable[str]
    ) -> Curve:
        """Make the curve of a crawl that fetched these URLs in this order."""
        flags = relevant_flags(map(page_key, urls), bound.targets)
        return cls(
            crawl=crawl,
            strategy=strategy,
            seed=seed,
            reachable=bound.reachable,
            targets=len(bound.targets),
            fetched=len(flags),
            found_at=tuple(map(int, np.flatnonzero(flags) + 1)),
        )

    @classmethod
    def of_bound(cls, crawl: str, bound: Bound) -> Curve:
        """Make the curve of the omniscient crawl."""
        return cls(
            crawl=crawl,
            strategy=OMNISCIENT,
            seed=0,
            reachable=bound.reachable,
            targets=len(bound.targets),
            fetched=bound.fetched,
            found_at=bound.found_at,
        )

    @property
    def area(self) -> float:
        """The area under the recall curve over the reachable pages."""
        return recall_area(flags_of(self), self.targets, self.reachable)

    def to_dict(self) -> dict[str, Any]:
        """Return it JSON-safe."""
        return {**asdict(self), "found_at": list(self.found_at)}


def flags_of(curve: Curve) -> NDArray[np.bool_]:
    """Return which fetched pages are targets, (fetched,)."""
    flags = np.zeros(curve.fetched, dtype=np.bool_)
    flags[np.array(curve.found_at, dtype=np.int64) - 1] = True
    return flags


def row_of(curve: Curve, baseline: Sequence[float], bound: float) -> dict[str, Any]:
    """Return the row of a crawl, without what it cost.

    Parameters
    ----------
    baseline
        the areas of breadth-first on the same crawl; none: the headroom is not known
    bound
        the area of the omniscient crawl
    """
    flags, area = flags_of(curve), curve.area
    row: dict[str, Any] = {
        "crawl": curve.crawl,
        "strategy": curve.strategy,
        "seed": curve.seed,
        "reachable": curve.reachable,
        "targets": curve.targets,
        "fetched": curve.fetched,
        "found": len(curve.found_at),
        "auc": area,
        "headroom": headroom(area, float(np.mean(baseline)), bound) if baseline else math.nan,
    }
    for share in SHARES:
        row[f"harvest_{_percent(share)}"] = harvest_rate(
            flags, pages_for_share(share, curve.reachable)
        )
    for level in RECALL_LEVELS:
        there = at_recall(flags, curve.targets, level)
        row[f"precision_{_percent(level)}"] = there.precision
        row[f"f1_{_percent(level)}"] = there.f1
        row[f"pages_{_percent(level)}"] = there.pages
    return {key: None if value is not None and value != value else value
            for key, value in row.items()}  # fmt: skip


def _percent(share: float) -> int:
    return round(100 * share)
