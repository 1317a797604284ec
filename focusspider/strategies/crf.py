"""CRF: a link is worth what a conditional random field believes of where it leads."""

from __future__ import annotations

from typing import ClassVar

from focusspider.models.crf import CRF
from focusspider.strategies.chain import ChainStrategy

__all__ = ["Crf"]


class Crf(ChainStrategy):
    """Gives each link what :class:`~focusspider.models.crf.CRF` believes of its page."""

    kind: ClassVar[str] = "crf"
    learns: ClassVar[type[CRF]] = CRF
