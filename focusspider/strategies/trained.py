"""What models that were trained before the crawl say of a link, for a strategy that learns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focusspider.errors import ModelFileError
from focusspider.registry import check_choice, check_texts
from focusspider.strategies.context_graph import ContextGraph
from focusspider.strategies.crf import Crf
from focusspider.strategies.hmm import Hmm
from focusspider.strategies.linktables import TRAINED
from focusspider.strategies.memm import Memm

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focusspider.page import Page
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import State
    from focusspider.strategies.learnt import LearntStrategy

__all__ = ["KINDS", "TrainedModels"]

#: Strategies whose models are asked, by the name of their file.
KINDS: dict[str, type[LearntStrategy]] = {
    "context-graph": ContextGraph,
    "hmm": Hmm,
    "memm": Memm,
    "crf": Crf,
}
#: What a page is worth from which a target is k links away: this to the power of k.
_DISCOUNT = 0.3


class TrainedModels:
    """The models of a topic, and what they say of the links of a page.

    Parameters
    ----------
    names : list of str, optional
        Which ones, of :data:`KINDS`; one that is not there is an error. If not given, those
        that are there.
    models_dir : path, optional
        The topic's folder of models.

    Attributes
    ----------
    columns : list of str
        Names of the figures, such as ``"crf distance"``.
    """

    def __init__(
        self,
        names: Sequence[str] | None = None,
        *,
        base_dir: str | os.PathLike[str] | None = None,
        models_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        if names is not None:
            if names not in ([], ()):  # no model at all is a choice
                check_texts("models", names)
            for number, name in enumerate(names):
                check_choice("models", name, tuple(KINDS))
                if name in names[:number]:
                    raise ValueError(f"models names {name!r} twice; once is enough")
                path = Path(models_dir or "", f"{name}.npz")
                if not path.exists():
                    raise ModelFileError(
                        f"models names {name!r}, and there is no {path}; train it with 'scrapy "
                        f"focus-train TOPIC --strategy {name}', or take it out of models"
                    )
        elif models_dir is None:
            names = []
        else:
            names = [name for name in KINDS if Path(models_dir, f"{name}.npz").exists()]
        self._strategies: list[Any] = [
            KINDS[name](base_dir=base_dir, models_dir=models_dir) for name in names
        ]
        self.names = tuple(names)
        self.columns = [f"{name} {figure}" for name in names for figure in TRAINED]

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:
        """Begin with a topic; called once, before the first page."""
        for strategy in self._strategies:
            strategy.start(profile, random_state)

    def ask(self, page: Page, state: State | None) -> tuple[NDArray[np.float64], State | None]:
        """Return what the models say of each link, (n_links, n_columns), and the children's state.

        The state holds those of the models one after the other, each after its length.
        """
        figures: list[NDArray[np.float64]] = []
        states: list[float] = []
        for strategy, carried in zip(self._strategies, self._apart(state), strict=True):
            scores = strategy.score(page, carried)
            beliefs = [values for name, values in scores.parts.items() if name[0] == "T"]
            if beliefs:
                hops = np.arange(len(beliefs))
                figures += [_DISCOUNT**hops @ np.stack(beliefs), hops @ np.stack(beliefs)]
            else:
                layer = scores.parts["layer"]
                figures += [_DISCOUNT**layer, layer]
            own = scores.state or ()
            states += [float(len(own)), *own]
        values = np.stack(figures, axis=1) if figures else np.zeros((len(page.links), 0))
        return values, tuple(states) or None

    def _apart(self, state: State | None) -> list[State | None]:
        """Return the state of each model, None where it carries none."""
        found: list[State | None] = []
        rest = list(state or ())
        for _ in self._strategies:
            length = int(rest[0]) if rest and 0 <= rest[0] < len(rest) else 0
            own, rest = rest[1 : 1 + length], rest[1 + length :]
            found.append(tuple(own) or None)
        return found
