"""MEMM: a link is worth what a maximum-entropy Markov model believes of where it leads."""

from __future__ import annotations

from typing import ClassVar

from focusspider.models.memm import MEMM
from focusspider.strategies.chain import ChainStrategy

__all__ = ["Memm"]


class Memm(ChainStrategy):
    """Gives each link what :class:`~focusspider.models.memm.MEMM` believes of its page."""

    kind: ClassVar[str] = "memm"
    learns: ClassVar[type[MEMM]] = MEMM
