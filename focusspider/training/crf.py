"""Trains a conditional random field of hop distances on a web graph."""

from __future__ import annotations

from typing import ClassVar

from focusspider.models.crf import CRF
from focusspider.training.chain import ChainTrainer

__all__ = ["CrfTrainer"]


class CrfTrainer(ChainTrainer):
    """Fits :class:`~focusspider.models.crf.CRF` to sequences of pages (Liu and Milios 2010)."""

    kind: ClassVar[str] = "crf"
    model: ClassVar[type[CRF]] = CRF
