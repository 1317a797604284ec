"""The statistics of a crawl as Prometheus reads them: its text format, version 0.0.4.

A statistic ``focus/<stage>/<event>`` is the counter ``focus_<stage>_<event>_total``; one with
reasons has a sample for each, with the label ``reason``, and their sum is the whole. Every
family is there from the first page on, at 0, so that the first of its events is seen as a rise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from focusspider import stats
from focusspider.stats import STATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["CONTENT_TYPE", "Family", "families", "render"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Statistics that are set, and may go down as well as up.
_GAUGES = {
    stats.FRONTIER_WAITING,
    stats.FRONTIER_LEASED,
    stats.FLEET_WORKERS,
}
#: Statistics of a command, which is no crawl, and those that come when a crawl closes.
_LEFT_OUT = {stats.COLLECT_FETCHED, stats.COLLECT_FAILED, stats.RENDER_OPEN}
_AT_CLOSE = " when the crawl closed."


class Family(NamedTuple):
    """The samples of one name: pairs of labels and a value."""

    name: str
    kind: str
    meaning: str
    samples: tuple[tuple[Mapping[str, str], float], ...]


def families(counts: Mapping[str, object]) -> Iterator[Family]:
    """Yield the families of the statistics of a crawl.

    >>> [family.name for family in families({})][:2]
    ['focus_page_fetched_total', 'focus_page_relevant_total']
    """
    for stat in STATS:
        if stat.key in _LEFT_OUT:
            continue
        is_gauge = stat.key in _GAUGES
        name = stat.key.replace("/", "_") + ("" if is_gauge else "_total")
        samples: tuple[tuple[Mapping[str, str], float], ...] = (({}, _number(counts, stat.key)),)
        if stat.reasons:
            samples = tuple(
                ({"reason": reason}, _number(counts, f"{stat.key}/{reason}"))
                for reason in stat.reasons
            )
        meaning = stat.meaning.replace(_AT_CLOSE, ".") if is_gauge else stat.meaning
        yield Family(name, "gauge" if is_gauge else "counter", meaning, samples)


def render(found: Iterable[Family], labels: Mapping[str, str]) -> str:
    r"""Return families as text, each sample with these labels too.

    >>> pages = Family("pages_total", "counter", "Pages.", (({"reason": 'a "b"'}, 2),))
    >>> print(render([pages], {"topic": "clocks"}), end="")
    # HELP pages_total Pages.
    # TYPE pages_total counter
    pages_total{topic="clocks",reason="a \"b\""} 2
    """
    lines = []
    for family in found:
        lines.append(f"# HELP {family.name} {_escaped(family.meaning)}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        for own, value in family.samples:
            pairs = ",".join(
                f'{name}="{_escaped(text, quotes=True)}"'
                for name, text in {**labels, **own}.items()
            )
            lines.append(f"{family.name}{{{pairs}}} {value:.15g}")
    return "\n".join(lines) + "\n"


def _number(counts: Mapping[str, object], key: str) -> float:
    value = counts.get(key, 0)
    return value if isinstance(value, int | float) else 0


def _escaped(text: str, *, quotes: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text
