"""Strategies: which link of a page is worth the next request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider.errors import SettingError
from focusspider.registry import build, find
from focusspider.strategies.apprentice import Apprentice
from focusspider.strategies.auto import Auto
from focusspider.strategies.backlink import Backlink
from focusspider.strategies.best_first import BestFirst
from focusspider.strategies.breadth_first import BreadthFirst
from focusspider.strategies.context_graph import ContextGraph
from focusspider.strategies.crf import Crf
from focusspider.strategies.dom import Dom
from focusspider.strategies.hcla import Hcla
from focusspider.strategies.hmm import Hmm
from focusspider.strategies.hub_seeking import HubSeeking
from focusspider.strategies.memm import Memm
from focusspider.strategies.pagerank import PageRank
from focusspider.strategies.plsi_phits import PlsiPhits
from focusspider.strategies.shark_search import SharkSearch
from focusspider.strategies.shark_search_okapi import SharkSearchOkapi
from focusspider.strategies.xcrawl import XCrawl

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from focusspider.strategies.base import Strategy

__all__ = ["STRATEGIES", "build_strategy"]

#: Every strategy by the name that users give.
STRATEGIES: dict[str, type[Strategy]] = {
    "breadth-first": BreadthFirst,
    "best-first": BestFirst,
    "dom": Dom,
    "hub-seeking": HubSeeking,
    "shark-search": SharkSearch,
    "shark-search-okapi": SharkSearchOkapi,
    "backlink": Backlink,
    "pagerank": PageRank,
    "hcla": Hcla,
    "plsi-phits": PlsiPhits,
    "context-graph": ContextGraph,
    "hmm": Hmm,
    "memm": Memm,
    "crf": Crf,
    "apprentice": Apprentice,
    "xcrawl": XCrawl,
    "auto": Auto,
}

_METHODS = ("needs", "start", "score", "observe", "rerank")


def build_strategy(
    name: str,
    params: Mapping[str, Any],
    *,
    base_dir: str | os.PathLike[str] | None = None,
    models_dir: str | os.PathLike[str] | None = None,
    budget: float = 0.25,
    where: str = "",
) -> Strategy:
    """Build a strategy by its name, or by the import path of a class of one's own.

    Parameters
    ----------
    params
        Arguments of the strategy's constructor.
    base_dir
        What relative paths in ``params`` are relative to; None is the working directory.
    models_dir
        Where the models of the topic are, for strategies that learn before a crawl.
    budget
        Share of the crawl's work that learning during it may be (``FOCUS_AUTO_BUDGET``).
    where
        Where the user wrote them, for messages.

    Raises
    ------
    UnknownNameError
        For a name that is not known; it lists the known ones.
    SettingError
        For an unknown, missing or wrong parameter, or a path that cannot be imported.
    """

    def error(message: str) -> SettingError:
        return SettingError(f"{where}: {message}" if where else message)

    found = find("strategy", STRATEGIES, name, methods=_METHODS, error=error, where=where)
    given = {"base_dir": base_dir, "models_dir": models_dir, "budget": budget}
    return build(found, params, label=f"strategy {name!r}", error=error, given=given)
