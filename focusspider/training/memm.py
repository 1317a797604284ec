"""Trains a maximum-entropy Markov model of hop distances on a web graph."""

from __future__ import annotations

from typing import ClassVar

from focusspider.models.memm import MEMM
from focusspider.training.chain import ChainTrainer

__all__ = ["MemmTrainer"]


class MemmTrainer(ChainTrainer):
    """Fits :class:`~focusspider.models.memm.MEMM` to sequences of pages (Liu and Milios 2010)."""

    kind: ClassVar[str] = "memm"
    model: ClassVar[type[MEMM]] = MEMM
