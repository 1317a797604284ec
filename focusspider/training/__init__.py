"""Training: from a web graph to the model file of a strategy that learns before a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider.errors import SettingError
from focusspider.registry import build, find
from focusspider.training.context_graph import ContextGraphTrainer
from focusspider.training.crf import CrfTrainer
from focusspider.training.hmm import HmmTrainer
from focusspider.training.memm import MemmTrainer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from focusspider.training.base import Trainer

__all__ = ["TRAINERS", "build_trainer"]

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

    def error(message: str) -> SettingError:
        return SettingError(f"{where}: {message}" if where else message)

    found = find("strategy to train", TRAINERS, name, methods=("train",), error=error, where=where)
    return build(found, params, label=f"the trainer of {name!r}", error=error)
