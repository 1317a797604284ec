"""Relevance: is this page on topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider.errors import TopicError
from focusspider.registry import build, find
from focusspider.relevance.callable import CallableRelevance
from focusspider.relevance.cosine import CosineRelevance
from focusspider.relevance.keywords import KeywordRelevance
from focusspider.relevance.labels import LabelRelevance

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from focusspider.relevance.base import Relevance

__all__ = ["DEFAULT_RELEVANCE", "RELEVANCES", "build_relevance"]

#: Every judge by the name that users give.
RELEVANCES: dict[str, type[Relevance]] = {
    "cosine": CosineRelevance,
    "keywords": KeywordRelevance,
    "labels": LabelRelevance,
    "callable": CallableRelevance,
}

DEFAULT_RELEVANCE = "cosine"
_METHODS = ("start", "judge")


def build_relevance(
    kind: str | None,
    threshold: float | None,
    params: Mapping[str, Any],
    *,
    base_dir: str | os.PathLike[str] | None = None,
    where: str = "",
) -> Relevance:
    """Build a judge by its name, or by the import path of a class of one's own.

    Parameters
    ----------
    kind
        None is ``"cosine"``.
    threshold
        γ; None is the judge's default. An error for a judge that has no threshold.
    params
        Other arguments of the judge's constructor.
    base_dir
        What relative paths in ``params`` are relative to; None is the working directory.
    where
        Where the user wrote them, for messages.

    Raises
    ------
    UnknownNameError
        For a name that is not known; it lists the known ones.
    TopicError
        For an unknown, missing or wrong parameter, an unusable file, or a path that cannot
        be imported.
    """

    def error(message: str) -> TopicError:
        return TopicError(f"{where}: {message}" if where else message)

    name = DEFAULT_RELEVANCE if kind is None else kind
    found = find("relevance", RELEVANCES, name, methods=_METHODS, error=error, where=where)
    if threshold is not None:
        params = {"threshold": threshold, **params}
    return build(
        found, params, label=f"relevance {name!r}", error=error, given={"base_dir": base_dir}
    )
