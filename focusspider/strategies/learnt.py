"""Where a strategy that learnt before the crawl has its model, and whether it fits the topic."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from focusspider.errors import ModelFileError
from focusspider.models.modelfile import read_model

if TYPE_CHECKING:
    from focusspider.models.modelfile import ModelFile
    from focusspider.profile import TopicProfile

__all__ = ["check_language", "learnt_model"]


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
    path = Path(models_dir or ".", f"{kind}.npz") if model is None else Path(base_dir or ".", model)
    if not path.exists():
        raise ModelFileError(
            f"strategy {kind!r} learns before a crawl, and there is no {path}; train it with "
            f"'scrapy focus-train TOPIC --strategy {kind}', or name a model: its parameter 'model'"
        )
    return read_model(path, kind=kind)


def check_language(file: ModelFile, profile: TopicProfile) -> None:
    """Raise ModelFileError where the words of a model are stems of another language."""
    language = profile.analyzer.language
    learnt = file.parameters.get("language", language)
    if learnt != language:
        raise ModelFileError(
            f"{file.source}: its words are stems of {learnt or 'no language'}, and the topic's "
            f"language is {language or 'none'}; train it again with 'scrapy focus-train'"
        )
