"""The pictures of an evaluation: recall and harvest over the crawl, precision over recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focusspider.errors import MissingExtraError
from focusspider.evaluation.rows import OMNISCIENT
from focusspider.evaluation.significance import mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from focusspider.evaluation.rows import Curve

__all__ = [
    "POINTS",
    "Picture",
    "by_strategy",
    "draw_means",
    "harvest_at",
    "pictures",
    "precision_at_recall",
    "recall_at",
    "write_curves",
]

#: Shares of the reachable pages, or of recall, at which curves of several crawls are averaged.
POINTS: NDArray[np.float64] = np.arange(1, 101) / 100


def recall_at(curve: Curve) -> NDArray[np.float64]:
    """Return the recall after each share of the reachable pages, (100,)."""
    found: NDArray[np.float64] = _found(curve) / curve.targets
    return found


def harvest_at(curve: Curve) -> NDArray[np.float64]:
    """Return the harvest rate after each share of the reachable pages, (100,)."""
    rate: NDArray[np.float64] = _found(curve) / np.minimum(_pages(curve), max(curve.fetched, 1))
    return rate


def precision_at_recall(curve: Curve) -> NDArray[np.float64]:
    """Return the precision where each level of recall is reached, 0 where it is not, (100,)."""
    needed = np.ceil(POINTS * curve.targets - 1e-9).astype(np.int64)
    places = np.array(curve.found_at, dtype=np.float64)
    values = np.zeros(len(POINTS))
    had = needed <= len(places)
    values[had] = needed[had] / places[needed[had] - 1]
    return values


def _pages(curve: Curve) -> NDArray[np.int64]:
    return np.maximum(np.ceil(POINTS * curve.reachable - 1e-9), 1).astype(np.int64)


def _found(curve: Curve) -> NDArray[np.int64]:
    return np.searchsorted(np.array(curve.found_at), _pages(curve), side="right")


#: Name of a picture, its title, what its axes show, and the values of a curve.
_PICTURES: tuple[tuple[str, str, str, str, Callable[[Curve], NDArray[np.float64]]], ...] = (
    ("recall", "Recall", "pages fetched (% of reachable)", "recall", recall_at),
    ("harvest", "Harvest rate", "pages fetched (% of reachable)", "harvest rate", harvest_at),
    ("precision-recall", "Precision over recall", "recall (%)", "precision", precision_at_recall),
)


class Picture(NamedTuple):
    """What is drawn in one picture.

    ``labels`` are those of the two axes, ``places`` where the values are, (n,), and each of
    ``lines`` is a strategy, a crawl and its values, (n,).
    """

    name: str
    title: str
    labels: tuple[str, str]
    places: ArrayLike
    lines: Sequence[tuple[str, str, NDArray[np.float64]]]


def pictures(curves: Sequence[Curve], title: str) -> list[Picture]:
    """Return the pictures of an evaluation, over all its crawls."""
    return [
        Picture(
            name, f"{title}: {head}", (x, y), 100 * POINTS,
            [(curve.strategy, curve.crawl, values(curve)) for curve in curves],
        )
        for name, head, x, y, values in _PICTURES
    ]  # fmt: skip


def write_curves(folder: Path, curves: Sequence[Curve], title: str) -> list[Path]:
    """Draw the means over all crawls, and the recall of each crawl, as PNG.

    Raises MissingExtraError without matplotlib.
    """
    drawn = pictures(curves, title)
    crawls = list(dict.fromkeys(curve.crawl for curve in curves))
    if len(crawls) > 1:
        for crawl in crawls:
            recall = pictures([curve for curve in curves if curve.crawl == crawl], title)[0]
            drawn.append(recall._replace(name=f"recall-{crawl}", title=f"{title}: {crawl}"))
    return [draw_means(folder, picture) for picture in drawn]


def by_strategy(picture: Picture) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return a line for each strategy and crawl; the several seeds of a crawl count as one."""
    found: dict[str, dict[str, list[NDArray[np.float64]]]] = {}
    for strategy, crawl, values in picture.lines:
        found.setdefault(strategy, {}).setdefault(crawl, []).append(values)
    return {
        strategy: {crawl: np.mean(seeds, axis=0) for crawl, seeds in crawls.items()}
        for strategy, crawls in found.items()
    }


def draw_means(folder: Path, picture: Picture) -> Path:
    """Draw the mean of each strategy over its crawls, with a band of its 95 % interval."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("report", "drawing curves") from error
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{picture.name}.png"
    figure = Figure(figsize=(8, 5), layout="constrained")
    x, y = picture.labels
    axes = figure.add_subplot(xlabel=x, ylabel=y, title=picture.title)
    for number, (strategy, crawls) in enumerate(by_strategy(picture).items()):
        band = mean_interval(list(crawls.values()))
        bound = strategy == OMNISCIENT
        style: dict[str, Any] = (
            {"color": "black", "linestyle": ":"} if bound else {"color": f"C{number % 10}"}
        )
        if number > 10:
            style["linestyle"] = "--"
        axes.plot(picture.places, band.mean, label=strategy, linewidth=1.4, **style)
        if not bound and not np.isnan(band.low).any():
            axes.fill_between(picture.places, band.low, band.high, alpha=0.08, color=style["color"])
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=110, metadata={"Software": None})
    return path
