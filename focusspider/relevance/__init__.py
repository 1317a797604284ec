"""Relevance: is this page on topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focusspider.errors import TopicError
from focusspider.profile import TopicProfile
from focusspider.registry import build, find
from focusspider.relevance.callable import CallableRelevance
from focusspider.relevance.classifier import ClassifierRelevance
from focusspider.relevance.cosine import CosineRelevance
from focusspider.relevance.keywords import KeywordRelevance
from focusspider.relevance.labels import LabelRelevance
from focusspider.relevance.table import TableRelevance

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from focusspider.page import Page
    from focusspider.relevance.base import Relevance
    from focusspider.text import Analyzer
    from focusspider.topic import Topic

__all__ = [
    "DEFAULT_RELEVANCE",
    "RELEVANCES",
    "build_relevance",
    "started_relevance",
    "topic_relevance",
]

#: Every judge by the name that users give.
RELEVANCES: dict[str, type[Relevance]] = {
    "cosine": CosineRelevance,
    "keywords": KeywordRelevance,
    "labels": LabelRelevance,
    "table": TableRelevance,
    "classifier": ClassifierRelevance,
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
    models_dir: str | os.PathLike[str] | None = None,
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
    models_dir
        Folder of the topic's models, for a judge that may have been trained before.
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
    given = {"base_dir": base_dir, "models_dir": models_dir}
    return build(found, params, label=f"relevance {name!r}", error=error, given=given)


def topic_relevance(topic: Topic, *, models_dir: str | os.PathLike[str] | None = None) -> Relevance:
    """Build the judge that a topic names; see :func:`build_relevance`."""
    spec = topic.relevance
    return build_relevance(
        spec.kind,
        spec.threshold,
        spec.params,
        base_dir=topic.base_dir,
        models_dir=models_dir,
        where=topic.place("relevance"),
    )


def started_relevance(
    topic: Topic,
    analyzer: Analyzer,
    targets: Iterable[Page],
    *,
    models_dir: str | os.PathLike[str] | None = None,
) -> Relevance:
    """Build the judge that a topic names, and let it learn from these target pages."""
    relevance = topic_relevance(topic, models_dir=models_dir)
    profile = TopicProfile(topic, analyzer)
    for page in targets:
        profile.add_target(page)
    relevance.start(profile)
    return relevance
