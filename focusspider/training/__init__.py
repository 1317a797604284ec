"""Training: from a web graph to the model file of a strategy that learns before a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider.errors import SettingError
from focusspider.registry import build, find
from focusspider.training.context_graph import ContextGraphTrainer
from focusspider.training.crf import CrfTrainer
from focusspider.training.hmm import HmmTrainer
from focusspider.training.memm import MemmTrainer
from focusspider.training.relevance import RelevanceTrainer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from focusspider.training.base import Trainer

__all__ = ["TRAINERS", "build_relevance_trainer", "build_trainer"]

#: Every trainer by the name of its strategy.
TRAINERS: dict[str, type[Trainer]] = {
    "context-graph": ContextGraphTrainer,
    "hmm": HmmTrainer,
    "memm": MemmTrainer,
    "crf": CrfTrainer,
}


def build_trainer(name: str, params: Mapping[str, Any], *, where: str = "") -> Trainer:
    """Build a trainer by the name of its strategy.

    Raises
    ------
    UnknownNameError
        For a name that is not known; it lists the known ones.
    SettingError
        For an unknown or wrong parameter.
    """
    error = _error(where)
    found = find("strategy to train", TRAINERS, name, methods=("train",), error=error, where=where)
    return build(found, params, label=f"the trainer of {name!r}", error=error)


def build_relevance_trainer(params: Mapping[str, Any], *, where: str = "") -> Trainer:
    """Build the trainer of the judge ``classifier``, of whatever strategy.

    Raises SettingError for an unknown or wrong parameter.
    """
    return build(RelevanceTrainer, params, label="the trainer of relevance", error=_error(where))


def _error(where: str) -> Callable[[str], SettingError]:
    return lambda message: SettingError(f"{where}: {message}" if where else message)
