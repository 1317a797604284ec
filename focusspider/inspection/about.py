"""Of which model it is: topic, date, training data, measures and parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from focusspider.report.document import cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from focusspider.models.modelfile import ModelFile

__all__ = ["about"]

#: Names that are shown, and characters of a name and of a value.
_MOST, _NAME, _LONGEST = 60, 60, 200


def about(file: ModelFile) -> list[tuple[str, str]]:
    """Return names and values of what a model file says of itself."""
    found = [
        ("file", file.source),
        ("topic", file.topic or "–"),
        ("trained", file.date or "–"),
        ("training data", file.training_data or "–"),
    ]
    for name, values in (("measures", file.metrics), ("parameters", file.parameters)):
        lines = list(_flat(values))
        found += [(f"{name}: {key}", value) for key, value in lines[:_MOST]]
        if len(lines) > _MOST:
            found.append((name, f"{len(lines) - _MOST:,} more"))
    return [(cut(name, _NAME), cut(value, _LONGEST)) for name, value in found]


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in sorted(values.items()):
        if isinstance(value, dict) and value and len(value) <= _MOST:
            for inner, of_inner in sorted(value.items()):
                yield f"{key}, {inner}", _shown(of_inner)
        else:
            yield key, _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
