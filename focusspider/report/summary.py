"""The head of the page about a crawl: what it was, what came of it, and why it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from focusspider import stats
from focusspider.report.document import Html, cut, element, joined, link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focusspider.report.runlog import RunLog

__all__ = ["summary"]

_REASONS = {
    "page_limit": "the budget of pages is spent",
    "finished": "nothing waits any more",
    "strategy_done": "the strategy asks for nothing more",
    "no_page": "not one page could be fetched; the log says why",
    "no_target": "not one of the topic's targets could be fetched; the log says why",
    "shutdown": "it was interrupted",
    "render_error": "pages were to be rendered, and the browser does not work; the log says why",
    "frontier_error": "the job directory, or Redis, could not be written any more; the log says "
    "why",
    "disk_error": "a file of the run could not be written any more; the log says why",
}
_SEEDS = 10  # that are shown
_WORDS = 60  # keywords, likewise


def summary(log: RunLog) -> list[Html]:
    """Return the parts of the page's head."""
    facts = [element(name, value) for fact in _facts(log) for name, value in zip(
        ("dt", "dd"), fact, strict=True)]  # fmt: skip
    return [
        *(element("p", problem, class_="problem") for problem in log.problems),
        element("div", *(_figure(*one) for one in _figures(log)), class_="figures"),
        element("dl", *facts),
    ]


def _figures(log: RunLog) -> Iterator[tuple[str, str]]:
    fetched, relevant = len(log.pages), sum(log.relevant)
    yield f"{fetched:,}", "pages fetched"
    yield f"{relevant:,}", "of them relevant"
    yield f"{relevant / fetched:.3f}" if fetched else "–", "harvest rate"
    yield f"{len({page.host for page in log.pages}):,}", "hosts"
    for key, name in (
        (stats.ITEM_EXPORTED, "items exported"),
        (stats.PAGE_DUPLICATE_CONTENT, "pages seen before at another address"),
        (stats.FRONTIER_WAITING, "links still waiting at the end"),
    ):
        if key in log.stats():
            yield f"{log.count(key):,}", name


def _figure(value: str, name: str) -> Html:
    return element("div", element("b", value), element("span", name))


def _facts(log: RunLog) -> Iterator[tuple[str, str]]:
    topic = log.table("topic")
    yield "Topic", _shown(topic.get("name"))
    yield "Keywords", _list(topic.get("keywords"), _WORDS)
    yield "Description", _shown(topic.get("description"))
    seeds = topic.get("seeds")
    if isinstance(seeds, list):
        links = [link(seed) for seed in seeds[:_SEEDS] if isinstance(seed, str)]
        left = len(seeds) - len(links)
        more = [f"… and {left:,} more"] if left else []
        yield "Seeds", joined(element("div", one) for one in (*links, *more))
    yield "Strategy", _named(log.run.get("strategy"), log.table("strategy_params"))
    judge = dict(log.table("topic", "relevance"))
    yield "Relevance", _named(judge.pop("kind", None), judge)
    limits = {name: value for name, value in log.table("topic", "limits").items() if value}
    yield "Limits", _named("", limits) if limits else "none"
    yield "Stopped by", _stopped(log.run.get("stop_reason"))
    if workers := log.run.get("workers"):
        yield "Workers", _shown(workers)
    yield "Time", _time(log.run.get("started"), log.run.get("ended"))
    yield "Random seed", _shown(log.run.get("seed"))
    yield "Versions", _named("", log.table("versions"))
    yield "Folder", cut(str(log.folder), 500)


def _stopped(reason: Any) -> str:
    if reason is None:
        return "nothing yet: it is going on, or was killed"
    meaning = _REASONS.get(reason) if isinstance(reason, str) else None
    return f"{_shown(reason)}: {meaning}" if meaning else _shown(reason)


def _time(started: Any, ended: Any) -> str:
    try:
        begin = datetime.fromisoformat(started)
        if ended is None:
            return f"began {begin:%Y-%m-%d %H:%M:%S %Z}"
        end = datetime.fromisoformat(ended)
        return f"{begin:%Y-%m-%d %H:%M:%S %Z}, {end - begin} h"
    except (TypeError, ValueError, OverflowError):
        return "–"


def _named(name: Any, params: Mapping[str, Any]) -> str:
    parts = [] if name == "" else [_shown(name)]
    parts += [f"{key} {_shown(value)}" for key, value in params.items()]
    return cut(", ".join(parts), 1000) or "–"


def _list(values: Any, most: int) -> str:
    if not isinstance(values, list) or not values:
        return "–"
    left = len(values) - most
    words = ", ".join(_shown(value) for value in values[:most])
    return f"{words}, … and {left:,} more" if left > 0 else words


def _shown(value: Any) -> str:
    if isinstance(value, list | Mapping):
        return cut(repr(value), 300)
    return "–" if value in (None, "") else cut(str(value), 500)
