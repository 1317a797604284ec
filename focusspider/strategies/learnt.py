"""What strategies share that learnt before the crawl: their model, and beliefs that travel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusspider.errors import ModelFileError
from focusspider.models.modelfile import read_model
from focusspider.resources import located
from focusspider.strategies.base import BaseStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focusspider.models.modelfile import ModelFile
    from focusspider.profile import TopicProfile
    from focusspider.strategies.base import State

__all__ = ["LearntStrategy", "carried_belief", "check_language", "learnt_model"]


class LearntStrategy(BaseStrategy):
    """A strategy whose model was trained before the crawl; subclasses give ``score``.

    Parameters
    ----------
    model : path, optional
        The model file, relative to the topic file; the one named after the strategy in the
        topic's folder of models if not given.
    """

    kind: ClassVar[str]
    """Its name, and the kind of its model file."""

    def __init__(
        self,
        *,
        model: str | os.PathLike[str] | None = None,
        base_dir: str | os.PathLike[str] | None = None,
        models_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self.model = model
        self.base_dir = base_dir
        self.models_dir = models_dir
        self._file = learnt_model(self.kind, model, base_dir=base_dir, models_dir=models_dir)

    def start(self, profile: TopicProfile, random_state: np.random.Generator) -> None:  # noqa: ARG002
        """Look whether the model is of the topic's language."""
        check_language(self._file, profile)


def carried_belief(state: State | None, k: int) -> NDArray[np.float64] | None:
    """Return the belief that a request carries, (k,); None where it is that of no such model."""
    belief: NDArray[Any] = np.asarray(state if state is not None else (), dtype=np.float64)
    sound = belief.shape == (k,) and np.isfinite(belief).all() and (belief >= 0).all()
    if not sound or not belief.any():
        return None
    normalised: NDArray[np.float64] = belief / belief.sum()
    return normalised


def learnt_model(
    kind: str,
    model: str | os.PathLike[str] | None,
    *,
    base_dir: str | os.PathLike[str] | None,
    models_dir: str | os.PathLike[str] | None,
) -> ModelFile:
    """Read the model of a strategy.

    Parameters
    ----------
    kind
        Name of the strategy, and kind of the model.
    model
        Where it is, relative to ``base_dir``; None: ``KIND.npz`` in ``models_dir``.

    Raises
    ------
    ValueError
        Where ``model`` is no path.
    ModelFileError
        Where there is no such file, or it is not a sound model of the kind.
    """
    if model is not None and (not isinstance(model, str | os.PathLike) or not str(model)):
        raise ValueError(f"model must be a path, got {model!r}")
    if model is None and models_dir is None:
        raise ValueError(
            f"it learns before a crawl, and needs the parameter 'model': the file that "
            f"'scrapy focus-train TOPIC --strategy {kind}' wrote"
        )
    path = Path(models_dir or ".", f"{kind}.npz") if model is None else located(model, base_dir)
    if not path.exists():
        raise ModelFileError(
            f"strategy {kind!r} learns before a crawl, and there is no {path}; train it with "
            f"'scrapy focus-train TOPIC --strategy {kind}', or name a model: its parameter 'model'"
        )
    return read_model(path, kind=kind)


def check_language(file: ModelFile, profile: TopicProfile) -> None:
    """Raise ModelFileError where the words of a model are stems of another language."""
    file.check_language(profile.analyzer.language)
