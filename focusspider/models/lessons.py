"""What ``auto`` has learnt in a crawl, for people: which links paid, and how sure it became."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from focusspider.models.modelfile import ModelFile, pack_texts, text_shapes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["COURSE", "GROUPS", "Lessons", "Record", "Weights"]

#: Kinds of groups whose successes are told.
GROUPS = ("anchor_words", "context_words", "hosts", "directories", "paths")
#: What is told of each time that it learnt anew: pages, relevant ones, what a page brought in
#: the mean, the share of pairs of late pages that model and prior had in the right order, the
#: trust in the model, and NDCG of the order before (1 where it did not change).
COURSE = ("pages", "relevant", "mean", "model", "prior", "trust", "ndcg")


class Record(NamedTuple):
    """How often the members of groups succeeded.

    Attributes
    ----------
    names
        Of the groups.
    counts
        Trials and successes of each, (n, 2); a share of a success counts as its share.
    evidence
        Their log odds against those of the mean, (n,).
    """

    names: Sequence[str]
    counts: NDArray[np.float64]
    evidence: NDArray[np.float64]


class Weights(NamedTuple):
    """What weighs how much: name and family of each feature, and its weight, (n,)."""

    names: Sequence[str]
    families: Sequence[str]
    values: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Lessons:
    """What was learnt in one crawl.

    Parameters
    ----------
    weights
        Of the standardised features in the last regression.
    records
        For each of :data:`GROUPS` those groups that say most.
    course
        A row each time that it learnt anew, columns as in :data:`COURSE`, (n, 7).
    models
        Names of the trained models that were asked.
    """

    weights: Weights
    records: Mapping[str, Record]
    course: NDArray[np.float64]
    models: Sequence[str] = ()

    def to_file(self, *, topic: str = "", date: str = "") -> ModelFile:
        """Return what :meth:`from_file` makes the same of."""
        arrays: dict[str, NDArray[np.generic]] = {
            "course": self.course.astype("<f8"),
            "weights": self.weights.values.astype("<f8"),
            **pack_texts("features", self.weights.names),
            **pack_texts("families", self.weights.families),
        }
        for group in GROUPS:
            record = self.records[group]
            arrays |= pack_texts(group, record.names)
            arrays[f"{group}_counts"] = record.counts.astype("<f8")
            arrays[f"{group}_evidence"] = record.evidence.astype("<f8")
        last = dict(zip(COURSE, self.course[-1].tolist(), strict=True)) if len(self.course) else {}
        if not last.get("ndcg"):  # so few waited that it was not measured
            last.pop("ndcg", None)
        return ModelFile(
            kind="auto",
            arrays=arrays,
            parameters={"models": list(self.models)},
            topic=topic,
            date=date,
            metrics=last,
        )

    @classmethod
    def from_file(cls, file: ModelFile) -> Lessons:
        """Return what a file holds; ModelFileError where that is not sound."""
        shapes = {
            "course": ("<f8", ("times", len(COURSE))),
            "weights": ("<f8", ("n_features",)),
            **text_shapes("features", "n_features"),
            **text_shapes("families", "n_features"),
        }
        for group in GROUPS:
            shapes |= text_shapes(group, f"n_{group}")
            shapes[f"{group}_counts"] = ("<f8", (f"n_{group}", 2))
            shapes[f"{group}_evidence"] = ("<f8", (f"n_{group}",))
        arrays = file.take(shapes)
        records = {
            group: Record(file.texts(group), arrays[f"{group}_counts"], arrays[f"{group}_evidence"])
            for group in GROUPS
        }
        weights = Weights(file.texts("features"), file.texts("families"), arrays["weights"])
        models = file.parameter("models", list)
        return cls(
            weights=weights,
            records=records,
            course=arrays["course"],
            models=[str(name) for name in models],
        )
