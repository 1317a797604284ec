"""The file of a topic's web graph: where the commands look for it, and a new one."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from focusspider.resources import located

if TYPE_CHECKING:
    from pathlib import Path

    from focusspider.config import FocusConfig
    from focusspider.webgraph import WebGraph

__all__ = ["graph_of_topic", "new_graph", "to_train"]


def graph_of_topic(config: FocusConfig, topic: str) -> Path:
    """Return where the web graph of a topic is, where no option names another place."""
    return located(config.models_dir / topic) / "graph.sqlite"


def to_train(topic: str, graph: Path, *, named: bool) -> str:
    """Return the line that says what comes next; ``named`` is whether an option named the graph."""
    option = f" --graph {shlex.quote(str(graph))}" if named else ""
    return f"Next:  scrapy focus-train {topic}{option}"


def new_graph(path: Path, topic: str, source: str) -> WebGraph:
    """Make an empty graph that is of now; ``source`` is :attr:`WebGraph.source`."""
    # here, since every call of scrapy loads every command
    from focusspider.webgraph import WebGraph

    date = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return WebGraph.create(path, topic=topic, source=source, date=date)
